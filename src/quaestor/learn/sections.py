"""Sections that look untaken: all answers wrong where that is hard to believe.

Tables of answers often hold 0 both for a wrong answer and for none. A *section* is all questions on the same skills. Of each person it is
asked how likely all answers in the section were to be of the worst class, given the person's answers elsewhere. If a share u of all people
did not take the section, an all-wrong one is untaken with probability u / (u + (1 - u) * chance). The share and the bank are found
together by EM: an all-wrong section counts as answers as far as it was probably taken, beginning with none of them, since weak people who
did take it must not be taken for absent ones. Those more likely untaken than not are flagged; the sum of the remaining probabilities says
how many of them were probably taken after all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from quaestor.errors import QuaestorError
from quaestor.learn.em import run
from quaestor.learn.expect import log_likelihoods
from quaestor.learn.fit import Fit
from quaestor.learn.layout import Tables, tables_of
from quaestor.learn.people import Patterns
from quaestor.learn.work import steps
from quaestor.table import Array

if TYPE_CHECKING:
    import pandas as pd

LIKELY = 0.5  # more likely untaken than taken
Classes = NDArray[np.int16]  # (patterns, questions), -1 for none
Mask = NDArray[np.bool_]
ROUNDS = 20
FEWEST = 4  # answers in a section; shorter ones are all wrong too easily


@dataclass(frozen=True)
class Untaken:
    """A section of one person that looks untaken: `chance` of all wrong if taken, `probability` that it was not taken.

    `person` is the row's name in the table; `alone` tells that the person has no other answers but all-wrong sections.
    """

    person: Any
    section: str
    questions: tuple[str, ...]
    chance: float
    probability: float
    alone: bool


def sections(fit: Fit) -> dict[str, NDArray[np.intp]]:
    """The places of the questions of each section, by the names of its skills."""
    found: dict[str, list[int]] = {}
    for place, question in enumerate(fit.bank.questions.values()):
        found.setdefault(", ".join(sorted(question.skills)), []).append(place)
    return {name: np.array(places) for name, places in found.items()}


def untaken(fit: Fit) -> tuple[Untaken, ...]:
    """All sections that look untaken, in the order of the people."""
    listed = list(sections(fit).items())
    classes = fit.people.patterns.classes(fit.layout)
    counts = np.stack([(classes[:, places] >= 0).sum(axis=1) for _, places in listed], axis=1)
    worst = np.stack([(classes[:, places] <= 0).all(axis=1) for _, places in listed], axis=1) & (counts >= FEWEST)
    if not worst.any():
        return ()
    chance, probability = _found(fit, classes, worst, counts >= FEWEST, [places for _, places in listed])
    names, found = list(fit.bank.questions), []
    of = fit.people.pattern_of
    elsewhere = (classes >= 0) & ~_cells(worst, [places for _, places in listed], classes.shape[1])
    alone: Mask = ~np.any(elsewhere, axis=1)
    for number, (name, places) in enumerate(listed):
        for person in np.flatnonzero((worst[:, number] & (probability[:, number] > LIKELY))[of]):
            at = of[person]
            asked = tuple(names[place] for place in places.tolist() if classes[at, place] >= 0)
            sure = float(chance[at, number]), float(probability[at, number])
            found.append((int(person), Untaken(fit.people.names[person], name, asked, *sure, bool(alone[at]))))
    return tuple(one for _, one in sorted(found, key=lambda pair: pair[0]))


def _found(fit: Fit, classes: Classes, worst: Mask, possible: Mask, places: Sequence[NDArray[np.intp]]) -> tuple[Array, Array]:
    """For each pattern and section the chance of all wrong if it was taken, and the probability that it was not, (patterns, sections)."""
    weights = fit.people.weights()
    kept = np.where(_cells(worst, places, classes.shape[1]), -1, classes).astype(np.int16)
    probability = worst.astype(float)
    chance = np.ones(worst.shape)
    tables = tables_of(fit.given, fit.layout)
    for _ in range(ROUNDS):
        versions, counted = _versions(classes, worst, probability, places, weights)
        patterns = _patterns(fit, versions)
        with steps(fit.layout, patterns) as step:
            tables = run(fit.layout, tables, fit.aim, step, counted, 0.1, 100).tables
        before = probability
        probability = np.zeros(worst.shape)
        for number in np.flatnonzero(worst.any(axis=0)).tolist():
            chance[:, number] = _all_worst(fit, tables, kept, classes, places[number])
            own = possible[:, number]
            share = _share(worst[own, number], chance[own, number], weights[own])
            odds = share + (1 - share) * chance[:, number]
            probability[:, number] = np.where(worst[:, number], share / np.maximum(odds, 1e-300), 0)
        if np.abs(probability - before).max() < 0.01:
            break
    return chance, probability


def _cells(worst: Mask, places: Sequence[NDArray[np.intp]], questions: int) -> Mask:
    """Which cells lie in an all-wrong section, (patterns, questions)."""
    found = np.zeros((len(worst), questions), bool)
    for number, own in enumerate(places):
        found[np.ix_(worst[:, number], own)] = True
    return found


def _versions(
    classes: Classes, worst: Mask, probability: Array, places: Sequence[NDArray[np.intp]], weights: Array
) -> tuple[Classes, Array]:
    """Each pattern with its all-wrong sections taken or not, and how much each version counts. More than four go together."""
    rows, counted = [], []
    for pattern in range(len(classes)):
        own = np.flatnonzero(worst[pattern])
        parts = [[section] for section in own.tolist()] if len(own) <= 4 else [own.tolist()]
        if not len(own):
            rows.append(classes[pattern])
            counted.append(weights[pattern])
            continue
        for taken in product((True, False), repeat=len(parts)):
            row, weight = classes[pattern].copy(), weights[pattern]
            for part, kept in zip(parts, taken, strict=True):
                share = float(np.mean(probability[pattern, part]))
                weight *= 1 - share if kept else share
                if not kept:
                    row[np.concatenate([places[section] for section in part])] = -1
            if weight > 0 and (row >= 0).any():
                rows.append(row)
                counted.append(weight)
    return np.array(rows), np.array(counted)


def without(responses: "pd.DataFrame", found: tuple[Untaken, ...]) -> "pd.DataFrame":
    """The wide table with the cells of these sections emptied."""
    if set(responses.columns) == {"person", "question", "answer"}:
        raise QuaestorError("untaken: a table with a row a person is expected, got one with a row an answer")
    emptied = responses.astype(object)
    for one in found:
        emptied.loc[one.person, list(one.questions)] = None
    return emptied


def _patterns(fit: Fit, classes: Classes) -> Patterns:
    return Patterns(tuple(classes[:, group.places] for group in fit.layout.groups))


def _all_worst(fit: Fit, tables: Tables, kept: Classes, classes: Classes, places: NDArray[np.intp]) -> Array:
    """P(all answers of the section are of the worst class | what is kept elsewhere), (patterns,)."""
    elsewhere = kept.copy()
    elsewhere[:, places] = -1
    both = elsewhere.copy()
    both[:, places] = np.where(classes[:, places] >= 0, 0, -1)
    logs = [log_likelihoods(fit.layout, tables, _patterns(fit, one)) for one in (both, elsewhere)]
    result: Array = np.exp(np.minimum(logs[0] - logs[1], 0))
    return result


def _share(worst: Mask, chance: Array, weights: Array) -> float:
    """The share of untaken sections of the largest likelihood, by EM on P(all wrong) = u + (1 - u) chance."""
    share = 0.5 * float(weights @ worst) / float(weights.sum())
    for _ in range(200):
        share = float(weights @ np.where(worst, share / np.maximum(share + (1 - share) * chance, 1e-300), 0.0)) / float(weights.sum())
    return share
