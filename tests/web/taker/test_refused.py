"""A taker's form that is refused: by redirect, in a child's words, with what was entered kept; a stale tab is told so."""

import re
from datetime import timedelta
from html import unescape

import pytest
from sqlalchemy import select

import quaestor as qs
from helpers.browsing import KINDS, Browser, application, enter, give
from quaestor.store import clock
from quaestor.store.attempts import entry, invitations, state
from quaestor.store.models import Event
from quaestor.web.jobs import execution
from quaestor.web.render import notes

RIGHT = ["3/4", ["two", "four"], "7/2", "Paris"]


@pytest.fixture
def app(database):
    return application(database)


def text_of(page):
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page.text)).split())


def at_step(app, database, step, **conditions):
    browser = enter(app, give(database, **conditions))
    for given in RIGHT[: step - 1]:
        browser.fill("/answer", entry=given)
    return browser


def notes_of(browser):
    return [cookie for cookie in browser.client.cookies.jar if cookie.name == notes.NOTE]


@pytest.mark.parametrize(
    ("step", "fields", "words"),
    [
        (1, {}, "Please choose an answer first."),
        (1, {"entry": ["3/4", "1/8"]}, "Please choose one of these answers."),
        (1, {"entry": "5/7"}, "Please choose one of these answers."),
        (2, {}, "Please tick an answer first."),
        (2, {"entry": ["two", "seven"]}, "Please tick only answers that stand here."),
        (3, {"entry": " "}, "Please write your answer first."),
        (3, {"entry": "about <3>"}, "We cannot read “about <3>” as a number. Please write it like this: 12, 0.75, 3/4 or 1 1/2."),
        (4, {"entry": ""}, "Please write your answer first."),
        (4, {"entry": ["Paris", "Rome"]}, "Please write one answer."),
    ],
)
def test_a_refused_entry_comes_back_by_redirect_in_plain_words(app, database, step, fields, words):
    browser = at_step(app, database, step)
    browser.fill("/answer", **fields)
    assert [response.status_code for response in browser.page.history] == [303]
    for _ in range(2):  # a reload shows the same, and sends nothing
        assert (browser.page.status_code, browser.path, browser.step) == (200, "/take/1", step)
        assert words in text_of(browser.page)
        assert " got " not in text_of(browser.page)
        browser.go("/take/1")
    browser.fill("/answer", entry=RIGHT[step - 1])
    assert words not in text_of(browser.page)
    assert "did not count" not in text_of(browser.page)
    assert not notes_of(browser)
    with database.read() as work:
        assert work.scalars(select(Event.answer).order_by(Event.step)).all() == ["right"] * step


def test_what_was_typed_or_ticked_is_kept(app, database):
    browser = at_step(app, database, 2)
    browser.fill("/answer", entry=["four", "seven"])
    assert re.findall(r'value="(\w+)" checked', browser.page.text) == ["four"]
    browser.fill("/answer", entry=["four"])
    browser.fill("/answer", entry="\u4e09 & \u534a")
    assert re.search(r'id="entry"[^>]* value="([^"]*)"', browser.page.text)[1] == "\u4e09 &amp; \u534a"


IMPOSSIBLE = {**KINDS.document, "questions": {}}
for name in ("first", "second"):
    IMPOSSIBLE["questions"][name] = {"text": "Say it", "kind": "text", "correct": "yes", "skill": "sums", "right": [1, 1, 1]}


@pytest.mark.parametrize(("length", "history"), [(500, [303]), (10_000, [])])
def test_no_text_is_too_long_to_be_kept(app, database, length, history):
    """Whatever a field of ours takes fits into a cookie; a longer text of another program comes back on the page itself."""
    written = "".join(chr(0x4E00 + (7919 * place) % 20_000) for place in range(length))
    browser = enter(app, give(database, bank=qs.Bank(IMPOSSIBLE), images={}))
    browser.fill("/answer", entry=written)
    assert [response.status_code for response in browser.page.history] == history
    assert "the test rules it out" in text_of(browser.page)
    assert f'value="{written}"' in browser.page.text
    assert browser.step == 1


def test_a_note_goes_to_its_own_test_only_and_not_to_scripts(app, database):
    browser = enter(app, give(database))
    browser.fill("/answer")
    cookie = next(one for one in browser.page.history[0].headers.get_list("set-cookie") if one.startswith("note="))
    assert "Path=/take/1;" in cookie
    assert "HttpOnly" in cookie
    assert f"Max-Age={notes.SECONDS};" in cookie


@pytest.mark.parametrize("value", ["x", "eJw=", "eJyrVsrMS0lVslIqLkksKlayUlDKTFGyUlJSqgUAZ0EHVg==", "AAAA" * 900])
def test_a_note_that_is_none_is_no_harm(app, database, value):
    browser = enter(app, give(database))
    browser.client.cookies.set("note", value, domain="testserver.local", path="/take/1")
    assert browser.go("/take/1").status_code == 200
    assert 'role="alert"' not in browser.page.text


@pytest.mark.parametrize("content", [{"step": 1, "entries": {"a": 1}}, {"step": "1"}, {"entries": ["a"]}, {"step": 1, "entries": [7]}])
def test_neither_is_a_note_of_another_form(app, database, content, monkeypatch):
    browser = enter(app, give(database))
    monkeypatch.setattr(notes, "read", lambda _: content)
    assert browser.go("/take/1").status_code == 200
    assert 'role="alert"' not in browser.page.text


def test_a_skip_that_the_rules_forbid(app, database):
    browser = enter(app, give(database, rules=qs.Rules(score="order", may_skip=False)))
    browser.fill("/answer", skip="1")
    assert (browser.page.status_code, browser.step) == (200, 1)
    assert "This question cannot be skipped. Please answer it." in text_of(browser.page)


# Stale tabs


def test_a_stale_tab_is_told_that_its_answer_did_not_count(app, database):
    browser = enter(app, give(database))
    stale = browser.page
    browser.fill("/answer", entry="3/4")
    browser.page = stale
    browser.fill("/answer", entry="1/8")
    assert browser.step == 2
    words = "Your answer to question 1 did not count: that question was answered before. This is the question to answer now."
    assert words in text_of(browser.page)
    browser.fill("/answer", entry=["two"])
    assert "did not count" not in text_of(browser.page)
    with database.read() as work:
        assert work.scalars(select(Event.entry).order_by(Event.step)).all() == ["3/4", "two"]


@pytest.mark.parametrize("fields", [{"entry": "3/4"}, {"skip": "1"}])
@pytest.mark.parametrize(("mode", "path"), [("exam", "/take/1"), ("practice", "/take/1/feedback/1")])
def test_an_answer_that_is_sent_twice_is_taken_once_and_no_alarm(app, database, fields, mode, path):
    browser = enter(app, give(database, mode=mode))
    form = browser.page
    for _ in range(2):
        browser.page = form
        browser.fill("/answer", **fields)
        assert browser.path == path
        assert "did not count" not in text_of(browser.page)
    browser.go("/take/1")
    assert (browser.step, "did not count" in text_of(browser.page)) == (2, False)


def test_the_last_answer_of_a_stale_tab(app, database):
    browser = at_step(app, database, 4)
    stale = browser.page
    browser.fill("/answer", entry="Paris")
    browser.page = stale
    browser.fill("/answer", entry="Rome")
    assert browser.path == "/take/1/result"
    assert "Your answer to question 4 did not count: that question was answered before." in text_of(browser.page)
    browser.page = stale
    browser.fill("/answer", entry="Paris")
    assert browser.path == "/take/1/result"
    assert "did not count" not in text_of(browser.page)


def test_an_answer_after_the_time_did_not_count(app, database, monkeypatch):
    browser = enter(app, give(database, minutes=10))
    later = clock.now() + timedelta(minutes=11)
    for module in (clock, entry, invitations, execution, state):
        monkeypatch.setattr(module, "now", lambda: later)
    browser.fill("/answer", entry="3/4")
    assert browser.path == "/take/1/result"
    assert "Your answer to question 1 did not count: the test was over." in text_of(browser.page)


# The page for the code


def test_a_wrong_code_comes_back_by_redirect(app):
    browser = Browser(app)
    browser.go("/")
    browser.fill("/enter", code="no such?<")
    assert [response.status_code for response in browser.page.history] == [303]
    assert (browser.page.status_code, browser.path) == (200, "/")
    assert "This code opens no test; please check it." in text_of(browser.page)
    assert 'value="no such?&lt;"' in browser.page.text


def test_a_missing_name_comes_back_by_redirect(app, database):
    browser = Browser(app)
    code = give(database)
    browser.go(f"/c/{code}")
    browser.fill("/enter", name="  ")
    assert [response.status_code for response in browser.page.history] == [303]
    assert (browser.page.status_code, browser.path) == (200, f"/c/{code}")
    assert "Please enter a name." in text_of(browser.page)
    browser.fill("/enter", name="Ada")
    assert browser.path == "/take/1"


@pytest.mark.parametrize(("opens", "closes", "words"), [(60, None, "This test opens on "), (None, -60, "This test is closed.")])
def test_a_test_that_is_not_open_says_so_before_anybody_begins(app, database, opens, closes, words):
    moment = clock.now()
    times = {"opens": opens and moment + timedelta(minutes=opens), "closes": closes and moment + timedelta(minutes=closes)}
    code = give(database, **times)
    open_one = give(database, title="Another")
    browser = Browser(app)
    browser.go(f"/c/{code}")
    assert words in text_of(browser.page)
    assert "Begin" not in text_of(browser.page)
    form = browser.go(f"/c/{open_one}")
    browser.page = form
    browser.fill("/enter", code=code, name="Ada")  # a page that was open before the test closed
    assert [response.status_code for response in browser.page.history] == [303]
    assert words in text_of(browser.page)
