"""Some students take the test: every step of every one of them, recorded."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank
from quaestor.credal.intervals import pick
from quaestor.errors import QuaestorError
from quaestor.inference.lookahead import Ends
from quaestor.model.table import Array
from quaestor.selection.rules import MISSING as SKIPS_MISSING
from quaestor.selection.rules import WRONG, Rules
from quaestor.session.log import Answer, Late
from quaestor.session.session import Session
from quaestor.simulate.cohort import Behaviour, Students
from quaestor.simulate.states import MISSING, OPEN, Decision, Numbers, States, Steps, unique_rows

PLAIN = {
    "score",
    "then",
    "bound",
    "target",
    "per",
    "stop",
    "skips",
    "may_skip",
    "only_next",
}  # rules that are followed for many takers at once


@dataclass(frozen=True)
class Record:
    """What happened. `asked`: places of questions, (students, steps), -1 after the end; `answers`: classes, -1 for a skip or after the end.

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
    def length(self) -> Numbers:
        """How many questions each was asked."""
        found: Numbers = (self.asked >= 0).sum(axis=1)
        return found


def take(bank: Bank, rules: Rules, students: Students, behaviour: Behaviour, held: Numbers | None = None) -> Record:
    """Let students take the test; questions that are `held` out are never asked, only foretold."""
    way = _Together(bank, rules, students, held) if set(rules.document) <= PLAIN else _OneByOne(bank, rules, students)
    count = len(students.numbers)
    running = np.arange(count)
    rule = np.full(count, "", dtype=object)
    asked: list[NDArray[np.int32]] = []
    answers: list[NDArray[np.int32]] = []
    bounds: list[list[Ends]] = []
    foretold: list[Array] = []
    while True:
        decision = way.decide(running)
        if decision.chances is not None and held is not None and students.given is not None:
            now = foretold[-1].copy() if foretold else np.full((count, len(held)), np.nan)
            now[running] = _foretold(decision.chances, students.given[running][:, held])
            foretold.append(now)
        bounds.append(_kept(bounds[-1] if bounds else None, running, decision.bounds, count))
        rule[running] = decision.rule
        running = running[~decision.stopped]
        if not len(running):
            break
        questions = decision.next[~decision.stopped]
        classes = _answer(students, behaviour, bank, running, questions, way.before(running))
        if not rules.may_skip and (classes == MISSING).any():
            raise QuaestorError("the rules let no question be skipped, got a student who skips")
        asked.append(_column(count, running, questions))
        answers.append(_column(count, running, classes))
        way.put(running, questions, classes)
    steps = len(asked)
    made = tuple(
        (np.stack([step[skill][0] for step in bounds], axis=1), np.stack([step[skill][1] for step in bounds], axis=1))
        for skill in range(len(bank.skills))
    )
    put = np.stack(asked, axis=1) if steps else np.zeros((count, 0), dtype=np.int32)
    given = np.stack(answers, axis=1) if steps else np.zeros((count, 0), dtype=np.int32)
    return Record(students.numbers, students.levels, put, given, made, rule, np.stack(foretold, axis=1) if foretold else None)


def _foretold(chances: Array, given: NDArray[np.intp]) -> Array:
    """The probability of the answers that people gave, (students, held); NaN where they gave none."""
    found = np.take_along_axis(chances, np.maximum(given, 0)[:, :, None], axis=2)[:, :, 0]
    return np.where(given >= 0, found, np.nan)


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


def _answer(
    students: Students, behaviour: Behaviour, bank: Bank, running: Numbers, questions: Numbers, before: NDArray[np.bool_]
) -> Numbers:
    """The answer class of each student to one question, -1 for a skip; `before`: what they were asked earlier, (students, questions)."""
    if students.given is not None:
        return students.given[running, questions]
    classes = np.empty(len(running), dtype=np.intp)
    names = list(bank.questions)
    tired = 1 - (1 - behaviour.fatigue) ** before.sum(axis=1)
    for question in np.unique(questions):
        mine = np.flatnonzero(questions == question)
        who = running[mine]
        p = students.tables[question][who]
        if behaviour.fatigue:
            share = tired[mine, None]
            p = (1 - share) * p + share * students.lowest[question][who]
        for one, given in behaviour.reveals.items():
            if names[question] in given:
                share = given[names[question]] * before[mine, names.index(one)][:, None]
                p = (1 - share) * p + share * np.eye(p.shape[1])[-1]
        p = (1 - behaviour.guessing) * p + behaviour.guessing / p.shape[1]
        p = (1 - behaviour.slips) * p + behaviour.slips * np.eye(p.shape[1])[0]
        classes[mine] = pick(p, students.luck[who, question])
        classes[mine[students.moods[who, question] < behaviour.skipping]] = MISSING
    return classes


class _Together:
    """Plain rules: all students at once; those with equal answers are worked out once, unless something is drawn."""

    def __init__(self, bank: Bank, rules: Rules, students: Students, held: Numbers | None) -> None:
        self._steps, self._students = Steps(bank, rules, held), students
        self._free = np.ones(len(bank.questions), dtype=bool)
        if held is not None:
            self._free[held] = False
        self._states = States.begin(self._steps.compiled, len(students.numbers))

    def decide(self, running: Numbers) -> Decision:
        """Bounds, stops and next questions of those who are still at it."""
        states, given = self._states.take(running), self._students.given
        if given is not None or self._steps.rules.is_random:
            seeds = [self._students.seeds[student] for student in running]
            return self._steps.decide(states, (given[running] >= 0) & self._free if given is not None else None, seeds)
        first, place = unique_rows(states.answers)
        found = self._steps.decide(states.take(first))
        bounds = [(low[place], high[place]) for low, high in found.bounds]
        return Decision(bounds, found.stopped[place], found.next[place], found.rule[place])

    def before(self, running: Numbers) -> NDArray[np.bool_]:
        """What each was asked so far, (students, questions)."""
        return np.asarray(self._states.answers[running] != OPEN)

    def put(self, running: Numbers, questions: Numbers, classes: Numbers) -> None:
        """Note the answers; what a skip means is a rule."""
        rules, bank = self._steps.rules, self._steps.bank
        if rules.skips != SKIPS_MISSING and (classes == MISSING).any():
            listed = list(bank.questions.values())
            meant = [0 if rules.skips == WRONG else listed[question].classes.index(rules.skips) for question in questions]
            classes = np.where(classes == MISSING, meant, classes)
        self._states.put(self._steps.compiled, running, questions, classes)


class _OneByOne:
    """Rules that keep an order or draw in their own way: a session for each student, shared by those with equal logs."""

    def __init__(self, bank: Bank, rules: Rules, students: Students) -> None:
        if students.given is not None:
            wrong = sorted(set(rules.document) - PLAIN)[0]
            raise QuaestorError(f"responses of real people are for rules without '{wrong}': some of their answers are missing")
        self._bank, self._place = bank, {name: number for number, name in enumerate(bank.questions)}
        self._listed = list(bank.questions.values())
        seeds = students.seeds if rules.is_random else (0,) * len(students.numbers)
        self._known: dict[tuple[int, tuple[Answer | Late, ...]], Session] = {}
        self._sessions = [self._same(Session(bank, rules, seed)) for seed in seeds]

    def _same(self, session: Session) -> Session:
        return self._known.setdefault((session.seed, session.log), session)

    def decide(self, running: Numbers) -> Decision:
        """Bounds, stops and next questions of those who are still at it."""
        sessions = [self._sessions[student] for student in running]
        bounds = [
            (np.stack([s.beliefs[skill].lower for s in sessions]), np.stack([s.beliefs[skill].upper for s in sessions]))
            for skill in self._bank.skills
        ]
        stopped = np.array([s.stopped is not None for s in sessions])
        following = np.array([-1 if s.next is None else self._place[s.next.id] for s in sessions])
        rules = np.array([s.stopped.rule if s.stopped else "" for s in sessions], dtype=object)
        return Decision(bounds, stopped, following, rules)

    def before(self, running: Numbers) -> NDArray[np.bool_]:
        """What each was asked so far, (students, questions)."""
        asked = np.zeros((len(running), len(self._place)), dtype=bool)
        for row, student in enumerate(running):
            asked[row, [self._place[name] for name in self._sessions[student].asked]] = True
        return asked

    def put(self, running: Numbers, questions: Numbers, classes: Numbers) -> None:
        """Note the answers."""
        for student, place, answer in zip(running.tolist(), questions.tolist(), classes.tolist(), strict=True):
            session, question = self._sessions[student], self._listed[place]
            then = session.skip(question.id) if answer == MISSING else session.answer(question.id, answer)
            self._sessions[student] = self._same(then)
