"""The teacher's desk in a client without JavaScript: signing in, banks, publishing, results, one taker's path, and who may see what."""

import io
import json
import re
from html import unescape

import openpyxl
import pytest
from fastapi.testclient import TestClient

import quaestor as qs
from quaestor.formats import dump_bytes
from quaestor.store import publishing, teachers
from quaestor.store.attempts import answer, enter, sitting
from quaestor.store.models import BankVersion, Login, Media, Published, Pupil, Teacher, Token
from quaestor.web.app import create
from quaestor.web.desk.class_list import from_file, pasted
from quaestor.web.settings import Settings

PASSWORD = "four plain words here"
PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 20
HOSTILE = "<script>alert(1)</script>"
BANK = """
quaestor: 1
title: Times tables
skills:
  multiplication: {levels: ["no", "yes"], prior: [0.5, 0.5]}
questions:
  Q1: {text: "What is $10 \\\\times 5$?", options: ["15", "50"], correct: "50", skill: multiplication, right: [0.3, 0.9]}
  Q2: {text: "What is 3 times 4?", kind: number, correct: 12, skill: multiplication, right: [0.1, 0.9]}
"""


class Browser(TestClient):
    """A browser that fills in the token of each form."""

    def token(self, path="/"):
        return re.search(r'name="form_token" value="([^"]+)"', self.get(path).text)[1]

    def fill(self, path, data=None, **more):
        return self.post(path, data={"form_token": self.token(), **(data or {})}, follow_redirects=False, **more)


@pytest.fixture
def kept(make_database):
    return make_database("sqlite")


@pytest.fixture
def app(kept):
    return create(Settings(), kept)


@pytest.fixture
def browse(app):
    return lambda: Browser(app, base_url="http://localhost")


@pytest.fixture
def join(kept, browse):
    """Make a teacher and a browser that is signed in."""

    def make(email="ada@school.example", owner=False):
        with kept.work() as work:
            if owner:
                found = teachers.owner(work, email)
            else:
                found = Teacher(email=email, name="Ada", password=None, is_owner=False, created=publishing.now())
                work.add(found)
                work.flush()
            secret = teachers.sign_in_link(work, found)
        browser = browse()
        assert browser.fill(f"/sign-in/{secret}").headers["location"] == "/desk"
        return browser

    return make


@pytest.fixture
def ada(join):
    return join()


def count(kept, table):
    with kept.read() as work:
        return work.query(table).count()


def one(kept, table):
    with kept.read() as work:
        return work.query(table).one()


def put_bank(browser, content=BANK, name="bank.yaml", images=()):
    data = content if isinstance(content, bytes) else content.encode()
    files = [("file", (name, data)), *(("images", (file, image)) for file, image in images)]
    return browser.fill("/desk/banks", files=files)


def freeze(browser, draft):
    """A draft made ready for a test; where the frozen bank is."""
    return browser.fill(f"{draft}/publish").headers["location"].removesuffix("/publish")


FORM = {
    "title": "Week 3",
    "most": "2",
    "sure": "no",
    "mode": "exam",
    "retakes": "none",
    "may_skip": "yes",
    "keep_days": "",
    "minutes": "",
    "opens": "",
    "closes": "",
    "rules": "",
}


def put_test(browser, **changed):
    bank = freeze(browser, put_bank(browser).headers["location"])
    return browser.fill(f"{bank}/publish", {**FORM, **changed})


def take(kept, name="Ben", entries=("50", "12")):
    """Somebody takes the only test; the number of the attempt."""
    with kept.work() as work:
        attempt = enter(work, work.query(Published).one().code, name)
        for step, _ in enumerate(entries, 1):
            asked = sitting(work, attempt).session.next
            answer(work, attempt, step, {"Q1": entries[0], "Q2": entries[-1]}[asked.id])
        return attempt.id


# Signing in


def test_without_signing_in_every_page_leads_to_the_sign_in(browse):
    for path in ("/desk", "/desk/banks", "/desk/banks/1", "/desk/tests/1/results", "/desk/account", "/desk/people"):
        response = browse().get(path, follow_redirects=False)
        assert (response.status_code, response.headers["location"]) == (303, "/sign-in")
    assert put_bank(browse()).status_code == 403
    assert browse().fill("/desk/tests/1/close").status_code == 403


def test_a_link_is_used_by_the_button_and_once(kept, join, browse):
    join()
    with kept.work() as work:
        secret = teachers.sign_in_link(work, work.query(Teacher).one())
    browser = browse()
    for _ in range(3):
        assert "signs you in once" in browser.get(f"/sign-in/{secret}").text
    before = browser.cookies["visit"]
    assert browser.fill(f"/sign-in/{secret}").headers["location"] == "/desk"
    assert browser.cookies["visit"] != before
    assert "Hello, Ada" in browser.get("/desk").text
    again = browse()
    assert "used already" in again.get(f"/sign-in/{secret}").text
    assert again.fill(f"/sign-in/{secret}").status_code == 400


def test_a_link_may_set_a_password_and_a_short_one_does_not_use_it_up(kept, join, browse):
    join()
    with kept.work() as work:
        secret = teachers.sign_in_link(work, work.query(Teacher).one())
    browser = browse()
    assert "At least 10 characters" in browser.fill(f"/sign-in/{secret}", {"password": "short"}).text
    assert browser.fill(f"/sign-in/{secret}", {"password": PASSWORD}).status_code == 303
    browser = browse()
    response = browser.fill("/sign-in", {"email": "Ada@School.example ", "password": PASSWORD})
    assert response.headers["location"] == "/desk"
    assert "httponly" in response.headers["set-cookie"].lower()
    assert browser.get("/sign-in", follow_redirects=False).headers["location"] == "/desk"


def test_wrong_passwords_sound_alike_and_are_limited(kept, join, browse):
    join()
    with kept.work() as work:
        teachers.set_password(work, work.query(Teacher).one(), PASSWORD)
    browser = browse()
    known = browser.fill("/sign-in", {"email": "ada@school.example", "password": "wrong"})
    unknown = browser.fill("/sign-in", {"email": "eve@school.example", "password": "wrong"})
    said = [re.search(r'role="alert"[^>]*>([^<]+)', response.text)[1] for response in (known, unknown)]
    assert said[0] == said[1]
    assert known.status_code == unknown.status_code == 400
    for _ in range(10):
        last = browser.fill("/sign-in", {"email": "ada@school.example", "password": "wrong"})
    assert last.status_code == 429
    assert int(last.headers["retry-after"]) > 60
    assert browser.fill("/sign-in", {"email": "ada@school.example", "password": PASSWORD}).status_code == 429


def test_signing_out_forgets_the_browser(kept, ada):
    cookie = ada.cookies["teacher"]
    assert ada.fill("/sign-out").headers["location"] == "/"
    assert count(kept, Login) == 0
    ada.cookies.set("teacher", cookie)
    assert ada.get("/desk", follow_redirects=False).headers["location"] == "/sign-in"


def test_every_form_needs_its_token(kept, ada):
    put_test(ada)
    with ada.app.state.database.read() as work:
        tokens = work.query(Token).count()
    paths = ["/sign-in", "/sign-out", "/desk/banks", "/desk/banks/bundled", "/desk/banks/1/delete", "/desk/banks/1/publish"]
    paths += ["/desk/tests/1/pupils", "/desk/tests/1/close", "/desk/tests/1/delete", "/desk/tests/1/takers/1/delete"]
    paths += ["/desk/people", "/desk/account/name", "/desk/account/password", "/desk/account/tokens"]
    for path in paths:
        assert ada.post(path, data={"form_token": "0" * 64}).status_code == 403, path
        assert ada.post(path).status_code == 403, path
    assert (count(kept, Published), count(kept, Token)) == (1, tokens)


# Banks


@pytest.mark.parametrize("ending", [".yaml", ".json", ".csv", ".xlsx"])
def test_a_bank_goes_up_and_comes_down_again_in_each_format(kept, ada, ending):
    bank = qs.load("fractions")
    response = put_bank(ada, dump_bytes(bank, ending), f"my bank{ending}")
    where = freeze(ada, response.headers["location"])
    page = ada.get(where).text
    assert "44 questions on 5 skills" in page
    assert '<svg class="graph"' in page
    assert "<style" not in page
    assert "style=" not in page
    for other in ("yaml", "json", "csv", "xlsx"):
        file = ada.get(f"{where}/file.{other}")
        assert file.headers["content-disposition"].endswith(f'.{other}"')
        assert qs.formats.load_bytes(file.content, f".{other}").model_version == bank.model_version
    assert ada.get(f"{where}/file.exe").status_code == 404
    again = put_bank(ada, dump_bytes(bank, ending), f"my bank{ending}").headers["location"]
    assert freeze(ada, again) == where
    assert count(kept, BankVersion) == 1


def test_problems_are_listed_as_by_check_and_nothing_is_kept(kept, ada):
    page = put_bank(ada, BANK.replace("right: [0.3, 0.9]", "right: [0.3, 1.9]").replace("skill: mult", "skil: mult", 1))
    assert page.status_code == 400
    text = unescape(page.text)
    assert "questions.Q1.right[1]" in text
    assert "1.9" in text
    assert "line 7" in text
    assert "did you mean 'skill'?" in text
    assert count(kept, BankVersion) == 0


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bank.yaml", b"a: [1"),
        ("bank.json", b"{"),
        ("bank.csv", b"what,ever\n1,2\n"),
        ("bank.xlsx", b"PK no workbook"),
        ("bank.exe", b"MZ"),
        ("bank", b""),
        ("../../bank.yaml", b""),
        ("bank.yaml", b"\xff\xfe\x00"),
    ],
)
def test_what_is_no_bank_is_refused_in_words(kept, ada, name, content):
    response = put_bank(ada, content, name)
    assert response.status_code == 400
    assert "Nothing was kept" in response.text or "choose a file" in response.text
    assert count(kept, BankVersion) == 0


def test_images_come_with_a_bank_or_it_is_refused(kept, ada):
    pictured = BANK.replace("Q2: {", "Q2: {media: pie.png, alt: a pie, ")
    assert "pie.png" in put_bank(ada, pictured).text
    assert "PNG, JPEG" in put_bank(ada, pictured, images=[("pie.png", b"<svg onload=alert(1)>")]).text
    assert (count(kept, BankVersion), count(kept, Media)) == (0, 0)
    where = freeze(ada, put_bank(ada, pictured, images=[("C:\\pictures\\pie.png", PNG)]).headers["location"])
    image = ada.get(f"{where}/media/pie.png")
    assert (image.content, image.headers["content-type"]) == (PNG, "image/png")
    assert ada.get(f"{where}/media/..%2Fpie.png").status_code == 404
    assert f'src="{where}/media/pie.png"' in ada.get(where).text


def test_a_bundled_bank_is_added_by_one_click_and_an_unused_one_is_deleted(kept, ada):
    assert "fractions" in ada.get("/desk/banks").text
    where = freeze(ada, ada.fill("/desk/banks/bundled", {"name": "fractions"}).headers["location"])
    assert ada.fill("/desk/banks/bundled", {"name": "../../etc/passwd"}).status_code == 404
    assert ada.fill(f"{where}/delete").headers["location"] == "/desk/banks"
    assert count(kept, BankVersion) == 0
    put_test(ada)
    assert "delete these first" in ada.fill(f"/desk/banks/{one(kept, BankVersion).id}/delete").text
    assert count(kept, BankVersion) == 1


# Publishing


def test_simple_fields_make_rules_and_conditions(kept, ada):
    where = put_test(
        ada, most="2", sure="90", mode="practice", minutes="20", keep_days="30", retakes="best", by_list="yes",
        opens="2040-09-01T08:00", opens_offset="-120", closes="2040-09-01T09:00",
    ).headers["location"]  # fmt: skip
    test = one(kept, Published)
    assert test.rules == {"stop": {"any_of": [{"max_questions": 2}, {"probability_above": 0.9}]}}
    assert (test.title, test.mode, test.minutes, test.retakes, test.by_list, test.keep_days) == ("Week 3", "practice", 20, "best", True, 30)
    assert (test.opens.isoformat(), test.closes.isoformat()) == ("2040-09-01T06:00:00", "2040-09-01T09:00:00")
    page = ada.get(where).text
    assert "opens later" in page
    assert "At most 2 questions, fewer once the level of every skill is 90 % sure." in page


def test_without_skipping_and_without_a_limit(kept, ada):
    put_test(ada, most="", may_skip="")
    assert one(kept, Published).rules == {"stop": {"max_questions": 2}, "may_skip": False}


def test_written_rules_take_the_place_of_the_simple_ones(kept, ada):
    put_test(ada, most="nonsense", rules="score: entropy\nstop: {max_questions: 1}\nfirst: [Q2]")
    assert one(kept, Published).rules == {"score": "entropy", "stop": {"max_questions": 1}, "first": ["Q2"]}


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("title", "", "please enter a title"),
        ("most", "0", "whole number from 1 to 500"),
        ("most", "9" * 400, "whole number from 1 to 500"),
        ("sure", "85", "choose one of these"),
        ("mode", "party", "choose one of these"),
        ("retakes", "always", "choose one of these"),
        ("minutes", "-5", "whole number from 1 to 1440"),
        ("keep_days", "x", "whole number from 1 to 3650"),
        ("opens", "tomorrow", "a date and a time"),
        ("closes", "2001-01-01T08:00", "this time is over"),
        ("rules", "stop: {max_question: 3}", "did you mean 'max_questions'?"),
        ("rules", "score: [", "the file is valid YAML"),
        ("rules", "first: [Q9]", "a question of the bank"),
        ("rules", "just words", "a map of fields is expected"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field_and_the_form_comes_back(kept, ada, field, value, words):
    changed = {"title": "A title of mine", "minutes": "17", field: value}
    response = put_test(ada, **changed)
    text = unescape(response.text)
    assert response.status_code == 400
    assert words.lower() in text.lower()
    assert "17" in text or field == "minutes"
    if field not in ("title", "mode", "sure", "retakes"):
        assert value in text
    assert count(kept, Published) == 0


def test_a_test_closes_after_it_opens(kept, ada):
    text = put_test(ada, opens="2040-01-02T08:00", closes="2040-01-01T08:00").text
    assert "Please choose a time after it opens." in text
    assert 'value="2040-01-02T08:00"' in text
    assert "within a day" not in put_test(ada, opens="2040-01-02T08:00", opens_offset="99999").text
    assert count(kept, Published) == 0


def test_a_bank_without_texts_cannot_be_published(ada):
    where = freeze(ada, put_bank(ada, BANK.replace('text: "What is 3 times 4?", ', "")).headers["location"])
    assert "cannot be taken in a browser" in ada.get(where).text
    assert "questions with a text" in ada.fill(f"{where}/publish", FORM).text


# A published test


def test_code_link_and_qr_code(kept, ada):
    where = put_test(ada).headers["location"]
    page, test = ada.get(where).text, one(kept, Published)
    assert test.code in page
    assert f"http://localhost/c/{test.code}" in page
    assert 'class="qr"' in page
    picture = ada.get(f"{where}/qr.svg")
    assert picture.headers["content-type"] == "image/svg+xml"
    assert b"<svg" in picture.content
    assert b"style=" not in picture.content
    assert test.code in ada.get("/desk").text


def test_a_class_list_is_pasted_and_uploaded_and_printed(kept, ada):
    where = put_test(ada).headers["location"]
    file = ("file", ("class.csv", "Vorname;Nachname;Klasse\nCleo;Kühn;7b\n".encode("cp1252")))
    assert ada.fill(f"{where}/pupils", {"names": "Anna  Meier\n\nBen\tOtt\n"}, files=[file]).headers["location"] == where
    with kept.read() as work:
        pupils = {pupil.name: pupil.code for pupil in work.query(Pupil)}
    assert set(pupils) == {"Anna Meier", "Ben Ott", "Cleo Kühn"}
    cards = ada.get(f"{where}/cards").text
    assert all(name in cards and f"{code[:4]} {code[4:]}" in cards for name, code in pupils.items())
    assert cards.count('class="qr"') == 3
    assert "please enter names" in ada.fill(f"{where}/pupils", {"names": " \n"}).text.lower()
    too_many = "\n".join(f"Pupil {number}" for number in range(2001))
    assert "at most 2000 names" in ada.fill(f"{where}/pupils", {"names": too_many}).text


def test_names_are_read_from_files():
    assert pasted("Meier, Anna\r\n\r\n  Ben ") == ["Meier, Anna", "Ben"]
    assert from_file("a.txt", "Anna\nBen".encode("utf-8-sig")) == ["Anna", "Ben"]
    assert from_file("a.csv", b"Anna,Meier\nBen,Ott") == ["Anna Meier", "Ben Ott"]
    assert from_file("a.csv", b"class,last name,first name\n7b,Meier,Anna\n7b,Ott") == ["Anna Meier", "Ott"]
    assert from_file("a.csv", b'Name\n"Meier, Anna"\n') == ["Meier, Anna"]
    assert from_file("a.csv", b"") == []
    assert from_file("a.csv", b"\x00\xff;\n") != []


def test_a_pupil_is_removed_with_what_is_kept_of_them(kept, ada):
    where = put_test(ada).headers["location"]
    ada.fill(f"{where}/pupils", {"names": "Anna\nBen"})
    with kept.work() as work:
        anna = work.query(Pupil).filter_by(name="Anna").one()
        enter(work, anna.code)
    assert "cannot be brought back" in ada.get(f"{where}/pupils/{anna.id}/delete").text
    assert ada.fill(f"{where}/pupils/{anna.id}/delete").headers["location"] == where
    assert "Anna" not in ada.get(where).text
    assert "Anna" not in ada.get(f"{where}/results").text
    assert ada.fill(f"{where}/pupils/{anna.id}/delete").status_code == 404


def test_closing_and_deleting(kept, ada):
    where = put_test(ada).headers["location"]
    take(kept)
    assert ada.fill(f"{where}/close").headers["location"] == where
    closed = one(kept, Published).closes
    ada.fill(f"{where}/close")
    assert one(kept, Published).closes == closed
    assert "Close the test now" not in ada.get(where).text
    assert "type the code" in ada.get(f"{where}/delete").text
    assert ada.fill(f"{where}/delete", {"code": "WRONG"}).status_code == 400
    assert count(kept, Published) == 1
    assert ada.fill(f"{where}/delete", {"code": one(kept, Published).code.lower()}).headers["location"] == "/desk"
    assert count(kept, Published) == 0


# Results


def test_results_as_page_csv_and_xlsx(kept, ada):
    where = put_test(ada).headers["location"]
    assert "Nobody has begun" in ada.get(f"{where}/results").text
    take(kept, "Zoe", ("15", "13"))
    take(kept, "Ben")
    take(kept, "=1+1", ())
    page = ada.get(f"{where}/results").text
    assert page.index("Ben") < page.index("Zoe")
    assert "not yet sure" in page
    assert "under way" in page
    table = ada.get(f"{where}/results.csv")
    assert "attachment" in table.headers["content-disposition"]
    lines = table.content.decode("utf-8-sig").splitlines()
    assert lines[0].startswith("name,")
    assert len(lines) == 4
    assert any(line.startswith("'=1+1") for line in lines)
    book = openpyxl.load_workbook(io.BytesIO(ada.get(f"{where}/results.xlsx").content))
    assert book.sheetnames == ["results", "dictionary"]
    assert book["results"].max_row == 4
    assert "multiplication level" in ada.get(f"{where}/results/columns").text
    assert ada.get(f"{where}/results.pdf").status_code == 404


def test_only_attempts_that_count_are_in_the_files_unless_all_are_wanted(kept, ada):
    where = put_test(ada, retakes="best").headers["location"]
    ada.fill(f"{where}/pupils", {"names": "Anna"})
    with kept.work() as work:
        code = work.query(Pupil).one().code
        for entries in ({"Q1": "15", "Q2": "1"}, {"Q1": "50", "Q2": "12"}):
            attempt = enter(work, code)
            for step in (1, 2):
                answer(work, attempt, step, entries[sitting(work, attempt).session.next.id])
    assert "does not count" in ada.get(f"{where}/results").text
    assert len(ada.get(f"{where}/results.csv").text.splitlines()) == 2
    assert len(ada.get(f"{where}/results.csv?every=yes").text.splitlines()) == 3


def test_the_path_of_a_taker(kept, ada):
    where = put_test(ada).headers["location"]
    number = take(kept, "Ben", ("15", "12"))
    page = unescape(ada.get(f"{where}/takers/{number}").text)
    assert "What is" in page
    assert "not right" in page
    assert "Why was this asked?" in page
    assert "it is expected to tell most" in page
    assert "What each answer was worth" in page
    assert "The test is over" in page or "the limit is 2" in page
    assert ada.get(f"{where}/takers/{number + 1}").status_code == 404


def test_a_takers_data_are_exported_and_deleted(kept, ada):
    where = put_test(ada).headers["location"]
    number = take(kept, "Ben/../\u202e")
    file = ada.get(f"{where}/takers/{number}/export.json")
    assert file.headers["content-disposition"] == 'attachment; filename="Week-3-Ben.json"'
    assert "Q1" in json.dumps(file.json())
    assert "cannot be brought back" in ada.get(f"{where}/takers/{number}/delete").text
    assert ada.fill(f"{where}/takers/{number}/delete").headers["location"] == f"{where}/results"
    assert "Ben" not in ada.get(f"{where}/results").text
    assert ada.get(f"{where}/takers/{number}/export.json").status_code == 404


def test_a_path_in_a_credal_bank_has_bands(kept, ada):
    where = freeze(ada, put_bank(ada, BANK + "imprecision: 0.05\n").headers["location"])
    where = ada.fill(f"{where}/publish", FORM).headers["location"]
    taker = take(kept)
    page = ada.get(f"{where}/takers/{taker}").text
    assert "depends on numbers" in page or "same for every network" in page
    assert re.search(r"\d+ to (over )?\d+ %", page)
    assert "Why was this asked?" in page
    assert "networks drawn" in ada.get(f"{where}/takers/{taker}/why/1").text
    assert ada.get(f"{where}/takers/{taker}/why/3").status_code == 404


# People and the account


def test_the_owner_invites_a_teacher_who_chooses_name_and_password(kept, join, browse):
    owner = join("owner@school.example", owner=True)
    link = re.search(r'value="http://localhost(/sign-in/[^"]+)"', owner.fill("/desk/people", {"email": "Eve@School.example"}).text)[1]
    eve = browse()
    assert "eve@school.example" in eve.get(link).text
    assert "please enter your name" in eve.fill(link, {"name": " ", "password": PASSWORD}).text.lower()
    assert "At least 10 characters" in eve.fill(link, {"name": "Eve", "password": "short"}).text
    assert count(kept, Teacher) == 1
    assert eve.fill(link, {"name": "Eve", "password": PASSWORD}).headers["location"] == "/desk"
    assert "Hello, Eve" in eve.get("/desk").text
    assert "Three steps" in eve.get("/desk").text
    assert eve.get("/desk/people").status_code == 403
    assert eve.fill("/desk/people", {"email": "x@y.example"}).status_code == 403
    assert "An address such as" in owner.fill("/desk/people", {"email": "nonsense"}).text
    number = next(teacher.id for teacher in kept_teachers(kept) if teacher.name == "Eve")
    assert eve.fill(f"/desk/people/{number}/link").status_code == 403
    again = re.search(r'value="http://localhost(/sign-in/[^"]+)"', owner.fill(f"/desk/people/{number}/link").text)[1]
    assert browse().fill(again).headers["location"] == "/desk"
    assert owner.fill("/desk/people/99/link").status_code == 404


def kept_teachers(kept):
    with kept.read() as work:
        return work.query(Teacher).all()


def test_name_and_password_change(kept, ada, browse):
    ada.fill("/desk/account/name", {"name": "Ada  L."})
    assert "Hello, Ada L." in ada.get("/desk").text
    assert "At least 10 characters" in ada.fill("/desk/account/password", {"password": "short"}).text
    assert ada.fill("/desk/account/password", {"password": PASSWORD}).status_code == 200
    other = browse()
    other.fill("/sign-in", {"email": "ada@school.example", "password": PASSWORD})
    assert "present password is wrong" in ada.fill("/desk/account/password", {"present": "x", "password": PASSWORD + "!"}).text
    assert ada.fill("/desk/account/password", {"present": PASSWORD, "password": PASSWORD + "!"}).status_code == 200
    assert ada.get("/desk").status_code == 200
    assert other.get("/desk", follow_redirects=False).status_code == 303


def test_tokens_are_shown_once_and_withdrawn(kept, ada):
    assert "choose what the token may do" in ada.fill("/desk/account/tokens", {"name": "Moodle"}).text
    assert "one or more of" in ada.fill("/desk/account/tokens", {"name": "Moodle", "scope": "all"}).text.lower()
    assert "say what the token is for" in ada.fill("/desk/account/tokens", {"name": "", "scope": "banks"}).text
    page = ada.fill("/desk/account/tokens", {"name": "Moodle", "scope": ["banks", "results"]}).text
    secret = re.search(r'class="secret" readonly value="([^"]+)"', page)[1]
    with kept.work() as work:
        assert teachers.by_token(work, secret, "banks")
    assert secret not in ada.get("/desk/account").text
    assert ada.fill(f"/desk/account/tokens/{one(kept, Token).id}/delete").headers["location"] == "/desk/account"
    assert count(kept, Token) == 0


# Others


def test_another_teacher_finds_nothing_whether_it_exists_or_not(kept, ada, join):
    where = put_test(ada).headers["location"]
    ada.fill(f"{where}/pupils", {"names": "Anna"})
    ada.fill("/desk/account/tokens", {"name": "Moodle", "scope": "banks"})
    taker = take(kept)
    bank, pupil, eve = one(kept, BankVersion).id, one(kept, Pupil).id, join("eve@school.example")
    pages = [f"/desk/banks/{bank}", f"/desk/banks/{bank}/file.yaml", f"/desk/banks/{bank}/media/x.png", f"/desk/banks/{bank}/publish"]
    pages += [where, f"{where}/qr.svg", f"{where}/cards", f"{where}/delete", f"{where}/pupils/{pupil}/delete", f"{where}/results"]
    pages += [f"{where}/results.csv", f"{where}/results.xlsx", f"{where}/results/columns"]
    pages += [f"{where}/takers/{taker}{end}" for end in ("", "/why/1", "/export.json", "/delete")]
    forms = [f"/desk/banks/{bank}/delete", f"/desk/banks/{bank}/publish", f"{where}/pupils", f"{where}/pupils/{pupil}/delete"]
    forms += [f"{where}/close", f"{where}/delete", f"{where}/takers/{taker}/delete", f"/desk/account/tokens/{one(kept, Token).id}/delete"]
    for path in pages:
        nothing = path.replace(f"/banks/{bank}", "/banks/999").replace(where, "/desk/tests/999")
        there, gone = eve.get(path), eve.get(nothing)
        assert there.status_code == gone.status_code == 404, path
        words = [re.search(r"<h1>.*?</p>", page.text, re.DOTALL)[0] for page in (there, gone)]
        assert words[0] == words[1], path
    for path in forms:
        assert eve.fill(path, {**FORM, "names": "Eve", "code": one(kept, Published).code}).status_code == 404, path
    assert (count(kept, Published), count(kept, Pupil), count(kept, Token)) == (1, 1, 1)
    assert one(kept, Published).closes is None
    assert "Week 3" not in eve.get("/desk").text


def test_a_taker_or_pupil_of_another_test_of_mine_is_not_there(kept, ada):
    first = put_test(ada).headers["location"]
    ada.fill(f"{first}/pupils", {"names": "Anna"})
    taker, pupil = take(kept), one(kept, Pupil).id
    second = put_test(ada, title="Week 4").headers["location"]
    assert second != first
    assert ada.get(f"{second}/takers/{taker}").status_code == 404
    assert ada.fill(f"{second}/takers/{taker}/delete").status_code == 404
    assert ada.fill(f"{second}/pupils/{pupil}/delete").status_code == 404


def test_script_in_every_text_is_shown_not_run(kept, ada):
    bank = (
        BANK.replace("title: Times tables", f"title: {HOSTILE}")
        .replace("What is 3 times 4?", HOSTILE)
        .replace('"15"', f'"{HOSTILE}"')
        .replace("levels: [", f"title: {HOSTILE}, description: {HOSTILE}, levels: [{HOSTILE}x, ", 1)
        .replace("prior: [0.5, 0.5]", "prior: [0.2, 0.3, 0.5]")
        .replace("[0.3, 0.9]", "[0.2, 0.3, 0.9]")
        .replace("[0.1, 0.9]", "[0.1, 0.1, 0.9]")
        .replace("Q1: {", f"Q1: {{tags: [{HOSTILE}], group: {HOSTILE}, explanation: {HOSTILE}, alt: {HOSTILE}, ")
    )
    where = freeze(ada, put_bank(ada, bank).headers["location"])
    test = ada.fill(f"{where}/publish", {**FORM, "title": HOSTILE}).headers["location"]
    ada.fill("/desk/account/name", {"name": HOSTILE})
    ada.fill("/desk/account/tokens", {"name": HOSTILE, "scope": "banks"})
    ada.fill(f"{test}/pupils", {"names": HOSTILE})
    taker, pupil = take(kept, HOSTILE, (HOSTILE, "12")), one(kept, Pupil).id
    paths = ["/desk", "/desk/banks", where, f"{where}/publish", test, f"{test}/cards", f"{test}/delete", f"{test}/results"]
    paths += [f"{test}/pupils/{pupil}/delete", f"{test}/takers/{taker}", f"{test}/takers/{taker}/delete", "/desk/account"]
    paths += [f"{test}/results/columns"]
    pages = [ada.get(path) for path in paths]
    pages += [ada.fill(f"{where}/publish", {**FORM, "title": HOSTILE, "rules": HOSTILE, "opens": HOSTILE, "most": HOSTILE})]
    pages += [put_bank(ada, BANK.replace("Q1", HOSTILE).replace("skill:", f"'{HOSTILE}':"), f"{HOSTILE}.yaml")]
    pages += [ada.fill("/sign-in", {"email": HOSTILE, "password": HOSTILE})]
    for page in pages:
        assert page.status_code in (200, 400)
        assert "<script>alert" not in page.text
        assert HOSTILE in unescape(page.text) or "columns" in str(page.url)
    for path in (f"{test}/results.csv", f"{where}/file.yaml", f"{test}/takers/{taker}/export.json"):
        name = re.fullmatch(r'attachment; filename="([A-Za-z0-9-]+)\.(csv|yaml|json)"', ada.get(path).headers["content-disposition"])
        assert name, path


def test_pages_have_no_inline_script_or_style(kept, ada):
    where = put_test(ada).headers["location"]
    ada.fill(f"{where}/pupils", {"names": "Anna"})
    taker = take(kept)
    for path in ("/sign-in", "/desk", "/desk/banks", "/desk/banks/1", "/desk/banks/1/publish", where, f"{where}/cards", f"{where}/results",
                 f"{where}/takers/{taker}", "/desk/account"):  # fmt: skip
        text = ada.get(path).text
        assert "<style" not in text, path
        assert not re.search(r"\sstyle=|\son[a-z]+=|javascript:", text), path
        assert text.count("<script") == 1, path
