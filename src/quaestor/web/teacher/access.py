"""Who is signed in, what they may see and do, what their forms hold, and files handed out to them."""

import re
from collections.abc import Callable, Mapping
from typing import Annotated

from fastapi import Depends, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session as Work
from starlette.datastructures import FormData

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError
from quaestor.formats.exchange.registry import WRITERS
from quaestor.formats.files import dump_bytes
from quaestor.i18n import say
from quaestor.store import sharing
from quaestor.store.models import BankVersion, Published, Teacher
from quaestor.store.publishing import MissingError
from quaestor.store.sharing import LOOK
from quaestor.store.teachers import logged_in
from quaestor.web.render.failures import SignInNeeded
from quaestor.web.security.browsers import TEACHER, posted, posted_held

Posted = Annotated[FormData, Depends(posted)]
Held = Annotated[FormData, Depends(posted_held)]  # a form that holds a whole file
KINDS = {
    "yaml": "application/yaml",
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "html": "text/html; charset=utf-8",
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "gift": "text/plain; charset=utf-8",
    "xml": "application/xml",
    "zip": "application/zip",
}
FORMATS = {"xlsx": "Excel", "csv": "CSV", "yaml": "YAML", "json": "JSON"}  # in which a bank can be downloaded
ELSEWHERE = {"xml": "Moodle XML", "gift": "GIFT", "zip": "QTI 3"}  # the same, for other systems


def signed_in(request: Request, work: Work) -> Teacher:
    """The teacher of this browser."""
    found = logged_in(work, request.cookies.get(TEACHER))
    if found is None:
        raise SignInNeeded(say("please sign in first"))
    return found


def reach_test(request: Request, work: Work, number: int, needed: str = LOOK) -> tuple[Teacher, Published]:
    """The teacher of this browser, and a test that they may look at, or may do with what is `needed`; the page knows what they may."""
    teacher = signed_in(request, work)
    found = sharing.published_for(work, teacher, number, needed)
    note_extent(request, work, teacher, found)
    return teacher, found


def reach_bank(request: Request, work: Work, number: int, needed: str = LOOK) -> tuple[Teacher, BankVersion]:
    """The same for a bank version."""
    teacher = signed_in(request, work)
    found = sharing.bank_for(work, teacher, number, needed)
    note_extent(request, work, teacher, found)
    return teacher, found


def note_extent(request: Request, work: Work, teacher: Teacher, thing: sharing.Thing) -> None:
    """Let the page know what a teacher may do with the thing that it is about, and whose it is."""
    whose = work.get(Teacher, thing.teacher_id)
    request.state.extent = sharing.extent_of(work, teacher, thing)
    request.state.whose = (whose.name or whose.email) if whose is not None else ""


def may_edit(request: Request) -> bool:
    """Whether the teacher may edit the thing that the page is about."""
    return bool(request.state.extent != LOOK)


def told(error: QuaestorError) -> str:
    """An error in words, for the form it came from, without the name of the field.

    One that has an answer of its own (signed out, database away) goes on to it.
    """
    if type(error) is not QuaestorError:
        raise error
    return error.words


def as_file(bank: Bank, ending: str, media: Callable[[], Mapping[str, bytes]]) -> bytes:
    """A bank as a file with this ending, for us or for other systems; `media` gives the images that go with it there."""
    if ending in FORMATS:
        return dump_bytes(bank, f".{ending}")
    if ending not in ELSEWHERE:
        raise MissingError(say("there is no such file"))
    return WRITERS[f".{ending}"](bank, media()).data


def download(content: bytes, title: str, ending: str) -> Response:
    """A file to be saved; its name is made of the safe letters of a title."""
    name = re.sub(r"[^A-Za-z0-9]+", "-", title).strip("-")[:60] or "quaestor"
    headers = {"content-disposition": f'attachment; filename="{name}.{ending}"'}
    return Response(content, media_type=KINDS[ending], headers=headers)
