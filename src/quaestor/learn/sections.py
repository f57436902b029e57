"""Sections that were probably not taken: all answers are wrong although that is improbable.

Tables of answers often hold 0 both for a wrong answer and for none. A *section* is the set of all questions on the same skills. `absence`
has the model: a share of the people did not take a section, and a section that is all wrong is untaken with a probability that depends on
the person's other answers.

Weak people alone can look like a share of untaken sections, above all in a bank with too few levels. So nothing is flagged unless the model
with the state "untaken" explains all answers better than the bank without it, by the Bayesian information criterion, and predicts people
held out better; and it must do both again in a bank with one more level of every skill, where weak people have a level of their own, and
with links between the skills if there were none, so that they are weak elsewhere, too (see `finer`). Sections with a probability above one
half are then flagged; the sum of `1 - probability` over them is the expected number of false alarms.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from quaestor.errors import QuaestorError, format_value
from quaestor.learn.absence import Absence, Model, estimated, gains, plain, with_state
from quaestor.learn.answers import Answers, Classes, is_long
from quaestor.learn.em import Progress
from quaestor.learn.finer import finer
from quaestor.learn.fit import Fit
from quaestor.learn.layout import tables_of
from quaestor.learn.people import Patterns, People, Responses, read_people
from quaestor.learn.versions import Mask, Versions, versions_of
from quaestor.learn.work import steps
from quaestor.model.table import Array

LIKELY = 0.5  # sections with a larger probability of being untaken are flagged
FOLDS = 5
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
    versions = versions_of(fit, some, _classes(fit, some), worst[some], positions)
    weights = fit.people.weights()
    if not versions.counted(weights, versions.worst.astype(float)).any():
        return ()  # nobody has other answers
    model = Model(fit.layout, tables_of(fit.given, fit.layout), fit.aim)
    state = _state(model, fit.people, versions, possible, workers, cluster, progress)
    more = None if state is None else finer(fit, model.start)
    if state is None or (more and _state(Model(*more), fit.people, versions, possible, workers, cluster, progress) is None):
        return ()
    return _flagged(fit, versions, [name for name, _ in listed], state.chance, state.probability)


def _state(
    model: Model, people: People, versions: Versions, possible: Mask, workers: int, cluster: Any, progress: Progress | None
) -> Absence | None:
    """The model with the state, if it explains all answers better, by the Bayesian information criterion, and predicts people held out
    better.
    """
    weights, objectives = people.weights(), []
    with steps(model.layout, versions.all, workers, cluster) as step:
        for learnt in (plain, estimated):
            state = learnt(model, versions, possible, weights, step, progress)
            logs = with_state(model.layout, state.tables, state.shares, versions, possible)
            objectives.append(weights @ logs + state.prior)
        gain = objectives[1] - objectives[0]
        if gain <= int((state.shares > 0).sum()) / 2 * np.log(len(people)):
            return None
        held_out = gains(model, people, versions, possible, min(FOLDS, len(people)), step, progress)
    return state if held_out.sum() > 0 else None


def log_probabilities(fit: Fit, responses: "Responses", shares: Mapping[str, float]) -> Array:
    """log P(all answers) of each person of a table, (people,), by a learnt bank where sections are untaken with these probabilities.

    `shares`: by the name of the section; those that are not named are always taken. Untaken sections are in the table as answers of the
    worst class.
    """
    there = replace(fit, people=read_people(fit.given, fit.layout, responses))
    listed = sections(fit)
    worst, possible = _all_wrong(there, list(listed.values()))
    some = np.flatnonzero(worst.any(axis=1))
    each = np.array([shares.get(name, 0.0) for name in listed])
    versions = versions_of(there, some, _classes(there, some), worst[some], list(listed.values()))
    return with_state(fit.layout, fit.tables, each, versions, possible)[there.people.pattern_of]


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
            found.append(Untaken(people.names[person], row, names[number], asked, *sure, bool(versions.alone[own])))
    return tuple(found)


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
