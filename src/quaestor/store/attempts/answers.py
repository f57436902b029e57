"""The answers of a whole test in a few queries: for statistics of questions, for the live view, and for learning."""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session as Work

from quaestor.bankfile.bank import Bank
from quaestor.model.question import Question
from quaestor.store.attempts.progress import counts, is_over
from quaestor.store.attempts.session_cache import corrected, line_of
from quaestor.store.clock import now
from quaestor.store.models import Attempt, Event, Published, Pupil
from quaestor.store.publishing import open_bank


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


def in_time(work: Work, test: Published) -> list[Given]:
    """All answers of a test without skips, in the order in which they came in, as they count now."""
    mine = select(Event.attempt_id, Event.question, Event.at).join(Attempt).where(Attempt.test_id == test.id)
    moments = {(attempt, question): at for attempt, question, at in work.execute(mine)}
    return sorted((line for line in given(work, test) if line.answer is not None), key=lambda line: moments[line.attempt, line.question])


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
    listed = work.scalar(select(func.count()).where(Pupil.class_id == test.class_id))
    minute = f"{now():%d %H:%M}" if running else ""
    return hashlib.sha256(repr((*answers, running, over, listed, minute)).encode()).hexdigest()[:16]


class Answered(NamedTuple):
    """An answer to learn from: the person (a number, no name), the question, and the answer class."""

    person: int
    question: str
    answer: str


@dataclass(frozen=True)
class Usable:
    """The answers in some tests that tell something of a bank, without skips, and those that were given to a question as it was before.

    `left_out`: by question, how many, and which parts of the question changed since (`text`, `options`, `key`, `image`, `skills`).
    """

    lines: list[Answered]
    left_out: Mapping[str, tuple[int, frozenset[str]]]


def usable(work: Work, tests: Sequence[Published], bank: Bank, media: Mapping[str, str]) -> Usable:
    """The answers in some tests that were given to questions of the bank as they are now. `media`: the hashes of the bank's images by name.

    Only what takers saw and what made an answer right is compared, not the tables: those are what is learnt.
    """
    found: list[Answered] = []
    left: dict[str, tuple[int, frozenset[str]]] = {}
    for test in tests:
        asked = open_bank(test.bank).questions
        both = [name for name in bank.questions if name in asked]
        changes = {name: _changed((asked[name], test.bank.media), (bank.questions[name], media)) for name in both}
        lines = [Answered(line.attempt, line.question, line.answer) for line in given(work, test) if line.answer is not None]
        found += [line for line in lines if changes.get(line.question) == frozenset()]
        for line in lines:
            if changed := changes.get(line.question):
                count, parts = left.get(line.question, (0, frozenset()))
                left[line.question] = (count + 1, parts | changed)
    return Usable(found, left)


def _changed(before: tuple[Question, Mapping[str, str]], after: tuple[Question, Mapping[str, str]]) -> frozenset[str]:
    """The parts of a question that differ."""
    (one, images), (other, others) = before, after
    kinds = [(kind, other.option_classes.get(option, kind)) for option, kind in one.option_classes.items()]
    differ = {
        "text": one.text != other.text,
        "options": set(one.options) != set(other.options),
        "key": _key(one) != _key(other) or any(earlier != later for earlier, later in kinds),
        "image": [images.get(name, "") for name in one.files] != [others.get(name, "") for name in other.files],
        "skills": one.skills != other.skills,
    }
    return frozenset(part for part, differs in differ.items() if differs)


def _key(question: Question) -> tuple[object, ...]:
    return question.kind, question.classes, frozenset(question.correct), dict(question.accept), question.tolerance, question.parts
