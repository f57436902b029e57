"""Answers with all-wrong sections taken or not: the rows that the mixture of `sections` is learnt from, and how much each of them counts.

The rows never change, only what they count, so they are made once. A pattern with several all-wrong sections has a version for every way
to take or leave them; if there are more than four, all are taken or none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from quaestor.learn.answers import Classes
from quaestor.learn.fit import Fit
from quaestor.learn.people import Patterns, sparse_patterns
from quaestor.model.table import Array

Mask = NDArray[np.bool_]
APART = 4  # all-wrong sections of one pattern that are looked at one by one


@dataclass(frozen=True)
class Versions:
    """All patterns as they are, then versions of some of them with sections left out.

    `patterns`: the numbers of those with an all-wrong section, (some,); `classes` (some, questions), -1 for none; `worst` (some, sections):
    which sections are all wrong; `places`: the questions of each. Of every further version `source` tells whose it is, a number below
    `some`, and `left` (versions, sections) what it leaves out.
    """

    patterns: NDArray[np.intp]
    classes: Classes
    worst: Mask
    places: Sequence[NDArray[np.intp]]
    source: NDArray[np.intp]
    left: Mask
    all: Patterns

    def cells(self) -> Mask:
        """Which cells lie in an all-wrong section, (some, questions)."""
        return cells_of(self.worst, self.places, self.classes.shape[1])

    @cached_property
    def _together(self) -> Mask:
        found: Mask = self.worst.sum(axis=1) > APART
        return found

    @cached_property
    def _factors(self) -> Mask:
        """The sections whose probability a version's weight is multiplied with: all that are all wrong, or the first for all."""
        first = np.zeros_like(self.worst)
        first[np.arange(len(first)), self.worst.argmax(axis=1)] = True
        return np.where(self._together[:, None], first, self.worst)

    def counted(self, weights: Array, probability: Array) -> Array:
        """How much each row counts: weights of all patterns, shared out by the probability (some, sections) that a section is untaken."""
        mean = (probability * self.worst).sum(axis=1) / self.worst.sum(axis=1)
        untaken = np.where(self._together[:, None], mean[:, None], probability)
        own = weights[self.patterns]
        taken = np.where(self._factors, 1 - untaken, 1).prod(axis=1)
        version = np.where(self.left, untaken[self.source], 1 - untaken[self.source])
        further = own[self.source] * np.where(self._factors[self.source], version, 1).prod(axis=1)
        kept = weights.copy()
        kept[self.patterns] = own * taken
        return np.concatenate([kept, further])


def versions_of(fit: Fit, some: NDArray[np.intp], classes: Classes, worst: Mask, places: Sequence[NDArray[np.intp]]) -> Versions:
    """All versions of the patterns of a fit; those without any answer left are none."""
    source, left = _ways(worst)
    rows = np.where(cells_of(left, places, classes.shape[1]), np.int16(-1), classes[source])
    kept = (rows >= 0).any(axis=1)
    source, left, rows = source[kept], left[kept], rows[kept]
    return Versions(some, classes, worst, places, source, left, _added(fit, rows))


def cells_of(sections: Mask, places: Sequence[NDArray[np.intp]], questions: int) -> Mask:
    """Which cells lie in these sections, (rows, questions)."""
    found = np.zeros((len(sections), questions), bool)
    for number, own in enumerate(places):
        found[np.ix_(sections[:, number], own)] = True
    return found


def _ways(worst: Mask) -> tuple[NDArray[np.intp], Mask]:
    """Every way to leave out some all-wrong sections: whose it is, (versions,), and what is left out, (versions, sections)."""
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
    """The patterns of a fit and these rows after them, sparse if the patterns are."""
    patterns = fit.people.patterns
    if not sparse.issparse(patterns.answers[0]):
        groups = zip(fit.layout.groups, patterns.answers, strict=True)
        return Patterns(tuple(np.concatenate([answers, rows[:, group.places]]) for group, answers in groups))
    row, place = np.nonzero(rows >= 0)
    more = sparse_patterns(fit.layout, row, place, rows[row, place], len(rows))
    both = zip(patterns.answers, more.answers, strict=True)
    return Patterns(tuple(sparse.csr_array(sparse.vstack([one, other])) for one, other in both))
