"""The teacher's pages: banks, publishing, a published test."""

from html import unescape

import pytest

import quaestor as qs
from helpers.browsing import PICTURE
from helpers.teacher_pages import BANK, FORM, count, freeze, one, put_bank, put_test, take
from quaestor.errors import QuaestorError
from quaestor.formats.files import dump_bytes
from quaestor.formats.name_lists import from_file, pasted
from quaestor.store.attempts.taking import enter
from quaestor.store.models import BankVersion, Media, Published, Pupil

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
        assert qs.formats.files.load_bytes(file.content, f".{other}").model_version == bank.model_version
    assert ada.get(f"{where}/file.exe").status_code == 404
    again = put_bank(ada, dump_bytes(bank, ending), f"my bank{ending}").headers["location"]
    assert freeze(ada, again) == where
    assert count(kept, BankVersion) == 1


def test_problems_are_listed_as_by_check_and_nothing_is_kept(kept, ada):
    page = put_bank(ada, BANK.replace("right: [0.3, 0.9]", "right: [0.3, 1.9]").replace("skill: mult", "skil: mult", 1))
    assert page.status_code == 400
    text = unescape(page.text)
    assert "Question Q1 · right 2" in text
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
    where = freeze(ada, put_bank(ada, pictured, images=[("C:\\pictures\\pie.png", PICTURE)]).headers["location"])
    image = ada.get(f"{where}/media/pie.png")
    assert (image.content[:4], image.headers["content-type"]) == (b"\x89PNG", "image/png")
    assert ada.get(f"{where}/media/..%2Fpie.png").status_code == 404
    assert f'src="{where}/media/pie.png"' in ada.get(where).text


def test_a_bundled_bank_is_added_by_one_click_and_an_unused_one_is_deleted(kept, ada):
    assert "fractions" in ada.get("/teacher/banks").text
    where = freeze(ada, ada.fill("/teacher/banks/bundled", {"name": "fractions"}).headers["location"])
    assert ada.fill("/teacher/banks/bundled", {"name": "../../etc/passwd"}).status_code == 404
    assert ada.fill(f"{where}/delete").headers["location"] == "/teacher/banks"
    assert count(kept, BankVersion) == 0
    put_test(ada)
    assert "got 1 that does; delete it first" in ada.fill(f"/teacher/banks/{one(kept, BankVersion).id}/delete").text
    assert count(kept, BankVersion) == 1


# Publishing


def test_simple_fields_make_rules_and_conditions(kept, ada):
    where = put_test(
        ada, most="2", sure="90", mode="practice", minutes="20", keep_days="30", retakes="best", by_list="yes",
        opens="2040-09-01T08:00", opens_offset="-120", closes="2040-09-01T09:00",
    ).headers["location"]  # fmt: skip
    test = one(kept, Published)
    assert test.rules == {
        "stop": {"any_of": [{"max_questions": 2}, {"probability_above": 0.9}]},
        "content": [{"of": "multiplication", "least": 2}],
    }
    assert (test.title, test.mode, test.minutes, test.retakes, test.by_list, test.keep_days) == ("Week 3", "practice", 20, "best", True, 30)
    assert (test.opens.isoformat(), test.closes.isoformat()) == ("2040-09-01T06:00:00", "2040-09-01T09:00:00")
    page = ada.get(where).text
    assert "opens later" in page
    assert "At most 2 questions, fewer once the level of every skill is 90% sure." in page


@pytest.mark.parametrize(
    ("skips", "mode", "rule"),
    [
        ("", "exam", "wrong"),
        ("exam", "exam", "wrong"),
        ("exam", "practice", None),
        ("wrong", "practice", "wrong"),
        ("missing", "exam", None),
        ("wrong", "exam", "wrong"),
    ],
)
def test_what_a_skip_means_is_asked_and_told(kept, ada, visit, skips, mode, rule):
    put_test(ada, skips=skips, mode=mode, results="at once")
    test = one(kept, Published)
    assert test.rules.get("skips") == rule
    taker = visit()
    taker.fill("/enter", {"code": test.code, "name": "Ben", "once": "1"})
    page = taker.get("/take/1").text
    assert ("A skipped question counts as wrong." in page) == (rule == "wrong")
    assert ("A skipped question does not count." in page) == (rule is None)
    for step in ("1", "2"):
        taker.fill("/take/1/answer", {"step": step, "skip": "1"})
    result = taker.get("/take/1/result").text
    assert "2 questions were skipped; a skipped question " + ("counts as wrong." if rule else "does not count.") in result
    assert ("Too few answers" in result) == (rule is None)


def test_another_meaning_of_a_skip_is_refused(ada):
    page = put_test(ada, skips="perhaps")
    assert page.status_code == 400
    assert "Please choose one of these." in page.text


def test_without_skipping_and_without_a_limit(kept, ada):
    put_test(ada, most="", may_skip="")
    assert one(kept, Published).rules == {"stop": {"max_questions": 2}, "may_skip": False, "among": 5}


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
    assert "Please enter a date and a time" in put_test(ada, opens="2040-01-02T08:00", opens_offset="99999").text
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
    assert test.code in ada.get("/teacher").text


def test_a_class_list_is_pasted_and_uploaded_and_printed(kept, ada):
    where = put_test(ada).headers["location"]
    file = ("file", ("class.csv", "Vorname;Nachname;Klasse\nCleo;Kühn;7b\n".encode("cp1252")))
    assert ada.fill(f"{where}/pupils", {"names": "Anna  Meier\n\nBen\tOtt\n"}, files=[file]).headers["location"] == f"{where}#class-list"
    with kept.read() as work:
        pupils = {pupil.name: pupil.code for pupil in work.query(Pupil)}
    assert set(pupils) == {"Anna Meier", "Ben Ott", "Cleo Kühn"}
    cards = ada.get(f"{where}/cards").text
    assert all(name in cards and f"{code[:4]} {code[4:]}" in cards for name, code in pupils.items())
    assert cards.count('class="qr"') == 3
    assert ada.fill(f"{where}/pupils", {"names": " \n"}).headers["location"] == f"{where}#class-list"
    assert "Please enter names" in ada.get(where).text
    too_many = "\n".join(f"Pupil {number}" for number in range(2001))
    assert "at most 2000 names" in ada.fill(f"{where}/pupils", {"names": too_many}).text


def test_names_are_read_from_files():
    assert pasted("Meier, Anna\r\n\r\n  Ben ") == ["Meier, Anna", "Ben"]
    assert from_file("a.txt", "Anna\nBen".encode("utf-8-sig")) == ["Anna", "Ben"]
    assert from_file("a.csv", b"Anna,Meier\nBen,Ott") == ["Anna Meier", "Ben Ott"]
    assert from_file("a.csv", b"class,last name,first name\n7b,Meier,Anna\n7b,Ott") == ["Anna Meier", "Ott"]
    assert from_file("a.csv", b'Name\n"Meier, Anna"\n') == ["Meier, Anna"]
    assert from_file("a.csv", b"") == []
    with pytest.raises(QuaestorError, match="the file is no text that can be read"):
        from_file("a.csv", b"\x00\xff;\n")


def test_a_pupil_is_removed_with_what_is_kept_of_them(kept, ada):
    where = put_test(ada).headers["location"]
    ada.fill(f"{where}/pupils", {"names": "Anna\nBen"})
    with kept.work() as work:
        anna = work.query(Pupil).filter_by(name="Anna").one()
        enter(work, anna.code)
    whom = f"/teacher/classes/{anna.class_id}/pupils/{anna.id}"
    assert f'href="{whom}"' in ada.get(where).text
    assert "This cannot be undone." in ada.get(f"{whom}/erase").text
    assert "nothing was erased" in ada.fill(f"{whom}/erase", {"name": "Ben"}).text
    assert ada.fill(f"{whom}/erase", {"name": "anna"}).headers["location"] == f"/teacher/classes/{anna.class_id}"
    assert "Anna" not in ada.get(where).text
    assert "Anna" not in ada.get(f"{where}/results").text
    assert ada.fill(f"{whom}/erase", {"name": "Anna"}).status_code == 404


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
    assert ada.fill(f"{where}/delete", {"code": one(kept, Published).code.lower()}).headers["location"] == "/teacher"
    assert count(kept, Published) == 0


@pytest.mark.parametrize(
    ("earlier", "present"),
    [
        ("/desk", "/teacher"),
        ("/desk/tests/3/results?sort=name&to=%2F", "/teacher/tests/3/results?sort=name&to=%2F"),
        ("/desk/drafts/1/questions/a%20b%2Fc%3Fd", "/teacher/drafts/1/questions/a%20b/c%3Fd"),
    ],
)
def test_earlier_addresses_lead_to_the_present_ones(visit, earlier, present):
    found = visit().get(earlier, follow_redirects=False)
    assert (found.status_code, found.headers["location"]) == (308, present)


def test_a_form_of_a_page_that_was_open_before_the_addresses_changed_is_taken(join):
    teacher = join()
    data = {"form_token": teacher.token("/teacher/account"), "name": "Ada Lovelace"}
    done = teacher.post("/desk/account/name", data=data)
    assert done.status_code == 200
    assert "Ada Lovelace" in done.text
