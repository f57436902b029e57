"""Sections that were probably not taken: all answers are wrong although that is improbable.

Tables of answers often hold 0 both for a wrong answer and for none. A *section* is the set of all questions on the same skills. Let
`chance` be the probability that all answers in a section are of the worst class, given the person's other answers. If a share u of the
people did not take the section, an all-wrong one is untaken with probability u / (u + (1 - u) * chance). This is a mixture model; u and the
bank are estimated together by EM, starting with all of them untaken. An all-wrong section counts as answers with the probability that it
was taken, so that weak people who did take it stay in the data. Weak people alone can look like a share of untaken sections, so nothing is
flagged unless the mixture explains the answers better than a bank without it, by the Bayesian information criterion. Sections with a
probability above one half are then flagged; the sum of `1 - probability` over them is the expected number of false alarms.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from quaestor.errors import QuaestorError, format_value
from quaestor.learn.answers import Answers, Classes, is_long
from quaestor.learn.em import Progress, run
from quaestor.learn.expect import log_likelihoods
from quaestor.learn.fit import Fit
from quaestor.learn.layout import Tables, tables_of
from quaestor.learn.people import Patterns
from quaestor.learn.versions import Mask, Versions, versions_of
from quaestor.learn.work import steps
from quaestor.model.table import Array

LIKELY = 0.5  # sections with a larger probability of being untaken are flagged
ROUNDS = 20
FEWEST = 4  # answers in a section; in shorter ones all wrong is too common
READ = 2**16  # patterns in one batch
Table = TypeVar("Table")


@dataclass(frozen=True)
class Untaken:
    """A section that one person probably did not take: `chance` = P(all wrong | taken), `probability` = P(untaken | all wrong).

    `person` is the row's name in the table, `row` its number; `alone`: whether the person has no answers outside all-wrong sections.
    """

    person: Any
    row: int
    section: str
    questions: tuple[str, ...]
    chance: float
    probability: float
    alone: bool


def sections(fit: Fit) -> dict[str, NDArray[np.intp]]:
    """The positions of each section's questions in the bank, by the names of its skills."""
    found: dict[str, list[int]] = {}
    for position, question in enumerate(fit.bank.questions.values()):
        found.setdefault(", ".join(sorted(question.skills)), []).append(position)
    return {name: np.array(positions) for name, positions in found.items()}


def untaken(fit: Fit, workers: int = 1, cluster: Any = None, progress: Progress | None = None) -> tuple[Untaken, ...]:
    """All sections that were probably not taken, in the order of the people; `workers`, `cluster` and `progress` as in `learn`."""
    listed = list(sections(fit).items())
    positions = [own for _, own in listed]
    worst, possible = _all_wrong(fit, positions)
    some = np.flatnonzero(worst.any(axis=1))  # patterns with an all-wrong section
    if not len(some):
        return ()
    classes = _classes(fit, some)
    versions = versions_of(fit, some, classes, worst[some], positions)
    found = _estimated(fit, versions, fit.people.weights() @ possible, workers, cluster, progress)
    return () if found is None else _flagged(fit, versions, [name for name, _ in listed], *found)


def _all_wrong(fit: Fit, positions: Sequence[NDArray[np.intp]]) -> tuple[Mask, Mask]:
    """Which sections of which patterns are all wrong, and which have at least `FEWEST` answers, (patterns, sections) both."""
    patterns = fit.people.patterns
    worst, possible = (np.zeros((len(patterns), len(positions)), bool) for _ in range(2))
    for start in range(0, len(patterns), READ):
        classes = patterns.part(start, start + READ).classes(fit.layout)
        for number, own in enumerate(positions):
            enough = (classes[:, own] >= 0).sum(axis=1) >= FEWEST
            possible[start : start + READ, number] = enough
            worst[start : start + READ, number] = enough & (classes[:, own] <= 0).all(axis=1)
    return worst, possible


def _classes(fit: Fit, some: NDArray[np.intp]) -> Classes:
    """The class numbers of some patterns, (some, questions)."""
    return Patterns(tuple(answers[some] for answers in fit.people.patterns.answers)).classes(fit.layout)


def _flagged(fit: Fit, versions: Versions, names: Sequence[str], chance: Array, probability: Array) -> tuple[Untaken, ...]:
    questions, people = list(fit.bank.questions), fit.people
    alone: Mask = ~np.any((versions.classes >= 0) & ~versions.cells(), axis=1)
    at = np.full(len(people.patterns), -1)
    at[versions.patterns] = np.arange(len(versions.patterns))
    pattern = at[people.pattern_of]  # among those with an all-wrong section, or -1
    is_flagged = versions.worst & (probability > LIKELY)
    found = []
    for person in np.flatnonzero(pattern >= 0).tolist():
        own = int(pattern[person])
        for number in np.flatnonzero(is_flagged[own]).tolist():
            asked = tuple(questions[position] for position in versions.positions[number].tolist() if versions.classes[own, position] >= 0)
            sure = float(chance[own, number]), float(probability[own, number])
            row = int(people.rows[person])
            found.append(Untaken(people.names[person], row, names[number], asked, *sure, bool(alone[own])))
    return tuple(found)


def _estimated(
    fit: Fit, versions: Versions, possible: Array, workers: int, cluster: Any, progress: Progress | None
) -> tuple[Array, Array] | None:
    """EM of the mixture: P(all wrong | taken) and P(untaken | all wrong) for each pattern with an all-wrong section, (patterns, sections)
    each; None if nobody has other answers, or if the mixture is not better than a bank without it. `possible`: the number of people with
    at least `FEWEST` answers in each section, (sections,).
    """
    worst, weights = versions.worst, fit.people.weights()
    probability = worst.astype(float)
    chance = np.ones(worst.shape)
    tables = tables_of(fit.given, fit.layout)
    if not versions.counted(weights, probability).any():
        return None
    shares = np.zeros(worst.shape[1])
    with steps(fit.layout, versions.all, workers, cluster) as step:
        taken = versions.counted(weights, np.zeros(worst.shape))
        plain = run(fit.layout, tables, fit.aim, step, taken, 0.1, 100, progress)
        for _ in range(ROUNDS):
            found = run(fit.layout, tables, fit.aim, step, versions.counted(weights, probability), 0.1, 100, progress)
            tables, before = found.tables, probability
            probability = np.zeros(worst.shape)
            for number in np.flatnonzero(worst.any(axis=0)).tolist():
                own = worst[:, number]
                chance[own, number] = _all_worst(fit, tables, versions, number)
                share = shares[number] = _share(chance[own, number], weights[versions.patterns[own]], float(possible[number]))
                odds = share + (1 - share) * chance[own, number]
                probability[own, number] = share / np.maximum(odds, 1e-300)
            if np.abs(probability - before).max() < 0.01:
                break
    prior = found.trace[-1] - found.expected.log_likelihood
    gain = _log_likelihood(fit, found.tables, versions, shares, possible) + prior - plain.trace[-1]
    return (chance, probability) if gain > int((shares > 0).sum()) / 2 * np.log(len(fit.people)) else None


def _log_likelihood(fit: Fit, tables: Tables, versions: Versions, shares: Array, possible: Array) -> float:
    """log P(answers) of the mixture; `shares`: P(a section is untaken), `possible`: people with enough answers in it, (sections,) each.

    Versions without any answer are left out, which makes it a little too small: nothing is known of those who have them.
    """
    weights, count = fit.people.weights(), len(fit.people.patterns)
    untaken = np.where(versions.worst, shares, 0.0)
    with np.errstate(divide="ignore"):
        logs = log_likelihoods(fit.layout, tables, versions.all) + np.log(versions.counted(np.ones(count), untaken))
    each = logs[:count]
    np.logaddexp.at(each, versions.patterns[versions.source], logs[count:])
    right = possible - weights[versions.patterns] @ versions.worst
    return float(weights @ each + right @ np.log1p(-np.minimum(shares, 1 - 1e-12)))


def _all_worst(fit: Fit, tables: Tables, versions: Versions, number: int) -> Array:
    """P(all answers of a section are of the worst class | answers outside all-wrong sections), for the patterns where they are."""
    own, positions = versions.worst[:, number], versions.positions[number]
    elsewhere = np.where(versions.cells()[own], np.int16(-1), versions.classes[own])
    both = elsewhere.copy()
    both[:, positions] = versions.classes[own][:, positions]
    logs = [log_likelihoods(fit.layout, tables, Patterns(tuple(one[:, group.positions] for group in fit.layout.groups)))
            for one in (both, elsewhere)]  # fmt: skip
    result: Array = np.exp(np.minimum(logs[0] - logs[1], 0))
    return result


def _share(chance: Array, weights: Array, possible: float) -> float:
    """The maximum likelihood share u of untaken sections, by EM on P(all wrong) = u + (1 - u) * chance.

    `chance` and `weights`: those of the patterns where the section is all wrong; `possible`: the number of people with enough answers.
    """
    share = 0.5 * float(weights.sum()) / possible
    for _ in range(200):
        share = float(weights @ (share / np.maximum(share + (1 - share) * chance, 1e-300))) / possible
    return share


def without(responses: Table, found: Sequence[Untaken]) -> Table:
    """The answers, a wide table or `Answers`, with the cells of these sections emptied."""
    table: Any = responses
    names = table.names if isinstance(table, Answers) else table.index
    if not isinstance(table, Answers) and is_long(table):
        raise QuaestorError("untaken: a table with a row a person is expected, got one with a row an answer")
    for one in found:
        if one.row >= len(names) or names[one.row] != one.person:
            shown = format_value(names[one.row]) if one.row < len(names) else f"{len(names)} rows"
            raise QuaestorError(f"untaken: row {one.row} is that of {format_value(one.person)}, as in the table learnt from, got {shown}")
    position = {name: number for number, name in enumerate(table.columns)}
    pairs = np.array([(one.row, position[question]) for one in found for question in one.questions], dtype=np.intp).reshape(-1, 2)
    if isinstance(table, Answers):
        return table.without(pairs[:, 0], pairs[:, 1])  # type: ignore[return-value]
    cells = table.to_numpy(dtype=object, copy=True)
    cells[pairs[:, 0], pairs[:, 1]] = None
    return type(table)(cells, index=table.index, columns=table.columns)  # type: ignore[no-any-return]
