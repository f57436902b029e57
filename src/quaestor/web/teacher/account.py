"""A teacher's own account: name, password, and tokens for programs.

A token is shown once: after the redirect, from a note in a cookie, so that loading the page again makes no second one.
"""

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import delete, select
from starlette.datastructures import FormData

from quaestor.errors import QuaestorError
from quaestor.i18n import said, say
from quaestor.store import handover, identities, teachers
from quaestor.store.limits import counting
from quaestor.store.models import Token
from quaestor.store.platforms import instructors
from quaestor.store.publishing import MissingError
from quaestor.store.secrets import hashed, password_fits
from quaestor.web.jobs.execution import Patient, hashing
from quaestor.web.render import notes
from quaestor.web.render.pages import database, go, page, url
from quaestor.web.security.browsers import TEACHER
from quaestor.web.security.forms import Filled, Form, Line, Needed, Secret, again, of_page, read
from quaestor.web.security.openid import Provider
from quaestor.web.teacher.access import Posted, signed_in
from quaestor.web.teacher.colleagues import HandOver

PATH = "/teacher/account"
routes = APIRouter(prefix=PATH, route_class=Patient)


class NewName(Form):
    """Another name."""

    name: Line = ""


class NewPassword(Form):
    """A password, and the one before."""

    present: Annotated[str, Secret()] = ""
    password: Annotated[str, Secret()] = ""


class NewToken(Form):
    """A token for a program."""

    name: Annotated[Line, Needed(say("please say what the token is for"))]
    scope: Annotated[list[str], Needed(say("please choose what the token may do"))]


CHANGED = say("the password was changed; all other browsers are signed out, and all tokens have ended")


@routes.get("", name="account")
def account(request: Request, changed: bool = False) -> Response:
    """Name, password and tokens; `changed`: the password has just been changed."""
    note = notes.read(request)
    return _show(request, secret=str(note.get("token", "")), notice=CHANGED if changed else "", code=str(note.get("code", "")))


@routes.post("/name", name="rename")
def rename(request: Request, form: Posted) -> Response:
    """Another name."""
    with database(request).work() as work:
        signed_in(request, work).name = read(NewName, form).name
    return go(request, "account")


@routes.post("/password", name="password")
async def password(request: Request, form: Posted) -> Response:
    """A new password; it needs the present one, signs out all other browsers and ends all tokens."""
    return await hashing(partial(_change, request, form))


def _change(request: Request, form: FormData) -> Response:
    asked = read(NewPassword, form)
    with database(request).read() as work:
        teacher = signed_in(request, work)
    try:
        with counting(database(request), "sign-in", [teacher.email], teachers.AccessError):
            if teacher.password is not None and not password_fits(teacher.password, asked.present):
                raise teachers.AccessError(say("the present password is wrong"))
        made = teachers.new_password(asked.password)
        with database(request).work() as work:
            teachers.hold(work, teacher.id, alone=True)
            teachers.set_password(work, signed_in(request, work), made, request.cookies.get(TEACHER, ""))
    except teachers.AccessError as error:
        return _show(request, password=Filled(wrong={"present": said(error)}))
    except QuaestorError as error:
        return _show(request, password=again(error, NewPassword, form))
    return RedirectResponse(url(request, "account") + "?changed=yes", 303)


@routes.post("/connect", name="connection-code")
def connect(request: Request, form: Posted) -> Response:
    """A code with which the account is connected inside a learning platform."""
    with database(request).work() as work:
        code = instructors.connection_code(work, signed_in(request, work))
    response = RedirectResponse(url(request, "account") + "#connect", 303)
    notes.leave(request, response, PATH, {"code": code})
    return response


@routes.post("/disconnect", name="disconnect")
def disconnect(request: Request, form: Posted) -> Response:
    """Let nobody sign in to this account by the provider any more."""
    with database(request).work() as work:
        identities.disconnect(work, signed_in(request, work))
    return go(request, "account")


@routes.post("/tokens", name="make-token")
def make_token(request: Request, form: Posted) -> Response:
    """A token for a program, with what it may do."""
    try:
        with database(request).work() as work:
            teacher = signed_in(request, work)
            asked = read(NewToken, form)
            secret = teachers.api_token(work, teacher, asked.name, asked.scope)
    except QuaestorError as error:
        return _show(request, token=again(error, NewToken, form))
    response = go(request, "account")
    notes.leave(request, response, PATH, {"token": secret})
    return response


@routes.post("/tokens/{number}/delete", name="drop-token")
def drop_token(request: Request, number: int, form: Posted) -> Response:
    """Withdraw a token: it opens nothing from now on."""
    with database(request).work() as work:
        teacher = signed_in(request, work)
        mine = delete(Token).where(Token.id == number, Token.teacher_id == teacher.id)
        if not work.execute(mine).rowcount:  # type: ignore[attr-defined]
            raise MissingError(say("there is no such token"))
    return go(request, "account")


@routes.post("/hand-over", name="hand-over-all")
def hand_over(request: Request, form: Posted) -> Response:
    """Hand all tests, banks and drafts over to a colleague, before one leaves."""
    try:
        with database(request).work() as work:
            teacher = signed_in(request, work)
            found = teachers.colleague(work, read(HandOver, form).email)
            handover.hand_over_all(work, teacher, handover.receiver(work, teacher, found.id))
    except QuaestorError as error:
        return _show(request, hand_over=again(error, HandOver, form))
    return go(request, "tests")


def _show(request: Request, secret: str = "", notice: str = "", code: str = "", **back: Filled) -> Response:
    with database(request).read() as work:
        teacher = signed_in(request, work)
        connection = code if instructors.is_code_of(work, teacher, code) else ""
        tokens = work.scalars(select(Token).where(Token.teacher_id == teacher.id).order_by(Token.id)).all()
        connected = identities.identity_of(work, teacher)
    shown = secret if hashed(secret) in {token.token for token in tokens} else ""
    values: dict[str, Any] = {"tokens": tokens, "scopes": teachers.SCOPES, "back": of_page(back), "secret": shown, "notice": notice}
    values |= {"connection": connection, "minutes": instructors.MINUTES}
    provider: Provider | None = request.app.state.provider
    values |= {"connected": connected, "provider": provider.name if provider is not None else ""}
    status, shortest = 400 if back else 200, teachers.SHORTEST_PASSWORD
    response = page(request, "teacher/account.html", status, teacher=teacher, shortest=shortest, **values)
    notes.drop(request, response, PATH)
    return response
