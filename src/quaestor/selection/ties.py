"""Which gains are equal, and what comes first: said once, for choosing and for ranking.

Gains within `TIED` of the largest are tied: what is left is rounding. Of the tied the second score decides in the same way, and of what is
still tied the first in the bank. The next best is the best of those left.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from quaestor.credal.decisions import TIED
from quaestor.model.table import Array

Numbers = NDArray[np.intp]


def tied_best(gains: Array) -> NDArray[np.bool_]:
    """The questions tied with the largest gain of each taker, (takers, questions); -inf marks what is not there."""
    return np.asarray((gains >= gains.max(axis=1, keepdims=True) - TIED) & (gains > -np.inf))


def best(gains: Array, second: Callable[[], Array] | None = None) -> Numbers:
    """The best question of each taker, (takers,), -1 where there is none; the second gain is worked out only where there are ties."""
    top = gains.max(axis=1)
    tied = gains >= top[:, None] - TIED
    if second is not None:
        several = np.flatnonzero((tied.sum(axis=1) > 1) & (top > -np.inf))
        if len(several):
            tied[several] = tied_best(np.where(tied[several], second()[several], -np.inf))
    return np.where(top > -np.inf, tied.argmax(axis=1), -1)


def ordered(gains: Array, second: Callable[[], Array] | None, index: Numbers) -> Numbers:
    """Questions of one taker, best first, as if `best` was asked again and again; gains: (questions,), index: those to be ordered."""
    index = index[np.argsort(-gains[index], kind="stable")]
    group = _groups(gains[index])
    tied = np.flatnonzero(np.bincount(group, minlength=1)[group] > 1)
    if len(tied):
        index[tied] = _within(index[tied], group[tied], gains, second() if second is not None else None)
    return index


def _groups(gains: Array, within: Numbers | None = None) -> Numbers:
    """The number of the run that each gain belongs to, for gains in falling order (within the groups of a first score).

    Neighbours in a run are within `TIED`; runs are farther apart than that, so none reaches into another.
    """
    if not len(gains):
        return np.zeros(0, dtype=np.intp)
    apart = np.abs(np.diff(gains)) > TIED
    if within is not None:
        apart |= np.diff(within) > 0
    return np.concatenate([[0], np.cumsum(apart)])


def _within(index: Numbers, group: Numbers, gains: Array, second: Array | None) -> Numbers:
    """Tied questions in their final order; the groups are numbered in rising order and stay where they are."""
    key = np.zeros(len(gains)) if second is None else second
    if _is_wide(gains[index], group):  # a chain of gains longer than the tolerance: the best of those left, one after another
        return np.concatenate([_one_by_one(index[group == number], gains, key) for number in np.unique(group)])
    if second is not None:
        index = index[np.lexsort((-key[index], group))]
        group = _groups(key[index], group)
        if _is_wide(key[index], group):
            return np.concatenate([_one_by_one(index[group == number], np.zeros(len(gains)), key) for number in np.unique(group)])
    return index[np.lexsort((index, group))]


def _is_wide(values: Array, group: Numbers) -> bool:
    first = np.flatnonzero(np.diff(group, prepend=-1))
    spans = np.maximum.reduceat(values, first) - np.minimum.reduceat(values, first)
    return bool((spans > TIED).any())


def _one_by_one(index: Numbers, gains: Array, second: Array) -> Numbers:
    """The definition itself."""
    left, found = np.sort(index), []
    while len(left):
        tied = np.flatnonzero(tied_best(gains[left][None])[0])
        chosen = tied[best(second[left[tied]][None])[0]]
        found.append(left[chosen])
        left = np.delete(left, chosen)
    return np.array(found, dtype=np.intp)
