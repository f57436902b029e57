"""What a taker is told about an answer that was not taken, in words for a child of eleven."""

from dataclasses import dataclass

from fastapi import Request
from sqlalchemy.orm import Session as Work

from quaestor.errors import AnswerError, unplaced
from quaestor.i18n import said, say
from quaestor.model.question import Question
from quaestor.session.log import Answer, SessionError
from quaestor.store.attempts.taking import LONGEST, ConflictError, OverError, StaleError, State, mark, prepare
from quaestor.store.texts import clean
from quaestor.web.render import notes

EMPTY = {
    "choice": say("Please choose an answer first."),
    "choices": say("Please tick an answer first."),
    "number": say("Please write your answer first."),
    "text": say("Please write your answer first."),
}
STRANGE = {
    "choice": say("Please choose one of these answers."),
    "choices": say("Please tick only answers that stand here."),
    "number": say("Please write one answer."),
    "text": say("Please write one answer."),
}


@dataclass(frozen=True)
class Tried:
    """An answer as a form sent it: the step, what was entered (None for a skip), and the mark of the question that the page showed."""

    step: int
    entries: list[str] | None
    asked: str = ""

    @property
    def given(self) -> str | list[str] | None:
        """What was entered, as the store takes it."""
        return self.entries[0] if self.entries is not None and len(self.entries) == 1 else self.entries

    @property
    def is_empty(self) -> bool:
        """Whether nothing was entered."""
        return self.entries is not None and not any(one.strip() for one in self.entries)

    @property
    def mark(self) -> "Tried":
        """That there was an answer, without its words: enough to say that it did not count."""
        return Tried(self.step, [] if self.is_empty else None, self.asked)

    def is_for(self, stands: State) -> bool:
        """Whether it is an answer to the present question."""
        return self.step == stands.step and not self._is_of_another(stands)

    def is_too_late(self, stands: State) -> bool:
        """Whether its question is not asked any more, as the teacher has corrected the test."""
        return self.step == stands.step and self._is_of_another(stands)

    def _is_of_another(self, stands: State) -> bool:
        question = stands.session.next
        return bool(self.asked) and question is not None and self.asked != mark(question)

    def is_in(self, stands: State) -> bool:
        """Whether this very answer stands in the log: it was sent twice."""
        if not 1 <= self.step <= len(stands.session.log):
            return False
        line = stands.session.log[self.step - 1]
        written = None if self.entries is None else " | ".join(clean(one) for one in self.entries)
        return isinstance(line, Answer) and line.entry == written


def tried(request: Request) -> Tried | None:
    """The refused answer that this browser's note tells of."""
    note = notes.read(request)
    step, entries, asked = note.get("step"), note.get("entries"), note.get("asked", "")
    listed = entries is None or (isinstance(entries, list) and all(isinstance(one, str) for one in entries))
    return Tried(step, entries, asked) if isinstance(step, int) and isinstance(asked, str) and listed else None


def wrong_with(work: Work, stands: State, answer: Tried) -> str:
    """What is wrong with an answer to the present question, found by trying it once more; empty when nothing is."""
    question = stands.session.next
    assert question is not None
    try:
        prepare(work, stands.attempt, answer.step, answer.given)
    except (AnswerError, SessionError) as error:
        return _plain(question, answer, error)
    except (StaleError, OverError):  # at this very moment: the next page tells
        return ""
    return ""


def _plain(question: Question, answer: Tried, error: AnswerError | SessionError) -> str:
    if answer.entries is None and isinstance(error, SessionError):
        return say("This question cannot be skipped. Please answer it.")
    if answer.is_empty:
        return EMPTY[question.kind]
    if isinstance(error, ConflictError) or sum(map(len, answer.entries or ())) > LONGEST:
        return unplaced(said(error))
    if question.kind == "number" and isinstance(answer.given, str):
        return say(
            "We cannot read “{entry}” as a number. Please write it like this: 12, 0.75, 3/4 or 1 1/2.",
            entry=answer.given[:60],
        )
    return STRANGE[question.kind]


def missed(stands: State, answer: Tried | None) -> str:
    """That an answer did not count: its question was answered before, or withdrawn, or the test was over; empty when there is nothing."""
    if answer is None or answer.is_empty or answer.step < 1:
        return ""
    if answer.step < stands.step:
        return say("Your answer to question {step} did not count: that question was answered before.", step=answer.step)
    if not stands.over and answer.is_too_late(stands):
        return say("Your answer to question {step} did not count: your teacher has just corrected the test.", step=answer.step)
    return say("Your answer to question {step} did not count: the test was over.", step=answer.step) if stands.over else ""
