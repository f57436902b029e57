"""Errors that are nobody's fault."""

from fastapi import FastAPI
from fastapi.testclient import TestClient
from starlette.requests import ClientDisconnect

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
