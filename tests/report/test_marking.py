"""What an answer was worth and what would have been right, whatever way the author states it; every page says the same."""

import pytest

import quaestor as qs
from helpers.browsing import ORDER, application, enter, give
from quaestor.report.marking import right_answers, worth
from quaestor.session.log import Answer

STATED = {
    "key": ({"options": ["a", "b"], "correct": "b"}, ["b"]),
    "keys": ({"kind": "choices", "options": ["a", "b", "c"], "correct": ["a", "c"]}, ["a", "c"]),
    "map": ({"options": {"a": "wrong", "b": "right", "c": "right"}}, ["b", "c"]),
    "number": ({"kind": "number", "correct": "3.5"}, ["3.5"]),
    "numbers": ({"kind": "number", "accept": {"3": "right", "4": "wrong"}}, ["3"]),
    "key and more": ({"kind": "text", "correct": "abc", "accept": ["abd"]}, ["abc"]),
    "accepted": ({"kind": "text", "accept": {"abc": "right", "abd": "wrong"}}, ["abc"]),
    "several accepted": ({"kind": "text", "accept": ["colour", "color"]}, ["colour", "color"]),
    "on paper": ({}, []),
}


def bank(stated):
    question = {"text": "What?", "skill": "sums", "right": [0.2, 0.9], **stated}
    return qs.Bank({"title": "One", "skills": {"sums": {}}, "questions": {"q": question}})


@pytest.mark.parametrize("name", STATED)
def test_what_would_have_been_right(name):
    stated, right = STATED[name]
    question = bank(stated).questions["q"]
    assert right_answers(question) == right
    if question.takes_entries and question.kind != "choices":
        assert {question.classify(one) for one in right} == {"right"}


@pytest.mark.parametrize(
    ("answer", "found"), [("no", "wrong"), ("nearly", "partly"), ("quite", "partly"), ("yes", "right"), (None, "skipped")]
)
def test_what_an_answer_was_worth(answer, found):
    rows = {level: [0.25] * 4 for level in ("no", "yes")}
    graded = qs.Bank({"skills": {"s": {}}, "questions": {"q": {"skill": "s", "classes": ["no", "nearly", "quite", "yes"], "table": rows}}})
    assert worth(graded.questions["q"], Answer("q", answer)) == found


def test_practice_tells_the_right_answer_where_the_bank_states_no_key(make_database):
    database = make_database("sqlite")
    browser = enter(application(database), give(database, bank(STATED["accepted"][0]), ORDER, mode="practice"))
    browser.fill("/answer", entry="xyz")
    assert '<dd><span class="typed">abc</span></dd>' in browser.page.text
    browser.go("/take/1/result")
    assert '<dd><span class="typed">abc</span></dd>' in browser.page.text
    assert "abd" not in browser.page.text
