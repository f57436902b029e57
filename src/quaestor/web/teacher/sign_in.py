"""Signing in and out: by address and password, by a one-time link, by an invitation.

Opening a link shows a button and uses nothing up, so that programs which look at links in messages do no harm. Whoever signs in gets a new
`visit` cookie, so that a form token from before is worth nothing.
"""

from contextlib import AbstractContextManager
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.datastructures import FormData

from quaestor.errors import QuaestorError
from quaestor.i18n import said, say
from quaestor.store import teachers
from quaestor.store.identities import identity_of
from quaestor.store.limits import counting
from quaestor.store.models import Teacher
from quaestor.store.secrets import token
from quaestor.store.texts import tidy_email
from quaestor.web.jobs.execution import Patient, hashing
from quaestor.web.render.pages import database, go, page
from quaestor.web.security.browsers import TEACHER, address, browser, drop_cookie, remember, set_cookie
from quaestor.web.security.forms import Filled, Form, Line, Needed, Secret, again, read
from quaestor.web.security.openid import Provider
from quaestor.web.teacher.access import Posted

routes = APIRouter(route_class=Patient)
LIMIT = "sign-in"
DAY = 24 * 3600


class SignIn(Form):
    """Who somebody is."""

    email: str = ""
    password: Annotated[str, Secret()] = ""


class Link(Form):
    """A sign-in link, which may set a new password."""

    password: Annotated[str, Secret()] = ""
    name: Line = ""


class InvitationLink(Link):
    """An invitation, which needs both."""

    name: Annotated[Line, Needed(say("please enter your name"))]


@routes.get("/sign-in", name="sign-in")
def ask(request: Request) -> Response:
    """Address and password; whoever is signed in already goes to their tests."""
    with database(request).read() as work:
        if teachers.logged_in(work, request.cookies.get(TEACHER)) is not None:
            return go(request, "tests")
    return asked_page(request)


def asked_page(request: Request, status: int = 200, wrong: str = "", email: str = "") -> Response:
    """The page that asks who somebody is; `provider`: by whom else than by us they can say it."""
    provider: Provider | None = request.app.state.provider
    named = provider.name if provider is not None else ""
    return page(request, "teacher/sign_in.html", status, email=email, wrong=wrong, provider=named)


@routes.post("/sign-in", name="sign-in-now")
async def sign_in(request: Request, form: Posted) -> Response:
    """Sign in by address and password; wrong ones are counted."""
    return await hashing(partial(_sign_in, request, read(SignIn, form)))


def _sign_in(request: Request, asked: SignIn) -> Response:
    try:
        with _counted(request, tidy_email(asked.email)), database(request).read() as work:
            found = teachers.by_password(work, asked.email, asked.password)
        with database(request).work() as work:
            secret = teachers.log_in(work, found)
    except teachers.AccessError as error:
        return asked_page(request, 400, said(error), asked.email)
    return welcome(request, secret)


@routes.get("/sign-in/{secret}", name="use-link")
def show_link(request: Request, secret: str) -> Response:
    """What a one-time link is for, and a button that uses it."""
    return _show(request, secret)


@routes.post("/sign-in/{secret}", name="use-link-now")
async def use_link(request: Request, secret: str, form: Posted) -> Response:
    """Use a one-time link: an invitation needs a name and a password, a sign-in link may set a new password."""
    return await hashing(partial(_use_link, request, secret, form))


def _use_link(request: Request, secret: str, form: FormData) -> Response:
    kind = InvitationLink if "name" in form else Link
    try:
        with _counted(request):
            with database(request).read() as work:
                teachers.open_link(work, secret)
            asked = read(kind, form)
            made = teachers.new_password(asked.password) if asked.password or kind is InvitationLink else ""
            with database(request).work() as work:
                teacher = teachers.use_link(work, secret)
                teacher.name = asked.name or teacher.name
                if made:
                    teachers.set_password(work, teacher, made)
                login = teachers.log_in(work, teacher)
    except teachers.AccessError:
        return _gone(request)
    except QuaestorError as error:
        return _show(request, secret, again(error, kind, form))
    return welcome(request, login)


def _counted(request: Request, *emails: str) -> AbstractContextManager[None]:
    """Tries are counted by browser, by address and by the e-mail that is tried; those that fail stay counted."""
    return counting(database(request), LIMIT, [*browser(request), *emails], teachers.AccessError, address(request))


def _show(request: Request, secret: str, back: Filled | None = None) -> Response:
    with database(request).read() as work:
        try:
            link = teachers.open_link(work, secret)
        except teachers.AccessError:
            return _gone(request)
        known = work.get(Teacher, link.teacher_id) if link.teacher_id is not None else teachers.by_email(work, link.email)
    email = known.email if known is not None else link.email
    form = back or Filled({"name": known.name if known is not None else ""})
    return page(
        request,
        "teacher/link.html",
        400 if back else 200,
        secret=secret,
        invited=link.kind == "invitation",
        known=known is not None,
        email=email,
        form=form,
        shortest=teachers.SHORTEST_PASSWORD,
    )


def _gone(request: Request) -> Response:
    return asked_page(request, 400, teachers.GONE)


def welcome(request: Request, secret: str) -> Response:
    """To their tests, with a browser that is signed in from now on."""
    response = go(request, "tests")
    request.state.visit = token()
    remember(request, response)
    set_cookie(request, response, TEACHER, secret, seconds=teachers.LOGIN_DAYS * DAY)
    return response


@routes.post("/sign-out", name="sign-out")
def sign_out(request: Request, form: Posted) -> Response:
    """Forget this browser."""
    with database(request).work() as work:
        secret = request.cookies.get(TEACHER, "")
        who = teachers.logged_in(work, secret)
        connected = who is not None and identity_of(work, who) is not None
        teachers.log_out(work, secret)
    response = go(request, "signed-out" if connected and request.app.state.provider is not None else "home")
    drop_cookie(request, response, TEACHER)
    return response
