"""The device of a taker: how long its cookie lasts, and that nothing is left once they are done."""

import re
from datetime import timedelta

import pytest
from sqlalchemy import select

from helpers.browsing import Browser
from quaestor.store import timing
from quaestor.store.attempts import taking
from quaestor.store.classes import class_lists
from quaestor.store.clock import now
from quaestor.store.models import Attempt, Published

HOUR, MONTH = 3600, 30 * 24 * 3600


def life_of(response, name="taker"):
    """For how many seconds a response keeps a cookie."""
    lines = [line for line in response.headers.get_list("set-cookie") if line.startswith(f"{name}=")]
    return int(re.search(r"Max-Age=(\d+)", lines[-1])[1]) if lines else None


def entered(school, name="Zoe"):
    """A browser that has just begun the test, and the response that let it in."""
    browser = Browser(school.app)
    browser.go(f"/c/{school.places['code']}")
    browser.client.follow_redirects = False
    response = browser.fill("/enter", name=name)
    browser.client.follow_redirects = True
    browser.go(response.headers["location"])
    return browser, response


def change(school, **values):
    with school.database.work() as work:
        for name, value in values.items():
            setattr(work.get_one(Published, school.places["test"]), name, value)


@pytest.mark.parametrize(
    ("values", "seconds"), [({}, MONTH), ({"minutes": 30.0}, 30 * 60 + HOUR), ({"closes": timedelta(hours=2)}, 3 * HOUR)]
)
def test_the_cookie_lasts_as_long_as_the_test_and_an_hour_more(school, values, seconds):
    change(school, **{name: now() + value if name == "closes" else value for name, value in values.items()})
    _, response = entered(school)
    assert seconds - 60 < life_of(response) <= seconds


def test_the_last_answer_leaves_an_hour_to_read_the_result(school):
    browser, _ = entered(school)
    browser.client.follow_redirects = False
    for step in range(1, 5):
        browser.page = browser.client.get(f"/take/{browser_attempt(school)}")
        response = browser.fill("/answer", skip="1")
        assert life_of(response) == (HOUR if step == 4 else None)


def browser_attempt(school):
    with school.database.read() as work:
        return work.scalar(select(Attempt.id).order_by(Attempt.id.desc()))


def test_a_test_that_is_closed_meanwhile_leaves_an_hour_too(school):
    browser, _ = entered(school)
    with school.database.work() as work:
        timing.close(work, work.get_one(Published, school.places["test"]))
    response = browser.client.get(f"/take/{browser_attempt(school)}", follow_redirects=False)
    assert (response.status_code, life_of(response)) == (303, HOUR)


def test_a_code_of_a_test_that_is_over_opens_its_result_for_an_hour(school):
    with school.database.read() as work:
        code = work.get_one(Attempt, school.places["over"]).code
    browser = Browser(school.app)
    browser.go(f"/c/{code}")
    browser.client.follow_redirects = False
    assert life_of(browser.fill("/enter")) == HOUR


@pytest.mark.parametrize("page", ["question", "feedback", "result"])
def test_who_is_done_leaves_nothing_behind(school, page):
    browser, _ = entered(school)
    number = browser_attempt(school)
    if page == "feedback":
        browser.fill("/answer", skip="1")
    if page == "result":
        for _ in range(4):
            browser.go(f"/take/{number}")
            browser.fill("/answer", skip="1")
        browser.go(f"/take/{number}/result")
    before = browser.client.cookies["taker"]
    old = browser.page
    done = browser.fill("/done")
    assert browser.path == "/done"
    assert "Nobody can see your test or your result here any more." in done.text
    (sent,) = [one for one in done.history if one.url.path.endswith("/done")]
    assert sent.headers["clear-site-data"] == '"cache"'
    assert "taker" not in browser.client.cookies
    for path in ("", "/result", "/feedback/1"):
        assert browser.client.get(f"/take/{number}{path}").status_code == 403
        kept = browser.client.get(f"/take/{number}{path}", headers={"cookie": f"taker={before}"})  # a cookie that somebody kept
        assert kept.status_code == 403
        assert "Zoe" not in kept.text
    browser.page = old  # Back, and the form that stood there
    assert browser.fill("/done").status_code == 403


def test_every_page_of_a_taker_may_be_kept_by_no_browser(school):
    browser, _ = entered(school)
    number = browser_attempt(school)
    assert browser.page.headers["cache-control"] == "no-store"
    image = re.search(r'src="(/take/\d+/media/\w+)"', browser.page.text)[1]
    assert browser.client.get(image).headers["cache-control"] == "no-store"
    browser.fill("/answer", skip="1")
    assert browser.go(f"/take/{number}/feedback/1").headers["cache-control"] == "no-store"


def test_the_code_opens_it_again_with_all_answers(school):
    browser, _ = entered(school)
    number = browser_attempt(school)
    browser.fill("/answer", skip="1")
    browser.go(f"/take/{number}")
    browser.fill("/done")
    with school.database.read() as work:
        code = work.get_one(Attempt, number).code
    browser.go(f"/c/{code}")
    browser.fill("/enter")
    assert browser.step == 2


def test_the_same_form_sent_again_after_that_does_not_bring_it_back(school):
    """The page with the name that was typed may still be in the browser's history."""
    browser = Browser(school.app)
    browser.go(f"/c/{school.places['code']}")
    form = browser.page
    browser.fill("/enter", name="Zoe")
    first = browser_attempt(school)
    browser.fill("/done")
    browser.page = form
    browser.fill("/enter", name="Zoe")
    assert browser_attempt(school) != first
    assert browser.step == 1


def test_who_is_done_has_begun_all_the_same(school):
    """A limit for a browser is not got round by the button."""
    change(school, per_browser=1)
    browser, _ = entered(school)
    browser.fill("/done")
    browser.go(f"/c/{school.places['code']}")
    assert browser.fill("/enter", name="Eve").status_code == 429


def test_practice_can_have_a_limit_for_a_browser(school):
    form = {"title": "Week 4", "most": "2", "sure": "no", "mode": "practice", "retakes": "none", "practised": "2"}
    made = school.post("teacher", f"/teacher/banks/{school.places['bank']}/publish", form)
    with school.database.read() as work:
        test = work.get(Published, int(made.headers["location"].rpartition("/")[2]))
        assert (test.per_browser, test.per_address, test.by_list) == (2, None, False)
    assert "begun at most 2 times in one browser" in school.get("teacher", made.headers["location"]).text
    browser = Browser(school.app)
    for name, status in (("Ada", 200), ("Ben", 200), ("Cem", 429)):
        browser.go(f"/c/{test.code}")
        assert browser.fill("/enter", name=name).status_code == status
    school.post("teacher", f"{made.headers['location']}/time", {"minutes": "", "closing": "same", "per_browser": "3", "per_address": ""})
    browser.go(f"/c/{test.code}")
    assert browser.fill("/enter", name="Cem").status_code == 200


@pytest.mark.parametrize(("practised", "status"), [("0", 400), ("x", 400), ("", 303)])
def test_a_limit_of_practice_is_a_number_or_none(school, practised, status):
    form = {"title": "Week 4", "most": "2", "sure": "no", "mode": "practice", "retakes": "none", "practised": practised}
    made = school.post("teacher", f"/teacher/banks/{school.places['bank']}/publish", form)
    assert made.status_code == status
    if status == 303:
        with school.database.read() as work:
            assert work.get(Published, int(made.headers["location"].rpartition("/")[2])).per_browser is None


def test_a_pupil_goes_on_with_the_own_code(school):
    with school.database.work() as work:
        pupil = class_lists.add_pupils(work, work.get_one(Published, school.places["test"]), ["Mia"])[0]
        attempt = taking.enter(work, pupil.code)
        first = attempt.key
    headers = {"cookie": f"visit=x; taker={first}"}
    page = school.client.get(f"/take/{attempt.id}", headers=headers)
    token = re.search(r'name="form_token" value="([^"]*)"', page.text)[1]
    assert school.client.post(f"/take/{attempt.id}/done", data={"form_token": token}, headers=headers).status_code == 303
    with school.database.read() as work:
        assert work.get_one(Attempt, attempt.id).key != first
        assert taking.enter(work, pupil.code).id == attempt.id
