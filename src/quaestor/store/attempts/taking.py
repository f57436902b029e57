"""Taking a published test: an attempt is its answer log, one line for each step, and everything else is computed from the log.

A line is written with the number of its step, which must be the next one: if two tabs, double clicks or replayed posts answer the same
step, one wins, and the others get `StaleError` with the present step. Time limits count from the attempt's start; late answers are refused.
For an answer that the engine refuses nothing is written, and the attempt continues unchanged.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Integer, bindparam, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session as Work

from quaestor.errors import AnswerError, QuaestorError, got
from quaestor.i18n import say
from quaestor.model.question import Question
from quaestor.session.log import Answer
from quaestor.session.session import Session
from quaestor.store import counters
from quaestor.store.attempts.entry import enter
from quaestor.store.attempts.invitations import EntryError, UnknownCodeError
from quaestor.store.attempts.pace import work_out
from quaestor.store.attempts.scoring import keep, outcome_row, with_line
from quaestor.store.attempts.session_cache import forget, remember
from quaestor.store.attempts.state import State, by_key, by_number, end, stand, state_of
from quaestor.store.clock import now
from quaestor.store.database import Database
from quaestor.store.models import Attempt, Event, Published
from quaestor.store.secrets import hashed
from quaestor.store.texts import clean

__all__ = [
    "ChangedError",
    "ConflictError",
    "EntryError",
    "OverError",
    "Ready",
    "StaleError",
    "State",
    "UnknownCodeError",
    "answer",
    "by_key",
    "end",
    "enter",
    "mark",
    "prepare",
    "put",
    "skip",
    "state_of",
    "write",
]

LONGEST = 10_000  # characters of an entry
Written = str | Iterable[str] | Mapping[str, str]  # what was typed or ticked; in a question of several parts in each of them
_EVENT = Event.__table__
_NAMES = [column.name for column in _EVENT.columns]
_PRESENT = select(Published.revision).where(Published.id == bindparam("test_id", type_=Integer)).scalar_subquery()
_LINE = select(*(bindparam(f"line_{column.name}", type_=column.type) for column in _EVENT.columns)).where(
    bindparam("of_revision", type_=Integer) == _PRESENT
)
_INSERT = {  # nothing if the step has a line, or the test was corrected; waits for another process that is writing it at this moment
    kind: dialect.insert(_EVENT).from_select(_NAMES, _LINE).on_conflict_do_nothing().returning(_EVENT.c.step)
    for kind, dialect in (("sqlite", sqlite), ("postgresql", postgresql))
}
_WITH_OUTCOME = with_line(_INSERT["postgresql"])


class OverError(EntryError):
    """An answer to a test that is over."""


class ConflictError(AnswerError):
    """An answer that is impossible after the earlier ones. The message does not show the answers to the taker; the cause names them."""


class StaleError(QuaestorError):
    """An answer to a step that was answered before; `step` is the present one."""

    def __init__(self, step: int) -> None:
        self.step = step
        super().__init__(say("this question was answered already; the test stands at step {step}", step=step))


class ChangedError(StaleError):
    """An answer to a question that is not asked any more, since the teacher has corrected the test; `step` is the present one."""

    def __init__(self, step: int) -> None:
        super().__init__(step)
        self.args = (say("the test was corrected meanwhile, and another question is asked now: this answer was not taken"),)


@dataclass(frozen=True)
class Ready:
    """An answer that is ready to be written: the session after it, its moment, and the seconds since the question was shown."""

    attempt: Attempt
    step: int
    session: Session
    at: datetime
    seconds: float


def answer(work: Work, attempt: Attempt, step: int, entry: Written) -> State:
    """Answer the question of a step with what was typed or ticked."""
    return write(work, prepare(work, attempt, step, entry))


def skip(work: Work, attempt: Attempt, step: int) -> State:
    """Skip the question of a step."""
    return write(work, prepare(work, attempt, step, None))


def prepare(work: Work, attempt: Attempt, step: int, entry: Written | None, asked: str = "", at: datetime | None = None) -> Ready:
    """Check an answer (None: a skip) and compute the next question, without writing; a unit of work that only reads is enough.

    So the unit of work that writes is short: SQLite has one writer at a time, who must not wait for the engine. `asked`: the id of the
    question that is answered, or its `mark`, as the taker's page had it; ChangedError if it is another one by now. `at`: when the answer
    came, if that was not just now; what takes long to work out must not count as the taker's time.
    """
    state = state_of(work, attempt, at)
    if step != state.step:
        raise StaleError(state.step)
    question = state.session.next
    if state.over or question is None:
        raise OverError(say("the test is over: {reason}", reason=state.over))
    if asked and asked not in (question.id, mark(question)):
        raise ChangedError(state.step)
    written = entry if entry is None else cleaned(entry)
    moment = max(at or now(), state.put)  # the clock may have been set back
    seconds = (moment - state.put).total_seconds()
    then = _answered(state.session, question, written, seconds)
    work_out(then)
    return Ready(attempt, step, then, moment, seconds)


def cleaned(entry: Written) -> str | list[str] | dict[str, str]:
    """An entry without the signs that a database cannot keep."""
    if isinstance(entry, str):
        return clean(entry)
    return {clean(name): clean(one) for name, one in entry.items()} if isinstance(entry, Mapping) else [clean(one) for one in entry]


def mark(question: Question) -> str:
    """A sign of a question for the taker's page: unlike its id it gives nothing away."""
    return hashed(f"question {question.id}")[:16]


def put(database: Database, ready: Ready, prompt: bool = False) -> State:
    """Write an answer in a unit of work of its own (`write`; `prompt`: `Database.work`).

    PostgreSQL needs one statement, and no transaction around it, unless the test ends or was corrected.
    """
    attempt, after = ready.attempt, stand(ready.attempt, ready.session, ready.at)
    if not (database.is_file or attempt.test.revision or after.over):
        outcome = outcome_row(attempt, ready.session, ready.at, 0)
        with database.single() as work:
            written = _execute(work, _WITH_OUTCOME, _row(ready) | outcome)
        if written is not None:
            _taken(ready)
            return after
    with database.work(prompt=prompt) as work:
        return write(work, ready)


def write(work: Work, ready: Ready) -> State:
    """Write an answer; StaleError if its step has one by now. If the test was corrected since it was prepared, it is prepared anew."""
    attempt, line = ready.attempt, ready.session.log[-1]
    assert isinstance(line, Answer)
    if _execute(work, _INSERT[work.get_bind().dialect.name], _row(ready)) is None:
        forget(attempt)
        step = (work.scalar(select(func.max(Event.step)).where(Event.attempt_id == attempt.id)) or 0) + 1
        present = by_number(work, attempt.id, anew=True)
        if step == ready.step and present is not None and present.test.revision != attempt.test.revision:
            return write(work, prepare(work, present, step, line.entry, asked=line.question))
        raise StaleError(step)
    _taken(ready)
    after = stand(attempt, ready.session, ready.at)
    if after.over:
        end(work, after)
    else:
        keep(work, attempt, ready.session, ready.at)
    return after


def _row(ready: Ready) -> dict[str, Any]:
    """The line of an answer, and the revision of the test that it is for."""
    attempt, line = ready.attempt, ready.session.log[-1]
    assert isinstance(line, Answer)
    row = {"attempt_id": attempt.id, "step": ready.step, "seconds": ready.seconds, "at": ready.at}
    row |= {"question": line.question, "answer": line.answer, "entry": line.entry}
    return {f"line_{name}": value for name, value in row.items()} | {"test_id": attempt.test_id, "of_revision": attempt.test.revision}


def _execute(work: Work, statement: Any, row: Mapping[str, Any]) -> int | None:
    """Insert a line; None if nothing was."""
    try:
        written: int | None = work.execute(statement, row).scalar()
    except IntegrityError as error:
        raise OverError(say("the test is over: it was deleted")) from error
    return written


def _taken(ready: Ready) -> None:
    remember(ready.attempt, ready.session, ready.at)
    counters.ANSWERS.inc()


def _answered(session: Session, question: Question, entry: str | list[str] | dict[str, str] | None, seconds: float) -> Session:
    if entry is None:
        try:
            return session.skip(question.id, seconds / 60)
        except AnswerError as error:
            raise _ruled_out(question) from error
    length = sum(map(len, entry.values() if isinstance(entry, dict) else entry))
    if length > LONGEST:
        raise AnswerError.at(question.id, got(say("an entry has at most {most} letters", most=LONGEST), str(length)))
    question.classify(entry)  # raises for an invalid entry
    try:
        return session.enter(question.id, entry, seconds / 60)
    except AnswerError as error:
        raise _ruled_out(question) from error


def _ruled_out(question: Question) -> ConflictError:
    words = say(
        "this answer was not taken, as the test rules it out after the answers before; nothing is lost: give another answer"
        " or skip the question, and tell your teacher"
    )
    return ConflictError.at(question.id, words)
