"""The session of an attempt: rebuilt from the log in the database, with a cache in each process.

A cached session is used only if its last line equals, to the microsecond, the line of that step in the database: a process that is behind
reads the remaining lines, and one that is ahead (its unit of work was rolled back) or differs starts again from the log.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session as Work

from quaestor.model.question import Question
from quaestor.selection.rules_file import read_rules
from quaestor.session.log import Answer, Late
from quaestor.session.session import Session
from quaestor.store.attempts.kept_steps import stored_step
from quaestor.store.attempts.pace import is_quick, work_out
from quaestor.store.memory import Memory, cached
from quaestor.store.models import Attempt, Correction, Event, Published
from quaestor.store.publishing import open_bank
from quaestor.store.sizes import layout_size, session_size

_SAMPLE = 50  # of so many sessions of a test one is measured: they are alike
_AT_ONCE = 500  # keys in one query
_LONG = {"earlier", "history"}  # cached properties that hold the earlier sessions: too large to keep

LINE = (Event.question, Event.answer, Event.entry, Event.seconds, Event.at)
_LINES = select(*LINE).where(Event.attempt_id == bindparam("attempt"), Event.step >= bindparam("first")).order_by(Event.step)
AHEAD = "lines read ahead"  # in the info of a unit of work: the attempt and the first step, and the rows
_KEYS = select(Correction.question).where(Correction.test_id == bindparam("test"), Correction.kind == "key")
_sizes: Memory[int, tuple[int, int]] = Memory(10_000)  # by test: the bytes of a session, and for how many more that is believed


def begun(test: Published, seed: int, start: tuple[Late, ...] = ()) -> Session:
    """The session at the beginning of a test; `start`: what is known beside the bank."""
    return Session(open_bank(test.bank), read_rules(test.rules), seed, start=start)


def start_of(stored: Mapping[str, Any] | None) -> tuple[Late, ...]:
    """What an attempt started from, as it is stored with it."""
    lines = stored["lines"] if stored is not None else ()
    return tuple(Late(one["skill"], tuple(tuple(two) if isinstance(two, list) else two for two in one["likelihood"])) for one in lines)


def session_of(work: Work, attempt: Attempt) -> tuple[Session, datetime]:
    """The session of an attempt, up to date with its log, and when its present question was shown: when the one before was answered."""
    session, at, revision = cached.get(("session", attempt.key)) or (None, attempt.started, 0)
    if revision != attempt.test.revision:
        session, at = None, attempt.started
    known = len(session.log) if session is not None else 0
    lines = _lines(work, attempt, max(known, 1))
    if session is not None and known:
        if lines and lines[0][1] == at and lines[0][0] == session.log[-1]:
            lines = lines[1:]
        else:
            session, lines = None, _lines(work, attempt, 1)
    if session is not None and not lines:
        return _copy(session), at
    if session is None:
        session = begun(attempt.test, attempt.seed, start_of(attempt.start))
    if lines:
        session, at = replace(session, log=(*session.log, *(line for line, _ in lines))), lines[-1][1]
    if not is_quick(session.bank, session.rules) and (found := stored_step(work, attempt, session, at)) is not None:
        found.into(session)
    remember(attempt, session, at)
    return session, at


def first_wanted(key: str) -> int:
    """The first line of the log that `session_of` will ask for, as far as the cache can tell: the last one of a cached session."""
    known = cached.get(("session", key))
    return max(len(known[0].log), 1) if known is not None else 1


def _lines(work: Work, attempt: Attempt, first: int) -> list[tuple[Answer, datetime]]:
    anew = corrected(work, attempt.test)
    read, rows = work.info.pop(AHEAD, (None, ()))
    if read != (attempt.id, first):
        rows = work.execute(_LINES, {"attempt": attempt.id, "first": first})
    return [(line_of(anew, question, answer, entry, seconds), at) for question, answer, entry, seconds, at in rows]


def corrected(work: Work, test: Published) -> Mapping[str, Question]:
    """The questions of a test whose key was corrected, as they are now: answers to them are classified anew."""
    if not test.revision:
        return {}
    questions = open_bank(test.bank).questions
    return {name: questions[name] for name in work.scalars(_KEYS, {"test": test.id})}


def line_of(anew: Mapping[str, Question], question: str, answer: str | None, entry: str | None, seconds: float) -> Answer:
    """A line of a log as it counts now; an entry that was erased keeps the class that it had."""
    if question in anew and answer is not None and entry is not None:
        answer = anew[question].classify(entry)
    return Answer(question, answer, entry, seconds / 60)


def remember(attempt: Attempt, session: Session, at: datetime) -> None:
    """Remember a session whose last line was written at a moment, with what pages need."""
    work_out(session)
    kept, bank = _copy(session), ("bank", session.bank.version)
    cached.put(("session", attempt.key), (kept, at, attempt.test.revision), _size(attempt.test_id, kept), needs=bank)


def _size(test: int, session: Session) -> int:
    """The bytes of a session; where it is measured, what grew with the bank is too."""
    size, left = _sizes.get(test) or (0, 0)
    if not left:
        size, left = session_size(session), _SAMPLE
        cached.grown(("bank", session.bank.version), layout_size(session.bank))
    _sizes.put(test, (size, left - 1))
    return size


def forget(attempt: Attempt) -> None:
    """Remove the session of an attempt from the cache."""
    cached.forget(("session", attempt.key))


def forget_erased(work: Work) -> None:
    """Remove the sessions of attempts that were deleted or made nameless, by whichever process, from the cache of this one."""
    everything = cached.keys()
    keys = [name for kind, name in everything if kind == "session"]
    for first in range(0, len(keys), _AT_ONCE):
        some = keys[first : first + _AT_ONCE]
        for key in set(some) - set(work.scalars(select(Attempt.key).where(Attempt.key.in_(some)))):
            cached.forget(("session", key))


def forget_all() -> None:
    """Clear the cache, as a restart does."""
    cached.clear()


def _copy(session: Session) -> Session:
    """A copy of a session with its cached properties, except those that hold the earlier sessions."""
    made = object.__new__(Session)
    made.__dict__.update({name: value for name, value in session.__dict__.items() if name not in _LONG})
    return made
