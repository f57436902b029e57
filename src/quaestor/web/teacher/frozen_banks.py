"""Banks as they were frozen for a test: look into, download, delete. They are written in the editor."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy import Select, or_, select
from sqlalchemy.exc import IntegrityError

from quaestor.errors import QuaestorError
from quaestor.i18n import say
from quaestor.report.graph import skill_graph
from quaestor.store import drafts
from quaestor.store.models import BankVersion, Correction, Draft, Published
from quaestor.store.publishing import MissingError, drop_bank, image, open_bank, unusable
from quaestor.store.sharing import OWN, within_reach
from quaestor.web.jobs.execution import Patient
from quaestor.web.render import pictures
from quaestor.web.render.language import translate
from quaestor.web.render.pages import addresses, database, go, language, page
from quaestor.web.teacher.access import ELSEWHERE, FORMATS, Posted, as_file, download, reach_bank

routes = APIRouter(prefix="/teacher/banks", route_class=Patient)
A_PAGE = 100  # questions that are shown at once


@routes.get("/{number}", name="bank")
def show(request: Request, number: int, start: int = 0) -> Response:
    """What is in a bank: skills with their graph, questions as they will look."""
    with database(request).read() as work:
        teacher, kept = reach_bank(request, work, number)
        bank = open_bank(kept)
        draft = _draft(drafts.drafts_of(work, teacher), kept.title)
        tests = work.scalars(_using(kept).where(within_reach(teacher, Published)).order_by(Published.id.desc())).all()
    questions = list(bank.questions.values())
    first = min(max(start, 0), len(questions) - 1) // A_PAGE * A_PAGE
    values: dict[str, Any] = {
        "kept": kept,
        "bank": bank,
        "graph": pictures.graph(skill_graph(bank, partial(translate, language(request)), styled=False)) if len(bank.skills) > 1 else "",
        "questions": questions[first : first + A_PAGE],
        "first": first,
        "a_page": A_PAGE,
        "tests": tests,
        "draft": draft,
        "formats": FORMATS | ELSEWHERE,
        "picture": addresses(request, kept),
        "lacking": unusable(bank),
        "counts": {skill: sum(skill in question.skills for question in questions) for skill in bank.skills},
    }
    return page(request, "teacher/bank.html", teacher=teacher, **values)


def _using(kept: BankVersion) -> Select[Any]:
    """The tests that have a bank, or had it until a correction: what was told before can be worked out again only with it."""
    before = select(Correction.test_id).where(Correction.bank_id == kept.id)
    return select(Published).where(or_(Published.bank_id == kept.id, Published.id.in_(before)))


def _draft(mine: Iterable[Draft], title: str) -> Draft | None:
    """The draft that has this title; of several the one changed last."""
    return next((draft for draft in mine if draft.title == title), None)


@routes.get("/{number}/file.{ending}", name="bank-file")
def file(request: Request, number: int, ending: str) -> Response:
    """A bank as a file."""
    with database(request).read() as work:
        _, kept = reach_bank(request, work, number)
        bank = open_bank(kept)
        content = as_file(bank, ending, lambda: {name: image(work, kept, name)[1] for name in kept.media})
    return download(content, kept.title, ending)


@routes.get("/{number}/media/{name:path}", name="bank-media")
def media(request: Request, number: int, name: str) -> Response:
    """An image of a bank."""
    with database(request).read() as work:
        _, kept = reach_bank(request, work, number)
        if name not in kept.media:
            raise MissingError(say("there is no such image"))
        kind, content = image(work, kept, name)
    return Response(content, media_type=kind, headers={"cache-control": "private, max-age=3600"})


@routes.post("/{number}/delete", name="drop-bank")
def drop(request: Request, number: int, form: Posted) -> Response:
    """Delete a bank of which no test was published."""
    with database(request).work() as work:
        _, kept = reach_bank(request, work, number, OWN)
        used = len(work.scalars(_using(kept)).all())
        if used:
            raise QuaestorError(
                say("a bank is deleted when no test uses it, got {count} that {count:does; delete it|do; delete these} first", count=used)
            )
        try:
            drop_bank(work, kept)
        except IntegrityError as error:  # a test published at this very moment
            raise QuaestorError(say("a bank is deleted when no test uses it, got one that was published just now")) from error
    return go(request, "banks")
