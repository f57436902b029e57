"""Some students take the test: every step of every one of them, recorded."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank
from quaestor.credal.intervals import pick
from quaestor.errors import QuaestorError
from quaestor.inference.conflict import refuse_conflict
from quaestor.inference.engine import Ends
from quaestor.inference.evidence import MISSING, Evidence
from quaestor.inference.layout import Numbers
from quaestor.model.table import Array
from quaestor.selection.rules import MISSING as SKIPS_MISSING
from quaestor.selection.rules import WRONG, Rules
from quaestor.selection.step import Decision, step
from quaestor.simulate.cohort import Behaviour, Students

PLAIN = {"score", "then", "bound", "target", "per", "stop", "skips", "may_skip", "only_next"}  # rules that name no question and no order


@dataclass(frozen=True)
class Record:
    """What happened. `asked`: question numbers, (students, steps), -1 after the end; `answers`: classes, -1 for a skip or after the end.

    `bounds`: for each skill lower and upper probabilities before the first question and after each, (students, steps + 1, levels), the
    last ones kept after the end. `rule`: the name of the criterion that stopped each test. `held_out`: for real people the probability
    of their answers to questions held out, (students, steps + 1, held), NaN where there is none.
    """

    numbers: NDArray[np.intp]
    levels: NDArray[np.intp]
    asked: NDArray[np.int32]
    answers: NDArray[np.int32]
    bounds: tuple[Ends, ...]
    rule: NDArray[np.object_]
    held_out: Array | None = None

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
    running, evidence = np.arange(count), Evidence.begin(bank, count)
    rule = np.full(count, "", dtype=object)
    asked: list[NDArray[np.int32]] = []
    answers: list[NDArray[np.int32]] = []
    bounds: list[list[Ends]] = []
    predicted: list[Array] = []
    while True:
        decision, row = _decided(rules, evidence, students, running, held)
        if held is not None and students.given is not None:
            now = predicted[-1].copy() if predicted else np.full((count, len(held)), np.nan)
            now[running] = _predicted(decision.predicted(held)[row], students.given[running][:, held])
            predicted.append(now)
        found = [(bracket.lower[row], bracket.upper[row]) for bracket in decision.bounds]
        bounds.append(_kept(bounds[-1] if bounds else None, running, found, count))
        rule[running] = decision.rule[row]
        on = np.flatnonzero(~decision.stopped[row])
        if not len(on):
            break
        running, questions, evidence = running[on], decision.question[row][on], evidence.take(on)
        classes = _answer(students, behaviour, bank, running, questions, evidence)
        if not rules.may_skip and (classes == MISSING).any():
            raise QuaestorError("the rules let no question be skipped, got a student who skips")
        asked.append(_column(count, running, questions))
        answers.append(_column(count, running, classes))
        evidence = evidence.put(questions, _meant(rules, bank, questions, classes))
        refuse_conflict(evidence)  # a truth may allow more than the bank
    steps = len(asked)
    made = tuple(
        (np.stack([ends[skill][0] for ends in bounds], axis=1), np.stack([ends[skill][1] for ends in bounds], axis=1))
        for skill in range(len(bank.skills))
    )
    put = np.stack(asked, axis=1) if steps else np.zeros((count, 0), dtype=np.int32)
    given = np.stack(answers, axis=1) if steps else np.zeros((count, 0), dtype=np.int32)
    return Record(students.numbers, students.levels, put, given, made, rule, np.stack(predicted, axis=1) if predicted else None)


def _decided(rules: Rules, evidence: Evidence, students: Students, running: Numbers, held: Numbers | None) -> tuple[Decision, Numbers]:
    """The step of those who are still at it, and the row of each in it: students of whom the rules know the same are worked out once."""
    if students.given is not None or rules.is_random:
        available = None
        if students.given is not None:
            available = students.given[running] >= 0
            if held is not None:
                available[:, held] = False
        return step(rules, evidence, [students.seeds[student] for student in running], available), np.arange(len(running))
    first, row = evidence.alike()  # where nothing is drawn, equal answers came in the same order
    return step(rules, evidence.take(first)), row


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


def _kept(before: list[Ends] | None, running: Numbers, bounds: list[Ends], count: int) -> list[Ends]:
    """The bounds of everybody: new ones for those who go on, the last ones for the others."""
    if before is None:
        return [(low.copy(), high.copy()) for low, high in bounds]
    made = []
    for (low, high), (new_low, new_high) in zip(before, bounds, strict=True):
        low, high = low.copy(), high.copy()
        low[running], high[running] = new_low, new_high
        made.append((low, high))
    return made


def _column(count: int, running: Numbers, values: Numbers) -> NDArray[np.int32]:
    column = np.full(count, -1, dtype=np.int32)
    column[running] = values
    return column


def _answer(students: Students, behaviour: Behaviour, bank: Bank, running: Numbers, questions: Numbers, evidence: Evidence) -> Numbers:
    """The answer class of each student to one question, -1 for a skip; `evidence`: what they were asked earlier."""
    if students.given is not None:
        return students.given[running, questions]
    classes = np.empty(len(running), dtype=np.intp)
    names = list(bank.questions)
    tired = 1 - (1 - behaviour.fatigue) ** evidence.counts
    for question in np.unique(questions):
        mine = np.flatnonzero(questions == question)
        who = running[mine]
        p = students.tables[question][who]
        if behaviour.fatigue:
            share = tired[mine, None]
            p = (1 - share) * p + share * students.lowest[question][who]
        for one, given in behaviour.reveals.items():
            if names[question] in given:
                share = given[names[question]] * ~evidence.is_open[mine, names.index(one)][:, None]
                p = (1 - share) * p + share * np.eye(p.shape[1])[-1]
        p = (1 - behaviour.guessing) * p + behaviour.guessing / p.shape[1]
        p = (1 - behaviour.slips) * p + behaviour.slips * np.eye(p.shape[1])[0]
        classes[mine] = pick(p, students.luck[who, question])
        classes[mine[students.moods[who, question] < behaviour.skipping]] = MISSING
    return classes
