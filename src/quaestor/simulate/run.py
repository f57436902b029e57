"""Some students take the test: every step of every one of them, recorded.

Students who have answered the same are one *path*: as long as nothing is drawn for each of them, the next question is the same too. So a
step is worked out for paths, and students only answer. What was known at a step of a path is a *node*.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank
from quaestor.credal.vectors import parts
from quaestor.errors import QuaestorError
from quaestor.inference.conflict import refuse_conflict
from quaestor.inference.engine import Ends
from quaestor.inference.evidence import MISSING, Evidence
from quaestor.inference.layout import Numbers
from quaestor.lazy import lazy
from quaestor.model.table import Array
from quaestor.selection.plan import Mask
from quaestor.selection.rules import MISSING as SKIPS_MISSING
from quaestor.selection.rules import WRONG, Rules
from quaestor.selection.step import step
from quaestor.simulate.answering import Behaviour
from quaestor.simulate.behaviours import Asked
from quaestor.simulate.cohort import Students
from quaestor.simulate.library import fetched

_NO_NAMES = "score then bound target per stop skips may_skip only_next least_answers ahead"
PLAIN = set(_NO_NAMES.split())  # rules that name no question and no order
TOGETHER = 256_000  # gains worked out at once: what fits into a core's own memory


@dataclass(frozen=True, eq=False)
class Record:
    """What happened. `asked`: question numbers, (students, steps), -1 after the end; `answers`: classes, -1 for a skip or after the end.

    `nodes`: for each skill lower and upper probabilities, (nodes, levels), one array where they are the same; `node`: where each student
    stood before the first question and after each, (students, steps + 1), the last one kept after the end. `rule`: the name of the
    criterion that stopped each test. `held_out`: for real people the probability of their answers to questions held out,
    (students, steps + 1, held), NaN where there is none.
    """

    numbers: NDArray[np.intp]
    levels: NDArray[np.intp]
    asked: NDArray[np.int32]
    answers: NDArray[np.int32]
    node: NDArray[np.int32]
    nodes: tuple[Ends, ...]
    rule: NDArray[np.object_]
    held_out: Array | None = None

    @staticmethod
    def of(
        numbers: NDArray[np.intp],
        levels: NDArray[np.intp],
        asked: NDArray[np.int32],
        answers: NDArray[np.int32],
        bounds: Sequence[Ends],
        rule: NDArray[np.object_],
        held_out: Array | None = None,
    ) -> "Record":
        """A record from the bounds of every student at every step, (students, steps + 1, levels)."""
        node = np.arange(len(asked) * (asked.shape[1] + 1), dtype=np.int32).reshape(len(asked), -1)
        flat = [(low.reshape(-1, low.shape[2]), high.reshape(-1, high.shape[2])) for low, high in bounds]
        nodes = tuple((low, low if np.array_equal(low, high) else high) for low, high in flat)
        return Record(numbers, levels, asked, answers, node, nodes, rule, held_out)

    @property
    def unmerged(self) -> "Record":
        """The same with nodes of every student, as it is read from a file: sums over it round in the same way."""
        return Record.of(self.numbers, self.levels, fetched(self.asked), fetched(self.answers), self.bounds, self.rule, self.held_out)

    @lazy
    def bounds(self) -> tuple[Ends, ...]:
        """For each skill lower and upper probabilities before the first question and after each, (students, steps + 1, levels)."""
        node = fetched(self.node)
        return tuple((fetched(low)[node], fetched(high)[node]) for low, high in self.nodes)

    @property
    def lengths(self) -> Numbers:
        """How many questions each was asked."""
        found: Numbers = (self.asked >= 0).sum(axis=1)
        return found


def take(bank: Bank, rules: Rules, students: Students, behaviour: Behaviour, held: Numbers | None = None) -> Record:
    """Let students take the test; questions that are `held` out are never asked, only predicted."""
    if students.given is not None and (wrong := sorted(set(rules.document) - PLAIN)):
        raise QuaestorError(f"responses of real people are for rules without '{wrong[0]}': some of their answers are missing")
    count = len(students.numbers)
    are_alike = students.given is None and not rules.is_random
    running, path = np.arange(count), np.zeros(count, dtype=np.intp) if are_alike else np.arange(count)
    evidence = Evidence.begin(bank, 1 if are_alike else count, rules.withdrawn)
    rule = np.full(count, "", dtype=object)
    asked: list[NDArray[np.int32]] = []
    answers: list[NDArray[np.int32]] = []
    node: list[NDArray[np.int32]] = []
    nodes: list[list[Ends]] = []
    predicted: list[Array] = []
    while True:
        found = _step(rules, evidence, students, running, held, are_alike)
        if found.predicted is not None and students.given is not None and held is not None:
            now = predicted[-1].copy() if predicted else np.full((count, len(held)), np.nan)
            now[running] = _predicted(found.predicted[path], students.given[running][:, held])
            predicted.append(now)
        node.append(node[-1].copy() if node else np.empty(count, dtype=np.int32))
        node[-1][running] = path + sum(len(ends[0][0]) for ends in nodes)
        nodes.append(found.bounds)
        rule[running] = found.rule[path]
        on = np.flatnonzero(found.question[path] >= 0)
        if not len(on):
            break
        running, path = running[on], path[on]
        questions = found.question[path]
        classes = _answer(students, behaviour, running, questions, evidence, path)
        if not rules.may_skip and (classes == MISSING).any():
            raise QuaestorError("the rules let no question be skipped, got a student who skips")
        asked.append(_column(count, running, questions))
        answers.append(_column(count, running, classes))
        first, after = merged(path, classes) if are_alike else (np.arange(len(path)),) * 2
        evidence = evidence.take(path[first]).put(questions[first], _meant(rules, bank, questions[first], classes[first]))
        path = after
        refuse_conflict(evidence)  # a truth may allow more than the bank
    put, given = (np.stack(columns).T if columns else np.zeros((count, 0), dtype=np.int32) for columns in (asked, answers))
    every = tuple(_joined([ends[skill] for ends in nodes]) for skill in range(len(bank.skills)))
    told = np.stack(predicted, axis=1) if predicted else None
    return Record(students.numbers, students.levels, put, given, np.stack(node).T, every, rule, told)


class _Step(NamedTuple):
    """A step of all paths: what is known of each skill, (paths, levels), what ended the test, the next question or -1, (paths,) each."""

    bounds: list[Ends]
    rule: NDArray[np.object_]
    question: Numbers
    predicted: Array | None


def _step(rules: Rules, evidence: Evidence, students: Students, running: Numbers, held: Numbers | None, are_alike: bool) -> _Step:
    """The step of those who are still at it, some paths at a time."""
    found = []
    for some in parts(evidence.takers, max(1, TOGETHER // len(evidence.layout.questions))):
        seeds = () if are_alike else students.seeds[running[some]]
        here = evidence if some == slice(0, evidence.takers) else evidence.take(np.arange(evidence.takers)[some])
        decision = step(rules, here, seeds, _available(students, running[some], held), are_alike)
        predicted = decision.predicted(held) if held is not None else None
        found.append(_Step([bracket.ends for bracket in decision.bounds], decision.rule, decision.question, predicted))
    if len(found) == 1:
        return found[0]
    bounds = [_joined([one.bounds[skill] for one in found]) for skill in range(len(found[0].bounds))]
    told = np.concatenate([one.predicted for one in found if one.predicted is not None]) if held is not None else None
    return _Step(bounds, np.concatenate([one.rule for one in found]), np.concatenate([one.question for one in found]), told)


def _available(students: Students, running: Numbers, held: Numbers | None) -> Mask | None:
    """Which questions real people answered, (people, questions), but for those held out."""
    if students.given is None:
        return None
    found: Mask = students.given[running] >= 0
    if held is not None:
        found[:, held] = False
    return found


def _joined(ends: list[Ends]) -> Ends:
    """Bounds of some paths after those of others."""
    low = np.concatenate([low for low, _ in ends])
    return low, low if all(one is other for one, other in ends) else np.concatenate([high for _, high in ends])


def merged(path: Numbers, classes: Numbers) -> tuple[Numbers, Numbers]:
    """Paths after an answer, -1 or more: for each new path one of those on it, and the new path of each."""
    key = path * (int(classes.max()) + 2) + classes + 1
    someone = np.full(int(key.max()) + 1, -1)
    someone[key[::-1]] = np.arange(len(key))[::-1]
    there = np.flatnonzero(someone >= 0)
    number = np.empty(len(someone), dtype=np.intp)
    number[there] = np.arange(len(there))
    return someone[there], number[key]


def _predicted(chances: Array, given: NDArray[np.intp]) -> Array:
    """The probability of the answers that people gave, (students, held); NaN where they gave none."""
    found = np.take_along_axis(chances, np.maximum(given, 0)[:, :, None], axis=2)[:, :, 0]
    return np.where(given >= 0, found, np.nan)


def _meant(rules: Rules, bank: Bank, questions: Numbers, classes: Numbers) -> Numbers:
    """The answers as inference sees them: what a skip means is a rule."""
    if rules.skips == SKIPS_MISSING or not (classes == MISSING).any():
        return classes
    listed = list(bank.questions.values())
    meant = [0 if rules.skips == WRONG else listed[question].classes.index(rules.skips) for question in questions]
    return np.where(classes == MISSING, meant, classes)


def _column(count: int, running: Numbers, values: Numbers) -> NDArray[np.int32]:
    column = np.full(count, -1, dtype=np.int32)
    column[running] = values
    return column


def _answer(students: Students, behaviour: Behaviour, running: Numbers, questions: Numbers, evidence: Evidence, path: Numbers) -> Numbers:
    """The answer class of each student to one question, -1 for a skip; `evidence`, `path`: what they were asked earlier."""
    if students.asking is None:
        assert students.given is not None
        return students.given[running, questions]
    revealed = _revealed(behaviour, questions, evidence, path) if behaviour.reveals else None
    before, asking = evidence.counts[path], students.asking

    def seen() -> Asked:
        layout = evidence.layout
        skills, ids = tuple(layout.bank.skills), tuple(layout.bank.questions)
        levels, answers = students.levels[running], evidence.answers[path].astype(np.intp)
        return Asked(questions, asking.classes[questions], before, levels, answers, ids, skills, layout.minutes)

    found: Numbers = asking.answers(behaviour, running, questions, before, revealed, seen)
    return found


def _revealed(behaviour: Behaviour, questions: Numbers, evidence: Evidence, path: Numbers) -> Array:
    """To what share of students like each the best answer to the question was revealed by one asked earlier, (students,)."""
    number, hidden = evidence.layout.number, np.ones(len(questions))
    for one, given in behaviour.reveals.items():
        was_asked = evidence.is_asked[path, number[one]]
        for other, share in given.items():
            hidden[was_asked & (questions == number[other])] *= 1 - share
    return 1 - hidden
