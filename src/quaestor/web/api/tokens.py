"""Who may use the API: bearer tokens with scopes. Wrong ones are counted for each address, and too many are turned away for a while.

A token is looked up before anything else of a request is read, and again in every unit of work of the request: a token that was withdrawn
since opens nothing. When it was last used is noted afterwards, at most once an hour.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.exceptions import RequestValidationError
from sqlalchemy.orm import Session as Work
from starlette.exceptions import HTTPException
from starlette.responses import Response

from quaestor.store import limits
from quaestor.store.clock import now
from quaestor.store.limits import LimitError
from quaestor.store.models import Token
from quaestor.store.teachers import UnknownTokenError, by_token, note_use
from quaestor.web.jobs.execution import Patient, quickly
from quaestor.web.render import problems
from quaestor.web.render.pages import database
from quaestor.web.security.browsers import address

KIND = "token"  # the limit on wrong tokens
NOTED = timedelta(hours=1)


@dataclass(frozen=True)
class Bearer:
    """What a request brings: the secret of its token. `scopes`: those of which its route needs one."""

    secret: str
    scopes: tuple[str, ...]


def needs(*scopes: str) -> Any:
    """A dependency: the token of a request, which must have one of these scopes."""

    async def bearer(request: Request) -> Bearer:
        return Bearer(_secret(request), scopes)

    bearer.scopes = scopes  # type: ignore[attr-defined]  # for the description
    return Depends(bearer)


ForSessions = Annotated[Bearer, needs("sessions")]
ForBanks = Annotated[Bearer, needs("banks")]
ForTests = Annotated[Bearer, needs("tests")]
ForResults = Annotated[Bearer, needs("results")]
ForSessionsOrResults = Annotated[Bearer, needs("sessions", "results")]


class Route(Patient):
    """A route of the API: nothing of a request is read before it has brought a token that may do it, and no body but JSON is.

    Whoever brings a wrong token learns only that, not what else is wrong with the request.
    """

    def get_route_handler(self) -> Callable[[Request], Any]:
        """The function that handles a request."""
        handle: Callable[[Request], Awaitable[Response]] = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            await quickly(request, partial(self._check, request))
            if self.body_field is not None and not _is_json(request):
                raise HTTPException(415, "the body is JSON, with the header Content-Type: application/json")
            self._refuse_unknown(request)
            return await handle(request)

        return guarded

    @property
    def scopes(self) -> tuple[str, ...]:
        """The scopes of which a token needs one."""
        return next(found for one in self.dependant.dependencies if (found := getattr(one.call, "scopes", ())))

    def _refuse_unknown(self, request: Request) -> None:
        unknown = [name for name in request.query_params if name not in problems.query_fields(self)]
        if unknown:
            raise RequestValidationError([{"type": "extra_forbidden", "loc": ("query", name)} for name in unknown])

    def _check(self, request: Request) -> None:
        secret = _secret(request)
        with database(request).read() as work:
            by_token(work, secret, *self.scopes)


def _secret(request: Request) -> str:
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not secret.strip():
        raise NoTokenError("a header Authorization: Bearer with a token of this server is needed")
    return secret.strip()


class NoTokenError(UnknownTokenError):
    """A request without a token: nothing was tried, so nothing is counted."""


def _is_json(request: Request) -> bool:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == "application/json"


@contextmanager
def reading(request: Request, bearer: Bearer) -> Iterator[tuple[Work, Token]]:
    """A unit of work that only reads, and the token that may do it."""
    with database(request).read() as work:
        token = by_token(work, bearer.secret, *bearer.scopes)
        yield work, token
    if token.used is None or now() - token.used > NOTED:
        with database(request).work() as work:
            note_use(work, token.id)


@contextmanager
def writing(request: Request, bearer: Bearer) -> Iterator[tuple[Work, Token]]:
    """A unit of work that writes, and the token that may do it, which cannot be withdrawn before it ends."""
    with database(request).work() as work:
        yield work, by_token(work, bearer.secret, *bearer.scopes)


def refused(request: Request, error: Exception) -> Response:
    """The reply to a token that is missing or wrong."""
    if not isinstance(error, NoTokenError):
        try:
            with database(request).read() as work:
                limits.refuse(work, KIND, address(request))
            with database(request).work() as work:
                limits.count(work, KIND, address(request))
        except LimitError as limit:
            response = problems.of(limit)
            response.headers["retry-after"] = str(limit.seconds)
            return response
    return problems.of(error)
