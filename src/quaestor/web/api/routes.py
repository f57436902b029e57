"""All routes of the API, its description, and its place in the application."""

from functools import cache
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import Response

from quaestor.store.teachers import UnknownTokenError
from quaestor.web.api import PREFIX, banks, publications, school_classes, sessions
from quaestor.web.api.description import TYPES, described
from quaestor.web.api.tokens import Route, refused
from quaestor.web.render.pages import page
from quaestor.web.render.problems import URN, reply
from quaestor.web.security.browsers import root

PARTS = (sessions.routes, banks.routes, publications.routes, school_classes.routes)
about = APIRouter(prefix=PREFIX)


def add(app: FastAPI) -> None:
    """Put the API into an application."""
    for part in PARTS:
        app.include_router(part)
    app.include_router(about, include_in_schema=False)
    app.add_exception_handler(UnknownTokenError, refused)


@cache
def _description() -> dict[str, Any]:
    return described([route for part in PARTS for route in part.routes if isinstance(route, Route)])


def document(below: str = "") -> dict[str, Any]:
    """The OpenAPI document, for a server that is shown below a path."""
    return {**_description(), "servers": [{"url": below or "/"}]}


@about.get("/openapi.json", name="openapi")
def openapi(request: Request) -> Response:
    """The description for programs; it is no secret."""
    return reply(document(root(request)))


@about.get("", name="api")
def read(request: Request) -> Response:
    """The same for people."""
    return page(request, "api.html", document=document(root(request)), types=TYPES, urn=URN)
