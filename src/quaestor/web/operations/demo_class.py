"""The demo class at work: while `quaestor serve --demo` runs somebody answers every few seconds, so that the live view moves.

The first who are unfinished stay stuck or gone; the others answer in turn, each about every forty seconds. Whoever is through is followed
by somebody who has not begun, or who begins again, until there are `MOST` attempts: enough for hours. A thread of the process that starts
the server does it, however many workers serve, and ends with it.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Event as Flag
from threading import Thread

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError
from quaestor.model.question import Question
from quaestor.model.table import Array
from quaestor.session.session import Session
from quaestor.store.attempts import taking
from quaestor.store.clock import now
from quaestor.store.database import Database
from quaestor.store.models import Attempt, Event, Published, Pupil
from quaestor.web.operations.demo import GONE, MIDDLE, STUCK, written

PAUSE = (5.0, 9.0)  # seconds between two answers of the class
MOST = 300  # attempts
_log = logging.getLogger("quaestor.web")


@contextmanager
def at_work(url: str, test: int | None) -> Iterator[None]:
    """Let the class of a test work in the meantime; without a test nothing happens."""
    if test is None:
        yield
        return
    stop = Flag()
    thread = Thread(target=_work, args=(url, test, stop), name="demo", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(5)


def _work(url: str, test: int, stop: Flag) -> None:
    database, random = Database(url), np.random.default_rng()
    try:
        while not stop.wait(random.uniform(*PAUSE)):
            try:
                with database.work() as work:
                    if not move(work, test, random):
                        return
            except QuaestorError as error:  # the database is busy, or a teacher changed something at this moment
                _log.info("demo: %s", error)
    finally:
        database.close()


def move(work: Work, number: int, random: np.random.Generator) -> bool:
    """One answer of the class, of whoever waits longest; False when nobody is left to give one, or the test is closed or deleted."""
    test = work.get(Published, number)
    if test is None or (test.closes is not None and test.closes <= now()):
        return False
    busy = unfinished(work, test)[STUCK + GONE :]
    if len(busy) < MIDDLE:
        busy = [*busy, *_next(work, test)]
    if not busy:
        return False
    latest = select(Event.attempt_id, func.max(Event.at)).where(Event.attempt_id.in_([attempt.id for attempt in busy]))
    last = dict(iter(work.execute(latest.group_by(Event.attempt_id))))
    _answer(work, min(busy, key=lambda attempt: last.get(attempt.id, attempt.started)), random)
    return True


def unfinished(work: Work, test: Published) -> Sequence[Attempt]:
    """The attempts that are under way, the first one first."""
    mine = select(Attempt).where(Attempt.test_id == test.id, Attempt.ended.is_(None))
    return work.scalars(mine.order_by(Attempt.id)).all()


def _next(work: Work, test: Published) -> list[Attempt]:
    """Somebody who begins: of those who are not at it the one who has had the fewest attempts, and the longest ago."""
    if (work.scalar(select(func.count()).where(Attempt.test_id == test.id)) or 0) >= MOST:
        return []
    at_it = select(Attempt.pupil_id).where(Attempt.test_id == test.id, Attempt.ended.is_(None))
    idle = select(Pupil).outerjoin(Attempt, Attempt.pupil_id == Pupil.id).where(Pupil.class_id == test.class_id, Pupil.id.not_in(at_it))
    pupil = work.scalars(idle.group_by(Pupil.id).order_by(func.count(Attempt.id), func.max(Attempt.id), Pupil.id)).first()
    if pupil is None:
        return []
    return [taking.enter(work, pupil.code, test=test.id)]


def _answer(work: Work, attempt: Attempt, random: np.random.Generator) -> None:
    stands = taking.state_of(work, attempt)
    question = stands.session.next
    if stands.over or question is None:
        taking.end(work, stands)
        return
    entry = written(question, _drawn(stands.session, question, random), random)
    taking.answer(work, attempt, stands.step, entry.split(" | ") if question.kind == "choices" else entry)


def _drawn(session: Session, question: Question, random: np.random.Generator) -> str:
    """An answer class, for levels drawn from what is known of the taker so far."""
    levels = tuple(_one_of(session.beliefs[skill].centre, random) for skill in question.skills)
    return question.classes[_one_of(question.table.centre().lower[levels], random)]


def _one_of(chances: Array, random: np.random.Generator) -> int:
    return int(random.choice(len(chances), p=chances / chances.sum()))
