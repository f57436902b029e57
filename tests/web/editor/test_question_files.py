"""Questions of other systems in the browser: sent, looked at, chosen, kept."""

import base64
import zlib

import pytest

from helpers.browsing import application
from helpers.editor_pages import begin, fields_of, latest, sign_in, text_of
from helpers.paths import ROOT
from quaestor.bankfile.bank import Bank
from quaestor.formats.exchange import gift, moodle_xml
from quaestor.formats.exchange.imported import to_document

QUIZ = (ROOT / "docs" / "examples" / "moodle-quiz.xml").read_bytes()
GIFT = (ROOT / "docs" / "examples" / "capitals.gift").read_bytes()
LOOK, KEEP = "/teacher/import", "/teacher/import/keep"


@pytest.fixture
def kept(make_database):
    return make_database("sqlite")


@pytest.fixture
def browser(kept):
    return sign_in(application(kept), kept)


def look(browser, content, name="quiz.xml"):
    browser.go(LOOK)
    token = fields_of(browser.page, LOOK)["form_token"][0]
    browser.page = browser.client.post(LOOK, data={"form_token": token}, files={"file": (name, content)})
    return text_of(browser.page)


def keep(browser, **changed):
    given = fields_of(browser.page, KEEP) | {name: [value] if isinstance(value, str) else value for name, value in changed.items()}
    files = {"none": ("", b"")}  # so that it is sent in parts, as the page says
    browser.page = browser.client.post(KEEP, data=given, files=files)
    return browser


def test_what_was_understood_is_shown_and_kept_in_a_new_bank(browser, kept):
    seen = look(browser, QUIZ)
    for words in (
        "4 questions understood, 2 of them not in every respect; 1 refused.",
        "1 item was refused",
        "2.5 ± 0.01",
        "frog → amphibian",
    ):
        assert words in seen
    assert "answers are written freely and marked by people (line 53)" in seen
    assert "Partly right answers count by their class: 'toad' 80% as half" in seen
    assert "Right: frog Partly right: toad" in seen
    home = keep(browser, title="My quiz", question=["Halves", "A quarter", "Kinds"]).path
    _, document = latest(kept, home)
    assert document["title"] == "My quiz"
    assert {name: fields["skill"] for name, fields in document["questions"].items()} == {
        **{"Halves": "Fractions", "A quarter": "Fractions", "Kinds": "Animals"},
    }
    assert document["questions"]["Halves"]["confidence"] == "unsure"
    assert browser.go(home).status_code == 200


@pytest.mark.parametrize(("by", "one", "skills"), [("tag", "", ["grade 5", "quiz"]), ("one", "mathematics", ["mathematics"])])
def test_skills_come_from_tags_or_are_one(browser, kept, by, one, skills):
    look(browser, QUIZ)
    home = keep(browser, skills_by=by, one=one).path
    assert [*latest(kept, home)[1]["skills"]] == skills


def test_questions_go_into_a_bank_that_is_there_and_change_nothing_of_it(browser, kept):
    home = begin(browser)
    number = home.rpartition("/")[2]
    look(browser, GIFT, "capitals.gift")
    assert keep(browser, into=number).path == home
    look(browser, GIFT, "capitals.gift")
    keep(browser, into=number)
    _, document = latest(kept, home)
    assert [*document["questions"]] == ["France", "Height", "France (2)", "Height (2)"]
    assert [*document["skills"]] == ["Capitals"]


def test_nothing_chosen_and_a_skill_without_a_name_are_told(browser):
    look(browser, QUIZ)
    assert "Please choose at least one question" in text_of(keep(browser, question=[]).page)
    assert browser.page.status_code == 400
    look(browser, QUIZ)
    assert "Please name the skill" in text_of(keep(browser, skills_by="one", one=" , ").page)


def test_a_file_that_cannot_be_read_is_told_with_its_place(browser):
    assert "The file is well-formed XML" in look(browser, b"<quiz>\n<question></quiz>")
    assert browser.page.status_code == 400
    assert "Questions are read from one of these formats" in look(browser, b"hello", "x.txt")
    assert "There is no question in it that can be kept." in look(browser, b"::E::Why? {}", "x.gift")


@pytest.mark.parametrize(
    "packed", ["", "no base64!", base64.b64encode(b"no zlib").decode(), base64.b64encode(zlib.compress(b"cut")[:-3]).decode()]
)
def test_a_page_that_was_tampered_with_keeps_nothing(browser, packed):
    look(browser, QUIZ)
    assert "Please choose the file again" in text_of(keep(browser, packed=packed).page)


def test_a_bank_of_somebody_else_takes_nothing(browser, kept):
    look(browser, GIFT, "capitals.gift")
    assert keep(browser, into="9999").page.status_code == 404


def test_true_and_false_are_said_in_the_language_of_the_reader(browser):
    browser.client.cookies.set("language", "de")
    assert "Richtig: Richtig" in look(browser, b"::S::The sun rises in the east.{T}", "x.gift")


def test_scripts_in_a_file_are_text_on_the_page(browser):
    evil = b"::<script>alert(1)</script>::[html]<img src\\=x onerror\\=alert(1)><b>Q</b>{=<script>alert(2)</script>a ~b}"
    look(browser, evil, "<script>x.gift")
    assert "<script>alert" not in browser.page.text
    assert "onerror" not in browser.page.text.replace("onerror\\", "")


@pytest.mark.parametrize(("ending", "reader"), [("xml", moodle_xml), ("gift", gift)])
def test_a_version_goes_out_for_other_systems_and_comes_back(browser, kept, ending, reader):
    look(browser, QUIZ)
    home = keep(browser).path
    assert f"{home}/versions/1/file.{ending}" in browser.client.get(f"{home}/versions").text
    sent = browser.client.get(f"{home}/versions/1/file.{ending}")
    assert sent.headers["content-disposition"].endswith(f'.{ending}"')
    again = to_document(reader.read(sent.content, "x"))
    assert Bank(again).version == Bank(latest(kept, home)[1]).version
    assert browser.client.get(f"{home}/versions/1/file.exe").status_code == 404


def test_answers_that_count_by_half_are_not_called_right_in_the_form(browser, kept):
    look(browser, b"::Frog::An amphibian?{=frog =%50%toad}\n\n::Cat::A mammal?{=cat =dog}", "x.gift")
    home = keep(browser).path
    half, right = (text_of(browser.client.get(f"{home}/questions/{name}")) for name in ("Frog", "Cat"))
    assert "Other answers that count, one a line: answer -> class" in half
    assert "Also right" not in half
    assert "Also right, one a line" in right
