"""Tables that are held fixed: they stay to the last digit, and the others are what the likelihood says with them."""

import numpy as np
import pytest
from scipy.optimize import minimize

import quaestor as qs
from oracles.learning import SMALL, draw, log_likelihood
from quaestor.errors import QuaestorError

BANK = SMALL["three levels, three classes"]


def test_what_is_fixed_stays_and_the_rest_is_learnt():
    frame = draw(BANK, 80, 5)
    held = qs.learn(BANK.widen(0.02), frame, fixed=["a", "Q2"]).bank
    assert held.questions["Q2"].table == BANK.widen(0.02).questions["Q2"].table
    assert held.skills["a"].table == BANK.widen(0.02).skills["a"].table
    assert held.questions["Q1"].table != BANK.widen(0.02).questions["Q1"].table
    assert qs.learn(BANK, frame, fixed=["Q2"]).parameters == qs.learn(BANK, frame).parameters - 6
    for shape in ("tables", "curves"):
        fit = qs.learn(BANK, frame, fixed=["Q2"], shape=shape, restarts=1, folds=2)
        assert fit.bank.questions["Q2"].table == BANK.questions["Q2"].table
        assert (np.diff(fit.trace) >= -1e-9 * abs(fit.trace[0])).all()


def test_a_new_question_is_what_the_likelihood_says():
    """All tables but one held: the three numbers of Q1 by a general optimiser."""
    frame = draw(BANK, 150, 6)
    fit = qs.learn(BANK, frame, weight=0, monotone=False, fixed=["a", "Q2"], tolerance=1e-10)

    def lost(logits):
        right = 1 / (1 + np.exp(-logits))
        made = BANK.with_tables({"Q1": qs.Table.precise(np.stack([1 - right, right], axis=1))})
        return -log_likelihood(made, frame)

    start = np.log(fit.bank.questions["Q1"].table.lower[:, 1] / fit.bank.questions["Q1"].table.lower[:, 0])
    best = minimize(lost, start + 0.3, method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-9, "maxiter": 4000})
    assert fit.log_likelihood == pytest.approx(-best.fun, abs=1e-5)


@pytest.mark.parametrize(
    ("fixed", "words"),
    [
        (["Q3"], r"^learn: fixed names questions and skills of the bank, got 'Q3'$"),
        ("Q1", r"^learn: fixed: a list of ids of questions and skills is expected, got 'Q1'$"),
    ],
)
def test_what_cannot_be_fixed(fixed, words):
    with pytest.raises(QuaestorError, match=words):
        qs.learn(BANK, draw(BANK, 9, 1), fixed=fixed)
