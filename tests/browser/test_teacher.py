"""A teacher in a real browser: from an empty database to results, the editor by keyboard alone, what a form means while one writes,
two who write at once, a trial with its progress. The live view has a test of its own (test_live_browser.py).
"""

import re

import pytest
from playwright.sync_api import expect

from helpers.chromium import PHONE, follow, serve
from quaestor.store import drafts, sharing, teachers
from quaestor.store.models import Draft, Teacher

PASSWORD = "four words in row"


@pytest.fixture(scope="module")
def cookie(site):
    with site.database.work() as work:
        return teachers.log_in(work, work.query(Teacher).filter(Teacher.is_owner).one())


@pytest.fixture
def signed_in(site, browse, cookie):
    """Opens pages of the owner's browser."""

    def opened(path, cookie=cookie, **settings):
        page = browse(**settings)
        page.context.add_cookies([{"name": "teacher", "value": cookie, "url": site.address}])
        page.goto(site / path)
        return page

    return opened


def small(site, title="Sums", **parts):
    """A small bank of the owner; the number of its draft."""
    document = {
        "quaestor": 1,
        "title": title,
        "skills": {"adding": {"levels": ["no", "yes"], "prior": "even"}},
        "questions": {"Q1": {"text": "3 + 4?", "kind": "number", "correct": 7, "skill": "adding", "difficulty": "easy"}},
        **parts,
    }
    with site.database.work() as work:
        return drafts.begin_draft(work, work.query(Teacher).filter(Teacher.is_owner).one(), document, "begun").id


def test_from_an_empty_database_to_the_results_of_a_class(tmp_path, migrated_file, browse):
    server = serve(tmp_path, migrated_file)
    site = next(server)
    page = browse()
    page.goto(site.link)
    page.get_by_text("Set a password at the same time").click()
    page.get_by_label("New password").fill(PASSWORD)
    follow(page.get_by_role("button", name="Sign in"))
    follow(page.get_by_role("link", name="Banks", exact=True))
    follow(page.get_by_role("button", name="Copy Fractions"))
    follow(page.get_by_role("button", name="Publish a test"))
    page.get_by_label("Title, as takers see it").fill("Fractions, 7b")
    page.get_by_text("My own choice").click()
    page.get_by_label("About so many questions").fill("2")
    page.get_by_text("Only pupils on a class list").click()
    follow(page.get_by_role("button", name="Publish", exact=True))
    page.get_by_label("Names, one a line").fill("Ada\nBen\n")
    follow(page.get_by_role("button", name="Add to the class list"))
    codes = page.locator("td.code").all_inner_texts()
    assert len(codes) == 2
    follow(page.get_by_role("link", name="Cards with codes, to print"))
    assert page.locator(".cut .card").count() == 2
    page.go_back()
    taker = browse()
    taker.goto(site / f"c/{codes[0]}")
    assert "Hello, Ada." in taker.locator("main").inner_text()
    follow(taker.get_by_role("button", name="Begin"))
    for _ in range(2):
        follow(taker.get_by_role("button", name="I do not know: skip"))
    assert taker.locator("h1").inner_text() == "Result of Ada"
    follow(page.get_by_role("link", name="Results", exact=True))
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV", exact=True).click()
    assert "Ada" in download.value.path().read_text(encoding="utf-8-sig")
    follow(page.get_by_role("link", name="Ada", exact=True))
    assert page.locator(".path > li").count() == 2
    follow(page.get_by_role("button", name="Sign out"))
    page.goto(site / "sign-in")
    page.get_by_label("E-mail address").fill("owner@localhost")
    page.get_by_label("Password").fill(PASSWORD)
    follow(page.get_by_role("button", name="Sign in"))
    assert "Fractions, 7b" in page.locator("main").inner_text()
    server.close()


class Keys:
    """Somebody without a mouse: Tab to a thing that is named, then type or press."""

    def __init__(self, page):
        self.page = page

    def to(self, words, most=120):
        """Tab on until the thing with this name has the focus."""
        for _ in range(most):
            self.page.keyboard.press("Tab")
            if self.page.evaluate(NAME) == words:
                return self
        raise AssertionError(f"Tab does not reach “{words}” on {self.page.url}")

    def type(self, words):
        self.page.keyboard.press("Control+A")
        self.page.keyboard.type(words)
        return self

    def press(self, key="Enter"):
        with self.page.expect_navigation(wait_until="load"):
            self.page.keyboard.press(key)


NAME = """() => { const e = document.activeElement; const text = (t) => (t ?? "").replace(/\\s+/g, " ").trim();
return text(e.getAttribute("aria-label") || e.labels?.[0]?.textContent || e.textContent); }"""


def test_a_bank_is_written_and_published_with_the_keyboard_alone(signed_in):
    page = signed_in("teacher/banks")
    keys = Keys(page)
    keys.to("Title").type("By keyboard").page.keyboard.press("Tab")
    keys.press()
    keys.to("Add a skill").press()
    keys.to("Title, as takers and parents read it").type("Adding").to("Save").press()
    keys.to("Questions 0").press()
    keys.to("Add a question").press()
    keys.to("Question").type("Which is even?")
    keys.to("Option 1").type("two").to("right 1").page.keyboard.press("Space")
    keys.to("Option 2").type("three").to("How hard is it?").type("easy").to("Save, and write another").press()
    keys.to("Question").type("What is 3 + 4?").to("How it is answered").page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.value") == "number"
    keys.to("The right answer").type("7").to("Save").press()
    assert page.locator("#meaning .card.look").count() == 0, page.locator("#meaning").inner_text()
    keys.to("Overview").press()
    keys.to("Publish a test").press()
    keys.to("Publish").press()
    assert page.locator("h1").inner_text().startswith("By keyboard")
    keys.to("Names, one a line").type("Ada").to("Add to the class list").press()
    assert re.fullmatch(r"[A-Z0-9]{8}", page.locator("td.code").inner_text())


def test_what_a_question_means_changes_while_one_writes(site, signed_in):
    page = signed_in(f"teacher/drafts/{small(site)}/questions/Q1")
    meaning = page.locator("#meaning")
    before = meaning.inner_text()
    assert "What this says" in before
    page.get_by_label("How hard is it?").select_option("very hard")
    expect(meaning).not_to_have_text(before, use_inner_text=True)
    page.get_by_label("Question", exact=True).fill("Half of $\\frac{1}{2}$?")
    expect(meaning.locator("math")).to_be_visible()
    page.get_by_label("Chance of a lucky guess").fill("quite high")
    expect(meaning.locator(".problems")).to_contain_text("quite high")
    page.get_by_label("Chance of a lucky guess").fill("0.2")
    expect(meaning.locator(".problems")).to_have_count(0)
    follow(page.get_by_role("button", name="Save", exact=True))


def test_the_graph_of_the_skills_grows_while_one_writes(site, signed_in):
    page = signed_in(f"teacher/drafts/{small(site)}/skills/~new")
    graph = page.locator("#meaning .graph")
    page.get_by_label("Title, as takers and parents read it").fill("times")
    expect(graph).to_contain_text("times")
    page.get_by_role("checkbox", name="adding").check()
    expect(graph.locator("path[marker-end]").first).to_be_attached()
    expect(page.get_by_label("How strongly, from 0 (not at all) to 1 (same level for certain)")).to_be_visible()
    page.get_by_label("How strongly, from 0 (not at all) to 1 (same level for certain)").fill("0.7")
    follow(page.get_by_role("button", name="Save", exact=True))
    assert page.locator("#meaning .problems").count() == 0, page.locator("#meaning").inner_text()


def test_nobody_loses_work_when_two_write_at_once(site, signed_in):
    draft = small(site)
    with site.database.work() as work:
        invited = teachers.use_link(work, teachers.invitation(work, work.get(Teacher, 1), "colleague@school.example"))
        invited.name = "Grace"
        sharing.share(work, work.get(Draft, draft), invited, sharing.EDIT)
        colleague = teachers.log_in(work, invited)
    mine, hers = signed_in(f"teacher/drafts/{draft}/questions/Q1"), signed_in(f"teacher/drafts/{draft}/questions/Q1", colleague)
    hers.get_by_label("Question", exact=True).fill("What is 30 + 40?")
    follow(hers.get_by_role("button", name="Save", exact=True))
    mine.watch.expected.add(409)
    mine.get_by_label("Question", exact=True).fill("What is three plus four?")
    follow(mine.get_by_role("button", name="Save", exact=True))
    said = mine.get_by_role("alert").inner_text()
    assert "Grace changed this while you were writing." in said
    assert "What is 30 + 40?" in said
    assert mine.get_by_label("Question", exact=True).input_value() == "What is three plus four?"
    follow(mine.get_by_role("button", name="Save", exact=True))
    assert mine.get_by_role("alert").count() == 0
    mine.goto(site / f"teacher/drafts/{draft}/versions")
    assert mine.locator("tbody tr").count() == 3, "hers is still there, as a version"


def test_a_form_that_came_back_is_asked_about_without_another_key(site, signed_in):
    page = signed_in(f"teacher/drafts/{small(site)}/questions/~new")
    page.watch.expected.add(409)
    page.get_by_label("Question", exact=True).fill("Not yet saved")
    page.get_by_label("Short name (id)").fill("Q1")
    follow(page.get_by_role("button", name="Save", exact=True))
    assert "This short name is taken" in page.get_by_role("alert").inner_text()
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.get_by_label("Question", exact=True).click()
    page.get_by_role("link", name="Overview").click()
    page.wait_for_url(re.compile(r"/teacher/drafts/\d+$"))
    assert asked == ["beforeunload"]


GRADED = {"classes": ["wrong", "half", "right"], "table": {"no": [0.7, 0.2, 0.1], "yes": [0.1, 0.2, 0.7]}, "skill": "adding"}


def test_a_further_row_has_the_next_number_and_no_class_yet(site, signed_in):
    options = {"seven": "right", "eight": "half", "nine": "wrong"}
    page = signed_in(f"teacher/drafts/{small(site, questions={'Q1': {'text': '3 + 4?', 'options': options, **GRADED}})}/questions/Q1")
    rows = page.get_by_role("group", name="Options").locator(".rows li")
    before = rows.count()
    rows.last.locator("select").select_option("right")
    rows.last.locator("input").fill("another one")
    expect(rows).to_have_count(before + 1)
    number = before + 1
    assert rows.last.locator("input").get_attribute("aria-label") == f"Option {number}"
    assert rows.last.locator("select").get_attribute("aria-label").startswith(f"Option {number}:")
    assert rows.last.locator("select").input_value() == "wrong"


def test_a_further_row_with_a_tick_has_the_next_number(site, signed_in):
    page = signed_in(f"teacher/drafts/{small(site)}/questions/~new")
    rows = page.get_by_role("group", name="Options").locator(".rows li")
    before = rows.count()
    rows.last.locator("[name=option]").fill("another one")
    expect(rows).to_have_count(before + 1)
    assert page.get_by_role("checkbox", name=f"right {before + 1}").count() == 1


def test_a_further_level_has_the_next_number(site, signed_in):
    page = signed_in(f"teacher/drafts/{small(site)}/skills/adding")
    rows = page.get_by_role("group", name="Levels, the lowest first").locator(".rows li")
    rows.last.locator("input").fill("by heart")
    expect(rows).to_have_count(5)
    assert rows.last.get_by_label("Level 5").input_value() == ""


def test_digits_choose_options_of_questions_only(site, signed_in):
    page = signed_in(f"teacher/drafts/{small(site)}")
    follow(page.get_by_role("button", name="Publish a test"))
    chosen = "[...document.querySelectorAll('input[type=radio]:checked')].map((box) => box.value)"
    before = page.evaluate(chosen)
    page.locator("body").press("2")
    assert page.evaluate(chosen) == before


def test_leaving_with_something_unsaved_is_asked_about(site, signed_in):
    page = signed_in(f"teacher/drafts/{small(site)}/questions/Q1")
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.get_by_label("Question", exact=True).press_sequentially("x")
    follow(page.get_by_role("link", name="Overview"))
    assert asked == ["beforeunload"]


def test_a_trial_shows_its_progress_and_then_what_it_found(site, signed_in):
    page = signed_in("teacher/banks")
    follow(page.get_by_role("link", name="Fractions", exact=True).first)
    follow(page.get_by_role("link", name="Try it on simulated students"))
    page.get_by_text("How many students?").click()
    page.get_by_label("Simulated students").fill("3000")
    shown = []
    page.on("response", lambda response: shown.append(response.url) if "progress" in response.url else None)
    follow(page.get_by_role("button", name="Start the trial"))
    page.get_by_role("heading", name="How long is it?").wait_for()
    assert page.get_by_role("progressbar").count() == 0
    assert shown, "the page asked how far it was"
    assert "3000" in page.locator("main").inner_text() or "3,000" in page.locator("main").inner_text()
    follow(page.get_by_role("button", name="Publish with these rules"))
    assert page.get_by_label("Careful").is_checked() or page.get_by_role("radio", name=re.compile("^Careful")).is_checked()


def test_without_javascript_a_question_can_be_checked_and_saved(site, signed_in):
    page = signed_in(f"teacher/drafts/{small(site)}/questions/~new", java_script_enabled=False)
    page.get_by_label("Question", exact=True).fill("Which is odd?")
    for number, (text, right) in enumerate((("two", False), ("three", True)), 1):
        page.get_by_label(f"Option {number}", exact=True).fill(text)
        page.get_by_role("checkbox", name=f"right {number}").set_checked(right)
    follow(page.get_by_role("button", name="Check without saving"))
    assert "What this says" in page.locator("#meaning").inner_text()
    follow(page.get_by_role("button", name="Save", exact=True))
    assert page.locator("h2").first.inner_text() == "Q2"


def test_on_a_phone_the_tab_one_is_on_can_be_seen(site, signed_in):
    page = signed_in(f"teacher/drafts/{small(site)}/versions", viewport=PHONE)
    tab = page.get_by_role("link", name=re.compile("^Versions")).bounding_box()
    assert tab["x"] >= 0
    assert tab["x"] + tab["width"] <= PHONE["width"]
