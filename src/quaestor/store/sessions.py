"""The session of an attempt: rebuilt from the log in the database, with a memory in front that is only a cache.

What is remembered counts only if its last line is, to the microsecond, the database's line of that step: a process that is behind reads
the rest, and one that is ahead (its unit of work was undone) or beside it starts afresh.
"""

from datetime import datetime

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session as Work

from quaestor.selection.rules_file import read_rules
from quaestor.session.log import Answer
from quaestor.session.session import Session
from quaestor.store.memory import Memory
from quaestor.store.models import Attempt, Event, Published
from quaestor.store.pace import engine
from quaestor.store.publishing import open_bank

MOST = 4_000_000  # questions of all remembered sessions together: some 500 MB of look-aheads in the worst case
_EACH = 1000  # what a session costs besides, counted in questions
_LONG = {"earlier", "history", "_situation"}  # what holds the sessions before this one: too much to remember

_LINES = (
    select(Event.question, Event.answer, Event.entry, Event.seconds, Event.at)
    .where(Event.attempt_id == bindparam("attempt"), Event.step >= bindparam("first"))
    .order_by(Event.step)
)
_memory: Memory[str, tuple[Session, datetime]] = Memory(MOST)


def begun(test: Published, seed: int) -> Session:
    """The session of a test that begins."""
    return Session(open_bank(test.bank), read_rules(test.rules), seed)


def session_of(work: Work, attempt: Attempt, prompt: bool = False) -> tuple[Session, datetime]:
    """The session of an attempt as its log has it now, and when its present question was put: when the one before was answered.

    `prompt`: one that is not remembered is left to somebody else where its steps take long.
    """
    session, at = _memory.get(attempt.key) or (None, attempt.started)
    known = len(session.log) if session is not None else 0
    lines = _lines(work, attempt, max(known, 1))
    if session is not None and known:
        if lines and lines[0][1] == at and lines[0][0] == session.log[-1]:
            lines = lines[1:]
        else:
            session, lines = None, _lines(work, attempt, 1)
    if session is not None and not lines:
        return _copy(session), at
    with engine(attempt.test_id, prompt):
        if session is None:
            session = begun(attempt.test, attempt.seed)
        if lines:
            session, at = Session(session.bank, session.rules, session.seed, (*session.log, *(line for line, _ in lines))), lines[-1][1]
        remember(attempt, session, at)
    return session, at


def _lines(work: Work, attempt: Attempt, first: int) -> list[tuple[Answer, datetime]]:
    rows = work.execute(_LINES, {"attempt": attempt.id, "first": first})
    return [(Answer(question, answer, entry, seconds / 60), at) for question, answer, entry, seconds, at in rows]


def remember(attempt: Attempt, session: Session, at: datetime) -> None:
    """Remember a session whose last line was written at a moment, with its next question worked out."""
    session.next  # noqa: B018  every page needs it
    _memory.put(attempt.key, (_copy(session), at), len(session.bank.questions) + _EACH)


def forget(attempt: Attempt) -> None:
    """Forget a session."""
    _memory.forget(attempt.key)


def forget_all() -> None:
    """Forget every session, as a restart does."""
    _memory.clear()


def _copy(session: Session) -> Session:
    """The same session with what it has worked out, but for the sessions before it: these are not to grow in memory."""
    made = object.__new__(Session)
    made.__dict__.update({name: value for name, value in session.__dict__.items() if name not in _LONG})
    return made
