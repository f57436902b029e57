"""A practice test as one file, from its page, and the results that come back; exams are not given so."""

import json

from sqlalchemy import select

from helpers.teacher_pages import put_test
from quaestor.selection.rules_file import read_rules
from quaestor.store import publishing
from quaestor.store.models import Published
from quaestor.web.offline.file import identity
from quaestor.web.offline.handed_in import check_sum


def test_a_practice_test_is_handed_out_as_one_file(ada):
    where = put_test(ada, mode="practice").headers["location"]
    assert f'{where}/offline.html"' in ada.get(where).text
    found = ada.get(f"{where}/offline.html", headers={"accept-language": "de"})
    assert found.status_code == 200
    assert "attachment" in found.headers["content-disposition"]
    assert '<html lang="de">' in found.text


def test_an_exam_is_not(ada):
    where = put_test(ada, mode="exam").headers["location"]
    assert "offline.html" not in ada.get(where).text
    found = ada.get(f"{where}/offline.html")
    assert found.status_code == 404
    assert "the key would be in the file" in found.text


def test_results_are_sent_on_the_page_of_the_test(ada, kept):
    where = put_test(ada, mode="practice").headers["location"]
    assert f'{where}/collect"' in ada.get(where).text
    with kept.read() as work:
        found = work.scalars(select(Published)).one()
        bank, rules = publishing.open_bank(found.bank), read_rules(found.rules)
    told = "20260901T0800 0=1,1=0 Ada"
    result = {"code": f"QUAESTOR1 {identity(bank, rules)} {check_sum(bank, rules, told)} {told}"}
    files = [("results", ("ada.json", json.dumps(result), "application/json"))]
    seen = ada.fill(f"{where}/collect", {"codes": "QUAESTOR1 nothing"}, files=files)
    assert seen.status_code == 200
    assert "1 result was taken, 1 was refused." in seen.text
    assert "Scanned codes:1: a result begins with QUAESTOR1" in seen.text
    assert "Ada" in ada.get(f"{where}/results").text
    assert "0 results were taken, 1 was there already." in ada.fill(f"{where}/collect", files=files).text
    assert ada.fill(f"{where}/collect").status_code == 400


def test_an_exam_takes_none(ada):
    where = put_test(ada, mode="exam").headers["location"]
    assert "/collect" not in ada.get(where).text
    assert ada.get(f"{where}/collect").status_code == 404
