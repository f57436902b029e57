"""Letters as a page and as PDF, and grades on every page and in every file."""

import io
from dataclasses import replace

import openpyxl
import pytest

from helpers.teacher_pages import put_test, take
from quaestor.report.letters import letter
from quaestor.selection.rules import Rules
from quaestor.store.models import Published
from quaestor.store.outcomes import results
from quaestor.store.publishing import open_bank
from quaestor.web.render import letter_pdf

SCHEME = {"grades_by": "points", "grades": "90 A\n50 B\n0 C"}


def test_letters_are_of_those_who_are_through(kept, ada):
    where = put_test(ada).headers["location"]
    assert "Nobody has finished" in ada.get(f"{where}/letters").text
    ben = take(kept, "Ben")
    take(kept, "Zoe", ("15", "13"))
    take(kept, "Kim", ())
    page = ada.get(f"{where}/letters").text
    assert page.index("Result of Ben") < page.index("Result of Zoe")
    assert "Kim" not in page
    assert "2 of 2 questions answered right." in page
    alone = ada.get(f"{where}/letters?attempt={ben}").text
    assert "Result of Ben" in alone
    assert "Zoe" not in alone
    for query in ("", f"?attempt={ben}", "?attempt=999"):
        file = ada.get(f"{where}/letters.pdf{query}")
        assert file.headers["content-type"] == "application/pdf"
        assert file.content.startswith(b"%PDF-")
        assert file.content.count(b"/Type /Page\n") == {"": 2}.get(query, 1)


def test_grades_are_everywhere(kept, ada):
    where = put_test(ada, **SCHEME).headers["location"]
    ben = take(kept, "Ben")
    take(kept, "Zoe", ("15", "13"))
    assert "<strong>A</strong>" in ada.get(f"{where}/letters?attempt={ben}").text
    assert ">A</td>" in ada.get(f"{where}/results").text
    lines = ada.get(f"{where}/results.csv").content.decode("utf-8-sig").splitlines()
    place = lines[0].split(",").index("grade")
    assert [line.split(",")[place] for line in lines[1:]] == ["A", "C"]
    book = openpyxl.load_workbook(io.BytesIO(ada.get(f"{where}/results.xlsx").content))
    assert [row[place] for row in book["results"].values] == ["grade", "A", "C"]
    assert "90 A" in ada.get(f"{where}/grades").text
    assert ada.fill(f"{where}/grades", {"grades_by": "points", "grades": ""}).status_code == 303
    assert ">A</td>" not in ada.get(f"{where}/results").text


@pytest.mark.parametrize("form", ["publish", "later"])
def test_a_scheme_that_cannot_be_comes_back_with_its_words(kept, ada, form):
    if form == "publish":
        page = put_test(ada, grades_by="points", grades="90 A\n95 B")
    else:
        page = ada.fill(f"{put_test(ada).headers['location']}/grades", {"grades_by": "points", "grades": "90 A\n95 B"})
    assert page.status_code == 400
    assert "Line 2: less than in the line above, 90, got 95." in page.text
    assert "90 A\n95 B" in page.text


def test_names_of_any_script_are_written(kept, ada):
    where = put_test(ada).headers["location"]
    take(kept, "Żółć Öğün Ναυσικά Дарья 李 😀")
    assert ada.get(f"{where}/letters.pdf").content.startswith(b"%PDF-")


def test_a_long_letter_takes_several_sheets(kept, ada):
    number = int(put_test(ada).headers["location"].rpartition("/")[2])
    take(kept, "Ben")
    with kept.read() as work:
        test = work.get(Published, number)
        (found,) = results.outcomes(work, test)
        written = letter(open_bank(test.bank), Rules(), found)
    many = replace(written, parts=written.parts * 40)
    assert letter_pdf.made([many], "A test", "en").count(b"/Type /Page\n") > 2
