"""What is no bank, no rules or no behaviour is refused in our words wherever it is given; arrays of numpy are taken for lists."""

import numpy as np
import pytest

import quaestor as qs

BANK = qs.load("multiplication")
WRONG = ["x", 3, 0.5, ["mode"], {"score": "mode"}, object(), qs.max_questions(3), np.zeros(2), True]
RULED = [
    lambda wrong: qs.simulate(BANK, wrong, students=2),
    lambda wrong: qs.expected(BANK, wrong),
    lambda wrong: qs.policy(BANK, wrong),
    lambda wrong: qs.exposure_table(BANK, wrong, 0.5),
    lambda wrong: qs.reliability(BANK, wrong),
    lambda wrong: qs.Session(BANK, wrong),
]
BANKED = [
    lambda wrong: qs.simulate(wrong, students=2),
    lambda wrong: qs.expected(wrong),
    lambda wrong: qs.policy(wrong),
    lambda wrong: qs.Session(wrong),
    lambda wrong: qs.posterior(wrong),
    lambda wrong: qs.rank(wrong),
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda one: type(one).__name__)
def test_what_is_no_rules_is_refused(wrong):
    for call in RULED:
        with pytest.raises(qs.QuaestorError, match=r"(?i)rules"):
            call(wrong)


@pytest.mark.parametrize("wrong", [*WRONG, None], ids=lambda one: type(one).__name__)
def test_what_is_no_bank_is_refused(wrong):
    for call in BANKED:
        with pytest.raises(qs.QuaestorError, match=r"(?i)bank"):
            call(wrong)


@pytest.mark.parametrize("wrong", WRONG, ids=lambda one: type(one).__name__)
def test_what_is_no_behaviour_or_truth_is_refused(wrong):
    for name in ("behaviour", "truth"):
        with pytest.raises(qs.QuaestorError, match=name):
            qs.simulate(BANK, students=2, **{name: wrong})


def test_a_bank_of_arrays():
    plain = {
        "skills": {"s": {"prior": [0.5, 0.5]}},
        "questions": {
            "Q1": {"skill": "s", "right": [0.2, 0.9], "minutes": 2},
            "Q2": {"skills": ["s"], "classes": ["a", "b"], "table": {"no": [[0.1, 0.3], [0.7, 0.9]], "yes": [0.5, 0.5]}},
        },
    }
    table = {"no": np.array([[0.1, 0.3], [0.7, 0.9]]), "yes": np.full(2, 0.5)}
    arrays = {
        "skills": {"s": {"prior": np.array([0.5, 0.5])}},
        "questions": {
            "Q1": {"skill": np.str_("s"), "right": (np.float64(0.2), 0.9), "minutes": np.int64(2)},
            "Q2": {"skills": np.array(["s"]), "classes": ["a", "b"], "table": table},
        },
    }
    assert qs.Bank(arrays) == qs.Bank(plain)
    assert qs.Bank(arrays).document == qs.Bank(plain).document
    with pytest.raises(qs.BankError, match=r"questions.Q1.right"):
        qs.Bank({**arrays, "questions": {"Q1": {"skill": "s", "right": np.zeros((2, 2, 2))}}})
