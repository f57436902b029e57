"""Who is signed in, what their forms hold, and files handed out to them."""

import re
from typing import Annotated

from fastapi import Depends, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session as Work
from starlette.datastructures import FormData

from quaestor.errors import QuaestorError, unplaced
from quaestor.i18n import said, say
from quaestor.store.models import Teacher
from quaestor.store.teachers import logged_in
from quaestor.web.render.failures import SignInNeeded
from quaestor.web.security.browsers import TEACHER, posted

Posted = Annotated[FormData, Depends(posted)]
KINDS = {
    "yaml": "application/yaml",
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
}
FORMATS = {"xlsx": "Excel", "csv": "CSV", "yaml": "YAML", "json": "JSON"}  # in which a bank can be downloaded


def signed_in(request: Request, work: Work) -> Teacher:
    """The teacher of this browser."""
    found = logged_in(work, request.cookies.get(TEACHER))
    if found is None:
        raise SignInNeeded(say("please sign in first"))
    return found


def told(error: QuaestorError) -> str:
    """An error in words, for the form it came from, without the name of the field.

    One that has an answer of its own (signed out, database away) goes on to it.
    """
    if type(error) is not QuaestorError:
        raise error
    return unplaced(said(error))


def download(content: bytes, title: str, ending: str) -> Response:
    """A file to be saved; its name is made of the safe letters of a title."""
    name = re.sub(r"[^A-Za-z0-9]+", "-", title).strip("-")[:60] or "quaestor"
    headers = {"content-disposition": f'attachment; filename="{name}.{ending}"'}
    return Response(content, media_type=KINDS[ending], headers=headers)
