"""Curves with few numbers: the M-step against a general optimiser, an objective that never falls, and no loss to a two-parameter model."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

import quaestor as qs
from oracles import two_parameter as peer
from oracles.learning import SMALL, draw
from quaestor.errors import QuaestorError
from quaestor.learn.compare import log_likelihoods_by_person
from quaestor.learn.curves import Curves, maximised, nearest_curves, numbers, shrunk, tables
from quaestor.learn.points import questions_of
from quaestor.learn.skeleton import one_skill

HEIGHTS = np.stack([np.ones(4), np.linspace(-1, 1, 4)], axis=1)


def family(questions, classes=2, design=HEIGHTS):
    centre = np.zeros((questions, classes - 1, design.shape[1]))
    return Curves(design, centre, centre, np.full(centre.shape[1:], 1.3))


def test_numbers_and_tables_are_the_same_thing():
    found = np.random.default_rng(1).normal(size=(5, 2, 2))
    made = tables(found, HEIGHTS)
    assert made.shape == (5, 4, 3)
    np.testing.assert_allclose(made.sum(axis=2), 1)
    np.testing.assert_allclose(numbers(made, HEIGHTS), found, atol=1e-9)
    flat = nearest_curves(tables(-np.abs(found), HEIGHTS), family(5, 3), monotone=True)
    assert (np.diff(flat[:, :, 0], axis=1) <= 1e-12).all()


@pytest.mark.parametrize("monotone", [True, False])
def test_the_m_step_is_that_of_a_general_optimiser(monotone):
    rng = np.random.default_rng(2)
    counts = rng.uniform(0, 30, size=(6, 4, 3))
    curves = family(6, 3)
    found = nearest_curves(np.full((6, 4, 3), 1 / 3), curves, monotone)
    for _ in range(20):
        found = maximised(counts, found, curves, monotone)
    for question in range(6):

        def lost(flat, question=question):
            table = tables(flat.reshape(1, 2, 2), HEIGHTS)[0]
            return -(counts[question] * np.log(table)).sum() + 0.5 * ((flat / 1.3) ** 2).sum()

        bounds = [(None, None), (0 if monotone else None, None)] * 2
        best = minimize(lost, np.full(4, 0.1), bounds=bounds, options={"ftol": 1e-14, "gtol": 1e-9})
        np.testing.assert_allclose(found[question], tables(best.x.reshape(1, 2, 2), HEIGHTS)[0], atol=2e-4)


@pytest.mark.parametrize("bank", SMALL.values(), ids=SMALL)
def test_the_objective_never_falls_and_tables_rise(bank):
    fit = qs.learn(bank, draw(bank, 120, 3), shape="curves", tolerance=1e-6)
    assert (np.diff(fit.trace) >= -1e-9 * abs(fit.trace[0])).all()
    assert fit.converged
    for question in fit.bank.questions.values():
        reached = np.cumsum(question.table.lower[..., ::-1], axis=-1)[..., ::-1]
        for axis in range(len(question.skills)):
            assert (np.diff(reached, axis=axis) >= -1e-9).all()
    assert fit.parameters < qs.learn(bank, draw(bank, 120, 3)).parameters or all(len(skill.levels) == 2 for skill in bank.skills.values())


def test_few_answers_make_curves_alike():
    curves = family(30)
    rng = np.random.default_rng(4)
    truth = np.stack([rng.normal(0, 1, 30), rng.uniform(0.5, 3, 30)], axis=1)[:, None]
    chances = tables(truth, HEIGHTS)
    spreads = []
    for people in (4, 4000):
        met = np.full((30, 4), people / 4)
        right = rng.binomial(met.astype(int), chances[..., 1])
        counts = np.stack([met - right, right], axis=2).astype(float)
        now, known = tables(truth * 0 + 0.1, HEIGHTS), curves
        for _ in range(30):
            now = maximised(counts, now, known, True)
            known = shrunk([counts], [now], [known])[0]
        spreads.append(float(numbers(now, HEIGHTS)[:, 0, 1].std()))
    assert spreads[0] < 0.5 * spreads[1]
    assert abs(known.centre[0, 0, 1] - truth[:, 0, 1].mean()) < 0.1


def test_a_group_without_answers_keeps_its_tables():
    bank = SMALL["two skills in one question"]
    frame = draw(bank, 40, 3).drop(columns=["Q1", "Q3"])
    fit = qs.learn(bank, frame, shape="curves")
    assert fit.bank.questions["Q1"].table == bank.questions["Q1"].table
    assert fit.bank.questions["Q2"].table != bank.questions["Q2"].table


def test_a_shape_is_one_of_two():
    with pytest.raises(QuaestorError, match=r"^learn: shape is one of tables, curves, got 'bent'$"):
        qs.learn(SMALL["one skill"], draw(SMALL["one skill"], 9, 1), shape="bent")


def classroom(people, seed, questions=25):
    """Answers of a class of a two-parameter model: people to learn from, and 400 others."""
    rng = np.random.default_rng(seed)
    slopes, places = rng.lognormal(0, 0.3, questions), rng.normal(0, 1, questions)
    theta = rng.normal(size=people + 400)
    right = rng.random((people + 400, questions)) < 1 / (1 + np.exp(-slopes * (theta[:, None] - places)))
    frame = pd.DataFrame(right.astype(int), columns=[f"Q{n}" for n in range(questions)])
    return frame.iloc[:people], frame.iloc[people:]


@pytest.mark.parametrize("people", [20, pytest.param(60, marks=pytest.mark.long), pytest.param(200, marks=pytest.mark.long)])
def test_small_classes_lose_nothing_to_a_two_parameter_model(people):
    """Even where that model is the truth; the difference of the log loss an answer, over several classes."""
    apart = []
    for seed in range(4):
        learning, others = classroom(people, [people, seed])
        theirs = peer.log_likelihoods(peer.fitted(learning.to_numpy(float)), others.to_numpy(float))
        fit = qs.learn(one_skill(questions_of(learning), 5), learning, shape="curves")
        apart.append((theirs - log_likelihoods_by_person(fit.bank, others)).mean() / others.shape[1])
    assert np.mean(apart) < 0.002 + 2 * np.std(apart, ddof=1) / 2
