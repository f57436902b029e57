"""A pupil has one code: with it they begin, go on, see the result again and take the test again, and no page shows another one."""

import re
from html import unescape

import pytest

from helpers.browsing import Browser, application, give
from quaestor.store import publishing, teachers
from quaestor.store.classes import class_lists
from quaestor.store.models import Attempt

ANSWERS = ["3/4", ["two", "four"], "7/2", "Paris"]


@pytest.fixture
def app(database):
    return application(database)


def text_of(page):
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page.text)).split())


def pupil_of(database, **conditions):
    """The code of a test, and that of its one pupil."""
    code = give(database, by_list=True, **conditions)
    with database.work() as work:
        test = publishing.published_by(work, teachers.owner(work, ""))[0]
        return code, class_lists.add_pupils(work, test, ["Ada L."])[0].code


def begin(app, own):
    browser = Browser(app)
    browser.go("/")
    browser.fill("/enter", code=own)
    browser.fill("/enter")
    return browser


def finish(browser):
    for answer in ANSWERS:
        browser.fill("/answer", entry=answer)
    return browser


def codes_on(page):
    return re.findall(r'<strong class="code">(\w+)<', page.text)


def test_every_page_shows_the_own_code_only(app, database):
    _, own = pupil_of(database, mode="practice")
    browser = begin(app, own)
    with database.read() as work:
        assert (other := work.get_one(Attempt, 1).code) != own
    for answer in ANSWERS:
        assert codes_on(browser.page) == [own]
        browser.fill("/answer", entry=answer)
        assert codes_on(browser.page) == [own]
        assert other not in browser.page.text
        browser.go("/take/1")
    assert browser.path == "/take/1/result"
    assert codes_on(browser.page) == [own]


def test_going_on_elsewhere_with_the_own_code(app, database):
    _, own = pupil_of(database)
    begin(app, own).fill("/answer", entry="3/4")
    other = Browser(app)
    page = other.go(f"/c/{own}")
    assert "Welcome back, Ada L. You go on where you stopped." in text_of(page).replace("L..", "L.")
    assert "Begin" not in text_of(page)
    other.go("/")
    other.fill("/enter", code=own)
    assert (other.path, other.step) == ("/take/1", 2)


@pytest.mark.parametrize("retakes", ["none", "any"])
def test_seeing_the_result_again_with_the_own_code(app, database, retakes):
    _, own = pupil_of(database, retakes=retakes)
    finish(begin(app, own))
    other = Browser(app)
    page = other.go(f"/c/{own}")
    assert "You have finished this test." in text_of(page)
    assert ("Take the test again" in text_of(page)) == (retakes == "any")
    other.fill("/enter", see="1")
    assert other.path == "/take/1/result"


def test_taking_the_test_again_with_the_own_code(app, database):
    _, own = pupil_of(database, retakes="any")
    browser = finish(begin(app, own))
    browser.go("/")
    browser.fill("/enter", code=own)
    assert browser.path == f"/c/{own}"
    browser.fill("/enter")
    assert (browser.path, browser.step) == ("/take/2", 1)


def test_the_link_for_all_asks_for_the_own_code(app, database):
    code, own = pupil_of(database)
    browser = Browser(app)
    browser.go(f"/c/{code}")
    browser.fill("/enter", code=code)  # the code of the link once more: the same page
    assert browser.path == f"/c/{code}"
    browser.fill("/enter", code=own)
    assert browser.path == f"/c/{own}"
    browser.fill("/enter", code=code, once="x", name="Eve")  # nobody begins without a code of their own
    assert browser.path == f"/c/{code}"
    assert "Enter your own code: it is on your card." in text_of(browser.page)
