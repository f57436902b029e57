"""Signing in by the provider of OpenID Connect that the settings name, and connecting one's account with it.

The way there is a link, as our own policy forbids a form that leads elsewhere; it writes nothing. What comes back is taken once: the secret
of a sign-in is used up with it.
"""

from contextlib import AbstractContextManager

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from quaestor.i18n import said, say
from quaestor.store import identities, teachers
from quaestor.store.limits import counting
from quaestor.store.publishing import MissingError
from quaestor.store.secrets import token
from quaestor.web.jobs.execution import Patient
from quaestor.web.render.pages import database, go, page, public_url
from quaestor.web.security.browsers import address, browser, drop_cookie, set_cookie
from quaestor.web.security.openid import AwayError, Provider
from quaestor.web.teacher.access import signed_in
from quaestor.web.teacher.sign_in import LIMIT, asked_page, welcome

PATH = "/openid"
COOKIE = "openid"
CONNECT = "connect."  # what the secret begins with when an account is to be connected
MINUTES = 10
routes = APIRouter(prefix=PATH, route_class=Patient)


def provider(request: Request) -> Provider:
    """The provider of this server."""
    found: Provider | None = request.app.state.provider
    if found is None:
        raise MissingError(say("there is no such page"))
    return found


@routes.get("", name="openid")
def begin(request: Request, connect: bool = False) -> Response:
    """To the provider; `connect`: who is signed in here already connects their account with it."""
    secret = (CONNECT if connect else "") + token()
    try:
        there = provider(request).begin(secret, public_url(request, "openid-back"))
    except AwayError as error:
        return asked_page(request, 503, said(error))
    response = RedirectResponse(there, 303)
    set_cookie(request, response, COOKIE, secret, PATH, MINUTES * 60)
    return response


@routes.get("/back", name="openid-back")
def finish(request: Request) -> Response:
    """Back from the provider, with its answer."""
    secret, asked = request.cookies.get(COOKIE, ""), provider(request)
    answer = dict(request.query_params)
    try:
        with _counted(request):
            person = asked.finish(secret, public_url(request, "openid-back"), answer)
            response = _connected(request, secret, person) if secret.startswith(CONNECT) else _entered(request, secret, person)
    except AwayError as error:
        response = asked_page(request, 503, said(error))
    except teachers.AccessError as error:
        response = asked_page(request, 400, said(error))
    drop_cookie(request, response, COOKIE, PATH)
    return response


def _counted(request: Request) -> AbstractContextManager[None]:
    return counting(database(request), LIMIT, browser(request), teachers.AccessError, address(request))


def _entered(request: Request, secret: str, person: identities.Person) -> Response:
    with database(request).work() as work:
        teachers.use_once(work, secret)
        login = teachers.log_in(work, identities.admitted(work, person))
    return welcome(request, login)


def _connected(request: Request, secret: str, person: identities.Person) -> Response:
    with database(request).work() as work:
        teachers.use_once(work, secret)
        identities.connect(work, signed_in(request, work), person)
    return go(request, "account")


@routes.get("/signed-out", name="signed-out")
def signed_out(request: Request) -> Response:
    """Signed out here; the provider may still know who sits there, and has a page to end that."""
    asked = provider(request)
    there = asked.leave(public_url(request, "home"))
    return page(request, "teacher/signed_out.html", provider=asked.name, there=there)
