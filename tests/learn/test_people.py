"""What learning is given: wide, long, in pieces, sparse; and what it says of input it cannot take. Tables are never NaN."""

import numpy as np
import pandas as pd
import pytest

import quaestor as qs
from oracles.learning import SMALL, draw
from quaestor.errors import QuaestorError
from quaestor.learn import answers, expect
from quaestor.learn import people as reading

BANK = SMALL["one skill"]
FRAME = draw(BANK, 60, missing=0.3)
THREE = SMALL["three levels, three classes"]


def same(one, other):
    assert one.log_likelihood == pytest.approx(other.log_likelihood, abs=1e-9)
    for name in one.bank.questions:
        np.testing.assert_allclose(one.bank.questions[name].table.lower, other.bank.questions[name].table.lower, atol=1e-9)


def long_of(frame):
    return frame.rename_axis("person").reset_index().melt("person", var_name="question", value_name="answer").sample(frac=1, random_state=1)


@pytest.mark.parametrize("bank", [BANK, THREE, SMALL["two skills in one question"]], ids=["one", "three", "two"])
def test_the_same_answers_in_every_form(bank, monkeypatch):
    frame = draw(bank, 60, missing=0.3)
    wide = qs.learn(bank, frame)
    assert len(wide.people.patterns) < len(wide.people) == len(frame)
    same(wide, qs.learn(bank, long_of(frame)))
    same(wide, qs.learn(bank, (frame.iloc[start : start + 7] for start in range(0, len(frame), 7))))
    same(wide, qs.learn(bank, frame[frame.columns[::-1]]))
    long = long_of(frame)
    same(wide, qs.learn(bank, [long.iloc[start : start + 50] for start in range(0, len(long), 50)]))
    same(wide, qs.learn(bank, answers.read_answers(bank, frame)))
    monkeypatch.setattr(answers, "ROWS", 7)
    same(wide, qs.learn(bank, frame))
    monkeypatch.setattr(answers, "SMALL", 0)
    monkeypatch.setattr(answers, "SPARSE", 1.0)
    same(wide, qs.learn(bank, frame))


def test_zero_and_one_are_the_classes():
    numbers = FRAME.replace({"wrong": 0, "right": 1}).astype(float)
    same(qs.learn(BANK, FRAME), qs.learn(BANK, numbers))


def test_sparse_patterns_tell_the_same_classes(monkeypatch):
    from quaestor.learn.layout import layout_of

    layout = layout_of(THREE)
    frame = draw(THREE, 30, missing=0.4)
    dense = reading.read_people(THREE, layout, frame)
    monkeypatch.setattr(answers, "SMALL", 0)
    monkeypatch.setattr(answers, "SPARSE", 1.0)
    sparse = reading.read_people(THREE, layout, frame)
    assert (sparse.patterns.classes(layout) == dense.patterns.classes(layout)[dense.pattern_of]).all()


@pytest.mark.parametrize(
    ("responses", "words"),
    [
        (FRAME.rename(columns={"Q0": "Q0 "}), r"^responses: a column is a question of the bank, got 'Q0 ' \(did you mean 'Q0'\?\)$"),
        (FRAME.replace({"wrong": "half"}), r"^responses: row \d+, Q\d: an answer is one of wrong, right, 0, 1 or nothing, got 'half'$"),
        (
            pd.DataFrame({"Q0": [1, 2]}),
            r"^responses: row 1, Q0: an answer is one of wrong, right, 0, 1 or nothing, got 2 \(for more points",
        ),
        (pd.DataFrame({"Q0": [None, np.nan]}), r"^responses: a table has answers, got none at all$"),
        (pd.DataFrame(), r"^responses: a table has answers, got none at all$"),
        ([], r"^responses: a table has answers, got none at all$"),
        ("answers.csv", r"^responses: a table with a row a person and a column a question, got str$"),
        (3, r"^responses: a table with a row a person and a column a question, got int$"),
        ([1, 2], r"^responses: a table with a row a person and a column a question, got int$"),
        (
            pd.DataFrame({"person": [1], "question": ["Q9"], "answer": [1]}),
            r"^responses: row 0: 'question' names a question of the bank, got 'Q9'$",
        ),
        (
            pd.DataFrame({"person": [1, 1], "question": ["Q0", "Q0"], "answer": [1, 0]}),
            r"^responses: a person answers a question once, got two answers of 1 to Q0$",
        ),
        (
            pd.DataFrame({"person": [1, None], "question": ["Q0", "Q0"], "answer": [1, 0]}),
            r"^responses: row 1: 'person' is not empty, got nothing$",
        ),
    ],
)
def test_what_cannot_be_read_is_said(responses, words):
    with pytest.raises(QuaestorError, match=words):
        qs.learn(BANK, responses)


ALLOWED = "an answer is one of wrong, right, 0, 1 or nothing, got 'half'"
LONG = pd.DataFrame({"person": [1, 1, 2], "question": ["Q0", "Q1", "Q1"], "answer": [1, 1, "half"]})


@pytest.mark.parametrize(
    ("responses", "words"),
    [
        (LONG, f"responses: row 2, Q1: {ALLOWED}"),
        ([LONG.iloc[:1], LONG.iloc[1:].reset_index(drop=True)], f"responses: row 2, Q1: {ALLOWED}"),
        ([pd.DataFrame({"Q0": [1, 0]}), pd.DataFrame({"Q0": [1, "half"]})], f"responses: row 3, Q0: {ALLOWED}"),
        (
            [LONG.iloc[:1], LONG.iloc[:1]],
            "responses: a person answers a question once, got two answers of 1 to Q0",
        ),
        (
            [LONG.iloc[:2], pd.DataFrame({"person": [1], "question": ["Q9"], "answer": [1]})],
            "responses: row 2: 'question' names a question of the bank, got 'Q9'",
        ),
        (
            [LONG.iloc[:2], pd.DataFrame({"Q0": [1]})],
            "responses: every part has the columns person, question, answer as the first has, got Q0",
        ),
    ],
)
def test_errors_name_the_row_of_the_whole_table(responses, words):
    with pytest.raises(QuaestorError) as caught:
        qs.learn(BANK, responses)
    assert str(caught.value) == words


def test_answers_that_were_read_for_another_bank():
    read = answers.read_answers(BANK, FRAME)
    turned = qs.Bank({**BANK.document, "questions": dict(reversed(BANK.document["questions"].items()))})
    same(qs.learn(BANK, FRAME), qs.learn(turned, read))
    with pytest.raises(QuaestorError, match=r"^responses: a column is a question of the bank, got 'Q0'$"):
        qs.learn(BANK.subset(["Q1", "Q2"]), read)
    with pytest.raises(QuaestorError, match=r"^responses: every question of the bank has a column, got none of 'Q0'$"):
        qs.learn(BANK, answers.read_answers(BANK.subset(["Q1", "Q2"]), FRAME[["Q1", "Q2"]]))


@pytest.mark.parametrize("is_sparse", [False, True])
def test_answers_of_some_and_emptied_cells(monkeypatch, is_sparse):
    if is_sparse:
        monkeypatch.setattr(answers, "SMALL", 0)
        monkeypatch.setattr(answers, "SPARSE", 1.0)
    read = answers.read_answers(BANK, FRAME)
    some = np.arange(len(FRAME)) % 3 == 0
    same(qs.learn(BANK, read.chosen(some)), qs.learn(BANK, FRAME[some]))
    emptied = FRAME.copy()
    emptied.iloc[[4, 7], [0, 1]] = None
    same(qs.learn(BANK, read.without(np.array([4, 4, 7, 7]), np.array([0, 1, 0, 1]))), qs.learn(BANK, emptied))


def test_a_long_stream_is_never_dense_as_a_whole(monkeypatch):
    """Each part is made small when it is read: the largest dense piece is one part."""
    sizes = []
    monkeypatch.setattr(answers, "_dense", lambda part: sizes.append(part.shape))
    many = pd.DataFrame({"Q0": np.where(np.arange(50_000) % 5 == 0, 1.0, np.nan), "Q1": np.nan, "Q2": np.nan})
    read = answers.read_answers(BANK, (many for _ in range(10)))
    assert sizes == []
    assert read.cells.nnz == 100_000
    assert len(read) == 500_000


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"weight": -1}, "learn: weight is a number of at least 0, got -1"),
        ({"weight": float("nan")}, "learn: weight is a number of at least 0, got nan"),
        ({"tolerance": "small"}, "learn: tolerance is a number of at least 0, got 'small'"),
        ({"restarts": 1.5}, "learn: restarts is a whole number of at least 0, got 1.5"),
        ({"iterations": 0}, "learn: iterations is a whole number of at least 1, got 0"),
        ({"folds": 1}, "learn: folds are at least 2, or 0 for none, got 1"),
        ({"folds": 100}, "learn: at most as many folds as people, got 100 for 59"),
        ({"workers": 0}, "learn: at least 1 worker, got 0"),
    ],
)
def test_options_that_make_no_sense(options, words):
    with pytest.raises(QuaestorError) as caught:
        qs.learn(BANK, FRAME, **options)
    assert str(caught.value) == words


def test_no_bank():
    with pytest.raises(QuaestorError, match=r"^learn: a bank is expected, as qs.load gives it, got 'fractions'$"):
        qs.learn("fractions", FRAME)


def check_numbers(fit):
    for variable in fit.bank.network.variables:
        assert np.isfinite(variable.table.lower).all()
        np.testing.assert_allclose(variable.table.lower.sum(axis=-1), 1)


@pytest.mark.parametrize("weight", [0, 2])
def test_warnings_say_what_cannot_be_learnt(weight):
    frame = pd.DataFrame({"Q0": [1, 1, 1, None], "Q1": [None] * 4})
    fit = qs.learn(BANK, frame, weight=weight)
    check_numbers(fit)
    assert [str(one) for one in fit.warnings] == [
        "responses: people without any answer are left out, got 1 of them, the first in row 3",
        "responses.Q0: only answers that differ tell something of the levels, got 'right' from all 3",
        "responses.Q1: to learn a table, answers are needed; it stays as it is, got none",
        "responses.Q2: to learn a table, answers are needed; it stays as it is, got none",
    ]
    np.testing.assert_allclose(fit.bank.questions["Q1"].table.lower, BANK.questions["Q1"].table.lower)


def test_one_person():
    fit = qs.learn(THREE, draw(THREE, 1), weight=0)
    check_numbers(fit)
    assert str(fit.warnings[0]).startswith("responses: to learn levels, more people than levels are needed")


def test_answers_that_the_bank_calls_impossible():
    bank = qs.Bank(
        {"skills": {"a": {"prior": [1, 0]}}, "questions": {"Q": {"skill": "a", "right": [0, 1]}, "R": {"skill": "a", "right": [0, 1]}}}
    )
    fit = qs.learn(bank, pd.DataFrame({"Q": [1, 0, 1], "R": [0, 1, 1]}), weight=0)
    check_numbers(fit)
    assert np.diff(fit.trace).min() > -1e-8


def test_stopping_early_is_said():
    fit = qs.learn(BANK, FRAME, iterations=1, tolerance=0)
    assert not fit.converged
    assert str(fit.warnings[-1]).startswith(
        "learn.iterations: the last step gains less than 0; more iterations may change the tables, got "
    )


def test_skills_that_hang_together_too_closely(monkeypatch):
    skills = {f"s{n}": {} for n in range(5)} | {"t": {"parents": [f"s{n}" for n in range(5)], "strength": 0.5}}
    bank = qs.Bank({"skills": skills, "questions": {name: {"skill": name[1:], "right": [0.2, 0.8]} for name in ("Qs0", "Qt")}})
    frame = pd.DataFrame({"Qs0": [1, 0, 1], "Qt": [0, 0, 1]})
    listed = qs.learn(bank, frame)
    monkeypatch.setattr(expect, "JOINT", 1)
    same(listed, qs.learn(bank, frame))
    monkeypatch.setattr(expect, "CLIQUE", 63)
    with pytest.raises(
        QuaestorError, match=r"^learn: skills that depend on one another have at most 63 combinations of levels between them, got 64; "
    ):
        qs.learn(bank, frame)
    monkeypatch.setattr("quaestor.inference.junction.LARGEST", 63)
    with pytest.raises(
        QuaestorError, match=r"^learn: the skills hang together too closely: a clique of 64 states, at most 63; fewer skills"
    ):
        qs.learn(bank, frame)
