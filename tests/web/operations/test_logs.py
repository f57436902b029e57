"""The log as lines of JSON: what they tell, and what they never tell."""

import io
import json
import logging
import re

import pytest
from starlette.testclient import TestClient

from helpers.browsing import application, enter, give
from quaestor.web.operations import logs


@pytest.fixture
def lines(monkeypatch):
    """The lines of JSON that were logged so far."""
    written, root, ours = io.StringIO(), logging.getLogger(), logging.getLogger("quaestor.web")
    handler, handlers, level = logging.StreamHandler(written), root.handlers[:], ours.level
    root.handlers[:] = [handler]
    logs.set_up("json")
    yield lambda: [json.loads(line) for line in written.getvalue().splitlines()]
    root.handlers[:] = handlers
    ours.setLevel(level)


def test_a_line_for_each_request_and_nothing_personal(make_database, lines):
    database = make_database("sqlite")
    code = give(database)
    browser = enter(application(database), code, "Ada Lovelace")
    found = lines()
    last = found[-1]
    assert {line["event"] for line in found} == {"request"}
    assert list(last) == ["time", "level", "event", "request", "method", "route", "status", "ms"]
    assert (last["method"], last["route"], last["status"]) == ("GET", "/take/{attempt}", 200)
    assert last["request"] == browser.page.headers["x-request-id"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", last["time"])
    assert len({line["request"] for line in found}) == len(found)
    assert not re.search(f"Ada|{code}|testclient|127.0.0.1", json.dumps(found))


def test_the_number_of_an_error_is_that_of_its_request(make_database, lines, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("nobody foresaw this")

    monkeypatch.setattr("quaestor.web.taker.front_page.page", broken)
    client = TestClient(application(make_database("sqlite")), raise_server_exceptions=False)
    page = client.get("/")
    assert page.status_code == 500
    number = page.headers["x-request-id"]
    assert f"number {number}." in page.text
    error, request = lines()
    assert (error["level"], error["request"], error["message"]) == ("error", number, f"unforeseen error {number}")
    assert "RuntimeError: nobody foresaw this" in error["trace"]
    assert (request["request"], request["status"]) == (number, 500)


def test_lines_of_text_leave_out_what_went_well(make_database, caplog):
    caplog.set_level(logging.INFO, "quaestor.web")
    client = TestClient(application(make_database("sqlite")))
    client.get("/")
    assert caplog.messages == []
    client.get("/nowhere")
    assert re.fullmatch(r"GET no route 404 \d+ ms", caplog.messages[0])
