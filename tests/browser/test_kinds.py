"""Matching, ordering, gaps, true or false in Chromium: taken with the keyboard alone, written in the editor, and seen by axe on the way."""

import pytest
from sqlalchemy import select

import quaestor as qs
from helpers.browsing import give
from helpers.chromium import DESKTOP, PHONE
from quaestor.session.option_order import option_order
from quaestor.store import drafts, teachers
from quaestor.store.models import Attempt, Teacher

pytestmark = pytest.mark.long
GRAVE = ("moderate", "serious", "critical")
NAMES = ("G1", "G3", "L1", "G4")
KEYS = {
    "G3": ["amphibians", "mammals", "birds", "reptiles"],
    "L1": ["egg", "tadpole without legs", "tadpole with hind legs", "froglet with four legs and a tail", "frog"],
}


@pytest.fixture
def seen():
    """A function that lets axe look at a page, on a phone and on a desktop."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed").Axe()

    def look(page, name):
        for size in (PHONE, DESKTOP):
            page.set_viewport_size(size)
            found = axe.run(page, options={"resultTypes": ["violations"]}).response["violations"]
            assert [(name, rule["id"], rule["nodes"][0]["html"][:200]) for rule in found if rule["impact"] in GRAVE] == []
            assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], name

    return look


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def send(page):
    """Go on with the tabulator to the button, and press it."""
    for _ in range(30):
        press(page, "Tab")
        if page.evaluate("document.activeElement.matches('button.main, a.main')"):
            break
    with page.expect_navigation(wait_until="load"):
        press(page, "Enter")


def test_a_test_is_taken_with_the_keyboard_alone(site, browse, seen):
    bank = qs.load("animals")
    rules = qs.Rules(score="order", first=NAMES, stop=qs.max_questions(4))
    code = give(site.database, bank, rules, title="Animals", email="owner@localhost", mode="practice")
    page = browse(bypass_csp=True)
    page.goto(site / f"c/{code}")
    page.locator("#name").fill("Ada")
    page.locator("#name").press("Enter")
    page.locator("form.question").wait_for()
    with site.database.read() as work:
        seed = work.scalars(select(Attempt).order_by(Attempt.id.desc())).first().seed
    seen(page, "truefalse")
    page.locator("[name=entry]").first.focus()
    press(page, "ArrowDown")  # from true to false
    send(page)
    send(page)

    seen(page, "matching")
    options = option_order(seed, bank.questions["G3"])
    page.locator("#part-1").focus()
    press(page, *["ArrowDown"] * (options.index(KEYS["G3"][0]) + 1))
    send(page)  # the others are still open
    assert page.locator(".wrong").inner_text() == "Please choose something for each. Still open: cat, sparrow, adder."
    assert page.locator("#part-1").input_value() == "amphibians"
    seen(page, "matching refused")
    page.locator("#part-2").focus()
    for right in KEYS["G3"][1:]:
        press(page, *["ArrowDown"] * (options.index(right) + 1), "Tab")
    page.locator("#part-4").focus()
    send(page)
    assert page.locator("h1").inner_text() == "Right!"
    send(page)

    seen(page, "ordering")
    items = option_order(seed, bank.questions["L1"])
    page.locator("#place-1").focus()
    for item in items:
        press(page, str(KEYS["L1"].index(item) + 1), "Tab")
    page.locator("#place-1").focus()
    before = page.locator("#place-2").input_value()
    press(page, before)  # a place that another item has: they change places
    assert (page.locator("#place-1").input_value(), page.locator("#place-2").input_value()) == (before, str(KEYS["L1"].index(items[0]) + 1))
    page.wait_for_timeout(1500)  # what is typed into a list within a second is one word
    press(page, str(KEYS["L1"].index(items[0]) + 1))
    page.locator(f"#place-{len(items)}").focus()
    send(page)
    assert page.locator("h1").inner_text() == "Right!"
    send(page)

    seen(page, "gaps")
    assert [one.inner_text() for one in page.locator(".gap label").all()] == ["Gap 1 of 2, a number", "Gap 2 of 2"]
    page.locator("#part-1").focus()
    press(page, "8", "Tab")
    press(page, *["ArrowDown"] * (option_order(seed, bank.questions["G4"], bank.questions["G4"].parts[1]).index("no insect") + 1))
    send(page)
    assert page.locator("h1").inner_text() == "Right!"
    seen(page, "feedback")
    send(page)
    seen(page, "result")


def test_the_forms_of_the_kinds_can_be_used_by_everybody(site, browse, seen):
    with site.database.work() as work:
        owner = work.scalars(select(Teacher).where(Teacher.is_owner)).one()
        cookie = teachers.log_in(work, owner)
        draft = drafts.begin_draft(work, owner, qs.load("animals").document, "animals").id
    page = browse(bypass_csp=True)
    page.context.add_cookies([{"name": "teacher", "value": cookie, "url": site.address}])
    for name in NAMES:
        page.goto(site / f"teacher/drafts/{draft}/questions/{name}")
        seen(page, f"editor {name}")
    page.locator("#kind").select_option("matching")
    assert page.locator("[name=left]").first.is_visible()
    assert not page.locator("[name=gap_name]").first.is_visible()
    rows = page.locator("[name=left]").count()
    page.locator("[name=left]").last.fill("one more")
    assert page.locator("[name=left]").count() == rows + 1
