"""What comes after a form: a page whose language can be changed, and from a server that is busy nothing that should stay secret."""

import re
from html import unescape

import pytest
from sqlalchemy import select

from helpers.browsing import Browser, application, enter, give
from helpers.rights import FORMS, OK, ROWS, address, where
from helpers.school import PASSWORD, opened
from quaestor.store.database import Database, UnavailableError
from quaestor.store.models import Tries
from quaestor.web.taker import attempt_pages

NOWHERE = "There is no page at this address."


@pytest.fixture(scope="module")
def school(tmp_path_factory, migrated_file):
    with opened(tmp_path_factory.mktemp("school"), migrated_file) as made:
        yield made


def back_of(response):
    """Where the language switch of a page leads back to; None where there is no page with one."""
    found = re.search(r'name="back" value="([^"]*)"', response.text)
    return unescape(found[1]) if found else None


def filled(school, key):
    places = where(school, key)
    return {name: places[value[1:-1]] if value.startswith("{") else value for name, value in (ROWS[key].sent or {}).items()}


@pytest.mark.parametrize("key", FORMS)
def test_the_page_after_any_form_can_be_opened_in_another_language(school, key):
    path, attempt = address(key, where(school, key)), where(school, key)["attempt"]
    allowed = next(who for who, expected in ROWS[key].who.items() if expected == OK)
    refused = [who for who, expected in ROWS[key].who.items() if expected != OK][-1:]
    for who in (allowed, *refused):
        for fields, token in (({}, None), (filled(school, key), None), ({}, "forged")):
            back = back_of(school.post(who, path, fields, ROWS[key].files, attempt, form_token=token))
            if back is not None:
                opened_again = school.get(who, back, attempt)
                assert opened_again.status_code < 400 or who != allowed, (fields, back)
                assert opened_again.status_code != 405, (fields, back)
                assert NOWHERE not in opened_again.text, (fields, back)
            school.restore()


@pytest.mark.parametrize(
    ("method", "path", "back"),
    [
        ("GET", "/sign-in", "/sign-in"),
        ("GET", "/c/{code}?from=qr", "/c/{code}?from=qr"),
        ("GET", "/nowhere", "/nowhere"),
        ("POST", "/nowhere", "/"),
        ("POST", "/enter", "/"),
        ("POST", "/sign-in", "/sign-in"),
        ("POST", "/teacher/banks/pasted", "/teacher/banks"),
        ("POST", "/take/{attempt}/answer", "/take/{attempt}"),
        ("POST", "/teacher/people/7/link", "/teacher/people/7"),
    ],
)
def test_the_way_back_is_the_page_itself_or_the_nearest_one_above(school, method, path, back):
    response = school.client.request(method, path.format(**school.places), headers=school.headers("anonymous"))
    assert back_of(response) == back.format(**school.places)


def test_below_the_prefix_of_a_proxy(school):
    school.app.root_path = "/quaestor"
    try:
        for path, back in (("/enter", "/quaestor/"), ("/take/7/answer", "/quaestor/take/7"), ("/nowhere", "/quaestor/")):
            assert back_of(school.client.post(f"/quaestor{path}")) == back
    finally:
        school.app.root_path = ""


def test_a_code_alone_leads_to_the_page_of_the_code(school):
    code = str(school.places["code"])
    response = school.post("anonymous", "/enter", {"code": f" {code[:3].lower()}-{code[3:]}"})
    assert (response.status_code, response.headers["location"]) == (303, f"/c/{code}")
    refused = school.post("anonymous", "/enter", {"code": code, "name": " ", "once": "x"})
    assert (refused.status_code, refused.headers["location"]) == (303, f"/c/{code}?nameless=yes")


def test_a_wrong_code_is_counted_once_and_kept_in_the_field(school):
    refused = school.post("anonymous", "/enter", {"code": "NOSUCH"})
    assert refused.status_code == 303
    assert 'value="NOSUCH"' in school.get("anonymous", refused.headers["location"]).text
    with school.database.read() as work:
        assert work.scalars(select(Tries.count).where(Tries.kind == "code")).all() == [1]
    school.restore()


# Two tabs: an entry that is too long to come back by redirect is refused, and meanwhile another one was sent


def refused_while(monkeypatch, database, step):
    """A browser whose entry is refused at a step; before the page is made, another tab answers the same question."""
    browser = enter(application(database), give(database))
    for entry in ("3/4", ["two"], "7/2")[: step - 1]:
        browser.fill("/answer", entry=entry)
    other = Browser(None)
    other.client, other.page, again = browser.client, browser.page, attempt_pages._again

    def meanwhile(*of):
        other.fill("/answer", skip="1")
        return again(*of)

    monkeypatch.setattr(attempt_pages, "_again", meanwhile)
    browser.fill("/answer", entry="".join(chr(0x4E00 + (7919 * place) % 20_000) for place in range(10_001)))
    return browser


@pytest.mark.parametrize("step", [1, 4])
def test_the_page_after_a_refusal_is_that_of_the_present_question(monkeypatch, make_database, step):
    browser = refused_while(monkeypatch, make_database("sqlite"), step)
    assert browser.page.status_code == 200
    assert f"Your answer to question {step} did not count: that question was answered before." in browser.page.text
    if step == 4:
        assert browser.path == "/take/1/result"
    else:
        assert (browser.path, browser.step) == ("/take/1", step + 1)


# The server is busy


@pytest.fixture
def away(school, monkeypatch):
    """The database cannot be reached."""

    def fail(*_, **__):
        raise UnavailableError

    monkeypatch.setattr(Database, "read", fail)
    monkeypatch.setattr(Database, "glance", fail)
    monkeypatch.setattr(Database, "work", fail)
    return school


@pytest.mark.parametrize("key", FORMS)
def test_only_a_takers_forms_are_kept_on_the_page_of_a_busy_server(away, key):
    secret = {"password": PASSWORD, "present": PASSWORD, **filled(away, key)} | {"entry": "seven"}
    response = away.post("anonymous", address(key, where(away, key)), secret)
    if response.status_code == 303:
        assert key == "POST /language"
        return
    assert response.status_code == 503
    kept = key in ("POST /enter", "POST /take/{attempt}/answer")
    assert ("data-again" in response.text) == kept
    assert ('name="entry" value="seven"' in response.text) == kept
    assert (PASSWORD in response.text) == kept
    assert ("go back in your browser and send it again" in response.text) != kept
    assert "http-equiv" not in response.text


def test_a_page_that_a_busy_server_could_not_show_is_asked_for_again(away):
    response = away.get("anonymous", "/sign-in")
    assert response.status_code == 503
    assert 'http-equiv="refresh"' in response.text
    assert "This page tries again by itself." in response.text
