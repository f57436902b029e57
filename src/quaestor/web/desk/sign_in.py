"""Signing in and out: by address and password, by a one-time link, by an invitation.

Opening a link shows a button and uses nothing up, so that programs which look at links in messages do no harm. Whoever signs in gets a new
`visit` cookie, so that a form token from before is worth nothing.
"""

from contextlib import AbstractContextManager

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy import delete

from quaestor.errors import QuaestorError
from quaestor.i18n import said, say
from quaestor.store import teachers
from quaestor.store.clock import now
from quaestor.store.limits import counting
from quaestor.store.models import Link, Login, Teacher
from quaestor.store.secrets import hashed, token
from quaestor.store.texts import line, tidy_email
from quaestor.web.lanes import Patient
from quaestor.web.pages import database, go, page
from quaestor.web.teacher.access import Posted, told
from quaestor.web.visits import TEACHER, address, browser, drop_cookie, field, remember, set_cookie

routes = APIRouter(route_class=Patient)
LIMIT = "sign-in"
TOO_OLD = say("this link was used already or is too old; ask for a new one")
DAY = 24 * 3600


@routes.get("/sign-in", name="sign-in")
def ask(request: Request) -> Response:
    """Address and password; whoever is signed in already goes to the desk."""
    with database(request).read() as work:
        if teachers.logged_in(work, request.cookies.get(TEACHER)) is not None:
            return go(request, "desk")
    return page(request, "desk/sign_in.html", email="", wrong="")


@routes.post("/sign-in", name="sign-in-now")
def sign_in(request: Request, form: Posted) -> Response:
    """Sign in by address and password; wrong ones are counted."""
    email, password = field(form, "email"), str(form.get("password", ""))
    try:
        with _counted(request, tidy_email(email)), database(request).read() as work:
            found = teachers.by_password(work, email, password)
    except teachers.AccessError as error:
        return page(request, "desk/sign_in.html", 400, email=email, wrong=said(error))
    with database(request).work() as work:
        secret = teachers.log_in(work, found)
    return _welcome(request, secret)


@routes.get("/sign-in/{secret}", name="use-link")
def show_link(request: Request, secret: str) -> Response:
    """What a one-time link is for, and a button that uses it."""
    return _show(request, secret)


@routes.post("/sign-in/{secret}", name="use-link-now")
def use_link(request: Request, secret: str, form: Posted) -> Response:
    """Use a one-time link: an invitation needs a name and a password, a sign-in link may set a new password."""
    name, password = line(field(form, "name"), 200), str(form.get("password", ""))
    try:
        with _counted(request), database(request).work() as work:
            teacher = teachers.use_link(work, secret)
            if "name" in form:
                if not name:
                    raise QuaestorError(say("please enter your name"))
                teacher.name = name
            if password or "name" in form:
                teachers.set_password(work, teacher, password)
                work.execute(delete(Login).where(Login.teacher_id == teacher.id))  # whoever knew the last one is signed out
            login = teachers.log_in(work, teacher)
    except teachers.AccessError:
        return _gone(request)
    except QuaestorError as error:
        return _show(request, secret, told(error), name)
    return _welcome(request, login)


def _counted(request: Request, *emails: str) -> AbstractContextManager[None]:
    """Failures are counted by browser, by address and by the e-mail that was tried."""
    return counting(database(request), LIMIT, [*browser(request), *emails], teachers.AccessError, address(request))


def _show(request: Request, secret: str, wrong: str = "", name: str = "") -> Response:
    with database(request).read() as work:
        link = work.get(Link, hashed(secret))
        if link is None or link.used is not None or link.expires < now():
            return _gone(request)
        known = work.get(Teacher, link.teacher_id) if link.teacher_id is not None else teachers.by_email(work, link.email)
    email = known.email if known is not None else link.email
    called = name or (known.name if known is not None else "")
    return page(
        request,
        "desk/link.html",
        400 if wrong else 200,
        secret=secret,
        invited=link.kind == "invitation",
        email=email,
        name=called,
        wrong=wrong,
        shortest=teachers.SHORTEST_PASSWORD,
    )


def _gone(request: Request) -> Response:
    return page(request, "desk/sign_in.html", 400, email="", wrong=TOO_OLD)


def _welcome(request: Request, secret: str) -> Response:
    response = go(request, "desk")
    request.state.visit = token()
    remember(request, response)
    set_cookie(request, response, TEACHER, secret, seconds=teachers.LOGIN_DAYS * DAY)
    return response


@routes.post("/sign-out", name="sign-out")
def sign_out(request: Request, form: Posted) -> Response:
    """Forget this browser."""
    with database(request).work() as work:
        teachers.log_out(work, request.cookies.get(TEACHER, ""))
    response = go(request, "home")
    drop_cookie(request, response, TEACHER)
    return response
