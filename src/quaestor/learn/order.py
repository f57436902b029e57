"""Isotonic regression: the best fit of probabilities that never fall from a lower level to a higher one.

With several skills the combinations of levels are partially ordered: one is at or below another if each of its levels is. For binomial
counts, the monotone probabilities of maximum likelihood are the weighted least squares fit to the observed shares, for any partial order
(Robertson, Wright and Dykstra 1988, theorem 1.5.2). For one skill (a chain) they are given by the max-min formula. For several skills
blocks of combinations are split recursively (Spouge, Wan and Wilbur 2003): the upper part of a split is the *upper set* (a set that
contains everything above its elements) with the largest sum of weight * (share - mean of the block), until no split has a positive gain.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from quaestor.model.table import Array

MOST_SETS = 20_000  # orders with more upper sets do not list them: the best split is then found by a linear program
_GAIN = 1e-12  # relative: smaller gains of a split are rounding


@dataclass(frozen=True)
class Order:
    """A partial order of `size` elements. `covers`, (pairs, 2): its covering relation, pairs of an element and one just above it.

    `sets`, (sets, size): all upper sets as indicators; None where they are too many to list.
    """

    size: int
    covers: NDArray[np.intp]
    sets: Array | None

    @property
    def is_chain(self) -> bool:
        """Whether it is a total order with the elements in sequence, as for the levels of one skill."""
        return len(self.covers) == self.size - 1 and bool((self.covers[:, 1] == self.covers[:, 0] + 1).all())


@lru_cache(maxsize=256)
def levels_order(sizes: tuple[int, ...]) -> Order:
    """The order of all combinations of levels, numbered in C order; a covering pair differs by one level of one skill."""
    strides = np.cumprod([1, *sizes[:0:-1]])[::-1]
    pairs = [
        (number, number + int(strides[axis]))
        for number, levels in enumerate(product(*(range(size) for size in sizes)))
        for axis, level in enumerate(levels)
        if level + 1 < sizes[axis]
    ]
    covers = np.array(pairs, dtype=np.intp).reshape(-1, 2)
    size = int(np.prod(sizes))
    return Order(size, covers, _upper_sets(size, covers))


def tied_order(order: Order, labels: NDArray[np.intp]) -> Order:
    """The order of groups of elements that share one probability, given by labels 0, 1, ...: no split separates a group."""
    count = int(labels.max()) + 1
    covers = np.unique(labels[order.covers], axis=0)
    covers = covers[covers[:, 0] != covers[:, 1]]
    if order.sets is None:
        return Order(count, covers, None)
    first = np.array([int(np.flatnonzero(labels == label)[0]) for label in range(count)])
    reduced = order.sets[:, first]
    whole = (order.sets == reduced[:, labels]).all(axis=1)
    return Order(count, covers, np.unique(reduced[whole], axis=0))


def _upper_sets(size: int, covers: NDArray[np.intp]) -> Array | None:
    """All upper sets as indicators, (sets, size); from the top down, an element may join each set that has all those above it."""
    sets = np.zeros((1, size))
    for element in reversed(range(size)):
        above = covers[covers[:, 0] == element, 1]
        joined = sets[sets[:, above].all(axis=1)].copy()
        joined[:, element] = 1
        sets = np.concatenate([sets, joined])
        if len(sets) > MOST_SETS:
            return None
    return sets


def isotonic(values: Array, weights: Array, order: Order) -> Array:
    """The weighted least squares fit of monotone numbers to `values`; all arrays are (problems, elements), weights are positive."""
    if order.is_chain:
        return _chain(values, weights)
    falls = (values[:, order.covers[:, 0]] > values[:, order.covers[:, 1]]).any(axis=1)
    found = values.copy()
    for number in np.flatnonzero(falls):
        found[number] = _by_splits(values[number], weights[number], order)
    return found


def _chain(values: Array, weights: Array) -> Array:
    """The max-min formula: fit_c = max over s <= c of min over t >= c of the weighted mean of elements s to t.

    Only positive numbers are summed, so tiny weights cause no cancellation.
    """
    size = values.shape[1]
    element = np.arange(size)
    inside = (element >= element[:, None, None]) & (element <= element[:, None])  # (from, to, element)
    flat = inside.reshape(size * size, size).T.astype(float)
    total = (weights @ flat).reshape(-1, size, size)
    means = np.divide(((weights * values) @ flat).reshape(-1, size, size), total, out=np.full_like(total, np.inf), where=total > 0)
    least = np.minimum.accumulate(means[:, :, ::-1], axis=2)[:, :, ::-1]
    result: Array = np.maximum.accumulate(np.where(element[:, None] <= element, least, -np.inf), axis=1)[:, element, element]
    return result


def _by_splits(values: Array, weights: Array, order: Order) -> Array:
    found = np.empty_like(values)
    blocks = [np.ones(len(values), bool)]
    while blocks:
        block = blocks.pop()
        mean = (weights[block] @ values[block]) / weights[block].sum()
        gains = np.where(block, weights * (values - mean), 0.0)
        upper = _best_split(gains, order) & block
        if gains[upper].sum() <= _GAIN * np.abs(gains).sum() or upper.sum() == block.sum():
            found[block] = mean
        else:
            blocks += [upper, block & ~upper]
    return found


def _best_split(gains: Array, order: Order) -> NDArray[np.bool_]:
    """The upper set of the largest sum of gains."""
    if order.sets is not None:
        best: NDArray[np.bool_] = order.sets[int(np.argmax(order.sets @ gains))] > 0
        return best
    from scipy.optimize import linprog  # only here: it takes long to import

    rows = np.zeros((len(order.covers), order.size))
    rows[np.arange(len(rows)), order.covers[:, 0]] = 1
    rows[np.arange(len(rows)), order.covers[:, 1]] = -1
    scale = max(float(np.abs(gains).max()), 1e-300)
    solved = linprog(-gains / scale, A_ub=rows, b_ub=np.zeros(len(rows)), bounds=(0, 1), method="highs-ds")
    chosen: NDArray[np.bool_] = solved.x > 0.5
    return chosen
