"""Simulated takers over HTTP: a browser without JavaScript, and people who go through a test with it.

The browser is raw HTTP/1.1 on one connection that is kept alive, so that hundreds of takers cost little; it keeps cookies by name and
follows no redirect by itself. A taker does what a person does: reads the form of the question, answers, and when the connection breaks
or the server asks for patience sends the same thing again.
"""

import asyncio
import json
import random
import re
from dataclasses import dataclass, field
from html import unescape
from urllib.parse import urlencode

LOST = (ConnectionError, asyncio.IncompleteReadError, TimeoutError, OSError)
PATIENCE = 120  # seconds that a taker goes on trying
_FIELD = re.compile(r"<input [^>]*>")
_ATTRIBUTE = re.compile(r'([a-z-]+)="([^"]*)"')
_ACTION = re.compile(r'<form method="post" action="([^"]*)"')


@dataclass(frozen=True)
class Page:
    """A response. `to`: where it redirects to."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def to(self) -> str:
        return self.headers.get("location", "") if self.status == 303 else ""

    @property
    def form(self) -> tuple[str, list[tuple[str, str, str]]]:
        """The first form of the page: where it goes, and its inputs as type, name, value."""
        start = _ACTION.search(self.text)
        assert start is not None, f"a page with a form is expected, got {self.status}: {self.text[-2000:]}"
        found = []
        for one in _FIELD.findall(self.text[start.end() : self.text.index("</form>", start.end())]):
            attributes = dict(_ATTRIBUTE.findall(one))
            found.append((attributes.get("type", "text"), attributes.get("name", ""), unescape(attributes.get("value", ""))))
        return unescape(start[1]), found

    @property
    def hidden(self) -> list[tuple[str, str]]:
        """The hidden fields of the form."""
        return [(name, value) for kind, name, value in self.form[1] if kind == "hidden"]


class Browser:
    """Cookies and one connection."""

    def __init__(self, port: int, cookies: dict[str, str] | None = None) -> None:
        self.port, self.cookies = port, dict(cookies or {})
        self.headers: dict[str, str] = {}
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def get(self, path: str) -> Page:
        return await self._send("GET", path, b"")

    async def post(self, path: str, fields: list[tuple[str, str]]) -> Page:
        return await self._send("POST", path, urlencode(fields).encode())

    async def post_json(self, path: str, content: object) -> Page:
        return await self._send("POST", path, json.dumps(content).encode(), "application/json")

    async def _send(self, method: str, path: str, body: bytes, kind: str = "application/x-www-form-urlencoded") -> Page:
        try:
            if self._streams is not None and self._streams[0].at_eof():  # the server has closed it, as nothing was asked for a while
                self.close()
            if self._streams is None:
                self._streams = await asyncio.open_connection("127.0.0.1", self.port)
            cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
            head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nAccept-Language: en\r\nCookie: {cookies}\r\n"
            head += "".join(f"{name}: {value}\r\n" for name, value in self.headers.items())
            if method == "POST":
                head += f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
            self._streams[1].write(head.encode() + b"\r\n" + body)
            async with asyncio.timeout(PATIENCE):
                return await self._read(self._streams[0])
        except LOST:
            self.close()
            raise

    async def _read(self, stream: asyncio.StreamReader) -> Page:
        first, *lines = (await stream.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {}
        for line in lines:
            name, _, value = line.partition(": ")
            if name.lower() == "set-cookie":
                key, _, kept = value.partition(";")[0].partition("=")
                self.cookies[key] = kept
            headers[name.lower()] = value
        body = await stream.readexactly(int(headers.get("content-length", 0)))
        if headers.get("connection") == "close":
            self.close()
        return Page(int(first.split(" ")[1]), headers, body.decode())

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


@dataclass
class Taker:
    """Somebody who takes a test. `acknowledged`: what the server confirmed, step by step; `lost` and `busy`: what went wrong on the way."""

    port: int
    code: str
    name: str
    acknowledged: dict[int, list[str]] = field(default_factory=dict)
    lost: int = 0
    busy: int = 0
    attempt: int = 0

    def __post_init__(self) -> None:
        self.browser = Browser(self.port)
        self.random = random.Random(self.name)

    async def take(self) -> None:
        """The whole test, from the link to the page with the result."""
        page = await self.enter()
        while not (page := await self.get(page.to)).to.endswith("/result"):
            page = await self.answer(page)
            if page.to.endswith("/result"):
                break
        result = await self.get(page.to)
        assert result.status == 200, result.text
        self.browser.close()

    async def enter(self) -> Page:
        """Follow the link, give a name."""
        action, _ = (page := await self.get(f"/c/{self.code}")).form
        entered = await self.post(action, [*page.hidden, ("name", self.name)])
        assert entered.to, entered.text
        self.attempt = int(entered.to.rpartition("/")[2])
        return entered

    async def answer(self, page: Page) -> Page:
        """Answer the question of a page; the redirect that confirms it."""
        action, fields = self.fill(page)
        answered = await self.post(action, fields)
        assert answered.to, f"{self.name}: {answered.status} {answered.text}"
        self.acknowledged[int(dict(fields)["step"])] = [value for name, value in fields if name == "entry"]
        return answered

    def fill(self, page: Page) -> tuple[str, list[tuple[str, str]]]:
        """The form of a question, filled in by chance: where it goes, and its fields."""
        action, inputs = page.form
        choices = [value for kind, _, value in inputs if kind in ("radio", "checkbox")]
        chosen = self.random.choice(choices) if choices else str(self.random.randrange(100))
        return action, [*page.hidden, ("entry", chosen)]

    async def get(self, path: str) -> Page:
        return await self._patiently(lambda: self.browser.get(path))

    async def post(self, path: str, fields: list[tuple[str, str]]) -> Page:
        """Send a form; a calm page that asks to send it again has everything that was in it."""

        async def send() -> Page:
            page = await self.browser.post(path, fields)
            if page.status == 503:
                kept = page.form
                assert (kept[0], [(name, value) for _, name, value in kept[1]]) == (path, fields), page.text
            return page

        return await self._patiently(send)

    async def _patiently(self, send) -> Page:
        end = asyncio.get_running_loop().time() + PATIENCE
        while True:
            try:
                page = await send()
                if page.status != 503:
                    return page
                assert int(page.headers["retry-after"]) >= 1
                self.busy += 1
            except LOST:
                self.lost += 1
            assert asyncio.get_running_loop().time() < end, f"{self.name} gave up after {PATIENCE} s"
            await asyncio.sleep(0.1 + 0.1 * self.random.random())
