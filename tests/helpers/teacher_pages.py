"""The teacher's pages in a client without JavaScript: a browser that fills in forms, a teacher who is signed in, a bank and a test."""

import re

import pytest
from fastapi.testclient import TestClient

from helpers.school import QUICK
from quaestor.store import publishing, secrets, teachers
from quaestor.store.attempts.taking import answer, enter, state_of
from quaestor.store.models import Published, Teacher
from quaestor.web.app import create
from quaestor.web.settings import Settings

PASSWORD = "four plain words here"
HOSTILE = "<script>alert(1)</script>"
BANK = """
quaestor: 1
title: Times tables
skills:
  multiplication: {levels: ["no", "yes"], prior: [0.5, 0.5]}
questions:
  Q1: {text: "What is $10 \\\\times 5$?", options: ["15", "50"], correct: "50", skill: multiplication, right: [0.3, 0.9]}
  Q2: {text: "What is 3 times 4?", kind: number, correct: 12, skill: multiplication, right: [0.1, 0.9]}
"""


class Browser(TestClient):
    """A browser that fills in the token of each form."""

    def token(self, path="/"):
        return re.search(r'name="form_token" value="([^"]+)"', self.get(path).text)[1]

    def fill(self, path, data=None, **more):
        return self.post(path, data={"form_token": self.token(), **(data or {})}, follow_redirects=False, **more)


@pytest.fixture
def kept(make_database):
    return make_database("sqlite")


@pytest.fixture
def teacher_app(kept, monkeypatch):
    """The application; passwords are quick there."""
    monkeypatch.setattr(secrets, "_hasher", QUICK)
    return create(Settings(), kept)


@pytest.fixture
def visit(teacher_app):
    return lambda: Browser(teacher_app, base_url="http://localhost")


@pytest.fixture
def join(kept, visit):
    """Make a teacher and a browser that is signed in."""

    def make(email="ada@school.example", owner=False):
        with kept.work() as work:
            if owner:
                found = teachers.owner(work, email)
            else:
                found = Teacher(email=email, name="Ada", password=None, is_owner=False, created=publishing.now())
                work.add(found)
                work.flush()
            secret = teachers.sign_in_link(work, found)
        browser = visit()
        assert browser.fill(f"/sign-in/{secret}").headers["location"] == "/teacher"
        return browser

    return make


@pytest.fixture
def ada(join):
    return join()


def count(kept, table):
    with kept.read() as work:
        return work.query(table).count()


def one(kept, table):
    with kept.read() as work:
        return work.query(table).one()


def put_bank(browser, content=BANK, name="bank.yaml", images=()):
    data = content if isinstance(content, bytes) else content.encode()
    files = [("file", (name, data)), *(("images", (file, image)) for file, image in images)]
    return browser.fill("/teacher/banks", files=files)


def freeze(browser, draft):
    """A draft made ready for a test; where the frozen bank is."""
    return browser.fill(f"{draft}/publish").headers["location"].removesuffix("/publish")


FORM = {
    "title": "Week 3",
    "most": "2",
    "sure": "no",
    "mode": "exam",
    "retakes": "none",
    "may_skip": "yes",
    "keep_days": "",
    "minutes": "",
    "opens": "",
    "closes": "",
    "rules": "",
}


def put_test(browser, **changed):
    bank = freeze(browser, put_bank(browser).headers["location"])
    return browser.fill(f"{bank}/publish", {**FORM, **changed})


def take(kept, name="Ben", entries=("50", "12")):
    """Somebody takes the only test; the number of the attempt."""
    with kept.work() as work:
        attempt = enter(work, work.query(Published).one().code, name)
        for step, _ in enumerate(entries, 1):
            asked = state_of(work, attempt).session.next
            answer(work, attempt, step, {"Q1": entries[0], "Q2": entries[-1]}[asked.id])
        return attempt.id
