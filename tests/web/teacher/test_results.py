"""The teacher's pages: results, one taker's path, and who may see what."""

import csv
import io
import json
import re
from html import unescape

import openpyxl

from helpers.teacher_pages import BANK, FORM, HOSTILE, count, freeze, one, put_bank, put_test, take
from quaestor.store.attempts.taking import answer, enter, state_of
from quaestor.store.models import BankVersion, Published, Pupil, Token
from quaestor.store.outcomes import rescoring

# Results


def test_results_as_page_csv_and_xlsx(kept, ada):
    where = put_test(ada).headers["location"]
    assert "Nobody has begun" in ada.get(f"{where}/results").text
    take(kept, "Zoe", ("15", "13"))
    take(kept, "Ben")
    take(kept, "=1+1", ())
    page = ada.get(f"{where}/results").text
    assert page.index("Ben") < page.index("Zoe")
    assert page.count("too few answers") == 1
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
                answer(work, attempt, step, entries[state_of(work, attempt).session.next.id])
    assert "does not count" in ada.get(f"{where}/results").text
    assert len(ada.get(f"{where}/results.csv").text.splitlines()) == 2
    assert len(ada.get(f"{where}/results.csv?every=yes").text.splitlines()) == 3


def test_files_have_a_look_at_every_attempt(kept, ada):
    where = put_test(ada).headers["location"]
    for name, entries in (("Ben", ("50", "12")), ("Cem", ("15", "1")), ("Dana", ("50", "1"))):
        take(kept, name, entries)
    rescoring.score_all(kept, int(where.rpartition("/")[2]), lambda share: True)
    rows = list(csv.DictReader(io.StringIO(ada.get(f"{where}/results.csv").content.decode("utf-8-sig"))))
    assert [row["look"] for row in rows] == ["no", "no", "no"]


def test_the_path_of_a_taker(kept, ada):
    where = put_test(ada, mode="practice").headers["location"]
    number = take(kept, "Ben", ("15", "12"))
    page = unescape(ada.get(f"{where}/takers/{number}").text)
    assert "What is" in page
    assert "not right" in page
    assert "Why was this asked?" in page
    assert "it is expected to tell most" in page
    assert "What each answer was worth" in page
    assert "The test is over" in page or "the limit is 2" in page
    assert ada.get(f"{where}/takers/{number + 1}").status_code == 404


THREE_LEVELS = """
quaestor: 1
skills:
  a: {levels: [low, middle, high], prior: [0.38, 0.37, 0.25]}
questions:
  Q1: {text: First, options: ["1", "2"], correct: "1", skill: a, right: [0.4, 0.27, 0.6]}
  Q2: {text: Second, options: ["1", "2"], correct: "1", skill: a, right: [0.1, 0.2, 0.9]}
"""


def test_what_an_answer_changed_is_said_once_and_the_same_everywhere(kept, ada):
    """Q1 raises the level found in the end from 25 to 37 %; the level found at that time it hardly moves."""
    where = freeze(ada, put_bank(ada, THREE_LEVELS).headers["location"])
    where = ada.fill(f"{where}/publish", {**FORM, "rules": "score: order"}).headers["location"]
    page = unescape(ada.get(f"{where}/takers/{take(kept, 'Ben', ('1', '1'))}").text)
    first = page.partition('<ol class="path">')[2].partition("</li>")[0]
    assert "It changed n" not in first
    assert ("25%" in first, "37%" in first) == (True, True)
    assert ">+12</span>" in page


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
    assert re.search(r"\d+ to (over )?\d+%", page)
    assert "Why was this asked?" in page
    why = ada.get(f"{where}/takers/{taker}/why/1").text
    assert "networks drawn" not in why.partition("<details")[0]
    assert "networks drawn" in why.partition("<details")[2]
    assert ada.get(f"{where}/takers/{taker}/why/3").status_code == 404


# Others


def test_another_teacher_finds_nothing_whether_it_exists_or_not(kept, ada, join):
    where = put_test(ada).headers["location"]
    ada.fill(f"{where}/pupils", {"names": "Anna"})
    ada.fill("/teacher/account/tokens", {"name": "Moodle", "scope": "banks"})
    taker = take(kept)
    bank, pupil, eve = one(kept, BankVersion).id, one(kept, Pupil), join("eve@school.example")
    school_class = f"/teacher/classes/{pupil.class_id}"
    pages = [
        f"/teacher/banks/{bank}",
        f"/teacher/banks/{bank}/file.yaml",
        f"/teacher/banks/{bank}/media/x.png",
        f"/teacher/banks/{bank}/publish",
    ]
    pages += [where, f"{where}/qr.svg", f"{where}/cards", f"{where}/delete", f"{school_class}/pupils/{pupil.id}/erase", f"{where}/results"]
    pages += [f"{where}/results.csv", f"{where}/results.xlsx", f"{where}/results/columns"]
    pages += [f"{where}/takers/{taker}{end}" for end in ("", "/why/1", "/export.json", "/delete")]
    forms = [
        f"/teacher/banks/{bank}/delete",
        f"/teacher/banks/{bank}/publish",
        f"{where}/pupils",
        f"{school_class}/pupils/{pupil.id}/erase",
    ]
    forms += [
        f"{where}/close",
        f"{where}/delete",
        f"{where}/takers/{taker}/delete",
        f"/teacher/account/tokens/{one(kept, Token).id}/delete",
    ]
    for path in pages:
        nothing = (
            path.replace(f"/banks/{bank}", "/banks/999").replace(where, "/teacher/tests/999").replace(school_class, "/teacher/classes/999")
        )
        there, gone = eve.get(path), eve.get(nothing)
        assert there.status_code == gone.status_code == 404, path
        words = [re.search(r"<h1>.*?</p>", page.text, re.DOTALL)[0] for page in (there, gone)]
        assert words[0] == words[1], path
    for path in forms:
        assert eve.fill(path, {**FORM, "names": "Eve", "name": "Anna", "code": one(kept, Published).code}).status_code == 404, path
    assert (count(kept, Published), count(kept, Pupil), count(kept, Token)) == (1, 1, 1)
    assert one(kept, Published).closes is None
    assert "Week 3" not in eve.get("/teacher").text


def test_a_taker_or_pupil_of_another_test_of_mine_is_not_there(kept, ada):
    first = put_test(ada).headers["location"]
    ada.fill(f"{first}/pupils", {"names": "Anna"})
    taker, anna = take(kept), one(kept, Pupil)
    second = put_test(ada, title="Week 4").headers["location"]
    ada.fill(f"{second}/pupils", {"names": "Ben"})
    with kept.read() as work:
        other = work.query(Pupil).filter_by(name="Ben").one().class_id
    assert other != anna.class_id
    assert second != first
    assert ada.get(f"{second}/takers/{taker}").status_code == 404
    assert ada.fill(f"{second}/takers/{taker}/delete").status_code == 404
    assert ada.get(f"/teacher/classes/{other}/pupils/{anna.id}/erase").status_code == 404
    assert ada.fill(f"/teacher/classes/{other}/pupils/{anna.id}/erase", {"name": "Anna"}).status_code == 404
    assert count(kept, Pupil) == 2


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
    ada.fill("/teacher/account/name", {"name": HOSTILE})
    ada.fill("/teacher/account/tokens", {"name": HOSTILE, "scope": "banks"})
    ada.fill(f"{test}/pupils", {"names": HOSTILE})
    taker, pupil = take(kept, HOSTILE, (HOSTILE, "12")), one(kept, Pupil)
    child = f"/teacher/classes/{pupil.class_id}/pupils/{pupil.id}"
    paths = ["/teacher", "/teacher/banks", where, f"{where}/publish", test, f"{test}/cards", f"{test}/delete", f"{test}/results"]
    paths += [child, f"{child}/data", f"{child}/erase", f"{test}/takers/{taker}", f"{test}/takers/{taker}/delete", "/teacher/account"]
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
    for path in ("/sign-in", "/teacher", "/teacher/banks", "/teacher/banks/1", "/teacher/banks/1/publish",
    where, f"{where}/cards", f"{where}/results",
                 f"{where}/takers/{taker}", "/teacher/account"):  # fmt: skip
        text = ada.get(path).text
        assert "<style" not in text, path
        assert not re.search(r"\sstyle=|\son[a-z]+=|javascript:", text), path
        assert text.count("<script") == 1, path
