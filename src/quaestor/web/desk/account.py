"""A teacher's own account: name, password, and tokens for programs. A token is shown once, when it is made."""

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import delete, select

from quaestor.errors import QuaestorError
from quaestor.i18n import said, say
from quaestor.store import teachers
from quaestor.store.limits import counting
from quaestor.store.models import Login, Token
from quaestor.store.publishing import MissingError
from quaestor.store.secrets import hashed, password_fits
from quaestor.store.texts import line
from quaestor.web.lanes import Patient
from quaestor.web.pages import database, go, page, url
from quaestor.web.teacher.access import Posted, signed_in, told
from quaestor.web.visits import TEACHER, field

routes = APIRouter(prefix="/desk/account", route_class=Patient)


@routes.get("", name="account")
def account(request: Request, changed: bool = False) -> Response:
    """Name, password and tokens; `changed`: the password has just been changed."""
    return _show(request, notice=say("the password was changed; all other browsers are signed out") if changed else "")


@routes.post("/name", name="rename")
def rename(request: Request, form: Posted) -> Response:
    """Another name."""
    with database(request).work() as work:
        signed_in(request, work).name = line(field(form, "name"), 200)
    return go(request, "account")


@routes.post("/password", name="password")
def password(request: Request, form: Posted) -> Response:
    """A new password; it needs the present one, and signs out all other browsers."""
    present, wanted = str(form.get("present", "")), str(form.get("password", ""))
    with database(request).read() as work:
        teacher = signed_in(request, work)
    try:
        with counting(database(request), "sign-in", [teacher.email], teachers.AccessError):
            if teacher.password is not None and not password_fits(teacher.password, present):
                raise teachers.AccessError(say("the present password is wrong"))
        with database(request).work() as work:
            teacher = signed_in(request, work)
            teachers.set_password(work, teacher, wanted)
            here = hashed(request.cookies.get(TEACHER, ""))
            work.execute(delete(Login).where(Login.teacher_id == teacher.id, Login.token != here))
    except teachers.AccessError as error:
        return _show(request, wrong={"password": said(error)})
    except QuaestorError as error:
        return _show(request, wrong={"password": told(error)})
    return RedirectResponse(url(request, "account") + "?changed=yes", 303)


@routes.post("/tokens", name="make-token")
def make_token(request: Request, form: Posted) -> Response:
    """A token for a program, with what it may do."""
    scopes = [scope for scope in form.getlist("scope") if isinstance(scope, str)]
    try:
        with database(request).work() as work:
            teacher = signed_in(request, work)
            if not (name := line(field(form, "name"), 200)):
                raise QuaestorError(say("please say what the token is for"))
            if not scopes:
                raise QuaestorError(say("please choose what the token may do"))
            secret = teachers.api_token(work, teacher, name, scopes)
    except QuaestorError as error:
        return _show(request, wrong={"token": told(error)})
    return _show(request, secret=secret)


@routes.post("/tokens/{number}/delete", name="drop-token")
def drop_token(request: Request, number: int, form: Posted) -> Response:
    """Withdraw a token: it opens nothing from now on."""
    with database(request).work() as work:
        teacher = signed_in(request, work)
        found = work.get(Token, number)
        if found is None or found.teacher_id != teacher.id:
            raise MissingError(say("there is no such token"))
        work.delete(found)
    return go(request, "account")


def _show(request: Request, wrong: dict[str, str] | None = None, secret: str = "", notice: str = "") -> Response:
    with database(request).read() as work:
        teacher = signed_in(request, work)
        tokens = work.scalars(select(Token).where(Token.teacher_id == teacher.id).order_by(Token.id)).all()
    status = 400 if wrong else 200
    shortest = teachers.SHORTEST_PASSWORD
    values = {"tokens": tokens, "scopes": teachers.SCOPES, "wrong": wrong or {}, "secret": secret, "notice": notice, "shortest": shortest}
    return page(request, "desk/account.html", status, teacher=teacher, **values)
