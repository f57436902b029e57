"""Answer patterns with all-wrong sections taken or left out: the weighted rows that the mixture of `sections` is learnt from.

The rows stay the same in all rounds of EM and only their weights change, so they are made once. A pattern with several all-wrong sections
has a version for every subset of them that may be left out; with more than four, either all are left out or none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import scipy
from numpy.typing import NDArray

from quaestor.lazy import lazy
from quaestor.learn.answers import Classes
from quaestor.learn.fit import Fit
from quaestor.learn.people import Patterns, sparse_patterns
from quaestor.model.table import Array

Mask = NDArray[np.bool_]
APART = 4  # a pattern with more all-wrong sections has them left out all together or not at all


@dataclass(frozen=True)
class Versions:
    """All patterns unchanged, followed by versions of some of them with sections left out; `all` holds both.

    `patterns`: the numbers of the patterns with an all-wrong section, (some,); `classes` (some, questions), -1 for no answer; `worst`
    (some, sections): which sections are all wrong; `positions`: the questions of each section. For each version, `source` is the index of
    its pattern among `patterns`, (versions,), and `left` the sections that it leaves out, (versions, sections).
    """

    patterns: NDArray[np.intp]
    classes: Classes
    worst: Mask
    positions: Sequence[NDArray[np.intp]]
    source: NDArray[np.intp]
    left: Mask
    all: Patterns

    def cells(self) -> Mask:
        """The cells in all-wrong sections, (some, questions)."""
        return cells_of(self.worst, self.positions, self.classes.shape[1])

    @lazy
    def alone(self) -> Mask:
        """Which patterns have no answer outside all-wrong sections, (some,)."""
        found: Mask = ~np.any((self.classes >= 0) & ~self.cells(), axis=1)
        return found

    @lazy
    def _together(self) -> Mask:
        found: Mask = self.worst.sum(axis=1) > APART
        return found

    @lazy
    def _factors(self) -> Mask:
        """The sections whose probabilities are factors of a version's weight, (some, sections): all that are all wrong, or, where these are
        left out together, only the first of them.
        """
        first = np.zeros_like(self.worst)
        first[np.arange(len(first)), self.worst.argmax(axis=1)] = True
        return np.where(self._together[:, None], first, self.worst)

    def counted(self, weights: Array, probability: Array) -> Array:
        """The weights of all rows: the weight of each pattern, divided among its versions by P(section untaken), (some, sections)."""
        mean = (probability * self.worst).sum(axis=1) / self.worst.sum(axis=1)
        untaken = np.where(self._together[:, None], mean[:, None], probability)
        own = weights[self.patterns]
        taken = np.where(self._factors, 1 - untaken, 1).prod(axis=1)
        version = np.where(self.left, untaken[self.source], 1 - untaken[self.source])
        further = own[self.source] * np.where(self._factors[self.source], version, 1).prod(axis=1)
        kept = weights.copy()
        kept[self.patterns] = own * taken
        return np.concatenate([kept, further])


def versions_of(fit: Fit, some: NDArray[np.intp], classes: Classes, worst: Mask, positions: Sequence[NDArray[np.intp]]) -> Versions:
    """The versions of the patterns of a fit; versions without any answer are left out."""
    source, left = _left_out(worst)
    rows = np.where(cells_of(left, positions, classes.shape[1]), np.int16(-1), classes[source])
    kept = (rows >= 0).any(axis=1)
    source, left, rows = source[kept], left[kept], rows[kept]
    return Versions(some, classes, worst, positions, source, left, _added(fit, rows))


def cells_of(sections: Mask, positions: Sequence[NDArray[np.intp]], questions: int) -> Mask:
    """The cells in these sections, (rows, questions)."""
    found = np.zeros((len(sections), questions), bool)
    for number, own in enumerate(positions):
        found[np.ix_(sections[:, number], own)] = True
    return found


def _left_out(worst: Mask) -> tuple[NDArray[np.intp], Mask]:
    """All non-empty subsets of all-wrong sections: the source pattern, (versions,), and the sections left out, (versions, sections)."""
    if not len(worst):
        return np.zeros(0, np.intp), worst
    kinds, kind_of = np.unique(worst, axis=0, return_inverse=True)
    kind_of = kind_of.reshape(-1)
    members_of = np.split(np.argsort(kind_of, kind="stable"), np.cumsum(np.bincount(kind_of))[:-1])
    source, left = [], []
    for kind, members in zip(kinds, members_of, strict=True):
        own = np.flatnonzero(kind)
        parts = [[section] for section in own.tolist()] if len(own) <= APART else [own.tolist()]
        for chosen in product((False, True), repeat=len(parts)):
            if any(chosen):
                mask = np.zeros(worst.shape[1], bool)
                mask[[section for part, is_left in zip(parts, chosen, strict=True) if is_left for section in part]] = True
                source.append(members)
                left.append(np.broadcast_to(mask, (len(members), len(mask))))
    return np.concatenate(source), np.concatenate(left)


def _added(fit: Fit, rows: Classes) -> Patterns:
    """The patterns of a fit followed by these rows; sparse if the patterns are."""
    patterns = fit.people.patterns
    if not scipy.sparse.issparse(patterns.answers[0]):
        groups = zip(fit.layout.groups, patterns.answers, strict=True)
        return Patterns(tuple(np.concatenate([answers, rows[:, group.positions]]) for group, answers in groups))
    row, position = np.nonzero(rows >= 0)
    more = sparse_patterns(fit.layout, row, position, rows[row, position], len(rows))
    both = zip(patterns.answers, more.answers, strict=True)
    return Patterns(tuple(scipy.sparse.csr_array(scipy.sparse.vstack([one, other])) for one, other in both))
