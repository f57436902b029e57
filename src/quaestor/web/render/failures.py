"""What every error becomes: a page in calm words with the right status, or problem+json below /api."""

import logging
from asyncio import CancelledError
from collections.abc import Callable

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from quaestor.errors import QuaestorError
from quaestor.i18n import said, say
from quaestor.store import counters
from quaestor.store.attempts.taking import EntryError, StaleError
from quaestor.store.database import DamagedError, UnavailableError
from quaestor.store.limits import LimitError
from quaestor.store.publishing import MissingError
from quaestor.store.teachers import AccessError
from quaestor.web.operations import logs
from quaestor.web.render import problems
from quaestor.web.render.pages import page, url
from quaestor.web.security.browsers import ForgedError

_log = logging.getLogger("quaestor.web")


class SignInNeeded(QuaestorError):
    """A page for teachers, asked for by somebody who is not signed in."""


STATUS: dict[type[Exception], int] = {
    MissingError: 404,
    AccessError: 403,
    ForgedError: 403,
    LimitError: 429,
    UnavailableError: 503,
    DamagedError: 500,
    StaleError: 409,
    EntryError: 400,
    QuaestorError: 400,
}
AGAIN = ("/take/{attempt}/answer", "/enter")  # forms that a page may keep and send again: they hold no secret and no file
TITLES = {
    400: say("That did not work"),
    403: say("Not allowed"),
    404: say("There is nothing here"),
    405: say("There is nothing here"),
    409: say("Answered already"),
    413: say("Too large"),
    422: say("There is nothing here"),
    429: say("Too many tries"),
    500: say("Something went wrong"),
    503: say("One moment, please"),
}


def handle(app: FastAPI) -> None:
    """Give every kind of error its answer."""
    for kind, status in STATUS.items():
        app.add_exception_handler(kind, _ours(status))
    app.add_exception_handler(SignInNeeded, _sign_in)
    app.add_exception_handler(ClientDisconnect, _gone)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(RequestValidationError, _invalid)


def _ours(status: int) -> Callable[[Request, Exception], Response]:
    def answer(request: Request, error: Exception) -> Response:
        wait: float | None = getattr(error, "seconds", None)
        if problems.wanted(request):
            return _waiting(problems.of(error), wait)
        return _say(request, status, said(error), wait)

    return answer


def _sign_in(request: Request, error: Exception) -> Response:
    if request.method == "GET":
        return RedirectResponse(url(request, "sign-in"), 303)
    return _say(request, 403, say("please sign in first"))


def _gone(request: Request, error: Exception) -> Response:
    """Nobody reads this: whoever asked has left while it was worked out."""
    return Response(status_code=499)


def http(request: Request, error: Exception) -> Response:
    """The answer to an error of HTTP, of the framework or of `guard`."""
    assert isinstance(error, HTTPException)
    words = say("There is no page at this address.") if error.status_code in (404, 405) else error.detail
    response = _say(request, error.status_code, words)
    response.headers.update(error.headers or {})
    return response


def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    if problems.wanted(request):
        return problems.invalid(request, error)
    return _say(request, 404, say("There is no page at this address."))


def answer(request: Request, error: BaseException) -> Response:
    """What `guard` sends: an error of HTTP, a request not done when the server had to stop, or an error that nobody foresaw."""
    if isinstance(error, HTTPException):
        return http(request, error)
    if isinstance(error, CancelledError):
        return _ours(503)(request, UnavailableError(say("the server is stopping; please try again in a few seconds")))
    number = logs.number_of_request()
    counters.UNFORESEEN.inc()
    _log.error("unforeseen error %s", number, exc_info=error)
    return _say(request, 500, say("The error was noted under the number {number}. What you had entered before is kept.", number=number))


def _say(request: Request, status: int, words: str, wait: float | None = None) -> Response:
    if problems.wanted(request):
        response = problems.of_status(status, words)
    elif status == 503:
        response = page(request, "busy.html", 503, fields=_kept(request), sent=request.method == "POST", to=request.url.path)
    else:
        response = page(request, "failure.html", status, title=TITLES.get(status, TITLES[400]), words=words)
    return _waiting(response, wait)


def _kept(request: Request) -> list[tuple[str, str]]:
    """The fields of a taker's form, to be sent again."""
    form: FormData | None = getattr(request.state, "form", None)
    if form is None or getattr(request.scope.get("route"), "path", "") not in AGAIN:
        return []
    return [(name, value) for name, value in form.multi_items() if isinstance(value, str)]


def _waiting(response: Response, wait: float | None) -> Response:
    if wait is not None:
        response.headers["retry-after"] = str(int(wait) + 1)
    return response
