"""Which skills a question needs: tables by EM equal those of a general optimiser, wrong rows are found, right ones are left alone."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

import quaestor as qs
from oracles.learning import draw, likelihood, profiles
from quaestor.learn.diagnose import diagnose
from quaestor.learn.graphs import every_link
from quaestor.learn.layout import layout_of
from quaestor.learn.q_matrix import RowCheck, _candidates, _each, _row_fit, _shape, best_rows, check_rows
from quaestor.learn.skeleton import skeleton

SKILLS = {"a": {"levels": ["no", "yes"]}, "b": {"parents": ["a"], "strength": 0.4}, "c": {"parents": ["b"], "strength": 0.4}}
ROWS = [(skill,) for skill in "abc" for _ in range(6)] + [("a", "b"), ("b", "c"), ("a", "c")]


def truth():
    """Six questions for each of three skills, and three that need two of them."""
    questions = {}
    for number, row in enumerate(ROWS):
        right = {"right": [0.15, 0.85]} if len(row) == 1 else {"needs": "all", "slip": 0.1, "guess": 0.15}
        questions[f"Q{number}"] = {("skill" if len(row) == 1 else "skills"): row[0] if len(row) == 1 else list(row), **right}
    return qs.Bank({"skills": SKILLS, "questions": questions})


def matrix(rows):
    return pd.DataFrame(
        [[int(skill in row) for skill in "abc"] for row in rows], index=[f"Q{n}" for n in range(len(rows))], columns=list("abc")
    )


def learnt(rows, frame):
    return qs.learn(every_link(skeleton(matrix(rows))), frame)


def test_rows_that_are_right_stay():
    checks = check_rows(learnt(ROWS, draw(truth(), 600, 1)), np.random.default_rng(0))
    assert len(checks) == len(ROWS)
    assert {one.kind for one in checks} == {"stated"}
    assert {one.words for one in checks} == {""}
    assert [one.stated for one in checks] == ROWS


@pytest.mark.parametrize("wrong", [("b",), ("b", "c"), ("a", "b")])
def test_a_wrong_row_is_found(wrong):
    """Q2 needs a alone."""
    rows = [wrong if number == 2 else row for number, row in enumerate(ROWS)]
    fit = learnt(rows, draw(truth(), 600, 1))
    found = {one.question: one for one in check_rows(fit, np.random.default_rng(0))}
    assert (found["Q2"].stated, found["Q2"].found) == (wrong, ("a",))
    assert found["Q2"].kind in (("other", "fewer") if "a" in wrong else ("other",))
    assert [name for name, one in found.items() if one.kind == "other" and name != "Q2"] == []
    if "a" not in wrong:
        assert found["Q2"].gain > 3 * found["Q2"].error
        diagnosis = next(one for one in diagnose(fit) if one.question == "Q2")
        assert "skills" in diagnosis.flags
        assert diagnosis.row.kind == "other"


def test_words():
    said = {"gain": 0.0213, "error": 0.005, "chance": 1e-5, "titles": {"a": "Adding"}}
    assert str(RowCheck("Q2", ("b", "c"), ("a",), kind="other", **said).words) == (
        "It is said to need b and c. Answers of people held out are predicted better if it needs Adding (log loss lower by 0.021 ± 0.005)."
    )
    assert str(RowCheck("Q2", ("a", "b"), ("a",), kind="fewer", **said).words) == (
        "It is said to need Adding and b. Its answers are predicted as well by Adding alone."
    )


def test_a_skill_that_is_lacking_is_found():
    rows = [("a",) if number == 18 else row for number, row in enumerate(ROWS)]  # Q18 needs b, too
    found = {one.question: one for one in check_rows(learnt(rows, draw(truth(), 900, 2)), np.random.default_rng(0))}
    assert (found["Q18"].kind, found["Q18"].found) == ("other", ("a", "b"))


def test_the_table_is_the_best_there_is():
    """EM against a general optimiser, for rows with as many numbers as configurations and with fewer."""
    bank = qs.Bank(
        {
            "skills": {"a": {"levels": ["1", "2", "3"]}, "b": {"levels": ["1", "2", "3"], "parents": ["a"], "strength": 0.5}},
            "questions": {f"Q{n}": {"skill": "ab"[n % 2], "right": [0.2, 0.5, 0.8]} for n in range(8)},
        }
    )
    fit = qs.learn(bank, draw(bank, 150, 3))
    weights = fit.people.weights()
    one = next(one for one in _each(fit.layout, fit.tables, fit.people) if one.position == 2)
    own = weights[one.given]
    for scope in ((0,), (1,), (0, 1)):
        shape, prior = _shape(scope, one.sizes), np.bincount(one.answers, own) / own.sum()
        beliefs = one.beliefs[scope]

        def objective(numbers, beliefs=beliefs, shape=shape, prior=prior):
            right = 1 / (1 + np.exp(-shape @ numbers))
            table = np.stack([1 - right, right], axis=1)
            likelihood = own @ np.log((beliefs * table[:, one.answers].T).sum(axis=1))
            ridge = 0.0 if shape.shape[0] == shape.shape[1] else 0.025 * numbers @ numbers
            return -likelihood - (np.log(table) @ prior).sum() + ridge

        best = minimize(objective, np.zeros(shape.shape[1]), tol=1e-9).x
        expected = 1 / (1 + np.exp(-shape @ best))
        found = _row_fit(one, scope, own)
        np.testing.assert_allclose(found.table[:, 1], expected, atol=0.01)  # EM ends where an answer gains less than 1e-7


def test_beliefs_are_those_of_the_other_answers():
    """Leave one out, by listing people and profiles."""
    bank = truth()
    frame = draw(bank, 12, 4).iloc[:, ::3]
    small = qs.Bank({"skills": SKILLS, "questions": {name: bank.document["questions"][name] for name in frame.columns}})
    fit = qs.learn(small, frame, iterations=1)
    layout = layout_of(small)
    for one in _each(layout, fit.tables, fit.people):
        for pattern in one.given[:3]:
            row = fit.people.patterns.part(pattern, pattern + 1).classes(layout)[0]
            named = zip(small.questions.values(), row, strict=True)
            answers = {question.id: question.classes[answer] for question, answer in named if answer >= 0}
            answers.pop(list(small.questions)[one.position])
            listed = [(profile, likelihood(fit.bank, profile, answers)) for profile in profiles(fit.bank)]
            total = sum(share for _, share in listed)
            for scope, beliefs in one.beliefs.items():
                expected = [
                    sum(share for profile, share in listed if tuple(profile[layout.names[skill]] for skill in scope) == level) / total
                    for level in product(*(range(layout.sizes[skill]) for skill in scope))
                ]
                np.testing.assert_allclose(beliefs[np.flatnonzero(one.given == pattern)[0]], expected, atol=1e-9)


def test_which_rows_are_tried():
    assert _candidates((0,), (2, 2, 2)) == [(0,), (0, 1), (0, 2), (1,), (1, 2), (2,)]
    many = _candidates((0, 1), (2,) * 9)
    assert set(many) >= {(0, 1), (0,), (1,), (0, 2), (1, 8), (0, 1, 5)}
    assert (3, 4) not in many
    assert all(len(row) < 4 for row in _candidates((0, 1), (4,) * 4))  # tables of more than 32 rows are not tried


def test_best_rows_are_those_of_the_truth():
    fit = learnt(ROWS, draw(truth(), 900, 5))
    found = {position: tuple(fit.layout.names[skill] for skill in scope) for position, scope in best_rows(fit).items()}
    assert sum(found[number] == row for number, row in enumerate(ROWS)) >= len(ROWS) - 1


def test_more_classes():
    """Points 0, 1, 2: the row of the third question is wrong."""
    bank = qs.Bank(
        {
            "skills": {"a": {}, "b": {"parents": ["a"], "strength": 0.3}},
            "questions": {
                f"Q{n}": {"skill": "ab"[n % 2], "classes": ["0", "1", "2"], "table": {"no": [0.6, 0.3, 0.1], "yes": [0.1, 0.2, 0.7]}}
                for n in range(10)
            },
        }
    )
    document = bank.document
    document["questions"]["Q2"]["skill"] = "b"
    found = {one.question: one for one in check_rows(qs.learn(qs.Bank(document), draw(bank, 500, 6)), np.random.default_rng(0))}
    assert (found["Q2"].kind, found["Q2"].found) == ("other", ("a",))


def test_what_cannot_be_checked_is_refused():
    fit = qs.learn(qs.load("single-skill"), draw(qs.load("single-skill"), 30))
    with pytest.raises(
        qs.QuaestorError, match=r"Q-matrix: at least two skills, and at most 1,024 combinations of their levels, got 1 and 2$"
    ):
        check_rows(fit, np.random.default_rng(0))
    assert all(one.row is None for one in diagnose(fit))


def test_of_many_people_some_are_looked_at(monkeypatch):
    monkeypatch.setattr("quaestor.learn.q_matrix.PEOPLE", 400)
    rows = [("b",) if number == 2 else row for number, row in enumerate(ROWS)]
    found = {one.question: one for one in check_rows(learnt(rows, draw(truth(), 600, 1)), np.random.default_rng(0))}
    assert (found["Q2"].kind, found["Q2"].found) == ("other", ("a",))
