"""Taking a published test: an attempt is its answer log, one line a step, and everything else is worked out from it.

A line is written with the number of its step, which must be the next one: of two tabs, double clicks or replayed posts that answer the
same step one wins, and the others are told where the test stands now. Clocks run from the attempt's start; what comes too late is refused.
An answer that the engine refuses writes nothing, so the attempt goes on where it stood.
"""

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy.orm import Session as Work

from quaestor.errors import AnswerError, QuaestorError
from quaestor.log import Answer
from quaestor.question import Question
from quaestor.session import Session
from quaestor.store.clock import now
from quaestor.store.entry import EntryError, UnknownCodeError, enter
from quaestor.store.inserts import insert
from quaestor.store.models import Attempt, Event
from quaestor.store.options import option_order
from quaestor.store.sessions import forget, remember
from quaestor.store.sittings import Sitting, by_key, end, sitting, stand
from quaestor.store.texts import clean

__all__ = [
    "ConflictError",
    "EntryError",
    "OverError",
    "Sitting",
    "StaleError",
    "UnknownCodeError",
    "answer",
    "by_key",
    "end",
    "enter",
    "option_order",
    "sitting",
    "skip",
]

LONGEST = 10_000  # letters of an entry


class OverError(EntryError):
    """An answer to a test that is over."""


class ConflictError(AnswerError):
    """An answer that the bank rules out after the ones before. The words tell the taker nothing of the answers; the cause names them."""


class StaleError(QuaestorError):
    """An answer to a step that was answered before; `step` is where the test stands now."""

    def __init__(self, step: int) -> None:
        self.step = step
        super().__init__(f"this question was answered already; the test stands at step {step}")


def answer(work: Work, attempt: Attempt, step: int, entry: str | Iterable[str]) -> Sitting:
    """Answer the question of a step with what was typed or ticked."""
    written = clean(entry) if isinstance(entry, str) else [clean(one) for one in entry]
    return _put(work, attempt, step, written)


def skip(work: Work, attempt: Attempt, step: int) -> Sitting:
    """Skip the question of a step."""
    return _put(work, attempt, step, None)


def _put(work: Work, attempt: Attempt, step: int, entry: str | list[str] | None) -> Sitting:
    stands = sitting(work, attempt)
    if step != stands.step:
        raise StaleError(stands.step)
    question = stands.session.next
    if stands.over or question is None:
        raise OverError(f"the test is over: {stands.over}")
    moment = max(now(), stands.put)  # should the clock have been set back
    then = _answered(stands.session, question, entry, (moment - stands.put).total_seconds())
    line = then.log[-1]
    assert isinstance(line, Answer)
    if not _write(work, attempt, step, line, (moment - stands.put).total_seconds(), moment):
        forget(attempt)
        raise StaleError(sitting(work, attempt).step)
    remember(attempt, then, moment)
    after = stand(attempt, then, moment)
    end(work, after)
    return after


def _answered(session: Session, question: Question, entry: str | list[str] | None, seconds: float) -> Session:
    if entry is None:
        try:
            return session.skip(question.id, seconds / 60)
        except AnswerError as error:
            raise _ruled_out(question) from error
    length = sum(map(len, entry))
    if length > LONGEST:
        raise AnswerError(f"{question.id}: an entry has at most {LONGEST} letters, got {length}")
    question.classify(entry)  # says what is wrong with the entry itself
    try:
        return session.enter(question.id, entry, seconds / 60)
    except AnswerError as error:
        raise _ruled_out(question) from error


def _ruled_out(question: Question) -> ConflictError:
    return ConflictError(
        f"{question.id}: this answer was not taken, as the test rules it out after the answers before; nothing is lost: give another answer"
        " or skip the question, and tell your teacher"
    )


def _write(work: Work, attempt: Attempt, step: int, line: Answer, seconds: float, at: datetime) -> bool:
    """Write a line unless the step has one; also one that another process is writing at this moment, which is waited for."""
    row = insert(work, Event).values(
        attempt_id=attempt.id, step=step, question=line.question, answer=line.answer, entry=line.entry, seconds=seconds, at=at
    )
    written = work.execute(row.on_conflict_do_nothing().returning(Event.step)).scalar()
    return written is not None
