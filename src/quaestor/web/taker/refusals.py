"""What a taker is told about an answer that was not taken, in words for a child of eleven."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from fastapi import Request
from pydantic import Field
from sqlalchemy.orm import Session as Work
from starlette.datastructures import FormData

from quaestor.errors import AnswerError
from quaestor.i18n import say
from quaestor.model.entries import PartsError
from quaestor.model.question import Question
from quaestor.session.log import Answer, SessionError
from quaestor.store.attempts.taking import LONGEST, ConflictError, OverError, StaleError, State, cleaned, mark, prepare
from quaestor.web.render import notes
from quaestor.web.security.forms import Form, Id, read

EMPTY = {
    "choice": say("Please choose an answer first."),
    "choices": say("Please tick an answer first."),
    "number": say("Please write your answer first."),
    "text": say("Please write your answer first."),
    "truefalse": say("Please choose an answer first."),
    "matching": say("Please choose what belongs to each."),
    "ordering": say("Please give each its place."),
    "gaps": say("Please fill in the gaps."),
}
STRANGE = {
    "choice": say("Please choose one of these answers."),
    "choices": say("Please tick only answers that stand here."),
    "number": say("Please write one answer."),
    "text": say("Please write one answer."),
    "truefalse": say("Please choose one of these answers."),
    "matching": say("Please choose only answers that stand here."),
    "ordering": say("Please give each a place of its own."),
    "gaps": say("Please fill in the gaps once more."),
}


@dataclass(frozen=True)
class Tried:
    """An answer as a form sent it: the step, what was entered (None for a skip), and the mark of the question that the page showed.

    `parted`: an entry for each part of the question; `places`: where items are ordered, the place of each as it was chosen.
    """

    step: int
    entries: list[str] | None
    asked: str = ""
    parted: bool = False
    places: dict[str, str] = field(default_factory=dict)

    @property
    def given(self) -> str | list[str] | None:
        """What was entered, as the store takes it."""
        return self.entries[0] if self.entries is not None and len(self.entries) == 1 and not self.parted else self.entries

    @property
    def is_empty(self) -> bool:
        """Whether nothing was entered."""
        return self.entries is not None and not any(one.strip() for one in (*self.entries, *self.places.values()))

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
        if not isinstance(line, Answer):
            return False
        try:
            given = self.given
            written = None if given is None else stands.session.bank.questions[line.question].written(cleaned(given))
        except AnswerError:
            return False
        return line.entry == written


class AnswerForm(Form):
    """An answer as the page of a question sends it: entries, parts, or items with a place for each."""

    step: Id = 0
    asked: str = ""
    entry: list[str] = Field(default_factory=list)
    part: list[str] = Field(default_factory=list)
    item: list[str] = Field(default_factory=list)
    place: list[str] = Field(default_factory=list)


def sent(form: FormData) -> Tried:
    """The answer in a taker's form."""
    found = read(AnswerForm, form)
    chosen = {item: place for item, place in zip(found.item, found.place, strict=False) if place}
    parts = found.part
    if found.item:
        numbers = range(1, len(found.item) + 1)
        by_place = {str(number): [item for item, place in chosen.items() if place == str(number)] for number in numbers}
        parts = [held[0] if len(held) == 1 else "" for held in by_place.values()]
    return Tried(found.step, None if "skip" in form else parts or found.entry, found.asked, bool(parts), chosen)


def tried(request: Request) -> Tried | None:
    """The refused answer that this browser's note tells of."""
    note = notes.read(request)
    step, entries, asked, places = note.get("step"), note.get("entries"), note.get("asked", ""), note.get("places", {})
    listed = entries is None or (isinstance(entries, list) and all(isinstance(one, str) for one in entries))
    placed = isinstance(places, dict) and all(isinstance(one, str) for one in places.values())
    if not (isinstance(step, int) and isinstance(asked, str) and listed and placed):
        return None
    return Tried(step, entries, asked, note.get("parted") is True, places)


def faults_of(question: Question, answer: Tried | None) -> Mapping[str, str]:
    """What is wrong with the parts of an answer, by their names."""
    if answer is None or answer.given is None or not question.parts:
        return {}
    try:
        question.entries(answer.given)
    except PartsError as error:
        return error.faults
    except AnswerError:
        return {}
    return {}


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
        return error.words
    if question.kind == "number" and isinstance(answer.given, str):
        return say(
            "We cannot read “{entry}” as a number. Please write it like this: 12, 0.75, 3/4 or 1 1/2.",
            entry=answer.given[:60],
        )
    return _of_parts(question, answer) if question.parts else STRANGE[question.kind]


def _of_parts(question: Question, answer: Tried) -> str:
    """What is wrong with the parts of an answer, and which they are."""
    faults = faults_of(question, answer)
    names = {part.name: str(number) if question.kind == "gaps" else part.name for number, part in enumerate(question.parts, start=1)}
    entered = dict(zip(names, answer.entries or (), strict=False))
    empty = [names[name] for name in faults if not entered.get(name, "").strip()]
    filled = [(names[name], entered[name]) for name in faults if entered.get(name, "").strip()]
    if question.kind == "matching" and empty:
        return say("Please choose something for each. Still open: {names}.", names=", ".join(empty))
    if question.kind == "gaps" and empty:
        return say("{count:This gap is|These gaps are} still empty: {names}.", count=len(empty), names=", ".join(empty))
    if question.kind == "gaps" and filled:
        number, entry = filled[0]
        return say(
            "In gap {number} we cannot read “{entry}” as a number. Please write it like this: 12, 0.75, 3/4 or 1 1/2.",
            number=number,
            entry=entry[:60],
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
