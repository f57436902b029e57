"""Errors of the API as problem+json (RFC 9457)."""

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response

API = "/api/"


def wanted(request: Request) -> bool:
    """Whether a request is one of the API."""
    path = request.url.path.removeprefix(str(request.scope.get("root_path", "")))
    return path.startswith(API)


def problem(status: int, title: str, detail: str) -> Response:
    """One problem."""
    content = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    return JSONResponse(content, status, media_type="application/problem+json")


def invalid(request: Request, error: RequestValidationError) -> Response:
    """A request whose fields are wrong: each with its place."""
    told = [f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}" for one in error.errors()]
    return problem(422, "The request does not fit", "; ".join(told))
