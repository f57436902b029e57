"""Pages inside a platform's frame, for browsers that keep no cookies there.

Below `/framed/{secret}` lies the whole server once more, as one browser sees it: the secret in the address stands for its cookies, which
are kept for it in a jar. So every page works inside a frame as it does elsewhere, and knows nothing of it. What is different is said here:
a frame may be shown by its platform and nobody else (`frame-ancestors`), learners get to their test and nowhere else, and nobody types a
password there. A browser that keeps a cookie for the frame after all (partitioned ones are allowed nearly everywhere) must bring it from
then on, so that the address alone opens nothing.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from http.cookies import CookieError, SimpleCookie

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quaestor.errors import QuaestorError
from quaestor.store.database import Database
from quaestor.store.platform_tables import Frame
from quaestor.store.platforms import frames
from quaestor.store.secrets import token
from quaestor.web.lti import jose
from quaestor.web.render.pages import FRAME
from quaestor.web.security.guard import POLICY

PREFIX = "/framed"
BROWSER = "frame"  # the cookie that a browser may keep or not
MOST_COOKIES, LONGEST_COOKIE = 30, 4096
_BELOW = re.compile(rf"{PREFIX}/([A-Za-z0-9_-]{{40,64}})(/.*)")
_LEARNERS = ("/c/", "/enter", "/take/", "/language", "/lti/start", "/static/")
_NOBODY = (  # accounts and the server itself are not for a frame
    "/sign-in", "/sign-out", "/teacher/account", "/teacher/people", "/teacher/platforms", "/framed", "/lti/login", "/lti/launch",
    "/lti/register", "/api", "/metrics",
)  # fmt: skip


@dataclass
class Jar:
    """The cookies of a frame: by name and path, which is one below the frame."""

    cookies: dict[tuple[str, str], str]

    @classmethod
    def opened(cls, frame: Frame, secret: str) -> "Jar":
        """The jar of a frame."""
        found = json.loads(jose.unlocked(secret, frame.jar))
        return cls({(name, path): value for name, path, value in found})

    def locked(self, secret: str) -> bytes:
        """The jar as it is stored."""
        listed = [[name, path, value] for (name, path), value in self.cookies.items()][-MOST_COOKIES:]
        return jose.locked(secret, json.dumps(listed).encode())

    def header(self, path: str) -> str:
        """What a browser would send to a path: of cookies of one name, the one for the longest path."""
        fitting = sorted((len(of), name, value) for (name, of), value in self.cookies.items() if _covers(of, path))
        return "; ".join(f"{name}={value}" for name, value in {name: value for _, name, value in fitting}.items())

    def take(self, set_cookie: str, prefix: str) -> None:
        """Do what a browser does with a `Set-Cookie`."""
        try:
            parsed = SimpleCookie(set_cookie)
        except CookieError:
            return
        for name, found in parsed.items():
            key = name, found["path"].removeprefix(prefix) or "/"
            self.cookies.pop(key, None)
            if found["max-age"] != "0" and found.value and len(found.coded_value) <= LONGEST_COOKIE:
                self.cookies[key] = found.coded_value


def _covers(of: str, path: str) -> bool:
    return of in ("/", path) or path.startswith(of.rstrip("/") + "/")


def policy(origins: Iterable[str], form_action: str = "") -> str:
    """The content policy of a page that these origins may show in a frame."""
    shown = POLICY.replace("frame-ancestors 'none'", f"frame-ancestors {' '.join(origins) or chr(39) + 'none' + chr(39)}")
    return shown.replace("form-action 'self'", f"form-action 'self' {form_action}") if form_action else shown


def frame_of(request: Request) -> Frame | None:
    """The frame that a request comes from, if it does."""
    found: Frame | None = request.scope.get(FRAME)
    return found


def browser_cookie(value: str, path: str, seconds: int) -> str:
    """A `Set-Cookie` of a value that a browser inside a frame may keep: for each platform another, over https (or on this machine)."""
    return f"{BROWSER}={value}; Path={path}; Max-Age={seconds}; Secure; HttpOnly; SameSite=None; Partitioned"


def new_frame(root: str, cookies: dict[tuple[str, str], str]) -> tuple[str, str, bytes, tuple[bytes, bytes]]:
    """The secret of a new frame, the value of its browser's cookie, its jar, and the header that offers the cookie."""
    secret, browser = token(), token()
    header = browser_cookie(browser, f"{root}{PREFIX}/{secret}", frames.HOURS * 3600)
    return secret, browser, Jar(cookies).locked(secret), (b"set-cookie", header.encode())


class Framed:
    """An ASGI application around another one."""

    def __init__(self, app: ASGIApp, database: Database) -> None:
        self.app, self.database = app, database

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request: one from inside a frame as if the browser had sent its cookies."""
        root = str(scope.get("root_path", "")).rstrip("/")
        path = str(scope.get("path", "")).removeprefix(root)
        found = _BELOW.fullmatch(path) if scope["type"] == "http" else None
        if found is None:
            await self.app(scope, receive, send)
            return
        secret, rest = found[1], found[2]
        browser = Request(scope).cookies.get(BROWSER, "")
        try:
            frame = await self.database.on_loop(partial(self._find, secret))
        except QuaestorError:
            frame = None
        if frame is None or not frames.is_its(frame, browser) or not _may(frame, rest):
            await self.app(scope, receive, send)  # `/framed/...` itself says why
            return
        if frame.bound.startswith(frames.UNSEEN):
            await run_in_threadpool(self._bind, frame, browser)
        await self._serve(frame, secret, root, rest, scope, receive, send)

    async def _serve(self, frame: Frame, secret: str, root: str, rest: str, scope: Scope, receive: Receive, send: Send) -> None:
        prefix, jar = f"{root}{PREFIX}/{secret}", Jar.opened(frame, secret)
        headers = [(name, value) for name, value in scope["headers"] if name != b"cookie"]
        scope["headers"] = [*headers, (b"cookie", jar.header(rest).encode("latin-1", "replace"))]
        scope["root_path"], scope["site_root"], scope[FRAME] = prefix, root, frame
        if rest == "/":
            scope["path"] = f"{prefix}/lti/start"
        before = dict(jar.cookies)

        async def framed_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent = MutableHeaders(raw=message["headers"])
                for one in sent.getlist("set-cookie"):
                    jar.take(one, prefix)
                del sent["set-cookie"]
                sent.setdefault("content-security-policy", policy(frame.origins))
                sent["cross-origin-opener-policy"] = "unsafe-none"
                message["headers"] = sent.raw
                if jar.cookies != before:
                    await run_in_threadpool(self._fill, frame, jar.locked(secret))
            await send(message)

        await self.app(scope, receive, framed_send)

    def _find(self, secret: str) -> Frame | None:
        with self.database.glance() as work:
            return frames.find(work, secret)

    def _bind(self, frame: Frame, browser: str) -> None:
        with self.database.work() as work:
            frames.bind(work, frame, browser)

    def _fill(self, frame: Frame, jar: bytes) -> None:
        with self.database.work() as work:
            frames.fill(work, frame, jar)


def _may(frame: Frame, rest: str) -> bool:
    """Whether a page is for this frame."""
    if rest.startswith(_NOBODY):
        return False
    return frame.teaches or rest == "/" or rest.startswith(_LEARNERS)
