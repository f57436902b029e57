"""The description of the API: OpenAPI for programs, the same as a page for people.

The framework describes what goes right; what can go wrong is the same for whole kinds of routes, so it is written here once: which
statuses a route has besides, each with problem+json and an example.
"""

from collections.abc import Sequence
from typing import Any

from fastapi.openapi.utils import get_openapi

from quaestor import __version__
from quaestor.web.api import PREFIX, examples, session_shapes
from quaestor.web.api.tokens import Route
from quaestor.web.render.problems import BY_STATUS, INVALID, KINDS, MEDIA_TYPE, NO_KEY, NO_TOKEN, URN, Kind

TAGS = [
    {"name": "sessions", "description": "Take a test: begin, answer, skip, read the result. An answer returns the next question."},
    {"name": "banks", "description": "Upload, list and download banks. Whoever may do this sees the answer keys."},
    {"name": "tests", "description": "Publish a bank with rules and conditions, and read the results."},
    {"name": "classes", "description": "Make classes, read their pupils and how these grow, erase a child."},
]
ABOUT = (
    "Adaptive tests on Bayesian and credal networks. Every request carries a token (`Authorization: Bearer ...`), which a teacher makes on"
    " the account page, with one or more scopes; every write carries an `Idempotency-Key`: the same key with the same request gives"
    " the same reply, and the work is done once. Errors are problem+json (RFC 9457). A token sees only what belongs to its teacher."
)
ALWAYS = (
    (NO_TOKEN, "The token is missing or not known"),
    (Kind(403, "scope", "The token may not do that"), "The token lacks the scope"),
    (INVALID, "The request does not fit: each problem with its place"),
    (Kind(429, "limit", "Too many tries"), "Too many wrong tokens from this address, or attempts at this test: see Retry-After"),
    (BY_STATUS[500], "Something went wrong; it was noted"),
    (Kind(503, "unavailable", "One moment, please"), "The database cannot be reached: see Retry-After"),
)
OF_ONE = ((BY_STATUS[404], "There is no such thing, or it belongs to somebody else"),)
OF_WRITES = (
    (NO_KEY, "There is no Idempotency-Key, or the body is no JSON"),
    (Kind(409, "stale-step", "The step was answered already"), "It does not fit where things stand, or the same request is at work"),
)
OF_BODIES = ((BY_STATUS[413], "The body is too large"), (BY_STATUS[415], "The body is not JSON"))
OF_RESULTS = ((Kind(409, "running", "The session is not over"), "The session is not over, or its result is told when the test is closed"),)
SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
FILES: dict[str, dict[str, dict[str, str]]] = {  # routes that reply with a file: its media types with their schemas
    "/banks/{bank}/content": {
        "application/yaml": {"type": "object"},
        "application/json": {"type": "object"},
        "text/csv": {"type": "string"},
        SHEET: {},
    },
    "/tests/{test}/results.csv": {"text/csv": {"type": "string"}},
    "/sessions/{session}/images/{image}": {"image/png": {}, "image/jpeg": {}, "image/gif": {}, "image/webp": {}},
}
UNKNOWN = {"place": "nam", "rule": "a known field is expected", "value": "'nam'", "hint": "did you mean 'name'?", "where": ""}
SAMPLES: dict[str, Any] = {
    "application/yaml": examples.BANK,
    "application/json": {"quaestor": 1, "title": "Integer multiplication"},
    "text/csv": "name,code,state\r\nAda,7KMRX2PQ,over\r\n",
}


def described(routes: Sequence[Route]) -> dict[str, Any]:
    """The OpenAPI document of some routes."""
    document = get_openapi(title="Quaestor", version=__version__, description=ABOUT, tags=TAGS, routes=routes)
    schemas = document["components"]["schemas"]
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    problem = session_shapes.ProblemShape.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(problem.pop("$defs", {}))
    schemas["ProblemShape"] = problem
    document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    for route in routes:
        for method in route.methods or ():
            _complete(document["paths"][route.path_format][method.lower()], route, method)
    return document


def _complete(operation: dict[str, Any], route: Route, method: str) -> None:
    """Say who may do it, what else it may reply, and give examples."""
    operation["security"] = [{"token": [scope]} for scope in route.scopes]
    operation["description"] += f" Scope: {' or '.join(f'`{scope}`' for scope in route.scopes)}."
    responses = operation["responses"]
    responses.pop("422", None)
    if "content" in (body := operation.get("requestBody", {})):
        body["content"]["application/json"]["example"] = _example(route.body_field.field_info.annotation)  # type: ignore[union-attr]
    (good,) = responses.values()
    good["description"] = {201: "Made", 204: "Done"}.get(route.status_code or 200, "Well")
    files = FILES.get(route.path_format.removeprefix(PREFIX))
    if files is not None:
        good["content"] = {kind: {"schema": schema, "example": SAMPLES.get(kind, "...")} for kind, schema in files.items()}
    elif route.response_model is not None:
        good["content"]["application/json"]["example"] = _example(route.response_model)
    for kind, words in _problems(route, method):
        responses[str(kind.status)] = _response(kind, words)


def _example(shape: Any) -> Any:
    return shape.model_config["json_schema_extra"]["examples"][0]


def _problems(route: Route, method: str) -> list[tuple[Kind, str]]:
    found = [*ALWAYS]
    if "{" in route.path_format or route.body_field is not None:
        found += OF_ONE
    if method != "GET":
        found += OF_WRITES
    if route.body_field is not None:
        found += OF_BODIES
    if route.path_format.endswith("/result"):
        found += OF_RESULTS
    return sorted(found, key=lambda one: one[0].status)


def _response(kind: Kind, words: str) -> dict[str, Any]:
    example = {"type": URN + kind.name, "title": kind.title, "status": kind.status, "detail": words}
    if kind.name == "stale-step":
        example = dict(examples.PROBLEM)
    if kind is INVALID:
        example["problems"] = [UNKNOWN]
    found: dict[str, Any] = {
        "description": words,
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemShape"}, "example": example}},
    }
    if kind.status in (429, 503):
        found["headers"] = {"Retry-After": {"schema": {"type": "integer"}, "description": "seconds to wait"}}
    if kind.status == 401:
        found["headers"] = {"WWW-Authenticate": {"schema": {"type": "string"}, "description": "Bearer"}}
    return found


TYPES = sorted(
    {kind.name: kind for kind in (*KINDS.values(), *BY_STATUS.values(), NO_KEY, OF_RESULTS[0][0])}.values(), key=lambda one: one.status
)
