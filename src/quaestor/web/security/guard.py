"""What stands before every request: security headers on each response, a limit on the size of each body, a log without secrets.

Who asks by a name that is not ours is refused, and told what to do about it. What can be read by `GET` can be asked for by `HEAD`: it is
answered in the same way, without the body. An error that nobody foresaw is answered here too: the framework would answer it outside of us,
without these headers. So is what was not done when the server had to stop.

The log tells of what failed or took long. It names the route, never the address that was asked for: addresses may hold codes and
one-time links.
"""

import logging
import time
from asyncio import CancelledError
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request

from quaestor.errors import format_value
from quaestor.i18n import say
from quaestor.store import counters
from quaestor.web.operations import logs

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; img-src 'self' data:; media-src 'self'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
]
SLOW = 1.0  # seconds after which a request is worth a line in the log
_log = logging.getLogger("quaestor.web")


class TooLarge(HTTPException):
    """A body that is larger than allowed, found out while it was read: the framework hands it on as an error of HTTP."""

    def __init__(self, largest: int) -> None:
        words = say("An upload has at most {most} MB. Nothing was kept of this one.", most=largest // 1_000_000)
        super().__init__(413, words, {"connection": "close"})


class Unknown(HTTPException):
    """A request for a server of another name."""

    def __init__(self, host: str) -> None:
        words = say(
            "This server is not called {host}. Whoever runs it can give it that name: `quaestor serve --hosts`.", host=format_value(host)
        )
        super().__init__(400, words)


class Guard:
    """An ASGI application around another one; `is_known`: whether the server may be asked by this name; `answer`: to errors."""

    def __init__(self, app: Asgi, largest: int, is_known: Callable[[str], bool], answer: Callable[[Request, BaseException], Asgi]) -> None:
        self.app = app
        self.largest = largest
        self.is_known = is_known
        self.answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status, started, method = time.perf_counter(), 500, False, scope["method"]
        if method == "HEAD":
            scope, send = {**scope, "method": "GET"}, _without_body(send)
        number = (b"x-request-id", logs.begin_request().encode())

        async def guarded_send(message: Message) -> None:
            nonlocal status, started
            if message["type"] == "http.response.start":
                status, started = message["status"], True
                present = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], number, *_missing(present)]
            await send(message)

        seen = 0

        async def counted_receive() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self.largest:
                raise TooLarge(self.largest)
            return message

        try:
            strange = [one for one in _hosts(scope) if not self.is_known(one)]
            if strange:
                await self._refuse(Unknown(strange[0]), scope, receive, guarded_send)
            elif _stated_length(scope) > self.largest:
                await self._refuse(TooLarge(self.largest), scope, receive, guarded_send)
            else:
                await self.app(scope, counted_receive, guarded_send)
        except (TooLarge, CancelledError) as error:  # the latter when the server stops, and has waited for this as long as it waits
            if not started:
                await self._refuse(error, scope, receive, guarded_send)
        except Exception as error:
            if not started:
                await self.answer(Request(scope), error)(scope, receive, guarded_send)
            raise
        finally:
            route = _route(scope)
            took = time.perf_counter() - began
            counters.request(method, route, status, took)
            level = logging.INFO if status >= 400 or took > SLOW else logging.DEBUG
            if _log.isEnabledFor(level):
                told = {"event": "request", "method": method, "route": route, "status": status, "ms": round(1000 * took, 1)}
                _log.log(level, "%s %s %d %.0f ms", method, route, status, 1000 * took, extra=told)

    async def _refuse(self, error: BaseException, scope: Scope, receive: Receive, send: Send) -> None:
        await self.answer(Request(scope), error)(scope, receive, send)


def _missing(present: set[bytes]) -> list[tuple[bytes, bytes]]:
    """The headers that a response lacks. A page for a platform's frame has a policy of its own, which says who may show it."""
    framed = {b"x-frame-options"} if b"content-security-policy" in present else set()
    return [header for header in (*HEADERS, (b"cache-control", b"no-store")) if header[0] not in present | framed]


def _without_body(send: Send) -> Send:
    """Send the head of a response only; one that would go on and on ends there."""
    ended = False

    async def send_head(message: Message) -> None:
        nonlocal ended
        if message["type"] == "http.response.start":
            await send(message)
        elif not ended:
            ended = True
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    return send_head


def _hosts(scope: Scope) -> list[str]:
    return [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]


def _route(scope: Scope) -> str:
    """The template of the path that was asked for; what is served without one are the files of /static."""
    return getattr(scope.get("route"), "path", "/static" if "endpoint" in scope else "no route")


def _stated_length(scope: Scope) -> int:
    stated = dict(scope["headers"]).get(b"content-length", b"0")
    return int(stated[:20]) if stated.isdigit() else 0  # 20 digits are too many already
