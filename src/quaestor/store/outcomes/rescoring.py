"""Scoring in the background: what nobody has worked out yet, or what a correction has changed.

The answers of an attempt are scored as they come (`scoring`). Left for later are attempts of a database from before outcomes were stored,
those that a correction of their test reaches, those whose time ran out while nobody looked, and whether the answers fit together, which
takes longer than a page should.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, exists, func, or_, select, update
from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError
from quaestor.inference.misfit import misfit
from quaestor.session.session import Session
from quaestor.store import job_queue
from quaestor.store.attempts.progress import is_over
from quaestor.store.attempts.scoring import keep
from quaestor.store.attempts.session_cache import session_of
from quaestor.store.attempts.state import end, stand
from quaestor.store.clock import now
from quaestor.store.corrections import corrections_of
from quaestor.store.database import Database
from quaestor.store.models import Attempt, Event, Published, Scoring
from quaestor.store.outcomes.replay import session_at
from quaestor.store.privacy import is_named

KIND = "scoring"
NONE_LEFT = "No question is left"  # how the reason of such an end begins
PAUSE = 60.0  # seconds after which a test is looked at again
_log = logging.getLogger("quaestor.store")


def _waits() -> ColumnElement[bool]:
    """The condition that something of an attempt is left to be worked out."""
    present = and_(Scoring.attempt_id == Attempt.id, Scoring.revision == Published.revision)
    answered = exists().where(Event.attempt_id == Attempt.id)
    judged = exists().where(present, Scoring.misfits.is_not(None))
    return or_(and_(answered, ~exists().where(present)), and_(is_over(now()), or_(~judged, Attempt.ended.is_(None))))


def waiting(work: Work, test: Published) -> Sequence[int]:
    """The attempts of a test of which something is left to be worked out."""
    return work.scalars(select(Attempt.id).join(Published).where(Published.id == test.id, _waits()).order_by(Attempt.id)).all()


def ask(work: Work, test: Published, pause: float = PAUSE) -> None:
    """Request that what is left of a test be worked out."""
    job_queue.ask_once(work, test.teacher_id, KIND, f"test {test.id}", {"test": test.id}, pause)


def is_any(work: Work) -> bool:
    """Whether any test has something left; only reads."""
    return work.scalar(_left().limit(1)) is not None


def ask_all(work: Work) -> None:
    """Request it for all tests that have something left."""
    for test in work.scalars(_left()).all():
        ask(work, test)


def _left() -> Select[Any]:
    return select(Published).where(exists().where(Attempt.test_id == Published.id, _waits()))


def score_all(database: Database, test_id: int, go_on: Callable[[float], bool]) -> dict[str, int]:
    """Work out what is left of a test: each attempt in units of work of its own, the longer part in one that only reads."""
    with database.read() as work:
        test = work.get(Published, test_id)
        left = waiting(work, test) if test is not None else []
    done = 0
    for place, number in enumerate(left):
        if not go_on(place / len(left)):
            break
        try:
            done += _score(database, number)
        except QuaestorError as error:
            _log.warning("attempt %d was not scored: %s", number, type(error).__name__)  # its words may quote an answer
    return {"scored": done, "left": len(left) - done}


def _score(database: Database, number: int) -> bool:
    """Score one attempt; False if it has gone on, or was deleted, meanwhile."""
    with database.read() as work:
        attempt = work.get(Attempt, number)
        if attempt is None:
            return False
        session, put = session_of(work, attempt)
        state = stand(attempt, session, put)
        misfits = _misfits(session) if state.over else None
        before = _before(work, attempt)
    with database.work() as work:
        attempt = work.get(Attempt, number, with_for_update={"of": Attempt})
        steps = work.scalar(select(func.count()).where(Event.attempt_id == number))
        if attempt is None or steps != len(session.log) or attempt.test.revision != state.attempt.test.revision:
            return False
        _go_on(attempt, session)
        end(work, stand(attempt, session, put))
        if before is not None:
            keep(work, attempt, before[0], put, before[1])
        keep(work, attempt, session, put)
        if attempt.ended is not None:
            mine = (Scoring.attempt_id == number, Scoring.revision == attempt.test.revision)
            work.execute(update(Scoring).where(*mine).values(misfits=misfits))
    return True


def _go_on(attempt: Attempt, session: Session) -> None:
    """Let an attempt go on that ended since no question was left, if a correction has brought one back."""
    was_last = attempt.ended is not None and attempt.reason.startswith(NONE_LEFT) and session.stopped is None
    if was_last and attempt.set_aside is None and is_named(attempt) and (attempt.due is None or attempt.due > now()):
        attempt.ended, attempt.reason = None, ""


def _before(work: Work, attempt: Attempt) -> tuple[Session, int] | None:
    """What an attempt was scored by at its end, with the revision, where nothing was stored of it before the test was corrected."""
    test = attempt.test
    if not test.revision or attempt.ended is None:
        return None
    stored = select(Scoring.revision).where(Scoring.attempt_id == attempt.id)
    revision = sum(one.at <= attempt.ended for one in corrections_of(work, test))
    if revision == test.revision or work.scalars(stored).first() is not None:
        return None
    return session_at(work, test, attempt.id, revision), revision


def _misfits(session: Session) -> bool:
    """Whether the answers fit the bank so badly that a teacher should check them."""
    seen = misfit(session.bank, session.answers)
    return seen is not None and seen.is_hint
