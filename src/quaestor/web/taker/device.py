"""The device of a taker: the cookie that opens their pages, how long it lasts, and how it ends.

It lasts as long as the test, and an hour more to read the result; then the personal code opens the pages again. Who shares a device ends it
before: the attempt gets another key, so that what the browser had opens nothing any more, whatever Back or another tab brings up.
"""

from hmac import compare_digest
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from sqlalchemy import update
from sqlalchemy.orm import Session as Work
from starlette.datastructures import FormData

from quaestor.i18n import say
from quaestor.store.attempts.state import deadline, with_lines
from quaestor.store.clock import now
from quaestor.store.models import Attempt
from quaestor.store.secrets import token
from quaestor.store.teachers import AccessError
from quaestor.web.jobs.execution import Patient
from quaestor.web.render import notes
from quaestor.web.render.pages import database, go, page
from quaestor.web.security.browsers import MONTH, TAKER, drop_cookie, posted, set_cookie

routes = APIRouter(route_class=Patient)
Posted = Annotated[FormData, Depends(posted)]
HOUR = 3600


class StrangerError(AccessError):
    """A taker's page, asked for by a browser that did not begin this test."""


def own(request: Request, work: Work, number: int) -> Attempt:
    """The attempt of this browser; anybody else is asked for their code, whether it exists or not."""
    key = request.cookies.get(TAKER, "")
    found = with_lines(work, number, key)
    if found is None or not compare_digest(found.key.encode(), key.encode()):
        raise StrangerError(say("to go on with a test, please enter your personal code"))
    return found


def path_of(attempt: int) -> str:
    """Where the cookies of an attempt are sent to."""
    return f"/take/{attempt}"


def let_in(request: Request, response: Response, attempt: Attempt, over: bool) -> None:
    """Let this browser open the pages of an attempt until its end, which may be now (`over`), and an hour more."""
    limit = deadline(attempt)[0]
    left = 0 if over else MONTH if limit is None else (limit - now()).total_seconds()
    set_cookie(request, response, TAKER, attempt.key, path_of(attempt.id), int(min(max(left, 0) + HOUR, MONTH)))


@routes.post("/take/{attempt}/done", name="done-here")
def leave(request: Request, attempt: int, form: Posted) -> Response:
    """Let nobody at this device see or go on with an attempt any more; its personal code still does."""
    with database(request).work() as work:
        mine = own(request, work, attempt)
        work.execute(update(Attempt).where(Attempt.id == mine.id, Attempt.key == mine.key).values(key=token()[:32]))
    response = go(request, "done")
    drop_cookie(request, response, TAKER, path_of(attempt))
    drop_cookie(request, response, notes.NOTE, path_of(attempt))
    response.headers["clear-site-data"] = '"cache"'  # where the browser heeds it: over https
    return response


@routes.get("/done", name="done")
def done(request: Request) -> Response:
    """Nothing of a test is left here."""
    return page(request, "taker/done.html")
