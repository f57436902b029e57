"""The live view in a real browser and on a real server: it moves while somebody answers elsewhere, and no page breaks a rule of axe."""

import os
import shutil
import signal
import time

import pytest
from servers import Server
from test_live import OWNER

from quaestor.store import teachers
from quaestor.store.database import Database
from quaestor.store.models import Pupil
from quaestor.web import demo

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
PHONE, DESKTOP = 390, 1280


@pytest.fixture
def served(make_database):
    """The demo class on a server: its database, address, the number of its test, the cookie of its teacher."""
    made = make_database("sqlite")
    with made.work() as work:
        cookie = teachers.log_in(work, teachers.owner(work, OWNER))
    number = demo.add(made)
    with Server(str(made.engine.url)) as server:
        yield made, server, f"http://127.0.0.1:{server.port}", number, cookie


@pytest.fixture
def chromium():
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def desk(chromium, address, cookie, **settings):
    context = chromium.new_context(**settings)
    context.add_cookies([{"name": "teacher", "value": cookie, "url": address}])
    return context.new_page()


def absent(database: Database, test: int) -> str:
    """The code of somebody who has not begun."""
    with database.read() as work:
        return work.query(Pupil).filter(Pupil.test_id == test, Pupil.name == "Ines Ferreira").one().code


def test_the_view_moves_while_somebody_answers_elsewhere(served, chromium):
    database, server, address, number, cookie = served
    page = desk(chromium, address, cookie)
    page.goto(f"{address}/desk/tests/{number}/live")
    page.evaluate("window.stays = true")
    page.locator("table.live tbody a").first.focus()
    taker = chromium.new_context().new_page()
    taker.goto(f"{address}/c/{absent(database, number)}")
    taker.click("main button")
    playwright.expect(page.locator("tr", has_text="Ines Ferreira")).to_contain_text("on it", timeout=15_000)
    assert "not begun" in page.inner_text("[data-live-said]")
    if taker.locator(".options input").count():
        taker.locator(".options input").first.check()
    else:
        taker.fill("[name=entry]", "3")
    taker.click("button.main")
    playwright.expect(page.locator("tr", has_text="Ines Ferreira").locator("td").first).to_have_text("2", timeout=15_000)
    assert page.evaluate("window.stays")  # it was never loaded again
    assert "/takers/" in page.evaluate("document.activeElement.href")
    began = time.monotonic()
    os.kill(server.process.pid, signal.SIGTERM)  # an open stream does not hold up a stop
    server.process.wait(20)
    server.process.stdout.close()
    server.process = None
    assert time.monotonic() - began < 15


def test_the_pages_break_no_rule_of_axe(served, chromium):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    _, _, address, number, cookie = served
    for scheme, width in (("light", PHONE), ("dark", DESKTOP)):
        page = desk(chromium, address, cookie, color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True)
        for path in ("live", "questions", "report?pupils=yes"):
            page.goto(f"{address}/desk/tests/{number}/{path}")
            found = axe.run(page).response["violations"]
            assert not [(rule["id"], rule["nodes"][0]["html"][:200]) for rule in found if rule["impact"] in ("serious", "critical")]
            assert page.evaluate("document.documentElement.scrollWidth") <= width
