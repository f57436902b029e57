"""Exams on the teacher's pages: what the form chooses, limits that are changed while a class waits, and what shows the key elsewhere."""

from starlette.datastructures import FormData

import quaestor as qs
from helpers.key_attack import small_bank
from helpers.teacher_pages import BANK, FORM, freeze, one, put_bank, put_test
from quaestor.formats.files import dump_bytes
from quaestor.store.models import Published
from quaestor.store.publishing import Conditions
from quaestor.web.security.forms import read
from quaestor.web.teacher.publish_form import Publishing, blank


def conditions(**fields):
    bank = small_bank()
    asked = read(Publishing, FormData({**blank(bank, "An exam"), **fields}), bank=bank, classes={})
    return asked.rules_of(bank), asked.conditions


def test_the_form_recommends_personal_codes_and_draws_the_next_question_in_exams():
    rules, chosen = conditions()
    assert (chosen.mode, chosen.by_list, chosen.results, rules.among) == ("exam", True, "at once", 5)
    assert (chosen.per_browser, chosen.per_address) == (None, None)
    rules, chosen = conditions(mode="practice")
    assert (chosen.by_list, chosen.results, chosen.per_browser, rules.among) == (False, "at once", None, 1)
    rules, chosen = conditions(by_list="no")
    assert (chosen.by_list, chosen.results, rules.among) == (False, "closed", 5)
    assert (chosen.per_browser, chosen.per_address) == (3, 100)
    assert conditions(retakes="any")[1].results == "closed", "who may take it again could learn from the points"
    assert conditions(by_list="no", results="at once", per_browser="", per_address="")[1] == Conditions(keep_days=365)
    assert conditions(rules="stop: {max_questions: 3}")[0].among == 1, "rules that were written stay as they are"


def test_the_limits_are_told_and_can_be_changed_while_a_class_waits(kept, ada):
    where = put_test(ada, by_list="no", per_browser="3", per_address="30").headers["location"]
    assert "begun at most 3 times in one browser, 30 times from one place" in ada.get(where).text
    refused = ada.fill(f"{where}/time", {"minutes": "", "closing": "same", "per_browser": "none", "per_address": "90"})
    assert refused.status_code == 400
    assert "Please enter a whole number from 1 to 100000." in refused.text
    ada.fill(f"{where}/time", {"minutes": "", "closing": "same", "per_browser": "", "per_address": "90"})
    test = one(kept, Published)
    assert (test.per_browser, test.per_address) == (None, 90)
    assert "begun as often as one likes in one browser, 90 times from one place" in ada.get(where).text


def test_a_teacher_reads_what_shows_the_key_elsewhere(ada):
    bank = freeze(ada, put_bank(ada, BANK).headers["location"])
    spoken = ("open for practice and has this bank", "practice with it shows the right answers of that exam", "comes with Quaestor")
    assert [words in ada.get(f"{bank}/publish").text for words in spoken] == [False, False, False]
    ada.fill(f"{bank}/publish", {**FORM, "mode": "practice", "title": "At home"})
    page = ada.get(f"{bank}/publish").text
    assert [words in page for words in spoken] == [True, False, False]
    assert "“At home”" in page
    ada.fill(f"{bank}/publish", {**FORM, "title": "On Friday"})
    assert "“On Friday”" in ada.get(f"{bank}/publish").text
    ada.fill("/teacher/tests/1/close")
    assert [words in ada.get(f"{bank}/publish").text for words in spoken] == [False, True, False]
    bundled = freeze(ada, put_bank(ada, dump_bytes(qs.load("multiplication"), ".yaml")).headers["location"])
    assert [words in ada.get(f"{bundled}/publish").text for words in spoken] == [False, False, True]
