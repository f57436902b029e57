"""Sections that look untaken: all answers wrong where that is hard to believe.

Tables of answers often hold 0 both for a wrong answer and for none. A *section* is all questions on the same skills. Of each person it is
asked how likely all answers in the section were to be of the worst class, given the person's answers elsewhere, by a bank learnt without
any section that is all wrong. If a share u of all sections is untaken, an all-wrong one is untaken with probability u / (u + (1 - u) *
chance); u is estimated for each section from how many there are (maximum likelihood). Those more likely untaken than not are flagged; the
sum of the remaining probabilities says how many of them were probably taken after all.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from quaestor.errors import QuaestorError
from quaestor.learn.em import run
from quaestor.learn.expect import log_likelihoods
from quaestor.learn.fit import Fit
from quaestor.learn.layout import tables_of
from quaestor.learn.people import Patterns
from quaestor.learn.work import steps
from quaestor.table import Array

if TYPE_CHECKING:
    import pandas as pd

LIKELY = 0.5  # more likely untaken than taken
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
    listed = sections(fit)
    classes = fit.people.patterns.classes(fit.layout)
    given = classes >= 0
    counts = np.stack([given[:, places].sum(axis=1) for places in listed.values()], axis=1)
    worst = np.stack([(classes[:, places] <= 0).all(axis=1) for places in listed.values()], axis=1) & (counts >= FEWEST)
    if not worst.any():
        return ()
    kept = classes.copy()
    for number, places in enumerate(listed.values()):
        kept[np.ix_(worst[:, number], places)] = -1
    tables = _learnt_from(fit, kept)
    names, found = list(fit.bank.questions), []
    patterns, people = fit.people.pattern_of, fit.people.names
    for number, (name, places) in enumerate(listed.items()):
        if not worst[:, number].any():
            continue
        chance = np.where(counts[:, number] >= FEWEST, _all_worst(fit, tables, kept, classes, places), 1.0)
        share = _share(worst[patterns, number], chance[patterns], counts[patterns, number] >= FEWEST)
        probability = share / (share + (1 - share) * chance)
        alone = np.all(kept < 0, axis=1)
        flagged = worst[:, number] & (probability > LIKELY)
        asked = [tuple(names[place] for place in places.tolist() if given[pattern, place]) for pattern in range(len(classes))]
        for person in np.flatnonzero(flagged[patterns]):
            at = patterns[person]
            one = Untaken(people[person], name, asked[at], float(chance[at]), float(probability[at]), bool(alone[at]))
            found.append((int(person), one))
    return tuple(one for _, one in sorted(found, key=lambda pair: pair[0]))


def without(responses: "pd.DataFrame", found: tuple[Untaken, ...]) -> "pd.DataFrame":
    """The wide table with the cells of these sections emptied."""
    if set(responses.columns) == {"person", "question", "answer"}:
        raise QuaestorError("untaken: a table with a row a person is expected, got one with a row an answer")
    emptied = responses.astype(object)
    for one in found:
        emptied.loc[one.person, list(one.questions)] = None
    return emptied


def _patterns(fit: Fit, classes: NDArray[np.int16]) -> Patterns:
    return Patterns(tuple(classes[:, group.places] for group in fit.layout.groups))


def _learnt_from(fit: Fit, classes: NDArray[np.int16]) -> Any:
    patterns = _patterns(fit, classes)
    with steps(fit.layout, patterns) as step:
        return run(fit.layout, tables_of(fit.given, fit.layout), fit.aim, step, fit.people.weights(), 1e-2, 500).tables


def _all_worst(fit: Fit, tables: Any, kept: NDArray[np.int16], classes: NDArray[np.int16], places: NDArray[np.intp]) -> Array:
    """P(all answers of the section are of the worst class | what is kept elsewhere), (patterns,)."""
    elsewhere = kept.copy()
    elsewhere[:, places] = -1
    both = elsewhere.copy()
    both[:, places] = np.where(classes[:, places] >= 0, 0, -1)
    logs = [log_likelihoods(fit.layout, tables, _patterns(fit, one)) for one in (both, elsewhere)]
    result: Array = np.exp(np.minimum(logs[0] - logs[1], 0))
    return result


def _share(worst: NDArray[np.bool_], chance: Array, possible: NDArray[np.bool_]) -> float:
    """The share of untaken sections of the largest likelihood, by EM on P(all wrong) = u + (1 - u) chance."""
    share = 0.5 * float(worst[possible].mean())
    for _ in range(200):
        share = float(np.where(worst, share / np.maximum(share + (1 - share) * chance, 1e-300), 0.0)[possible].mean())
    return share
