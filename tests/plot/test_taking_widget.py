"""A test inside a notebook, by its widgets."""

import pytest

import quaestor as qs
from quaestor.errors import QuaestorError
from quaestor.plot.taking_widget import take

pytest.importorskip("ipywidgets", reason="the extra `notebook` is not installed")


def buttons(taking):
    *_, row, _ = taking.widget.children
    return row.children


def test_a_test_is_taken_to_its_end():
    taking = take(qs.Session(qs.load("fractions"), qs.Rules(stop=qs.max_questions(2))))
    first = taking.session.next
    title, field, *_ = taking.widget.children
    assert "<b>Question 1</b>" in title.value
    assert tuple(field.options) == first.options
    field.value = first.correct[0]
    buttons(taking)[0].click()
    assert taking.session.answers == {first.id: "right"}
    buttons(taking)[1].click()
    assert len(taking.session.asked) == 2
    assert "The test is over." in taking.widget.children[0].value
    assert "<table>" in taking.widget.children[-1].value


def test_an_empty_answer_is_said_and_nothing_is_lost():
    taking = take(qs.Session(qs.load("fractions")))
    buttons(taking)[0].click()
    assert taking.session.asked == ()
    assert "role='alert'" in taking.widget.children[2].value
    assert len(taking.widget.children[2].value) > 40


def test_every_kind_has_its_fields():
    bank = qs.load("animals")
    kinds = set()
    for question in bank.questions.values():
        session = qs.Session(bank, qs.Rules(first=[question.id]))
        fields = take(session).widget.children[1:-3]
        assert len(fields) == max(1, len(question.parts))
        kinds.add(question.kind)
    assert {"matching", "ordering", "gaps", "truefalse"} <= kinds


def test_texts_are_escaped():
    bank = qs.Bank({"skills": {"s": {}}, "questions": {"q": {"skill": "s", "right": [0.2, 0.9], "text": "<img src=x onerror=alert(1)>"}}})
    assert "<img" not in take(qs.Session(bank)).widget.children[0].value


def test_only_a_session_is_taken():
    with pytest.raises(QuaestorError, match="session: a Session is expected, got a Bank"):
        take(qs.load("fractions"))
