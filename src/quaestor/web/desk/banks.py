"""A teacher's banks: upload, look into, download, delete. A bank with a problem leaves nothing behind."""

from functools import cache
from pathlib import PurePath
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from starlette.datastructures import FormData, UploadFile

from quaestor.bank import Bank
from quaestor.errors import BankError, Problem, QuaestorError
from quaestor.formats import BANK_ENDINGS, bundled_banks, dump_bytes, load, load_bytes
from quaestor.saying import said, say
from quaestor.store.media import MediaError
from quaestor.store.models import BankVersion, Published
from quaestor.store.publishing import MissingError, bank_of, image, keep_bank, open_bank
from quaestor.web.desk.access import Posted, download, signed_in
from quaestor.web.desk.graph import drawn
from quaestor.web.pages import database, go, page
from quaestor.web.visits import field

routes = APIRouter(prefix="/desk/banks")
A_PAGE = 100  # questions that are shown at once
FORMATS = {"xlsx": "Excel", "csv": "CSV", "yaml": "YAML", "json": "JSON"}


@routes.get("", name="banks")
def banks(request: Request) -> Response:
    """All banks of a teacher, and ways to get another."""
    return _list(request)


@routes.post("", name="upload")
def upload(request: Request, form: Posted) -> Response:
    """Keep a bank file with its images, or say what is wrong with it, all of it."""
    file = form.get("file")
    if not isinstance(file, UploadFile) or not file.filename:
        return _list(request, wrong="please choose a file")
    name = PurePath(file.filename.replace("\\", "/")).name
    problems: tuple[Problem, ...] = ()
    try:
        with database(request).read() as work:
            signed_in(request, work)  # before anything is read
        bank = _read(name, file.file.read())
        with database(request).work() as work:
            kept = keep_bank(work, signed_in(request, work), bank, _images(form))
    except BankError as error:
        problems, wrong = error.problems, ""
    except MediaError as error:
        wrong = said(error)
    else:
        return go(request, "bank", number=kept.id)
    return _list(request, name=name, problems=problems, wrong=wrong)


def _read(name: str, content: bytes) -> Bank:
    ending = PurePath(name).suffix.lower()
    if ending not in BANK_ENDINGS:
        raise BankError([Problem("file", say("a bank file ends in one of {endings}", endings=", ".join(BANK_ENDINGS)), f"'{ending}'")])
    return load_bytes(content, ending)


def _images(form: FormData) -> dict[str, bytes]:
    files = [file for file in form.getlist("images") if isinstance(file, UploadFile) and file.filename]
    return {str(file.filename).replace("\\", "/"): file.file.read() for file in files}


@routes.post("/bundled", name="add-bundled")
def add_bundled(request: Request, form: Posted) -> Response:
    """Take one of the banks that come with Quaestor."""
    bank = _bundled().get(field(form, "name"))
    if bank is None:
        raise MissingError("there is no such bank")
    with database(request).work() as work:
        kept = keep_bank(work, signed_in(request, work), bank)
    return go(request, "bank", number=kept.id)


@cache
def _bundled() -> dict[str, Bank]:
    """The banks that come with Quaestor and can be taken in a browser."""
    found = {name: load(name) for name in bundled_banks()}
    return {name: bank for name, bank in found.items() if all(usable(bank).values())}


def usable(bank: Bank) -> dict[str, bool]:
    """Which questions can be asked in a browser: those with a text and a way to answer."""
    return {question.id: bool(question.text) and question.takes_entries for question in bank.questions.values()}


def _list(request: Request, name: str = "", problems: tuple[Problem, ...] = (), wrong: str = "") -> Response:
    with database(request).read() as work:
        teacher = signed_in(request, work)
        mine = work.scalars(select(BankVersion).where(BankVersion.teacher_id == teacher.id).order_by(BankVersion.id.desc())).all()
    versions = {bank.version for bank in mine}
    values: dict[str, Any] = {
        "banks": mine,
        "bundled": {key: bank for key, bank in _bundled().items() if bank.version not in versions},
        "name": name,
        "problems": problems,
        "wrong": wrong,
    }
    return page(request, "desk/banks.html", 400 if problems or wrong else 200, teacher=teacher, **values)


@routes.get("/{number}", name="bank")
def show(request: Request, number: int, start: int = 0) -> Response:
    """What is in a bank: skills with their graph, questions as they will look."""
    with database(request).read() as work:
        teacher = signed_in(request, work)
        kept = bank_of(work, teacher, number)
        bank = open_bank(kept)
        tests = work.scalars(select(Published).where(Published.bank_id == kept.id).order_by(Published.id.desc())).all()
    questions = list(bank.questions.values())
    first = min(max(start, 0), len(questions) - 1) // A_PAGE * A_PAGE
    values: dict[str, Any] = {
        "kept": kept,
        "bank": bank,
        "graph": drawn(bank),
        "questions": questions[first : first + A_PAGE],
        "first": first,
        "a_page": A_PAGE,
        "tests": tests,
        "formats": FORMATS,
        "lacking": [name for name, good in usable(bank).items() if not good],
        "counts": {skill: sum(skill in question.skills for question in questions) for skill in bank.skills},
    }
    return page(request, "desk/bank.html", teacher=teacher, **values)


@routes.get("/{number}/file.{ending}", name="bank-file")
def file(request: Request, number: int, ending: str) -> Response:
    """A bank as a file."""
    with database(request).read() as work:
        kept = bank_of(work, signed_in(request, work), number)
        bank = open_bank(kept)
    if ending not in FORMATS:
        raise MissingError("there is no such file")
    return download(dump_bytes(bank, f".{ending}"), kept.title, ending)


@routes.get("/{number}/media/{name:path}", name="bank-media")
def media(request: Request, number: int, name: str) -> Response:
    """An image of a bank."""
    with database(request).read() as work:
        kept = bank_of(work, signed_in(request, work), number)
        if name not in kept.media:
            raise MissingError("there is no such image")
        kind, content = image(work, kept, name)
    return Response(content, media_type=kind, headers={"cache-control": "private, max-age=3600"})


@routes.post("/{number}/delete", name="drop-bank")
def drop(request: Request, number: int, form: Posted) -> Response:
    """Delete a bank of which no test was published."""
    with database(request).work() as work:
        kept = bank_of(work, signed_in(request, work), number)
        used = work.scalar(select(func.count()).where(Published.bank_id == kept.id))
        if used:
            raise QuaestorError(say("a bank is deleted when no test uses it, got {count} that do; delete these first", count=used))
        try:
            work.delete(kept)
            work.flush()
        except IntegrityError as error:  # a test published at this very moment
            raise QuaestorError("a bank is deleted when no test uses it, got one that was published just now") from error
    return go(request, "banks")
