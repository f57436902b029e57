"""A real server and a real Chromium for tests. Every page that a test opens is watched: an error on its console, an error of its script
or an answer of 400 and above that the test did not expect fails the test.
"""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from helpers.servers import Server
from quaestor.store.database import Database

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
# Each window would have two further pages of its own, for an address bar that nobody sees: a third of all the work. Playwright gives the
# switch --disable-features too, and only the last one counts, so what tests need of its list stands here again.
UNUSED = "WebUIOmniboxPopup,WebUIOmniboxAimPopup,AvoidUnnecessaryBeforeUnloadCheckSync,HttpsUpgrades,PaintHolding"
ARGUMENTS = f"""
--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync
--disable-dev-shm-usage --disable-features={UNUSED}
"""
PATIENCE = 60_000  # milliseconds: the machine may be busy
PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1280, "height": 860}


@dataclass
class Site:
    """A server that was started on an empty database: its address, the owner's one-time link, the code of the demo test."""

    address: str
    link: str
    code: str
    database: Database

    def __truediv__(self, path: str) -> str:
        return f"{self.address}/{path}"


def serve(folder: Path, migrated: Path) -> Iterator[Site]:
    """A server on an empty database, until it is stopped: a generator of one Site."""
    shutil.copy(migrated, folder / "quaestor.db")
    url = f"sqlite:///{folder / 'quaestor.db'}"
    with Server(url) as server:
        assert server.process is not None
        assert server.process.stdout is not None
        said = server.process.stdout.readline() + server.process.stdout.readline()
        found = re.search(r"class code (\w+)\).*Sign in as owner: +(\S+)", said, re.DOTALL)
        assert found is not None, said
        database = Database(url)
        yield Site(f"http://127.0.0.1:{server.port}", found[2], found[1], database)
        database.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory, migrated_file):
    """A server on a database of its own, shared by the tests of a module."""
    yield from serve(tmp_path_factory.mktemp("site"), migrated_file)


@contextmanager
def started() -> Iterator[Any]:
    """Debian's Chromium."""
    from playwright.sync_api import expect, sync_playwright

    with sync_playwright() as play:
        expect.set_options(timeout=PATIENCE)
        browser = play.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS.split())
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def chromium():
    """The browser; where there is none the test is skipped."""
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install -e '.[dev]'")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: `.ci/run` installs it, or apt-get install chromium")
    with started() as browser:
        yield browser


@dataclass
class Watch:
    """What went wrong on the pages of a browser. `expected`: answers of 400 and above that belong to the test."""

    expected: set[int] = field(default_factory=set)
    troubles: list[str] = field(default_factory=list)

    def page(self, page: Any) -> None:
        page.on("console", self.console)
        page.on("pageerror", lambda error: self.troubles.append(f"{page.url}: {error}"))
        page.on("response", self.response)

    def console(self, message: Any) -> None:
        if message.type == "error" and not message.text.startswith("Failed to load resource"):  # `response` judges those
            self.troubles.append(message.text)

    def response(self, response: Any) -> None:
        if response.status >= 400 and response.status not in self.expected:
            self.troubles.append(f"{response.status} {response.request.method} {response.url}")


def follow(found: Any) -> None:
    """Press a link or a button and wait for the page that it leads to: a click alone does not wait."""
    with found.page.expect_navigation(wait_until="load"):
        found.click()


@contextmanager
def windows(chromium: Any) -> Iterator[Any]:
    """A function that opens a page in a browser with cookies of its own; in the end no page may have had trouble."""
    watches, contexts = [], []

    def opened(**settings: Any) -> Any:
        context = chromium.new_context(**{"viewport": DESKTOP, "locale": "en-GB", "reduced_motion": "reduce", **settings})
        context.set_default_timeout(PATIENCE)
        watch = Watch()
        context.on("page", watch.page)
        watches.append(watch)
        contexts.append(context)
        page = context.new_page()
        page.watch = watch
        return page

    yield opened
    for context in contexts:
        context.close()
    troubles = [trouble for watch in watches for trouble in watch.troubles]
    assert not troubles, "\n".join(troubles)


@pytest.fixture
def browse(chromium):
    """`browse()` is a page of a new browser; `page.watch.expected` takes statuses that are not faults."""
    with windows(chromium) as opened:
        yield opened
