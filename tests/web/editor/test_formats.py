"""Banks that are begun on the page have the newest format, in which words know chance; older ones keep theirs, and what they meant."""

import io

import openpyxl
import pytest

import quaestor as qs
from helpers.browsing import application
from helpers.editor_pages import begin, copied, fields_of, latest, put, sign_in, text_of
from quaestor.formats import yaml_text
from quaestor.store import publishing, teachers
from quaestor.store.memory import cached

HARD = {"difficulty": "very hard", "discrimination": "strong", "options": ["yes", "no"], "correct": "no", "skill": "s", "text": "Is it?"}
OLD = {"quaestor": 1, "title": "Old", "skills": {"s": {}}, "questions": {"Q": HARD}}
YAML = "skills: {s: {}}\nquestions: {Q: {skill: s, right: [0.2, 0.9]}}"
SHEET = "id,text,options,correct,skill,difficulty,discrimination\nQ,?,yes | no,no,s,very hard,strong\n"


@pytest.fixture
def kept(make_database):
    return make_database("sqlite")


@pytest.fixture
def browser(kept):
    return sign_in(application(kept), kept)


def upload(browser, name, content):
    browser.go("/teacher/banks")
    token = fields_of(browser.page, "/teacher/banks")["form_token"][0]
    browser.page = browser.client.post("/teacher/banks", data={"form_token": token}, files={"file": (name, content.encode())})
    return browser.path


def test_a_bank_that_is_begun_here_keeps_to_chance(browser, kept):
    home = begin(browser)
    browser.go(f"{home}/skills/~new")
    browser.fill("/skills/~new", id="s", title="S")
    browser.go(f"{home}/questions/~new")
    said = {"text": "Is it?", "kind": "choice", "option": ["yes", "no"], "is_right": "1", "skills": "s", "way": "words"}
    browser.fill("/questions/~new", id="Q", difficulty="very hard", discrimination="strong", **said)
    assert latest(kept, home)[1]["quaestor"] == 2
    assert "5 in 10" in text_of(browser.go(f"{home}/questions/Q"))  # those who have not the skill
    browser.fill("/questions/Q", id="Q", difficulty="very hard", discrimination="strong", guess="0.1", **said)
    assert latest(kept, home)[1]["questions"]["Q"]["guess"] == 0.1
    assert "1 in 10" in text_of(browser.go(f"{home}/questions/Q"))


@pytest.mark.parametrize(("name", "content"), [("sheet.csv", SHEET), ("file.yaml", YAML)])
def test_files_that_name_no_format_get_the_newest_where_they_are_new_or_mean_the_same(browser, kept, name, content):
    assert latest(kept, upload(browser, name, content))[1]["quaestor"] == 2


def test_pasted_rows_and_copies_too(browser, kept):
    assert latest(kept, copied(browser))[1]["quaestor"] == 2
    browser.go("/teacher/banks")
    browser.fill("/teacher/banks/pasted", title="Pasted", rows=SHEET)
    assert latest(kept, browser.path)[1]["quaestor"] == 2


def test_a_file_that_would_mean_something_else_keeps_its_format(browser, kept):
    old = yaml_text.write(OLD)
    assert latest(kept, upload(browser, "old.yaml", old))[1]["quaestor"] == 1


def test_another_title_does_not_change_the_format(browser, kept):
    home = put(kept, OLD)
    browser.go(home)
    browser.fill("/fields", title="Still old")
    _, document = latest(kept, home)
    assert (document["title"], document["quaestor"]) == ("Still old", 1)
    assert "2.5 in 100" in text_of(browser.go(f"{home}/questions/Q"))


def test_a_stored_bank_means_what_it_meant(kept):
    with kept.work() as work:
        stored = publishing.keep_bank(work, teachers.owner(work, "owner@school.example"), qs.Bank(OLD))
        number, model = stored.id, stored.model_version
    cached.clear()
    with kept.read() as work:
        again = publishing.open_bank(publishing.bank_of(work, teachers.by_email(work, "owner@school.example"), number))
    assert again.model_version == model
    assert again.questions["Q"].table.lower[0, 1].round(9) == 0.025


@pytest.mark.parametrize("ending", ["xlsx", "csv"])
def test_the_template_can_be_downloaded_and_uploaded(browser, kept, ending):
    page = browser.go("/teacher/banks")
    assert f'href="/teacher/banks/template/{ending}"' in page.text
    file = browser.client.get(f"/teacher/banks/template/{ending}")
    assert file.headers["content-disposition"] == f'attachment; filename="bank.{ending}"'
    token = fields_of(page, "/teacher/banks")["form_token"][0]
    browser.page = browser.client.post("/teacher/banks", data={"form_token": token}, files={"file": (f"bank.{ending}", file.content)})
    assert latest(kept, browser.path)[1]["title"] == "My first bank"
    assert "Worth a look" not in text_of(browser.page)
    assert browser.client.get("/teacher/banks/template/pdf").status_code == 404


def test_the_template_explains_its_columns_in_the_language_of_the_page(browser):
    browser.client.headers["accept-language"] = "de"
    book = openpyxl.load_workbook(io.BytesIO(browser.client.get("/teacher/banks/template/xlsx").content))
    said = {row[1]: row[2] for row in book["Spalten"].iter_rows(values_only=True)}
    assert said["id"] == "ein eigener Kurzname ohne Komma; andere Zellen beziehen sich darauf"
