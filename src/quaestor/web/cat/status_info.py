"""Errors in the form of the standard (`imsx_StatusInfo`), and routes that answer so."""

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from quaestor.errors import QuaestorError
from quaestor.store import counters
from quaestor.store.database import DamagedError, UnavailableError
from quaestor.store.limits import LimitError
from quaestor.store.publishing import MissingError
from quaestor.store.teachers import AccessError, UnknownTokenError
from quaestor.web.api.tokens import Route, refused
from quaestor.web.operations import logs
from quaestor.web.render.problems import reply

STATUS: dict[type[Exception], int] = {
    UnknownTokenError: 401,
    AccessError: 403,
    MissingError: 404,
    LimitError: 429,
    UnavailableError: 503,
    DamagedError: 500,
    QuaestorError: 400,
}
CODES = {
    400: "invaliddata",
    401: "unauthorisedrequest",
    403: "forbidden",
    404: "unknownobject",
    413: "invaliddata",
    415: "invaliddata",
    429: "server_busy",
    500: "internal_server_error",
    503: "server_busy",
}
_log = logging.getLogger("quaestor.web")


def status_info(status: int, words: str) -> Response:
    """An error."""
    code = CODES.get(status, "internal_server_error" if status >= 500 else "invaliddata")
    field = {"imsx_codeMinorFieldName": "quaestor", "imsx_codeMinorFieldValue": code}
    told = {"imsx_codeMajor": "failure", "imsx_severity": "error", "imsx_description": words}
    return reply({**told, "imsx_codeMinor": {"imsx_codeMinorField": [field]}}, status)


class CatRoute(Route):
    """A route of the standard: authorised as the API is, and every error in the standard's form."""

    def get_route_handler(self) -> Callable[[Request], Any]:
        """The function that handles a request."""
        handle: Callable[[Request], Awaitable[Response]] = super().get_route_handler()

        async def answered(request: Request) -> Response:
            try:
                return await handle(request)
            except Exception as error:
                return _of(request, error)

        return answered


def _of(request: Request, error: Exception) -> Response:
    if isinstance(error, UnknownTokenError):
        counted = refused(request, error)  # wrong tokens are counted
        response = status_info(counted.status_code, str(error))
        response.headers["www-authenticate"] = 'Bearer realm="quaestor"'
        return response
    if isinstance(error, HTTPException):
        return status_info(error.status_code, str(error.detail))
    if isinstance(error, RequestValidationError):
        return status_info(400, _problems(error))
    if isinstance(error, QuaestorError):
        status = next(STATUS[base] for base in type(error).__mro__ if base in STATUS)
        response = status_info(status, str(error))
        if (wait := getattr(error, "seconds", None)) is not None:
            response.headers["retry-after"] = str(int(wait) + 1)
        return response
    counters.UNFORESEEN.inc()
    _log.error("unforeseen error %s", logs.number_of_request(), exc_info=error)
    return status_info(500, f"the error was noted under the number {logs.number_of_request()}")


def _problems(error: RequestValidationError) -> str:
    """What does not fit, with its place; nothing of what was sent."""
    found = [f"{'.'.join(str(part) for part in one['loc'][1:] or one['loc'])}: {one['msg']}" for one in error.errors()[:5]]
    return "; ".join(found)
