"""Correcting a question of a published test: its key is put right, or it is withdrawn; what would change is shown before it is done."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BeforeValidator, Field
from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError
from quaestor.i18n import said, say
from quaestor.model.question import Question
from quaestor.selection.rules_file import read_rules
from quaestor.store import corrections
from quaestor.store.corrections import KEY, RESTORED, WITHDRAWN, MeanwhileError
from quaestor.store.models import Published
from quaestor.store.outcomes import rescoring
from quaestor.store.outcomes.changes import Foreseen, foresee
from quaestor.store.publishing import open_bank
from quaestor.store.sharing import EDIT
from quaestor.web.jobs.execution import Patient
from quaestor.web.render.pages import addresses, database, go, page
from quaestor.web.security.forms import Form, Tick, read
from quaestor.web.teacher import job_progress
from quaestor.web.teacher.access import Posted, reach_test, told

routes = APIRouter(prefix="/teacher/tests/{number}/correct", route_class=Patient)


@dataclass(frozen=True)
class Wish:
    """What a teacher asks for. `act`: one of the kinds of corrections; `right`: the right answers; `seen`: the revision that was shown."""

    act: str
    right: Sequence[str]
    note: str
    seen: int

    def foreseen(self, work: Work, test: Published, question: str) -> Foreseen:
        """What it would change; QuaestorError for what cannot be."""
        corrections.noted(self.note)
        if self.act == KEY:
            return foresee(work, test, question, corrections.keyed(test, question, self.right), test.rules)
        if self.act not in (WITHDRAWN, RESTORED):
            raise QuaestorError(say("please choose one of these"))
        return foresee(work, test, question, open_bank(test.bank), corrections.withdrawn(test, question, self.act == RESTORED))

    def done(self, work: Work, test: Published, question: str) -> None:
        """Do it, and request that all attempts be scored anew."""
        if self.act == KEY:
            corrections.correct_key(work, test, question, self.right, self.note, self.seen)
        else:
            corrections.withdraw(work, test, question, self.note, self.act == RESTORED, self.seen)
        rescoring.ask(work, test, pause=0)


def _seen(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else -1


class Correcting(Form):
    """A correction: the right answers are ticked, typed one a line, or told part by part."""

    act: str = ""
    right: list[str] = Field(default_factory=list)
    part: list[str] = Field(default_factory=list)
    typed: str = ""
    note: str = ""
    seen: Annotated[int, BeforeValidator(_seen)] = -1
    sure: Tick = False

    def wish(self, question: Question) -> Wish:
        """What is asked for."""
        right = self.part if question.parts else self.right if question.options else self.typed.splitlines()
        return Wish(self.act, right, self.note, self.seen)


@routes.get("/{question:path}", name="correct")
def ask(request: Request, number: int, question: str) -> Response:
    """The form."""
    return _show(request, number, question)


@routes.post("/{question:path}", name="correct-now")
def put(request: Request, number: int, question: str, form: Posted) -> Response:
    """What a correction would change, or the form again with what is wrong; once the teacher is sure, the correction itself."""
    with database(request).read() as work:
        _, test = reach_test(request, work, number, EDIT)
        asked = read(Correcting, form)
        wish = asked.wish(corrections.question_of(test, question))
        wrong = ""
        foreseen = None
        try:
            foreseen = wish.foreseen(work, test, question)
        except QuaestorError as error:
            wrong = told(error)
    if foreseen is not None and asked.sure:
        try:
            with database(request).work() as work:
                wish.done(work, reach_test(request, work, number, EDIT)[1], question)
            job_progress.begin(request)
            return go(request, "test", number=number)
        except MeanwhileError as error:
            wrong = said(error)
        except QuaestorError as error:
            wrong, foreseen = told(error), None
    return _show(request, number, question, wish, foreseen, wrong)


def _show(
    request: Request, number: int, name: str, wish: Wish | None = None, foreseen: Foreseen | None = None, wrong: str = ""
) -> Response:
    with database(request).read() as work:
        teacher, test = reach_test(request, work, number, EDIT)
        question = corrections.question_of(test, name)
        kept, bank = test.bank, open_bank(test.bank)
    is_withdrawn = name in read_rules(test.rules).withdrawn
    usual = RESTORED if is_withdrawn else KEY if corrections.has_open_key(question) else WITHDRAWN
    key = corrections.key_of(question)
    return page(
        request,
        "teacher/correct.html",
        400 if wrong else 200,
        teacher=teacher,
        test=test,
        kept=kept,
        picture=addresses(request, kept),
        bank=bank,
        question=question,
        key=key,
        is_withdrawn=is_withdrawn,
        has_open_key=corrections.has_open_key(question),
        is_ticked=bool(question.options),
        wish=wish or Wish(usual, key, "", test.revision),
        revision=test.revision,
        foreseen=foreseen,
        wrong=wrong,
    )
