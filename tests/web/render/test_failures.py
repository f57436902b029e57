"""Errors that are nobody's fault."""

import asyncio

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from starlette.requests import ClientDisconnect

from helpers.browsing import application
from quaestor.store import counters
from quaestor.web.render import failures


def test_who_leaves_before_the_answer_comes_is_no_fault_of_the_software(caplog):
    app = FastAPI()
    failures.handle(app)

    @app.get("/")
    def leave():
        raise ClientDisconnect

    before = counters.UNFORESEEN._value.get()
    assert TestClient(app).get("/").status_code == 499
    assert counters.UNFORESEEN._value.get() == before
    assert not caplog.records


@pytest.mark.parametrize(("path", "words"), [("/wait", "One moment, please"), ("/api/v1/wait", "the server is stopping")])
def test_what_is_not_done_when_the_server_stops_is_to_be_sent_again(make_database, caplog, path, words):
    app = application(make_database("sqlite"))

    @app.get(path)
    async def wait():
        await asyncio.sleep(600)

    sent = []

    async def stop():
        scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": [(b"host", b"testserver")]}
        waiting = asyncio.create_task(app(scope, asyncio.Event().wait, lambda message: asyncio.sleep(0, sent.append(message))))
        await asyncio.sleep(0.05)
        waiting.cancel()
        await waiting

    asyncio.run(stop())
    head, body = sent
    headers = dict(head["headers"])
    assert head["status"] == 503
    assert words in body["body"].decode()
    assert int(headers[b"retry-after"]) >= 1
    assert b"content-security-policy" in headers
    assert not [record for record in caplog.records if record.exc_info]
