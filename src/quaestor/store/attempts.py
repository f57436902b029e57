"""Taking a published test: an attempt is its answer log, one line a step, and everything else is worked out from it.

A line is written with the number of its step, which must be the next one: of two tabs, double clicks or replayed posts that answer the
same step one wins, and the others are told where the test stands now. Clocks run from the attempt's start; what comes too late is refused.
"""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from secrets import randbelow
from threading import Lock

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError
from quaestor.log import Answer
from quaestor.rules_file import read_rules
from quaestor.session import Session
from quaestor.store.clock import now
from quaestor.store.models import Attempt, Event, Published, Pupil
from quaestor.store.publishing import read_bank
from quaestor.store.secrets import code, tidy, token

CACHED = 512  # sessions kept in memory, of all attempts
TIME_UP = "The time is up."


class EntryError(QuaestorError):
    """A code that opens nothing, a test that is closed, a second try that is not allowed."""


class StaleError(QuaestorError):
    """An answer to a step that was answered before; `step` is where the test stands now."""

    def __init__(self, step: int) -> None:
        self.step = step
        super().__init__(f"this question was answered already; the test stands at step {step}")


@dataclass(frozen=True)
class Sitting:
    """An attempt as it stands: the session so far, the step that comes next, and what is left of the time, in seconds."""

    attempt: Attempt
    session: Session
    step: int
    left: float | None

    @property
    def over(self) -> str:
        """Why the test is over, in words; empty while it runs."""
        if self.attempt.ended is not None:
            return self.attempt.reason
        if self.left is not None and self.left <= 0:
            return TIME_UP
        return self.session.stopped.reason if self.session.stopped else ""


def enter(work: Work, written: str, name: str) -> Attempt:
    """Begin (or go on with) a test: by the class code and a name, a pupil's code, or the code of an attempt."""
    typed = tidy(written)
    again = work.scalar(select(Attempt).where(Attempt.code == typed))
    if again is not None:
        return again
    pupil = work.scalar(select(Pupil).where(Pupil.code == typed))
    test = work.get(Published, pupil.test_id) if pupil is not None else work.scalar(select(Published).where(Published.code == typed))
    if test is None:
        raise EntryError("this code opens no test; please check it")
    _refuse_closed(test)
    if pupil is None and test.by_list:
        raise EntryError("this test is for pupils of a class list: please enter your own code")
    if pupil is not None:
        earlier = work.scalars(select(Attempt).where(Attempt.pupil_id == pupil.id).order_by(Attempt.id.desc())).first()
        if earlier is not None and (earlier.ended is None or test.retakes == "none"):
            return earlier
    called = pupil.name if pupil is not None else " ".join(name.split())[:200]
    if not called:
        raise EntryError("please enter a name")
    made = Attempt(
        key=token()[:32],
        code=code(8),
        test_id=test.id,
        pupil_id=pupil.id if pupil is not None else None,
        name=called,
        seed=randbelow(2**31),
        started=now(),
        ended=None,
        reason="",
    )
    work.add(made)
    work.flush()
    return made


def _refuse_closed(test: Published) -> None:
    moment = now()
    if test.opens is not None and moment < test.opens:
        raise EntryError(f"this test opens on {test.opens:%d %B %Y at %H:%M} UTC")
    if test.closes is not None and moment >= test.closes:
        raise EntryError("this test is closed")


def by_key(work: Work, key: str) -> Attempt | None:
    """The attempt of a taker's address."""
    return work.scalar(select(Attempt).where(Attempt.key == key))


def sitting(work: Work, attempt: Attempt) -> Sitting:
    """An attempt as it stands now."""
    session = _sessions.of(work, attempt)
    return Sitting(attempt, session, len(session.log) + 1, _left(attempt))


def _left(attempt: Attempt) -> float | None:
    limits = [attempt.started + timedelta(minutes=attempt.test.minutes)] if attempt.test.minutes is not None else []
    limits += [attempt.test.closes] if attempt.test.closes is not None else []
    return (min(limits) - now()).total_seconds() if limits else None


def answer(work: Work, attempt: Attempt, step: int, entry: str | Iterable[str]) -> Sitting:
    """Answer the question of a step with what was typed or ticked."""
    return _put(work, attempt, step, entry)


def skip(work: Work, attempt: Attempt, step: int) -> Sitting:
    """Skip the question of a step."""
    return _put(work, attempt, step, None)


def _put(work: Work, attempt: Attempt, step: int, entry: str | Iterable[str] | None) -> Sitting:
    stands = sitting(work, attempt)
    if step != stands.step:
        raise StaleError(stands.step)
    question = stands.session.next
    if stands.over or question is None:
        end(work, stands)
        raise EntryError(f"the test is over: {stands.over}")
    seconds = max(0.0, (now() - _shown(work, attempt)).total_seconds())
    then = stands.session.skip(question.id, seconds / 60) if entry is None else stands.session.enter(question.id, entry, seconds / 60)
    line = then.log[-1]
    assert isinstance(line, Answer)
    try:
        with work.begin_nested():
            made = Event(
                attempt_id=attempt.id, step=step, question=line.question, answer=line.answer, entry=line.entry, seconds=seconds, at=now()
            )
            work.add(made)
            work.flush()
    except IntegrityError as error:
        _sessions.forget(attempt.id)
        raise StaleError(sitting(work, attempt).step) from error
    _sessions.keep(attempt.id, then)
    after = Sitting(attempt, then, step + 1, _left(attempt))
    if after.over:
        end(work, after)
    return after


def _shown(work: Work, attempt: Attempt) -> datetime:
    """When the present question was put: when the one before was answered."""
    last = work.scalar(select(Event.at).where(Event.attempt_id == attempt.id).order_by(Event.step.desc()).limit(1))
    return last if last is not None else attempt.started


def end(work: Work, stands: Sitting) -> None:
    """Note that a test is over."""
    if stands.attempt.ended is None and stands.over:
        stands.attempt.reason = stands.over
        stands.attempt.ended = now()
        work.flush()


class _Sessions:
    """Sessions kept in memory. Only a cache: an attempt's log in the database is what counts, and its length is looked up every time."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, Session] = OrderedDict()
        self._lock = Lock()

    def of(self, work: Work, attempt: Attempt) -> Session:
        """The session of an attempt's log: from memory as far as that goes, from the database for the rest."""
        with self._lock:
            session = self._kept.get(attempt.id)
        known = len(session.log) if session is not None else 0
        lines = work.scalars(select(Event).where(Event.attempt_id == attempt.id, Event.step > known).order_by(Event.step)).all()
        if session is None:
            bank = read_bank(attempt.test.bank.version, attempt.test.bank.content)
            session = Session(bank, read_rules(attempt.test.rules), attempt.seed)
        if lines:
            log = (*session.log, *(Answer(line.question, line.answer, line.entry, line.seconds / 60) for line in lines))
            session = Session(session.bank, session.rules, session.seed, log)
        self.keep(attempt.id, session)
        return session

    def keep(self, attempt: int, session: Session) -> None:
        """Remember a session, and forget the one not used for longest."""
        with self._lock:
            self._kept[attempt] = session
            self._kept.move_to_end(attempt)
            while len(self._kept) > CACHED:
                self._kept.popitem(last=False)

    def forget(self, attempt: int) -> None:
        """Forget a session that is behind the database."""
        with self._lock:
            self._kept.pop(attempt, None)


_sessions = _Sessions()
