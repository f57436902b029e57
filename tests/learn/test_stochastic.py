"""Rows of several classes in order, against constrained optimisers; and a truth that obeys the rule, found again."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

import quaestor as qs
from oracles.learning import draw, table_of
from quaestor.learn.maximise import _solved
from quaestor.learn.order import levels_order, tied_order
from quaestor.learn.stochastic import obeys, ordered

SIZES = [(2,), (5,), (2, 2), (3, 2), (2, 2, 2)]


def fit_of(table, counts):
    return float((counts * np.log(table)).sum())


def by_optimiser(counts, covers, method):
    """The same problem on all chances: rows sum to one, and no class or better falls along the covers."""
    places, classes = counts.shape
    whole = np.kron(np.eye(places), np.ones(classes))
    rises = []
    for low, high in covers.tolist():
        for answer in range(1, classes):
            row = np.zeros((places, classes))
            row[high, answer:], row[low, answer:] = 1, -1
            rises.append(row.ravel())
    rises = np.array(rises)
    share = (counts / counts.sum()).ravel()
    rules = {
        "SLSQP": [
            {"type": "eq", "fun": lambda x: whole @ x - 1, "jac": lambda _: whole},
            {"type": "ineq", "fun": lambda x: rises @ x, "jac": lambda _: rises},
        ],
        "trust-constr": [LinearConstraint(whole, 1, 1), LinearConstraint(rises, 0, np.inf)],
    }[method]
    found = minimize(
        lambda x: -share @ np.log(np.maximum(x, 1e-9)),
        np.full(counts.size, 1 / classes),
        jac=lambda x: -share / np.maximum(x, 1e-9),
        bounds=[(1e-6, 1)] * counts.size,
        constraints=rules,
        method=method,
        options={"maxiter": 1000, **({"ftol": 1e-13} if method == "SLSQP" else {"gtol": 1e-9})},
    )
    assert found.success
    return found.x.reshape(places, classes)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("classes", [3, 4])
def test_against_slsqp(sizes, classes):
    order = levels_order(sizes)
    rng = np.random.default_rng(len(sizes) + classes)
    counts = rng.dirichlet(np.full(classes, 3.0), (4, order.size)) * rng.uniform(1, 30, (4, order.size, 1))
    found = ordered(counts, order)
    assert obeys(found, order).all()
    for one, table in zip(counts, found, strict=True):
        other = by_optimiser(one, order.covers, "SLSQP")
        assert fit_of(table, one) == pytest.approx(fit_of(other, one), abs=1e-5)
        np.testing.assert_allclose(table, other, atol=2e-3)


def test_against_another_optimiser_of_two_skills():
    order = levels_order((2, 2))
    counts = np.random.default_rng(5).dirichlet(np.full(3, 3.0), 4) * 20
    table = ordered(counts[None], order)[0]
    other = by_optimiser(counts, order.covers, "trust-constr")
    assert fit_of(table, counts) >= fit_of(other, counts) - 1e-9
    np.testing.assert_allclose(table, other, atol=1e-3)


def test_many_places_are_worked_out_sparsely():
    """The same whether the matrix is worked out in full or not."""
    order = levels_order((4, 4, 2))
    counts = np.random.default_rng(2).dirichlet(np.ones(3), (3, order.size))
    found = ordered(counts, order)
    assert obeys(found, order).all()
    alone = [ordered(one[None], order)[0] for one in counts]
    np.testing.assert_allclose(found, alone, atol=1e-6)


def test_counts_of_nothing_and_of_very_much():
    order = levels_order((3,))
    counts = np.array([[[5.0, 0, 0], [4, 0, 0], [9, 0, 0]], [[0, 0, 1e9], [0, 5e8, 5e8], [1, 0, 0]]])
    found = ordered(counts, order)
    assert np.isfinite(found).all()
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(axis=2), 1, atol=1e-12)
    np.testing.assert_allclose(found[0, :, 0], 1, atol=1e-9)
    assert obeys(found, order).all()


def test_rows_tied_across_the_order_are_one():
    crossed = tied_order(levels_order((3,)), np.array([0, 1, 0]))  # lowest and highest together: all are
    counts = np.array([[[4.0, 1, 1], [1, 1, 2]]])
    np.testing.assert_allclose(ordered(counts, crossed)[0], [[0.5, 0.2, 0.3]] * 2, atol=1e-9)


def test_rows_that_obey_stay_and_a_step_never_loses():
    order = levels_order((2, 2))
    rng = np.random.default_rng(3)
    rows = np.array([[[0.6, 0.2, 0.2], [0.4, 0.4, 0.2], [0.3, 0.5, 0.2], [0.1, 0.6, 0.3]]])  # chances to go on fall: .5, .33, .29, .33
    np.testing.assert_allclose(_solved(7 * rows, rows, order, monotone=True), rows, atol=1e-15)
    for _ in range(20):
        counts = rng.dirichlet(np.ones(3), (1, 4)) * 10
        best = _solved(counts, rows, order, monotone=True)
        assert fit_of(best, counts) >= fit_of(rows, counts)
        assert fit_of(_solved(counts, best, order, monotone=True), counts) >= fit_of(best, counts)


def three_classes():
    """One question of three classes: at the higher level `half` takes more from `right` than the rule on chances to go on would allow."""
    rows = {"no": [0.6, 0.2, 0.2], "yes": [0.1, 0.6, 0.3]}
    questions = {f"Q{n}": {"skill": "a", "right": [0.15, 0.85]} for n in range(6)}
    questions["T"] = {"skill": "a", "classes": ["wrong", "half", "right"], "table": rows}
    return qs.Bank({"skills": {"a": {}}, "questions": questions})


def test_a_truth_that_obeys_is_found_again():
    bank = three_classes()
    frame = draw(bank, 3000)
    fit, free = (qs.learn(bank, frame, weight=0, monotone=monotone, tolerance=1e-6) for monotone in (True, False))
    np.testing.assert_allclose(table_of(fit.bank, "T"), table_of(bank, "T"), atol=0.04)
    assert fit.log_likelihood == pytest.approx(free.log_likelihood, abs=1e-3)
    assert not fit.violations
    kept = qs.learn(bank, frame, weight=1e9)
    np.testing.assert_allclose(table_of(kept.bank, "T"), table_of(bank, "T"), atol=1e-6)


def test_violations_are_those_of_the_rule_that_is_kept():
    """A class or better that falls is named, and the learnt table is flat there."""
    bank = three_classes()
    frame = draw(bank, 1000)
    frame["T"] = frame["T"].map({"wrong": "half", "half": "wrong", "right": "right"})
    fit = qs.learn(bank, frame, weight=0)
    named = {(one.question, one.answer) for one in fit.violations if one.fall > 3 * one.error}
    assert named == {("T", "half")}
    reached = table_of(fit.bank, "T")[:, 1:].sum(axis=1)
    assert reached[0] == pytest.approx(reached[1], abs=1e-6)
