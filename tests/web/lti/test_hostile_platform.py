"""What a platform and its people write is shown on the pages of a launch, and never obeyed."""

from html import unescape

import pytest

from helpers.hostile import HOSTILE, harmless
from helpers.lti_platform import User
from helpers.lti_tool import begin, browser, filled, inside, launch, placed_test, published_for, registered


@pytest.fixture
def hostile(database, platform):
    """A platform, a course and people with hostile names; the number of a test that a teacher there has."""
    number = registered(database, platform, name=HOSTILE[:200])
    platform.users |= {"evil": User("evil", HOSTILE), "boss": User("boss", HOSTILE, ("Instructor",))}
    platform.place("link-2", {"title": HOSTILE})
    return published_for(database, number, platform.users["boss"], title=HOSTILE[:200])[0]


def shows(page):
    assert harmless(page).status_code == 200, page.text
    assert "alert(7)" in unescape(page.text)
    return page


def test_on_the_way_to_the_platform(app, platform, hostile):
    """The page that asks the platform to keep a value: hints are part of an address, the name of a frame is an attribute."""
    shows(browser(app).get("/lti/login", params=platform.login(HOSTILE, lti_storage_target=HOSTILE[:200])))
    assert harmless(browser(app).get("/lti/login", params={**platform.login("evil"), "iss": HOSTILE})).status_code == 400


def test_on_the_page_that_asks_who_it_is(app, platform, hostile):
    shows(browser(app).post("/lti/launch", data=begin(browser(app), platform, "boss", "link-2")))


def test_on_the_pages_of_a_choice(app, platform, hostile):
    client = browser(app)
    shows(inside(client, launch(client, platform, "boss", "link-2")))
    page = shows(inside(client, launch(client, platform, "boss")))
    target, fields = filled(page, "/lti/choose", test=str(hostile))
    shows(client.post(target, data=fields))
    target, fields = filled(page, "/lti/connect", code=HOSTILE)
    assert harmless(client.post(target, data=fields)).status_code == 400


def test_on_the_page_of_a_learner(app, platform, database):
    placed_test(database, platform)
    platform.users["evil"] = User("evil", HOSTILE)
    client = browser(app)
    shows(inside(client, launch(client, platform, "evil", "link-1")))
