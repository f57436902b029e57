"""Errors of the API as problem+json (RFC 9457): a stable type, the status, what is wrong in words, and every problem with its place.

The types are names that programs can rely on (`urn:quaestor:stale-step`); the words are for people and may change.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.responses import Response

from quaestor.errors import AnswerError, BankError, Problem, QuaestorError, format_value, nearest
from quaestor.selection.rules import RulesError
from quaestor.store.attempts.taking import ChangedError, EntryError, OverError, StaleError
from quaestor.store.database import DamagedError, UnavailableError
from quaestor.store.limits import LimitError
from quaestor.store.publishing import MissingError
from quaestor.store.replies import ReplayError
from quaestor.store.teachers import AccessError, UnknownTokenError

API = "/api/"
KEY = "idempotency-key"
MEDIA_TYPE = "application/problem+json"
URN = "urn:quaestor:"


@dataclass(frozen=True)
class Kind:
    """A kind of problem: its status, the last part of its type, and its title."""

    status: int
    name: str
    title: str


NO_TOKEN = Kind(401, "token", "A token is needed")
NO_KEY = Kind(400, "key-missing", "An Idempotency-Key is needed")
UNFORESEEN = Kind(500, "error", "Something went wrong")
INVALID = Kind(422, "request", "The request does not fit")
KINDS: dict[type[Exception], Kind] = {
    UnknownTokenError: NO_TOKEN,
    AccessError: Kind(403, "scope", "The token may not do that"),
    MissingError: Kind(404, "missing", "There is nothing here"),
    StaleError: Kind(409, "stale-step", "The step was answered already"),
    ChangedError: Kind(409, "changed-question", "Another question is asked now"),
    OverError: Kind(409, "over", "The test is over"),
    EntryError: Kind(409, "closed", "The test cannot be begun"),
    ReplayError: Kind(422, "key-used", "The Idempotency-Key was used for another request"),
    BankError: Kind(422, "bank", "The bank breaks rules"),
    RulesError: Kind(422, "rules", "The rules cannot be followed"),
    AnswerError: Kind(422, "entry", "The entry was not taken"),
    LimitError: Kind(429, "limit", "Too many tries"),
    UnavailableError: Kind(503, "unavailable", "One moment, please"),
    DamagedError: UNFORESEEN,
    QuaestorError: INVALID,
}
BY_STATUS = {
    400: Kind(400, "unreadable", "The request cannot be read"),
    404: KINDS[MissingError],
    405: Kind(405, "method", "Another method is needed"),
    413: Kind(413, "too-large", "Too large"),
    415: Kind(415, "media-type", "JSON is needed"),
    500: UNFORESEEN,
}


def wanted(request: Request) -> bool:
    """Whether a request is one of the API."""
    path = request.url.path.removeprefix(str(request.scope.get("root_path", "")))
    return path.startswith(API)


def reply(content: Any, status: int = 200, media_type: str = "application/json") -> Response:
    """Plain data as JSON; half a letter, which UTF-8 cannot hold, as its code."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Response(text.encode(errors="backslashreplace"), status, media_type=media_type)


def problem(kind: Kind, detail: str, **more: Any) -> Response:
    """One problem; `more` are members of its own kind, such as `problems` or `step`."""
    content = {"type": URN + kind.name, "title": kind.title, "status": kind.status, "detail": detail, **more}
    response = reply(content, kind.status, MEDIA_TYPE)
    if kind.status == 401:
        response.headers["www-authenticate"] = 'Bearer realm="quaestor"'
    return response


def of(error: Exception) -> Response:
    """The problem that one of our errors is."""
    kind = next(KINDS[base] for base in type(error).__mro__ if base in KINDS)
    found: Iterable[Problem] = getattr(error, "problems", ())
    return problem(kind, str(error), **({"problems": [listed(one) for one in found]} if found else {}))


def listed(one: Problem) -> dict[str, str]:
    """A problem of a bank, of rules or of a request."""
    return {name: value for name, value in asdict(one).items() if name not in ("severity", "path")}


def of_status(status: int, detail: str) -> Response:
    """The problem of a status that comes from below us: the framework or the guard."""
    words = {404: "There is nothing at this address.", 405: "This address does not take this method."}
    return problem(BY_STATUS.get(status, Kind(status, "http", "That did not work")), words.get(status, detail))


def invalid(request: Request, error: RequestValidationError) -> Response:
    """A request whose fields are wrong: each with its place; an unknown field with the nearest known one."""
    wrong = list(error.errors())
    if any(one["loc"] == ("header", KEY) for one in wrong):
        return problem(NO_KEY, "every write carries a header Idempotency-Key, from 1 to 200 letters, digits and signs without spaces")
    if any(one["type"] == "json_invalid" for one in wrong):
        return of_status(400, f"the body is JSON, got {wrong[0].get('ctx', {}).get('error', 'something else')}")
    found = [_problem(request, one) for one in wrong]
    return problem(INVALID, "; ".join(str(one) for one in found), problems=[listed(one) for one in found])


def _problem(request: Request, wrong: Any) -> Problem:
    place = ".".join(str(part) for part in (wrong["loc"][1:] or wrong["loc"]))
    if wrong["type"] == "extra_forbidden":
        known = query_fields(request.scope.get("route")) if wrong["loc"][0] == "query" else _known(request)
        hint = nearest(str(wrong["loc"][-1]), known) or (f"known: {', '.join(known)}" if known else "")
        return Problem(place, "a known field is expected", format_value(wrong["loc"][-1]), hint)
    rule = str(wrong["msg"]).removeprefix("Value error, ")
    return Problem(place, rule, "nothing" if wrong["type"] == "missing" else format_value(wrong.get("input")))


def query_fields(route: Any) -> list[str]:
    """What may stand in the address of a route after the question mark."""
    return [field.alias for field in route.dependant.query_params]


def _known(request: Request) -> list[str]:
    """The fields of the body that a route takes."""
    body = getattr(request.scope.get("route"), "body_field", None)
    return list(getattr(getattr(getattr(body, "field_info", None), "annotation", None), "model_fields", ()))
