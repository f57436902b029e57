"""How things show themselves: short texts everywhere, tables in notebooks, and nothing that a text could smuggle in."""

import pandas as pd
import pytest

import quaestor as qs
from quaestor.html_tables import html_table

BANK = qs.load("fractions")


@pytest.fixture(scope="module")
def things():
    session = qs.Session(BANK, qs.Rules(stop=qs.max_questions(3))).answer("M3", "right")
    answers = pd.DataFrame({"Q1": [1, 0, 1, 1], "Q2": [0, 0, 1, 1]})
    return {
        "bank": BANK,
        "question": BANK.questions["M3"],
        "beliefs": qs.posterior(BANK, {"M3": "right"}),
        "ranking": qs.rank(BANK),
        "session": session,
        "simulation": qs.simulate(BANK, qs.Rules(stop=qs.max_questions(3)), students=40),
        "expected": qs.expected(qs.load("single-skill"), qs.Rules(stop=qs.max_questions(3))),
        "fit": qs.learn(qs.load("multiplication"), answers),
    }


KINDS = ("bank", "question", "beliefs", "ranking", "session", "simulation", "expected", "fit")


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_is_short_and_a_table_is_there(things, kind):
    text, table = repr(things[kind]), things[kind]._repr_html_()
    assert len(text) < 300
    assert text.startswith("<")
    assert text.endswith(">")
    assert "\n" not in text
    assert "<table>" in table
    assert len(table) < 20_000


def test_they_say_what_they_are(things):
    assert repr(things["question"]) == "<Question 'M3': choice, on multiplication, classes wrong, right>"
    assert repr(things["session"]) == "<Session on 'Fractions': 1 asked, seed 0>"
    assert repr(things["simulation"]).startswith("<Simulation of 40 students: 5 skills, 3.0 questions on average, accuracy 0.")
    assert repr(things["expected"]).startswith("<Curves without sampling: 1 skills, 3.0 questions")
    assert repr(things["beliefs"]).startswith("<Beliefs, exact: P(highest level) of parts 0.")
    assert repr(things["ranking"]).startswith("<Ranking of 44 questions by mode: M3 ")


def test_hostile_texts_are_neutral():
    evil = "<script>alert(1)</script>"
    bank = qs.Bank({"title": evil, "skills": {"s": {"title": evil}}, "questions": {"q": {"skill": "s", "right": [0.2, 0.9], "text": evil}}})
    session = qs.Session(bank).answer("q", "right")
    for thing in (bank, bank.questions["q"], qs.rank(bank), session):
        assert evil not in thing._repr_html_()
    assert "&lt;script&gt;" in bank._repr_html_()


def test_long_tables_are_cut():
    table = html_table("many", ("number",), ((number,) for number in range(1000)), 1000)
    assert table.count("<tr>") == 31
    assert "and 970 more" in table
