"""Differences are taken between simulations of the same students only; a refusal says what differs."""

import re

import numpy as np
import pandas as pd
import pytest

import quaestor as qs
from quaestor import Bank, QuaestorError, Rules, simulate

QUESTIONS = {name: {"skill": "a", "right": [0.2 + 0.1 * place, 0.8]} for place, name in enumerate(("q1", "q2", "q3", "q4"))}
BANK = Bank({"skills": {"a": {"prior": [0.5, 0.5]}, "b": {"prior": [0.5, 0.5]}}, "questions": QUESTIONS})
ENTROPY, ORDER = (Rules(score=score, stop=qs.max_questions(3)) for score in ("entropy", "order"))


def without(*names):
    """The bank with fewer questions."""
    return BANK.subset(name for name in BANK.questions if name not in names)


def people(seed, count=12):
    """Answers of as many real people."""
    return pd.DataFrame(np.random.default_rng(seed).integers(0, 2, (count, 4)), columns=list(QUESTIONS))


OTHERS = {
    "profiles, other seeds": ({"students": "profiles", "seed": 1}, {"students": "profiles", "seed": 2}, "the seeds 1 and 2"),
    "given levels, other seeds": ({"students": [[0, 1]] * 9, "seed": 1}, {"students": [[0, 1]] * 9, "seed": 7}, "the seeds 1 and 7"),
    "one student, other seeds": ({"students": 1, "seed": 1}, {"students": 1, "seed": 2}, "the seeds 1 and 2"),
    "other numbers": ({"students": 9}, {"students": 8}, "9 and 8 students"),
    "other levels": (
        {"students": [[0, 1]] * 9},
        {"students": [[0, 1]] * 7 + [[1, 1]] * 2},
        "other true levels of 2 of the 9 students",
    ),
    "other people": ({"responses": people(1)}, {"responses": people(2)}, "other answers to 'q1'"),
    "one answer": (
        {"responses": people(1)},
        {"responses": people(1).assign(q3=lambda given: 1 - given.q3)},
        "other answers to 'q3'",
    ),
    "people and students": ({"responses": people(1)}, {"students": 12}, "real people and simulated students"),
}


@pytest.mark.parametrize(("one", "other", "found"), OTHERS.values(), ids=OTHERS)
def test_other_students_are_refused_in_words(one, other, found):
    one, other = (simulate(BANK, ENTROPY, holdout=("q4",) if "responses" in given else (), **given) for given in (one, other))
    metric = "held_out_log_loss" if one.whose.seed is None else "accuracy"
    with pytest.raises(QuaestorError, match=rf"^differences are taken between simulations of the same students, got {re.escape(found)}$"):
        one.difference(other, metric)


def test_other_numbers_behind_a_question_are_refused():
    """The number of a question is drawn by its place: without the first question the others have those of their neighbours."""
    one, other = (simulate(bank, ENTROPY, students=9) for bank in (BANK, without("q1")))
    with pytest.raises(QuaestorError, match=r"got another number drawn for 'q2'$"):
        one.difference(other)


def test_people_without_a_question_in_common_are_refused():
    one = simulate(without("q3", "q4"), ENTROPY, responses=people(1)[["q1", "q2"]], holdout=("q1",))
    other = simulate(without("q1", "q2"), ENTROPY, responses=people(1)[["q3", "q4"]], holdout=("q3",))
    with pytest.raises(QuaestorError, match=r"got real people without a question in common$"):
        one.difference(other, "held_out_log_loss")


SAME = {
    "drawn": {"students": 40, "seed": 3},
    "profiles": {"students": "profiles", "seed": 3},
    "given levels": {"students": [[0, 1], [1, 1], [1, 0]], "seed": 3},
}


@pytest.mark.parametrize("students", SAME.values(), ids=SAME)
@pytest.mark.parametrize("bank", [BANK, BANK.widen(0.05), without("q4")], ids=["rules", "widened", "fewer questions"])
def test_the_same_students_are_compared(students, bank):
    one, other = simulate(BANK, ENTROPY, **students), simulate(bank, ORDER, **students)
    mean, _ = one.difference(other)
    assert mean == pytest.approx(one.accuracy - other.accuracy, abs=1e-6)


def test_the_same_people_are_compared_whatever_the_seed_and_what_is_held_out():
    one = simulate(BANK, ENTROPY, seed=1, responses=people(1), holdout=("q4",))
    for bank, rules in ((BANK, ORDER), (BANK.widen(0.05), ENTROPY), (without("q1"), ENTROPY)):
        other = simulate(bank, rules, seed=2, responses=people(1)[list(bank.questions)], holdout=("q4",))
        mean, _ = one.difference(other, "held_out_log_loss")
        assert mean[-1] == pytest.approx(one.held_out_log_loss[-1] - other.held_out_log_loss[-1], abs=1e-6)


def test_students_of_a_folder_and_of_workers_are_known(tmp_path):
    first = simulate(BANK, ENTROPY, students=300, out=tmp_path / "kept")
    read = simulate(BANK, ENTROPY, students=300, out=tmp_path / "kept")
    shared = simulate(BANK, ENTROPY, students=300, workers=2)
    for one in (first, read, shared):
        assert one.whose == first.whose
        assert one.difference(first)[0].tolist() == [0.0] * len(first.running)
    with pytest.raises(QuaestorError, match=r"got the seeds 1 and 2$"):
        read.difference(simulate(BANK, ENTROPY, students=300, seed=2))
