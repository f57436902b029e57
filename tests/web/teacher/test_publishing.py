"""Publishing: one form publishes one test, however often it is sent; what takers could make use of is told before."""

import re

from helpers.teacher_pages import BANK, FORM, count, freeze, put_bank
from quaestor.store import publishing
from quaestor.store.models import Published

HINT = "takers can find out the right one by trying"


def form_of(ada, bank=BANK):
    """The form of a bank, and where it goes."""
    where = f"{freeze(ada, put_bank(ada, bank).headers['location'])}/publish"
    once = re.search(r'name="once" value="([^"]+)"', ada.get(where).text)[1]
    return where, {**FORM, "once": once}


def test_a_form_that_is_sent_twice_publishes_one_test(kept, ada):
    where, form = form_of(ada)
    assert {ada.fill(where, form).headers["location"] for _ in range(3)} == {"/teacher/tests/1"}
    assert count(kept, Published) == 1


def test_a_form_that_was_changed_or_opened_again_publishes_another_test(kept, ada):
    where, form = form_of(ada)
    once = re.search(r'name="once" value="([^"]+)"', ada.get(where).text)[1]
    changes = [{}, {"title": "Week 4"}, {"minutes": "20"}, {"most": "1"}, {"once": once}, {"once": ""}, {"once": ""}]
    assert len({ada.fill(where, {**form, **changed}).headers["location"] for changed in changes}) == 7


def test_the_same_form_of_another_teacher_is_another_test(kept, ada, join):
    where, form = form_of(ada)
    bob = join("bob@school.example")
    theirs, _ = form_of(bob)
    assert ada.fill(where, form).headers["location"] != bob.fill(theirs, form).headers["location"]


def test_a_code_that_another_test_has_is_not_given_again(kept, ada, monkeypatch):
    monkeypatch.setattr(publishing, "code_of", lambda *_: "SAME22")
    where, form = form_of(ada)
    other, _ = form_of(ada, BANK.replace("Times tables", "Other tables"))
    assert ada.fill(where, form).headers["location"] == "/teacher/tests/1"
    assert ada.fill(other, form).headers["location"] == "/teacher/tests/2"
    with kept.read() as work:
        codes = [one.code for one in work.query(Published)]
    assert codes[0] == "SAME22"
    assert len(set(codes)) == 2


def test_impossible_answers_are_told_of_before_publishing(ada):
    where, _ = form_of(ada)
    assert HINT not in ada.get(where).text
    sure, form = form_of(ada, BANK.replace("[0.1, 0.9]", "[0, 0.9]"))
    page = ada.get(sure).text
    assert HINT in page
    assert "such as in Q2" in page
    assert ada.fill(sure, form).status_code == 303, "a hint does not hinder"
