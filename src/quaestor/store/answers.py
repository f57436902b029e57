"""The answers of a whole test in a few queries: for statistics of questions, for the live view, and for learning."""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session as Work

from quaestor.bankfile.bank import Bank
from quaestor.store.clock import now
from quaestor.store.models import Attempt, Event, Published, Pupil
from quaestor.store.progress import counts, is_over
from quaestor.store.publishing import open_bank
from quaestor.store.sessions import corrected, line_of


class Given(NamedTuple):
    """A line of an attempt's log; `answer` is None for a skip."""

    attempt: int
    question: str
    answer: str | None
    entry: str | None
    seconds: float


class Clock(NamedTuple):
    """The times of an attempt: the moment of the last answer, and the seconds that each answer took."""

    last: datetime
    seconds: tuple[float, ...]


def given(work: Work, test: Published) -> list[Given]:
    """All answers of a test, by attempt and step, as they count now: those to a question whose key was corrected by the new one."""
    anew = corrected(work, test)
    columns = select(Event.attempt_id, Event.question, Event.answer, Event.entry, Event.seconds)
    mine = columns.join(Attempt).where(Attempt.test_id == test.id).order_by(Event.attempt_id, Event.step)
    rows = work.execute(mine)
    if not anew:
        return [Given(*row) for row in rows]
    return [Given(attempt, one, line_of(anew, one, kind, entry, taken).answer, entry, taken) for attempt, one, kind, entry, taken in rows]


def clocks(work: Work, test: Published) -> Mapping[int, Clock]:
    """The clocks of the running attempts with at least one answer, by the attempt's id."""
    columns = select(Event.attempt_id, Event.seconds, Event.at).join(Attempt)
    running = columns.where(Attempt.test_id == test.id, ~is_over(now())).order_by(Event.attempt_id, Event.step)
    seconds: dict[int, list[float]] = defaultdict(list)
    last: dict[int, datetime] = {}
    for number, taken, at in work.execute(running):
        seconds[number].append(taken)
        last[number] = at
    return {number: Clock(last[number], tuple(taken)) for number, taken in seconds.items()}


def pulse(work: Work, test: Published) -> str:
    """A fingerprint of the live view of a test: it changes with each answer, and every minute while an attempt is running."""
    of_test = select(Attempt.id).where(Attempt.test_id == test.id)
    answers = work.execute(select(func.count(), func.max(Event.at)).where(Event.attempt_id.in_(of_test))).one()
    running, over = counts(work, [test], now()).get(test.id, (0, 0))
    listed = work.scalar(select(func.count()).where(Pupil.test_id == test.id))
    minute = f"{now():%d %H:%M}" if running else ""
    return hashlib.sha256(repr((*answers, running, over, listed, minute)).encode()).hexdigest()[:16]


class Answered(NamedTuple):
    """An answer to learn from: the person (a number, no name), the question, and the answer class."""

    person: int
    question: str
    answer: str


def answered(work: Work, tests: Sequence[Published], bank: Bank) -> list[Answered]:
    """The answers in some tests to the questions that still have the same skills and classes in the bank; without skips."""
    found: list[Answered] = []
    for test in tests:
        asked = open_bank(test.bank).questions
        same = {
            name
            for name, question in bank.questions.items()
            if name in asked and (asked[name].skills, asked[name].classes) == (question.skills, question.classes)
        }
        found += [
            Answered(line.attempt, line.question, line.answer)
            for line in given(work, test)
            if line.question in same and line.answer is not None
        ]
    return found
