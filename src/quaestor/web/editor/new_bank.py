"""Beginning a bank: from nothing, from one that comes with Quaestor, from a file, or from rows copied out of a spreadsheet program."""

from functools import cache
from pathlib import PurePath
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.datastructures import FormData, UploadFile

from quaestor.bankfile.bank import NEWEST, Bank
from quaestor.errors import BankError, Problem
from quaestor.formats.files import BANK_ENDINGS, bundled_banks, load
from quaestor.formats.sheets import read_csv
from quaestor.formats.template import template
from quaestor.i18n import said, say
from quaestor.store.drafts import begin_draft, drafts_of
from quaestor.store.media import MediaError, chosen
from quaestor.store.models import BankVersion, Draft
from quaestor.store.parts import Document
from quaestor.store.publishing import MissingError, unusable
from quaestor.store.sharing import lent_to
from quaestor.store.sharing import readers as readers_of
from quaestor.web.editor.opened_draft import speaker
from quaestor.web.editor.vocabulary import in_file_words
from quaestor.web.jobs.execution import Patient
from quaestor.web.render.pages import database, go, page
from quaestor.web.security.forms import Form, Line, Secret, read
from quaestor.web.security.uploads import draw_anew, read_bank
from quaestor.web.teacher.access import Posted, download, signed_in

routes = APIRouter(prefix="/teacher/banks", route_class=Patient)
LONGEST_PASTE = 2_000_000


class NewBank(Form):
    """A bank from nothing, from one that comes with Quaestor (`name`), or from rows of a sheet."""

    title: Line = ""
    name: str = ""
    rows: Annotated[str, Secret()] = ""  # as they were typed


@routes.get("", name="banks")
def banks(request: Request) -> Response:
    """The banks that a teacher writes, and ways to begin another."""
    return _list(request)


def _list(request: Request, status: int = 200, **values: object) -> Response:
    with database(request).read() as work:
        teacher = signed_in(request, work)
        mine = drafts_of(work, teacher)
        lent = {one.thing.id: one for one in lent_to(work, teacher, Draft)}
        readers, frozen = readers_of(work, teacher, Draft), lent_to(work, teacher, BankVersion)
    shown = {"name": "", "problems": (), "wrong": "", "pasted": "", **values}
    return page(
        request,
        "editor/banks.html",
        status,
        teacher=teacher,
        drafts=mine,
        lent=lent,
        readers=readers,
        frozen=frozen,
        bundled=_bundled(),
        **shown,
    )


@cache
def _bundled() -> dict[str, Bank]:
    """The banks that come with Quaestor and can be taken in a browser."""
    found = {name: load(name) for name in bundled_banks()}
    return {name: bank for name, bank in found.items() if not unusable(bank)}


@routes.get("/template/{ending}", name="bank-template")
def blank(request: Request, ending: str) -> Response:
    """A sheet to fill in, with example rows and, in a workbook, what every column means in the reader's language."""
    with database(request).read() as work:
        signed_in(request, work)
    if ending not in ("xlsx", "csv"):
        raise MissingError(say("there is no such file"))
    return download(template(f".{ending}", speaker(request)), "bank", ending)


@routes.post("/new", name="new-bank")
def from_nothing(request: Request, form: Posted) -> Response:
    """An empty bank with a title."""
    return _begin(request, {"quaestor": NEWEST, "title": read(NewBank, form).title}, say("begun from nothing"))


@routes.post("/bundled", name="add-bundled")
def from_bundled(request: Request, form: Posted) -> Response:
    """A copy of a bank that comes with Quaestor."""
    bank = _bundled().get(read(NewBank, form).name)
    if bank is None:
        raise MissingError(say("there is no such bank"))
    return _begin(request, _newest(bank), say("copied from a bank that comes with Quaestor"))


@routes.post("/pasted", name="paste")
def from_sheet(request: Request, form: Posted) -> Response:
    """Rows copied out of a spreadsheet program; faults of single cells are listed, other faults are mended in the editor."""
    with database(request).read() as work:
        signed_in(request, work)  # before anything is read
    sent = read(NewBank, form)
    text, title = sent.rows[:LONGEST_PASTE], sent.title
    try:
        found = read_csv(text)
        if found.problems:
            raise BankError(found.problems)
        document = in_file_words(found.document)
    except BankError as error:
        return _list(request, 400, problems=error.problems, pasted=text, name=say("the pasted rows"))
    return _begin(request, {"quaestor": NEWEST, **({"title": title} if title else {}), **document}, say("pasted from a spreadsheet"))


@routes.post("", name="upload")
def from_file(request: Request, form: Posted) -> Response:
    """A bank file with its images; what is wrong with it is listed, all of it, and nothing is kept."""
    file = form.get("file")
    if not isinstance(file, UploadFile) or not file.filename:
        return _list(request, 400, wrong=say("please choose a file"))
    name = PurePath(file.filename.replace("\\", "/")).name
    with database(request).read() as work:
        signed_in(request, work)  # before anything is read
    try:
        bank = _read(name, file.file.read())
        images = draw_anew(chosen(bank, _images(form)))
        return _begin(request, _newest(bank), say("uploaded as {name}", name=name[:100]), images)
    except BankError as error:
        return _list(request, 400, problems=error.problems, name=name)
    except MediaError as error:
        return _list(request, 400, wrong=said(error), name=name)


def _read(name: str, content: bytes) -> Bank:
    ending = PurePath(name).suffix.lower()
    if ending not in BANK_ENDINGS:
        raise BankError([Problem("file", say("a bank file ends in one of {endings}", endings=", ".join(BANK_ENDINGS)), f"'{ending}'")])
    return read_bank(content, ending, NEWEST)


def _newest(bank: Bank) -> Document:
    """The document of a bank, in the newest format if it means the same there."""
    document = {**bank.document, "quaestor": NEWEST}
    return document if Bank(document).model_version == bank.model_version else bank.document


def _images(form: FormData) -> dict[str, bytes]:
    files = [file for file in form.getlist("images") if isinstance(file, UploadFile) and file.filename]
    return {str(file.filename).replace("\\", "/"): file.file.read() for file in files}


def _begin(request: Request, document: Document, note: str, images: dict[str, bytes] | None = None) -> Response:
    with database(request).work() as work:
        draft = begin_draft(work, signed_in(request, work), document, note, images)
    return go(request, "draft", draft=draft.id)
