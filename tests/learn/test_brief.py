"""Learnt tables as an author would state them: words where they still say it, else few digits; rows sum to 1, intervals grow outwards."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaestor.bankfile.bank import Bank
from quaestor.learn.brief import question_entry, skill_entry
from quaestor.model.table import Table

CHOICE = {"options": ["x", "y", "z", "u"], "correct": "x"}


def bank(question, skill=None, **document):
    skills = {"s": skill or {}, "t": {"levels": ["low", "mid", "high"]}}
    return Bank({"quaestor": 2, "skills": skills, "questions": {"Q": {"skill": "s", **question}}, **document})


def exactly(*rows):
    table = np.array(rows, dtype=float)
    return Table(table, table)


def rights(*shares):
    return exactly(*([1 - share, share] for share in shares))


def between(*ends):
    low, high = np.array([[[1 - b, a] for a, b in ends], [[1 - a, b] for a, b in ends]])
    return Table(low, high)


@pytest.mark.parametrize(
    ("stated", "learnt", "expected"),
    [
        ({"difficulty": "medium"}, rights(0.3412345, 0.7412345), {"difficulty": "medium"}),  # the word still says it, and nothing is added
        ({"difficulty": "medium"}, rights(0.4112345, 0.8112345), {"difficulty": "easy", "discrimination": "fair"}),
        ({"difficulty": "medium"}, rights(0.4112345, 0.5912345), {"difficulty": "medium", "discrimination": "weak"}),
        ({"difficulty": "medium"}, rights(0.1512345, 0.9512345), {"right": [0.15, 0.95]}),
        ({"difficulty": 0.5}, rights(0.3412345, 0.7412345), {"right": [0.34, 0.74]}),
        ({"right": [0.3, 0.7]}, rights(0.3412345, 0.7412345), {"right": [0.34, 0.74]}),
        ({"right": ["unlikely", "likely"]}, rights(0.2612345, 0.7412345), {"right": ["unlikely", "likely"]}),
        ({"right": [0.3, 0.7]}, rights(0.0012345, 0.9996), {"right": [0.001, 0.9996]}),  # possible, so no zero
        ({"right": [0.3, 0.7]}, rights(0, 1), {"right": [0, 1]}),
        ({"difficulty": "medium", "confidence": "sure"}, rights(0.15, 0.95), {"right": [0.15, 0.95]}),
        ({**CHOICE, "difficulty": "hard"}, rights(0.26, 0.61), {**CHOICE, "difficulty": "hard"}),  # 0.25 and 0.6: words know chance
        (
            {"difficulty": "medium"},
            between((0.271, 0.332), (0.671, 0.732)),
            {"difficulty": "medium", "discrimination": "fair", "confidence": "sure"},
        ),
        ({"right": [0.3, 0.7]}, between((0.291, 0.352), (0.651, 0.752)), {"right": [[0.29, 0.36], [0.65, 0.76]]}),
        (
            {"classes": ["a", "b", "c"], "table": {"no": [0.6, 0.3, 0.1], "yes": [0.1, 0.3, 0.6]}},
            exactly([1 / 3, 1 / 3, 1 / 3], [0.126, 0.126, 0.748]),
            {"classes": ["a", "b", "c"], "table": {"no": [0.34, 0.33, 0.33], "yes": [0.13, 0.13, 0.74]}},
        ),
    ],
)
def test_questions(stated, learnt, expected):
    made = question_entry(bank(stated), "Q", learnt)
    assert {name: value for name, value in made.items() if name != "skill"} == expected
    read = bank(made).questions["Q"].table
    assert np.abs(read.lower - learnt.lower).max() < 0.06
    assert np.abs(read.upper - learnt.upper).max() < 0.06


@pytest.mark.parametrize(
    ("stated", "learnt", "expected"),
    [
        ({}, exactly(0.4812345, 0.5187655), {}),  # even, as before
        ({"prior": "even"}, exactly(0.4812345, 0.5187655), {"prior": "even"}),
        ({"prior": "even"}, exactly(0.3212345, 0.6787655), {"prior": "mostly high"}),
        ({"prior": "even"}, exactly(0.1212345, 0.8787655), {"prior": [0.12, 0.88]}),
        ({"prior": [0.5, 0.5]}, exactly(0.4812345, 0.5187655), {"prior": [0.48, 0.52]}),
        ({"shares": [10, 10]}, exactly(0.4812345, 0.5187655), {"prior": [0.48, 0.52]}),
    ],
)
def test_skills(stated, learnt, expected):
    assert skill_entry(bank({"right": [0.3, 0.7]}, stated), "s", learnt) == expected


def test_a_skill_with_parents_has_rounded_rows():
    made = bank({"right": [0.3, 0.7]}, {"parents": ["t"], "strength": 0.5})
    rows = exactly([0.7512345, 0.2487655], [0.5, 0.5], [0.2512345, 0.7487655])
    assert skill_entry(made, "s", rows) == {"parents": ["t"], "table": {"low": [0.75, 0.25], "mid": [0.5, 0.5], "high": [0.25, 0.75]}}


def test_the_words_of_a_template_count_as_its_own():
    templates = {"t": {"difficulty": "medium"}}
    made = bank({"template": "t"}, templates=templates)
    assert question_entry(made, "Q", rights(0.31, 0.69)) == {"template": "t", "skill": "s"}
    assert question_entry(made, "Q", rights(0.1, 0.95)) == {"template": "t", "skill": "s", "right": [0.1, 0.95]}


@given(st.lists(st.floats(1e-3, 1), min_size=2, max_size=5), st.lists(st.floats(0.001, 0.2), min_size=5, max_size=5))
def test_rows_sum_to_one_and_intervals_hold_what_they_held(weights, widths):
    row = np.array(weights) / sum(weights)
    names = [f"c{number}" for number in range(len(row))]
    even = [1 / len(row)] * len(row)
    stated = bank({"classes": names, "table": {"no": even, "yes": even}})
    made = question_entry(stated, "Q", exactly(row, row))["table"]["no"]
    assert sum(made) == pytest.approx(1, abs=1e-9)
    assert np.abs(np.array(made) - row).max() <= 0.005 * len(row)
    assert all(number > 0 for number in made)
    wide = np.array(widths[: len(row)])
    table = Table(np.tile(np.clip(row - wide, 0, 1), (2, 1)), np.tile(np.clip(row + wide, 0, 1), (2, 1)))
    ends = np.array(question_entry(stated, "Q", table)["table"]["no"])
    assert (ends[:, 0] <= table.lower[0] + 1e-9).all()
    assert (ends[:, 1] >= table.upper[0] - 1e-9).all()
    assert (ends == ends.round(2)).all()
