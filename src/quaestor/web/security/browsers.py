"""Browsers and how they are recognised: cookies, and the token that every form carries.

Each browser has a `visit` cookie, a random secret; the token of its forms is a hash of it, so a page of another site, which cannot
read the cookie, cannot make a form that counts. Cookies are HttpOnly, SameSite=Lax, and Secure whenever the page came over HTTPS.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hmac import compare_digest
from ipaddress import IPv4Address, IPv6Network, ip_address

from fastapi import Request
from starlette.datastructures import FormData
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from quaestor.errors import QuaestorError
from quaestor.i18n import say
from quaestor.store.secrets import hashed, token

BROWSER, TEACHER, TAKER = "visit", "teacher", "taker"
MONTH = 30 * 24 * 3600
MOST_FIELDS, MOST_FILES = 2000, 60
MOST_IN_FIELD = 1_000_000  # bytes: fields are kept in memory, also those that strangers send
MOST_IN_HELD = 50_000_000  # of a field that holds a file; bodies are limited as they arrive, to less than that unless set otherwise
HOUSEHOLD = 64  # bits of an IPv6 address that one household has


class ForgedError(QuaestorError):
    """A form without the token of this browser."""


def browser_secret(request: Request) -> str:
    """The secret of this browser; a new one is made (and set by `remember`) when it has none."""
    secret: str = getattr(request.state, "visit", "") or request.cookies.get(BROWSER, "") or token()
    request.state.visit = secret
    return secret


def form_token(request: Request) -> str:
    """What the forms of a page carry."""
    return hashed("form " + browser_secret(request))


def remember(request: Request, response: Response) -> None:
    """Set the visit cookie where the browser has none."""
    if request.cookies.get(BROWSER) != browser_secret(request):
        set_cookie(request, response, BROWSER, browser_secret(request))


def set_cookie(request: Request, response: Response, name: str, value: str, path: str = "", seconds: int = MONTH) -> None:
    """A cookie that scripts cannot read and other sites cannot send."""
    response.set_cookie(
        name,
        value,
        max_age=seconds,
        path=root(request) + (path or "/"),
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )


def drop_cookie(request: Request, response: Response, name: str, path: str = "") -> None:
    """Forget a cookie."""
    response.delete_cookie(name, path=root(request) + (path or "/"), httponly=True, samesite="lax")


def root(request: Request) -> str:
    """The path prefix below which a reverse proxy shows us."""
    return str(request.scope.get("root_path", "")).rstrip("/")


def site_root(request: Request) -> str:
    """The same where the page is shown inside a platform's frame, below a path of its own (`web.lti.framed`): for what is not its own."""
    return str(request.scope.get("site_root", root(request)))


async def posted(request: Request) -> AsyncIterator[FormData]:
    """The fields of a form of ours; a dependency of every route that changes something. Uploaded files are closed at the end."""
    async with _read(request, MOST_IN_FIELD) as form:
        yield form


async def posted_held(request: Request) -> AsyncIterator[FormData]:
    """The same for a form in which a page sends back the file that it was made from, in a field."""
    async with _read(request, MOST_IN_HELD) as form:
        yield form


@asynccontextmanager
async def _read(request: Request, most: int) -> AsyncIterator[FormData]:
    try:
        form = await request.form(max_files=MOST_FILES, max_fields=MOST_FIELDS, max_part_size=most)
    except ClientDisconnect as error:
        raise QuaestorError(say("the browser went away before the form was read")) from error
    request.state.form = form
    written = form.get("form_token")
    secret = request.cookies.get(BROWSER, "")
    try:
        if not secret or not isinstance(written, str) or not compare_digest(written.encode(), hashed("form " + secret).encode()):
            raise ForgedError(say("this page was open for too long, or your browser keeps no cookies. Please try again"))
        yield form
    finally:
        await form.close()


def field(form: FormData, name: str) -> str:
    """A text field of a form, without spaces around it; empty where it is missing or a file."""
    value = form.get(name, "")
    return value.strip() if isinstance(value, str) else ""


def fields(form: FormData, name: str) -> list[str]:
    """All text fields of a form with this name, as they were filled in."""
    return [value for value in form.getlist(name) if isinstance(value, str)]


def whole(text: str) -> int:
    """A whole number that a form or a cookie brought; 0 when it is none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0


def address(request: Request) -> str:
    """Who asks, as the limits count it: of an IPv6 address the network, as every household has as many addresses as it likes.

    An IPv4 address that a dual-stack proxy writes as an IPv6 one (::ffff:203.0.113.9) is what it is.
    """
    host = request.client.host if request.client is not None else "unknown"
    try:
        found = ip_address(host)
    except ValueError:
        return host
    if isinstance(found, IPv4Address):
        return str(found)
    return str(found.ipv4_mapped or IPv6Network((int(found), HOUSEHOLD), strict=False))


def browser(request: Request) -> list[str]:
    """The browser that asks, at its address, as the limits count it; none when it brought no cookie."""
    secret = request.cookies.get(BROWSER, "")
    return [f"{address(request)} {hashed(secret)}"] if secret else []
