"""The taker's pages, without JavaScript: every kind of question, skipping, practice, coming back, clocks, and what must not be told."""

import re
from datetime import timedelta
from html import unescape

import pytest
from sqlalchemy import select

import quaestor as qs
from helpers import browsing
from helpers.browsing import KINDS, Browser, application, enter, give
from quaestor.store import clock, publishing, teachers
from quaestor.store.attempts import entry, state
from quaestor.store.classes import class_lists
from quaestor.store.models import Attempt, Event
from quaestor.web.jobs import execution

ANSWERS = ["3/4", ["two", "four"], "7/2", " paris. "]


@pytest.fixture
def app(database):
    return application(database)


def text_of(page):
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page.text)).split())


def test_a_test_from_code_to_result(app, database):
    browser = Browser(app)
    assert "Enter the code that you were given." in text_of(browser.go("/"))
    browser.fill("/enter", code=give(database, minutes=30).lower())
    assert "You have 30 minutes." in text_of(browser.page)
    browser.fill("/enter", name="Ada <b>")
    for number, entry_ in enumerate(ANSWERS, 1):
        assert browser.page.status_code == 200
        assert browser.step == number
        browser.fill("/answer", entry=entry_)
    assert browser.path == "/take/1/result"
    assert "4 of 4 questions answered right." in text_of(browser.page)
    assert "<b>" not in browser.page.text
    assert "This test asks no more questions." in text_of(browser.page)
    assert "Adding & more" in text_of(browser.page)
    with database.read() as work:
        assert work.scalars(select(Event.answer).order_by(Event.step)).all() == ["right"] * 4
        assert work.scalars(select(Event.entry).order_by(Event.step)).all() == ["3/4", "two | four", "7/2", " paris. "]


def test_every_kind_of_question_is_shown(app, database):
    browser = enter(app, give(database))
    assert "<mfrac>" in browser.page.text
    source, words = re.search(r'<img class="media" src="([^"]*)" alt="([^"]*)"', browser.page.text).groups()
    assert words == "A pie cut into four"
    picture = browser.client.get(source)
    assert (picture.headers["content-type"], picture.content) == ("image/png", browsing.PICTURE)
    assert re.findall(r'type="radio" name="entry" value="([^"]*)"', browser.page.text) == ["3/4", "2/6", "1/8"]
    browser.fill("/answer", entry="2/6")
    assert len(re.findall(r'type="checkbox" name="entry"', browser.page.text)) == 3
    assert "Tick all that are right." in text_of(browser.page)
    browser.fill("/answer", entry=["two"])
    assert 'class="number" inputmode="decimal"' in browser.page.text
    browser.fill("/answer", entry="3")
    assert "The capital of <France>?" in text_of(browser.page)
    assert "<France>" not in browser.page.text


def test_skipping_where_the_rules_allow_it(app, database):
    browser = enter(app, give(database))
    browser.fill("/answer", skip="1")
    assert browser.step == 2
    firm = enter(app, give(database, rules=qs.Rules(score="order", may_skip=False)))
    assert "skip" not in text_of(firm.page)
    with database.read() as work:
        assert work.scalars(select(Event.answer)).all() == [None]


def test_practice_explains_each_answer(app, database):
    browser = enter(app, give(database, mode="practice"))
    browser.fill("/answer", entry="2/6")
    assert browser.path == "/take/1/feedback/1"
    said = text_of(browser.page)
    assert "Not right." in said
    assert "The right answer 3/4" in said
    assert "Two quarters and one quarter." in said
    browser.go("/take/1")
    browser.fill("/answer", entry=["two", "four"])
    assert "Right!" in text_of(browser.page)
    browser.go("/take/1")
    for _ in range(2):
        browser.fill("/answer", skip="1")
        browser.go("/take/1")
    assert browser.path == "/take/1/result"
    assert "The right answer" in text_of(browser.page)


def test_an_exam_tells_no_key_not_even_at_the_end(app, database):
    browser = enter(app, give(database))
    for entry_ in ("2/6", "two", "1", "Rome"):
        browser.fill("/answer", entry=entry_)
        assert "Paris" not in browser.page.text
        assert "quarter" not in browser.page.text
    browser.go("/take/1/feedback/1")
    assert browser.path == "/take/1/result"


def test_open_questions_tell_nothing_of_key_or_probability(app, database):
    """Before the answer a page holds the text and the options, and nothing that differs with the key or the tables."""
    pages = []
    for correct, right in (("3/4", [0.2, 0.6, 0.9]), ("1/8", [0.1, 0.5, 0.8])):
        document = KINDS.document
        document["questions"]["one"].update(correct=correct, right=right)
        browser = enter(app, give(database, bank=qs.Bank(document), images={"pie.png": browsing.PICTURE}, mode="practice"))
        made = browser.page.text
        for changing in (r'value="[\w-]{20,}"', r"/take/\d+", r'class="code">\w+<', r'<svg class="meter".*?</svg>'):
            made = re.sub(changing, "", made)
        pages.append(made)
    assert pages[0] == pages[1]


def test_back_on_another_device(app, database):
    bank = qs.load("german")
    browser = enter(app, give(database, bank=bank, rules=qs.Rules(stop=qs.max_questions(5)), minutes=30))
    browser.fill("/answer", skip="1")
    code = re.search(r'class="code">(\w+)<', browser.page.text)[1]
    other = Browser(app)
    other.go("/")
    other.fill("/enter", code=f" {code[:4].lower()}-{code[4:]} ")
    clockless = [re.sub(r'data-left="\d+"|value="\w{64}"', "", page.text) for page in (browser.page, other.page)]
    assert clockless[0] == clockless[1]
    left = [int(re.search(r'data-left="(\d+)"', page.text)[1]) for page in (browser.page, other.page)]
    assert 0 <= left[0] - left[1] < 30_000


def test_two_tabs_and_replayed_posts(app, database):
    browser = enter(app, give(database))
    first = browser.page
    browser.fill("/answer", entry="3/4")
    assert browser.step == 2
    browser.page = first
    browser.fill("/answer", entry="1/8")
    assert browser.page.status_code == 200
    assert browser.step == 2
    with database.read() as work:
        assert work.scalars(select(Event.answer)).all() == ["right"]


def test_entering_twice_with_one_form_begins_one_attempt(app, database):
    browser = Browser(app)
    form = browser.go(f"/c/{give(database)}")
    for _ in range(2):
        browser.page = form
        browser.fill("/enter", name="Ada")
        assert browser.path == "/take/1"
    with database.read() as work:
        assert len(work.scalars(select(Attempt)).all()) == 1


def test_time_is_up(app, database, monkeypatch):
    browser = enter(app, give(database, minutes=10))
    later = clock.now() + timedelta(minutes=11)
    for module in (clock, entry, execution, state):
        monkeypatch.setattr(module, "now", lambda: later)
    browser.fill("/answer", entry="3/4")
    assert browser.path == "/take/1/result"
    assert "The time was up before the test had asked all it wanted to." in text_of(browser.page)
    with database.read() as work:
        assert not work.scalars(select(Event)).all()


def test_other_browsers_are_asked_for_their_code(app, database):
    code = give(database)
    enter(app, code)
    other = enter(app, code, "Bob")
    assert other.path == "/take/2"
    for path in ("/take/1", "/take/1/result", "/take/1/feedback/1", "/take/1/media/x", "/take/99"):
        page = other.client.get(path)
        assert page.status_code == 403
        assert "please enter your personal code" in text_of(page)
    token = re.search(r'name="form_token" value="(\w+)"', other.page.text)[1]
    assert other.client.post("/take/1/answer", data={"form_token": token, "step": "1", "entry": "3/4"}).status_code == 403
    with database.read() as work:
        assert not work.scalars(select(Event)).all()


def test_pupils_of_a_class_list(app, database):
    code = give(database, by_list=True)
    with database.work() as work:
        test = publishing.published_by(work, teachers.owner(work, ""))[0]
        own = class_lists.add_pupils(work, test, ["Ada L."])[0].code
    browser = Browser(app)
    browser.go(f"/c/{code}")
    assert "Enter your own code: it is on your card." in text_of(browser.page)
    assert "Begin" not in text_of(browser.page)
    browser.fill("/enter", code=own)
    assert "Hello, Ada L." in text_of(browser.page)
    browser.fill("/enter")
    assert browser.path == "/take/1"
    browser.go(f"/c/{own}")
    browser.fill("/enter")
    assert browser.path == "/take/1"


def test_wrong_codes_are_counted(app, database):
    code = give(database)
    browser = Browser(app)
    browser.go("/")
    for _ in range(30):
        assert browser.go("/c/NOSUCH").status_code == 404
    assert "This code opens no test; please check it." in text_of(browser.page)
    assert browser.go("/c/NOSUCH").status_code == 429
    assert int(browser.page.headers["retry-after"]) > 60
    assert browser.go(f"/c/{code}").status_code == 429


def test_forms_need_the_token_of_the_browser(app, database):
    browser = enter(app, give(database))
    for fields in ({}, {"form_token": "x" * 64}):
        page = browser.client.post("/take/1/answer", data={"step": "1", "entry": "3/4", **fields})
        assert page.status_code == 403
    stranger = Browser(app)
    stranger.page = browser.page
    assert stranger.fill("/answer", entry="3/4").status_code == 403
    with database.read() as work:
        assert not work.scalars(select(Event)).all()


def test_every_response_is_guarded(app, database):
    browser = enter(app, give(database))
    for path in ("/", "/take/1", "/nowhere", "/static/quaestor.css", "/health"):
        headers = browser.client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
    cookies = browser.client.get(f"/c/{give(database)}", headers={"cookie": ""}).headers.get_list("set-cookie")
    assert cookies
    assert all("HttpOnly" in cookie and "SameSite=lax" in cookie for cookie in cookies)
    assert "style=" not in browser.page.text
    assert "<script>" not in browser.page.text


def test_behind_a_proxy_with_https_and_a_prefix(database):
    app = application(database, root="/quaestor")
    app.root_path = "/quaestor"
    browser = Browser(app)
    browser.client.base_url = "https://tests.school.example"
    page = browser.client.get(f"/quaestor/c/{give(database)}")
    assert 'action="/quaestor/enter"' in page.text
    assert "/quaestor/static/quaestor.css" in page.text
    browser.page = page
    browser.fill("/enter", name="Ada")
    assert browser.path == "/quaestor/take/1"
    cookie = next(cookie for cookie in browser.page.history[0].headers.get_list("set-cookie") if cookie.startswith("taker="))
    assert "Path=/quaestor/take/1" in cookie
    assert "Secure" in cookie


def test_a_bank_that_is_exhausted_ends_in_a_result(app, database):
    browser = enter(app, give(database, rules=qs.Rules(score="order")))
    for entry_ in ANSWERS:
        browser.fill("/answer", entry=entry_)
    assert "No question is left." in text_of(browser.page)
