"""The editor without JavaScript: writing a bank from nothing, faults as one goes, versions, two teachers, and hostile texts."""

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quaestor as qs
from helpers.browsing import PICTURE, application
from helpers.editor_pages import begin, copied, share, sign_in, text_of
from quaestor.formats.files import load_bytes
from quaestor.store import drafts, teachers
from quaestor.web.editor import part_form


@pytest.fixture
def app(database):
    return application(database)


SKILL = {"id": "adding", "title": "Adding", "levels": "no | partly | yes", "prior": "mostly low"}
QUESTION = {
    "id": "Q1",
    "text": "What is $1 + 1$?",
    "kind": "choice",
    "option": ["2", "3", "11"],
    "is_right": "0",
    "skills": "adding",
    "way": "words",
    "difficulty": "easy",
    "discrimination": "strong",
    "confidence": "fairly sure",
    "explanation": "Count *both*.",
}


def test_a_bank_from_nothing_to_a_test(app, database):
    browser = sign_in(app, database)
    home = begin(browser)
    assert "A bank needs at least one skill" in text_of(browser.page)
    browser.go(f"{home}/skills/~new")
    browser.fill("/skills/~new", **SKILL)
    assert browser.path == f"{home}/skills/adding"
    assert "Before any answer: no" in text_of(browser.page)
    browser.go(f"{home}/questions/~new")
    browser.fill("/questions/~new", **QUESTION)
    assert browser.path == f"{home}/questions/Q1"
    said = text_of(browser.page)
    assert "at level “no”" in said
    assert "at level “yes”" in said
    assert "As a taker sees it" in said
    browser.go(home)
    browser.fill("/publish")
    assert re.fullmatch(r"/teacher/banks/\d+/publish", browser.path)
    with database.read() as work:
        draft = drafts.drafts_of(work, teachers.by_email(work, "owner@school.example"))[0]
        bank = qs.Bank(drafts.document_of(drafts.edition(work, draft)))
    assert bank.questions["Q1"].correct == ("2",)
    assert bank.skills["adding"].levels == ("no", "partly", "yes")
    assert not bank.is_precise


def test_a_skill_that_is_given_a_title_alone_is_named_by_it(app, database):
    browser = sign_in(app, database)
    home = begin(browser)
    for name in ("mental-sums", "mental-sums2"):
        browser.go(f"{home}/skills/~new")
        assert re.search(r'name="id" value=""', browser.page.text), "an id that is filled in would stand before the title"
        browser.fill("/skills/~new", title="Mental sums", prior="even")
        assert browser.path == f"{home}/skills/{name}"


def test_faults_are_saved_and_listed(app, database):
    browser = sign_in(app, database)
    home = begin(browser)
    browser.go(f"{home}/skills/~new")
    browser.fill("/skills/~new", **SKILL)
    browser.go(f"{home}/questions/~new")
    browser.fill("/questions/~new", **{**QUESTION, "difficulty": "hardly"})
    assert browser.page.status_code == 200
    assert "'hardly'" in text_of(browser.page)
    browser.go(home)
    assert "One thing to mend before this bank can be used" in text_of(browser.page)
    assert f'href="{home}/questions/Q1"' in browser.page.text
    token = re.search(r'name="form_token" value="(\w+)"', browser.page.text)[1]
    assert browser.client.post(f"{home}/publish", data={"form_token": token}).status_code == 400


def test_what_cannot_be_read_comes_back_unsaved(app, database):
    browser = sign_in(app, database)
    home = begin(browser)
    browser.go(f"{home}/questions/~new")
    browser.fill("/questions/~new", **{**QUESTION, "way": "shares", "right": "{oops"})
    assert browser.page.status_code == 400
    assert "What is $1 + 1$?" in browser.page.text
    browser.fill("/questions/~new", **{**QUESTION, "id": "~x"})
    assert "Each has a short name of its own." in text_of(browser.page)
    assert "0 in all" in text_of(browser.go(f"{home}/questions"))


def test_checking_saves_nothing(app, database):
    browser = sign_in(app, database)
    home = begin(browser)
    browser.go(f"{home}/questions/~new")
    browser.fill("/questions/~new", **QUESTION, check="yes")
    assert browser.path.endswith("/questions/~new")
    token = re.search(r'name="form_token" value="(\w+)"', browser.page.text)[1]
    page = browser.client.post(f"{home}/questions/~preview", data={"form_token": token, "old": "~new", **QUESTION})
    assert page.status_code == 200
    assert "<html" not in page.text
    with database.read() as work:
        assert drafts.drafts_of(work, teachers.by_email(work, "owner@school.example"))[0].head == 1


def test_search_filter_order_copy_and_taking_away(app, database):
    browser = sign_in(app, database)
    home = copied(browser)
    assert "44 in all" in text_of(browser.go(f"{home}/questions"))
    parts = sum("parts" in question.skills for question in qs.load("fractions").questions.values())
    assert f"{parts} of 44" in text_of(browser.go(f"{home}/questions?skill=parts"))
    assert "1 of 44" in text_of(browser.go(f"{home}/questions?q=p3"))
    browser.go(f"{home}/questions/P3")
    browser.fill("/questions/P3", to="1")
    browser.go(f"{home}/questions")
    assert re.findall(r'<span class="tag">(\w+)</span>', browser.page.text)[:2] == ["P3", "P1"]
    browser.go(f"{home}/questions/P3")
    browser.fill("/questions/P3", drop="yes")
    assert browser.path == f"{home}/questions"
    assert "43 in all" in text_of(browser.page)
    browser.go(f"{home}/questions/~new?copy=P1")
    browser.fill("/questions/~new", id="P1b", text="A copy")
    assert browser.go(f"{home}/questions/P99").status_code == 404


def test_renaming_follows(app, database):
    browser = sign_in(app, database)
    home = copied(browser)
    page = browser.go(f"{home}/skills/parts")
    fields = {name: unescape(value) for name, value in re.findall(r'<input id="\w+" name="(\w+)"[^>]*value="([^"]*)"', page.text)}
    browser.fill("/skills/parts", **{**fields, "id": "pieces"})
    assert browser.path == f"{home}/skills/pieces"
    browser.go(home)
    assert "to mend" not in text_of(browser.page)


def test_versions_compared_restored_and_downloaded(app, database):
    browser = sign_in(app, database)
    home = copied(browser, "multiplication")
    before = load_bytes(browser.client.get(f"{home}/versions/1/file.yaml").content, ".yaml")
    assert before == qs.Bank({**qs.load("multiplication").document, "quaestor": 2})  # means the same in the newest format
    browser.go(home)
    browser.fill("/fields", title="Other", language="en")
    page = browser.go(f"{home}/versions/compare?old=1&new=2")
    assert "From version 1 to version 2" in text_of(page)
    assert "title Integer multiplication Other" in text_of(page)
    browser.fill("/versions/restore", number="1")
    assert "Integer multiplication" in text_of(browser.page)
    said = text_of(browser.go(f"{home}/versions"))
    assert "Back to version 1." in said
    for ending in ("xlsx", "csv", "json"):
        content = browser.client.get(f"{home}/versions/3/file.{ending}").content
        assert load_bytes(content, f".{ending}").model_version == before.model_version
    assert browser.client.get(f"{home}/versions/3/file.exe").status_code == 404
    assert browser.client.get(f"{home}/versions/9/file.yaml").status_code == 404


def test_a_pasted_sheet(app, database):
    browser = sign_in(app, database)
    browser.go("/teacher/banks")
    rows = "id\ttext\toptions\tcorrect\tskill\tdifficulty\nQ1\tOne and one?\t2 | 3\t2\tadding\teasy\n"
    rows += "Q2\tTwo and two?\t4 | 5\t4\tadding\thard\n"
    browser.fill("/teacher/banks/pasted", title="Pasted", rows=rows)
    assert "to mend" not in text_of(browser.page)
    assert "Questions 2" in text_of(browser.page)
    browser.go("/teacher/banks")
    browser.fill("/teacher/banks/pasted", rows="id\tdificulty\nQ1\teasy")
    assert browser.page.status_code == 400
    assert "did you mean 'difficulty'?" in text_of(browser.page)
    assert "Q1\teasy" in browser.page.text


def test_two_teachers_at_one_question(app, database):
    first = sign_in(app, database)
    home = copied(first, "multiplication")
    second = sign_in(app, database, "second@school.example")
    assert second.go(home).status_code == 404
    share(first, home)
    assert "second@school.example may edit" in text_of(first.page)
    for browser in (first, second):
        assert browser.go(f"{home}/questions/Q1").status_code == 200
    fields = {**QUESTION, "skills": "multiplication"}
    first.fill("/questions/Q1", **{**fields, "text": "From the first"})
    second.fill("/questions/Q1", **{**fields, "text": "From the second"})
    assert second.page.status_code == 409
    said = text_of(second.page)
    assert "owner@school.example changed this while you were writing." in said
    assert "text From the first From the second" in said
    second.fill("/questions/Q1", **{**fields, "text": "Both"})
    assert second.page.status_code == 200
    assert "Both" in first.go(f"{home}/questions/Q1").text
    first.go(f"{home}/sharing")
    first.fill("/sharing/end", teacher=re.search(r'name="teacher" value="(\d+)"', first.page.text)[1])
    assert second.go(home).status_code == 404


def test_hostile_texts_are_shown_not_run(app, database):
    browser = sign_in(app, database)
    bad = "<script>alert(1)</script>"
    home = begin(browser, bad)
    browser.go(f"{home}/skills/~new")
    browser.fill("/skills/~new", id=bad, title=bad, levels=f"{bad} | yes", description=bad)
    browser.go(f"{home}/questions/~new")
    fields = dict.fromkeys(("text", "explanation", "alt", "group", "tags", "difficulty", "statement", "id"), bad)
    browser.fill("/questions/~new", **fields, option=[bad, f"b{bad}"], skills=bad, kind="choice", way="words")
    for path in (
        browser.path,
        home,
        f"{home}/skills",
        f"{home}/questions",
        f"{home}/versions",
        f"{home}/versions/compare?old=1&new=3",
        "/teacher/banks",
    ):
        page = browser.client.get(path)
        assert page.status_code == 200
        assert "<script>alert" not in page.text


def test_images_are_added_and_shown(app, database):
    browser = sign_in(app, database)
    home = copied(browser, "multiplication")
    browser.go(home)
    token = re.search(r'name="form_token" value="(\w+)"', browser.page.text)[1]
    post = browser.client.post
    page = post(f"{home}/images", data={"form_token": token}, files=[("images", ("../../pie.png", PICTURE, "image/png"))])
    assert page.status_code == 200
    assert browser.client.get(f"{home}/media/pie.png").content == PICTURE
    page = post(f"{home}/images", data={"form_token": token}, files=[("images", ("x.svg", b"<svg onload='x'/>", "image/svg+xml"))])
    assert page.status_code == 400
    assert "an image is a PNG, JPEG, GIF or WebP file" in text_of(page)
    assert browser.client.get(f"{home}/media/x.svg").status_code == 404


@given(
    st.dictionaries(st.sampled_from([*part_form.PLAIN, "way", "statement", "right", "difficulty", "slip"]), st.text(max_size=30)),
    st.lists(st.text(max_size=5)),
)
def test_any_form_is_read_without_an_exception(fields, options):
    entry, _ = part_form.read_question(fields, [(option, "right") for option in options], ["a"])
    part_form.question_form(entry)


def test_drafts_are_deleted_by_their_author_only(app, database):
    first, second = sign_in(app, database), sign_in(app, database, "second@school.example")
    home = copied(first, "multiplication")
    share(first, home)
    second.go(home)
    assert "/delete" not in second.page.text
    token = re.search(r'name="form_token" value="(\w+)"', second.page.text)[1]
    refused = second.client.post(f"{home}/delete", data={"form_token": token, "sure": "yes"})
    assert refused.status_code == 403
    assert "Only the teacher whose it is may do that" in text_of(refused)
    assert first.go(home).status_code == 200
    first.fill("/delete", sure="yes")
    assert first.path == "/teacher/banks"
    assert first.go(home).status_code == 404


def _sureness(page):
    listed = re.search(r'<select id="confidence".*?</select>', page.text, re.S)[0]
    return re.findall(r"<option[^>]*>([^<]*)</option>", listed), re.findall(r"<option(?: value=\"\")? selected>([^<]*)", listed)


@pytest.mark.parametrize("confidence", ["", "certain", "unsure"])
def test_how_sure_somebody_is_is_listed_once(app, database, confidence):
    browser = sign_in(app, database)
    home = begin(browser)
    browser.go(f"{home}/skills/~new")
    browser.fill("/skills/~new", **SKILL)
    browser.go(f"{home}/questions/~new")
    browser.fill("/questions/~new", **{**QUESTION, "confidence": confidence})
    words, chosen = _sureness(browser.page)
    assert words == ["certain", "sure", "fairly sure", "unsure", "very unsure"]
    assert chosen == ([confidence] if confidence else [])
