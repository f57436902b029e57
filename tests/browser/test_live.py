"""The live view in a real browser and on a real server: it moves while somebody answers elsewhere."""

import os
import signal
import time

import pytest

from helpers.classroom import OWNER
from helpers.servers import Server
from quaestor.store import teachers
from quaestor.store.database import Database
from quaestor.store.models import Published, Pupil
from quaestor.web.operations import demo

playwright = pytest.importorskip("playwright.sync_api")


@pytest.fixture
def served(make_database):
    """The demo class on a server: its database, address, the number of its test, the cookie of its teacher."""
    made = make_database("sqlite")
    with made.work() as work:
        cookie = teachers.log_in(work, teachers.owner(work, OWNER))
    number = demo.add(made)
    with Server(str(made.engine.url)) as server:
        yield made, server, f"http://127.0.0.1:{server.port}", number, cookie


def signed_in(browse, address, cookie):
    page = browse()
    page.context.add_cookies([{"name": "teacher", "value": cookie, "url": address}])
    return page


def absent(database: Database, test: int) -> str:
    """The code of somebody who has not begun."""
    with database.read() as work:
        return work.query(Pupil).filter(Pupil.class_id == work.get(Published, test).class_id, Pupil.name == "Ines Ferreira").one().code


def test_the_view_moves_while_somebody_answers_elsewhere(served, browse):
    database, server, address, number, cookie = served
    page = signed_in(browse, address, cookie)
    page.goto(f"{address}/teacher/tests/{number}/live")
    page.evaluate("window.stays = true")
    page.locator("table.live tbody a").first.focus()
    taker = browse()
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


def test_nothing_is_cut_off_on_paper(served, browse):
    _, _, address, number, cookie = served
    page = signed_in(browse, address, cookie)
    for path in ("live", "results"):
        page.goto(f"{address}/teacher/tests/{number}/{path}")
        page.emulate_media(media="print")
        style = "getComputedStyle(document.querySelector('.scroll')).overflowX"
        assert page.evaluate(style) == "visible"
        assert page.evaluate("parseFloat(getComputedStyle(document.querySelector('.scroll table')).fontSize)") < 13
