"""The state of an attempt: its session, its clock, and whether it is over."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import and_, bindparam, select, update
from sqlalchemy.orm import Session as Work
from sqlalchemy.orm import joinedload
from sqlalchemy.orm.attributes import set_committed_value

from quaestor.i18n import say
from quaestor.model.entries import Part
from quaestor.model.question import Question
from quaestor.session.option_order import option_order
from quaestor.session.session import Session
from quaestor.store.attempts.scoring import keep
from quaestor.store.attempts.session_cache import AHEAD, LINE, first_wanted, session_of
from quaestor.store.clock import now
from quaestor.store.models import Attempt, Event, Published
from quaestor.store.publishing import MissingError

_BY_KEY = select(Attempt).where(Attempt.key == bindparam("key"))
_BY_NUMBER = select(Attempt).where(Attempt.id == bindparam("number")).options(joinedload(Attempt.pupil))
_WITH_LINES = (
    _BY_NUMBER.add_columns(*LINE)
    .outerjoin(Event, and_(Event.attempt_id == Attempt.id, Event.step >= bindparam("first")))
    .order_by(Event.step)
)
TIME_UP, CLOSED = say("The time is up."), say("The test is closed.")


@dataclass(frozen=True)
class State:
    """The state of an attempt: its session, the number of the next step, and the time `left` in seconds (None without a limit).

    `put`: when the present question was shown.
    """

    attempt: Attempt
    session: Session
    step: int
    left: float | None
    put: datetime

    @property
    def over(self) -> str:
        """Why the test is over, in words; empty while it runs."""
        if self.attempt.ended is not None:
            return self._noted(self.attempt.reason)
        if self.session.stopped:
            return self.session.stopped.reason
        return deadline(self.attempt)[1] if self.left is not None and self.left <= 0 else ""

    def _noted(self, reason: str) -> str:
        """The recorded reason; the session's own sentence, which can be translated, if it is the same."""
        stopped = self.session.stopped if reason not in (TIME_UP, CLOSED) else None
        return stopped.reason if stopped is not None and stopped.reason == reason else reason

    def options(self, question: Question, part: Part | None = None) -> tuple[str, ...]:
        """The options of a question, or of one of its parts, in this attempt's order."""
        return option_order(self.attempt.seed, question, part)


def by_key(work: Work, key: str) -> Attempt | None:
    """The attempt with this key, which is part of the taker's address."""
    if len(key) > 32 or not key.isascii() or not key.isprintable():
        return None
    return work.scalar(_BY_KEY, {"key": key})


def by_number(work: Work, number: int, anew: bool = False) -> Attempt | None:
    """The attempt with this id. Each answer needs it twice, and a prepared query takes a quarter less time than `work.get`.

    `anew`: as it is in the database, whatever this unit of work has read of it before.
    """
    return work.scalar(_BY_NUMBER, {"number": number}, execution_options={"populate_existing": anew})


def with_lines(work: Work, number: int, key: str) -> Attempt | None:
    """The attempt with this id, which probably has this key; the lines of its log that `state_of` needs are read in the same statement."""
    first = first_wanted(key)
    rows = work.execute(_WITH_LINES, {"number": number, "first": first}).all()
    if not rows:
        return None
    work.info[AHEAD] = (number, first), [line for _, *line in rows if line[0] is not None]
    found: Attempt = rows[0][0]
    return found


def attempt_of(work: Work, test: Published, number: int) -> Attempt:
    """An attempt at a test."""
    found = work.get(Attempt, number)
    if found is None or found.test_id != test.id:
        raise MissingError(say("there is no such taker"))
    return found


def state_of(work: Work, attempt: Attempt, at: datetime | None = None) -> State:
    """The state of an attempt, now or by the clock of another moment."""
    session, put = session_of(work, attempt)
    return stand(attempt, session, put, at)


def stand(attempt: Attempt, session: Session, put: datetime, at: datetime | None = None) -> State:
    """The state of an attempt with this session, whose present question was shown at `put`."""
    limit = deadline(attempt)[0]
    left = None if limit is None else (limit - (at or now())).total_seconds()
    return State(attempt, session, len(session.log) + 1, left, put)


def deadline(attempt: Attempt) -> tuple[datetime | None, str]:
    """The latest end of an attempt, by its time limit or the closing of the test (None without either), and the reason.

    Extra time, a part of the time limit and minutes, is added to both: who has more time may use it after the others have to stop.
    """
    test = attempt.test
    extra = timedelta(minutes=attempt.extra + (attempt.factor - 1) * (test.minutes or 0.0))
    up = attempt.started + timedelta(minutes=test.minutes) + extra if test.minutes is not None else None
    if test.closes is not None and (up is None or test.closes + extra < up):
        return test.closes + extra, CLOSED
    return up, TIME_UP


def end(work: Work, state: State) -> None:
    """Record the end of an attempt if it is over: the moment of the last answer, or when the time was up."""
    attempt = state.attempt
    if attempt.ended is None and state.over:
        keep(work, attempt, state.session, state.put)
        limit = deadline(attempt)[0]
        reason, ended = str(state.over), state.put if state.session.stopped or limit is None else min(limit, now())
        work.execute(update(Attempt).where(Attempt.id == attempt.id, Attempt.ended.is_(None)).values(reason=reason, ended=ended))
        set_committed_value(attempt, "reason", reason)
        set_committed_value(attempt, "ended", ended)
