"""A taker in a real browser: with and without JavaScript, by keyboard alone, on another device, against the clock, in two tabs."""

from datetime import timedelta

import pytest
from sqlalchemy import select

import quaestor as qs
from helpers.browsing import KINDS, give
from helpers.chromium import PHONE, follow
from quaestor.store.models import Attempt, Event

SHORT = qs.Rules(stop=qs.max_questions(4))


@pytest.fixture(scope="module")
def code(site):
    """The bundled bank `fractions` as an exam of four questions with a clock."""
    return give(site.database, qs.load("fractions"), SHORT, title="Fractions in short", minutes=30)


@pytest.fixture(scope="module")
def kinds(site):
    """A question of every kind, always in the same order: the first two have options."""
    return give(site.database, KINDS, title="All kinds", minutes=30)


def begin(page, site, code, name="Ada"):
    page.goto(site / f"c/{code}")
    page.get_by_label("Your name, or a nickname").fill(name)
    follow(page.get_by_role("button", name="Begin"))


def asked(page):
    """The question on the page: its text, its options in their order."""
    return page.locator("#text").inner_text(), page.locator(".option").all_inner_texts()


def answer(page):
    """Any answer, and the page after it."""
    option = page.locator(".options input")
    if option.count():
        option.first.check()
    else:
        page.locator("[name=entry]").fill("3")
    follow(page.get_by_role("button", name="Answer"))


def finish(page):
    while page.locator("form.question").count():
        answer(page)
    assert page.locator("h1").inner_text().startswith("Result of")


def own_code(page):
    return page.locator("footer .code").inner_text()


@pytest.mark.parametrize("scripted", [True, False], ids=["with JavaScript", "without JavaScript"])
def test_a_taker_goes_through_fractions(site, code, browse, scripted):
    page = browse(java_script_enabled=scripted, viewport=PHONE)
    page.goto(site.address)
    page.get_by_label("Code").fill(code.lower())
    follow(page.get_by_role("button", name="Go on"))
    page.get_by_label("Your name, or a nickname").fill("Ada")
    follow(page.get_by_role("button", name="Begin"))
    clock = page.locator(".clock").inner_text()
    assert "29:" in clock or "30:" in clock if scripted else "30 min" in clock
    follow(page.get_by_role("button", name="I do not know: skip"))
    finish(page)
    assert page.locator("section.finding").count() == len(qs.load("fractions").skills)
    page.reload()
    assert page.locator("h1").inner_text() == "Result of Ada"


def test_an_answer_that_cannot_be_read_is_asked_for_again(site, browse):
    bank = qs.Bank({**KINDS.document, "questions": {"number": KINDS.document["questions"]["number"]}})
    page = browse()
    begin(page, site, give(site.database, bank, qs.Rules(stop=qs.max_questions(1))))
    page.locator("[name=entry]").fill("about three")
    follow(page.get_by_role("button", name="Answer"))
    assert page.get_by_role("alert").count() == 1
    assert page.locator("[name=entry]").input_value() == "about three"
    page.locator("[name=entry]").fill("3 1/2")
    follow(page.get_by_role("button", name="Answer"))
    assert page.locator("h1").inner_text() == "Result of Ada"


@pytest.mark.parametrize("scripted", [True, False], ids=["with JavaScript", "without JavaScript"])
def test_after_an_empty_answer_back_asks_for_no_form_to_be_sent_again(site, kinds, browse, scripted):
    page = browse(java_script_enabled=scripted, viewport=PHONE)
    begin(page, site, kinds)
    follow(page.get_by_role("button", name="Answer"))
    assert page.get_by_role("alert").inner_text() == "Please choose an answer first."
    answer(page)
    methods = []
    page.on("request", lambda request: methods.append(request.method) if request.is_navigation_request() else None)
    for _ in range(2):
        page.go_back()
        assert page.locator("h1").inner_text().startswith("Question 2")
        assert page.get_by_role("alert").count() == 0
    page.reload()
    assert set(methods) == {"GET"}


def test_the_keyboard_alone_is_enough(site, code, browse):
    page = browse()
    page.goto(site.address)
    keys = page.keyboard
    page.wait_for_selector("#code:focus")
    keys.type(code)
    press(page, "Enter")
    page.wait_for_selector("#name:focus")
    keys.type("Grace")
    press(page, "Enter")
    for _ in range(4):
        if page.locator(".options input").count():
            keys.press("2")
            assert page.locator(".options input").nth(1).is_checked()
        else:
            page.wait_for_selector("#entry:focus")
            keys.type("1/2")
        press(page, "Enter")
    assert page.locator("h1").inner_text() == "Result of Grace"


def test_tab_and_space_choose_as_well(site, kinds, browse):
    page = browse()
    begin(page, site, kinds)
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.options input')"):
            break
    page.keyboard.press("Space")
    assert page.locator(".options input:checked").count() == 1
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none", "the focus can be seen"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent.trim()") == "Answer"
    press(page, "Enter")
    assert page.locator("[name=step]").input_value() == "2"


def press(page, key):
    with page.expect_navigation():
        page.keyboard.press(key)


def test_another_device_goes_on_with_the_personal_code(site, kinds, browse):
    page, other = browse(), browse(viewport=PHONE)
    begin(page, site, kinds)
    answer(page)
    assert len(asked(page)[1]) == 3
    rewind(site, own_code(page), minutes=10)
    other.goto(site.address)
    other.get_by_label("Code").fill(own_code(page))
    follow(other.get_by_role("button", name="Go on"))
    assert asked(other) == asked(page)
    assert int(other.locator(".clock").get_attribute("data-left")) <= 20 * 60 * 1000
    finish(other)
    page.reload()
    assert page.locator("h1").inner_text() == "Result of Ada"


def rewind(site, code, **passed):
    """As if a test had begun earlier."""
    with site.database.work() as work:
        attempt = work.scalars(select(Attempt).where(Attempt.code == code)).one()
        attempt.started -= timedelta(**passed)


def test_practice_tells_after_each_answer(site, browse):
    page = browse(viewport=PHONE)
    begin(page, site, site.code)
    answer(page)
    assert page.locator("h1").inner_text() in ("Right!", "Not right.", "Partly right.")
    page.keyboard.press("Enter")  # the way on has the focus
    page.wait_for_url("**/take/*")
    follow(page.get_by_role("button", name="I do not know: skip"))
    assert page.locator("h1").inner_text() == "Skipped."
    assert page.locator("dd").count() == 1, "the right answer"
    follow(page.get_by_role("link", name="Next question"))
    assert page.locator("[name=step]").input_value() == "3"


def test_the_clock_ends_the_test(site, code, browse):
    page = browse()
    begin(page, site, code)
    rewind(site, own_code(page), minutes=29, seconds=57)
    page.reload()
    page.wait_for_url("**/result")  # by itself
    assert page.locator("h1").inner_text() == "Result of Ada"
    assert "time" in page.locator("main").inner_text()


def hurried(page, site, code, seconds):
    """Somebody who has so few seconds left for the question on the page."""
    begin(page, site, code)
    rewind(site, own_code(page), minutes=30, seconds=-seconds)
    page.reload()


def entries(site, code):
    with site.database.read() as work:
        return work.scalars(select(Event.entry).join(Attempt, Attempt.id == Event.attempt_id).where(Attempt.code == code)).all()


def test_what_is_filled_in_when_the_time_is_up_counts(site, kinds, browse):
    page = browse()
    hurried(page, site, kinds, 5)
    mine = own_code(page)
    page.locator(".options input").nth(1).check()
    page.wait_for_url("**/result")  # by itself
    assert entries(site, mine) == ["2/6"]
    assert "The time was up" in page.locator("main").inner_text()


@pytest.mark.long
def test_nothing_is_sent_where_nothing_is_filled_in_and_the_page_is_loaded_once(site, kinds, browse):
    page = browse()
    hurried(page, site, kinds, 4)
    mine, asked_for = own_code(page), []
    page.on("request", lambda request: asked_for.append((request.method, request.url)) if request.is_navigation_request() else None)
    assert page.get_by_text("is sent by itself").is_visible()
    page.wait_for_url("**/result")
    assert entries(site, mine) == []
    assert [method for method, _ in asked_for] == ["GET", "GET"], "the question's address, which leads to the result"


@pytest.mark.long
def test_an_entry_that_cannot_be_read_is_sent_once_at_the_end(site, browse):
    bank = qs.Bank({**KINDS.document, "questions": {"number": KINDS.document["questions"]["number"]}})
    page = browse()
    hurried(page, site, give(site.database, bank, SHORT, minutes=30), 5)
    mine, posts = own_code(page), []
    page.on("request", lambda request: posts.append(request.url) if request.method == "POST" else None)
    page.locator("[name=entry]").fill("about three")
    page.wait_for_url("**/result")
    assert (entries(site, mine), len(posts)) == ([], 1)


def test_two_tabs_cannot_answer_the_same_question_twice(site, code, browse):
    page = browse()
    begin(page, site, code)
    second = page.context.new_page()
    second.goto(page.url)
    answer(page)
    shown = asked(page)
    follow(second.get_by_role("button", name="I do not know: skip"))  # the first question: it does not count any more
    assert asked(second) == shown
    assert "Your answer to question 1 did not count" in second.get_by_role("alert").inner_text()
    assert second.locator("[name=step]").input_value() == "2"


def test_a_double_click_answers_once(site, code, browse):
    page = browse()
    begin(page, site, code)
    option = page.locator(".options input")
    option.first.check() if option.count() else page.locator("[name=entry]").fill("3")
    with page.expect_navigation():
        page.get_by_role("button", name="Answer").dblclick()
    page.wait_for_load_state()
    assert page.locator("[name=step]").input_value() == "2"
