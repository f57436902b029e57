"""EM against people one by one and all profiles listed; the objective never falls; the monotone fit against a constrained optimiser."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

import quaestor as qs
from oracles.learning import SMALL, draw, em_step, log_likelihood, table_of, with_tables
from quaestor.errors import QuaestorError
from quaestor.learn import expect as expectation
from quaestor.learn.compare import log_likelihoods_by_person
from quaestor.learn.em import random_start, run
from quaestor.learn.folds import fold_of
from quaestor.learn.intervals import bootstrap, imprecise
from quaestor.learn.layout import as_tables, layout_of, tables_of
from quaestor.learn.maximise import aim_of, maximise
from quaestor.learn.people import read_people
from quaestor.learn.work import steps

banks = pytest.mark.parametrize("bank", SMALL.values(), ids=SMALL)


@banks
@pytest.mark.parametrize("weight", [0, 3])
@pytest.mark.parametrize("joint", [2**14, 1], ids=["joint", "junction"])
def test_steps_are_those_of_the_enumeration(bank, weight, joint, monkeypatch):
    monkeypatch.setattr(expectation, "JOINT", joint)
    frame = draw(bank, 40, missing=0.3)
    layout = layout_of(bank)
    people = read_people(bank, layout, frame)
    aim = aim_of(layout, tables_of(bank, layout), weight, monotone=False, tied=False)
    now, tables = bank, tables_of(bank, layout)
    for _ in range(3):
        found = expectation.expect(layout, tables, people.patterns, people.weights())
        assert found.log_likelihood == pytest.approx(log_likelihood(now, frame), rel=1e-12)
        tables = maximise(layout, found.counts, tables, aim)
        slow = em_step(now, frame, bank, weight)
        for name, table in as_tables(bank, layout, tables).items():
            np.testing.assert_allclose(table.lower, slow[name], atol=1e-12)
        now = with_tables(bank, slow)


@banks
def test_tables_go_to_arrays_and_back(bank):
    layout = layout_of(bank)
    for name, table in as_tables(bank, layout, tables_of(bank, layout)).items():
        assert table == qs.Table.precise(table_of(bank, name))


@banks
@pytest.mark.parametrize("monotone", [True, False])
@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("weight", [0, 4, pytest.param(0.5, marks=pytest.mark.long)])
def test_the_objective_never_falls(bank, monotone, tied, weight):
    """With weight 0 the objective is the log-likelihood; otherwise the logarithm of the prior is added, and the sum never falls."""
    seed = 2 * monotone + tied
    start, frame = bank, draw(bank, 60, seed, missing=0.2)
    if not tied:
        start = with_tables(bank, {name: table.lower for name, table in drawn(bank, seed).items()})
    fit = qs.learn(start, frame, restarts=2, seed=seed, weight=weight, monotone=monotone, tied=tied, tolerance=1e-9)
    assert np.diff(fit.trace).min() > -1e-8
    assert fit.objective == max(fit.restarts)
    if weight == 0:
        assert fit.trace[-1] == fit.log_likelihood
    assert fit.log_likelihood == pytest.approx(log_likelihood(fit.bank, frame), rel=1e-9)


@pytest.mark.parametrize("monotone", [True, False])
def test_any_start_keeps_the_ties(monotone):
    """From the best tables without ties the first step would tie the rows, the objective would fall, and EM take that for the end."""
    bank, frame = SMALL["two parents"], draw(SMALL["two parents"], 60)
    free, tied = (qs.learn(bank, frame, weight=0.5, monotone=monotone, tied=tied, tolerance=1e-9) for tied in (False, True))
    with steps(tied.layout, tied.people.patterns) as step:
        found = run(tied.layout, free.tables, tied.aim, step, tied.people.weights(), 1e-9, 500)
    assert np.diff(found.trace).min() > -1e-8
    assert found.trace[-1] == pytest.approx(tied.objective, abs=1e-4)


def test_a_fall_is_no_end():
    """A step that loses, as none should, is not taken for convergence."""
    bank = SMALL["one skill"]
    layout = layout_of(bank)
    people = read_people(bank, layout, draw(bank, 60))
    own = tables_of(bank, layout)
    with steps(layout, people.patterns) as step:
        worse = iter(range(100))

        def falling(tables, weights):
            found = step(tables, weights)
            return replace(found, log_likelihood=found.log_likelihood - 100 * next(worse))

        assert not run(layout, own, aim_of(layout, own, 1, True, False), falling, people.weights(), 0.5, 10).converged


def drawn(bank, seed):
    layout = layout_of(bank)
    return as_tables(bank, layout, random_start(layout, np.random.default_rng(seed)))


@banks
def test_monotone_tables_are_monotone(bank):
    fit = qs.learn(bank, draw(bank, 80, missing=0.2), weight=0)
    for question in fit.bank.questions.values():
        table = question.table.lower
        for answer in range(1, len(question.classes)):
            better = table[..., answer:].sum(axis=-1)
            for axis in range(better.ndim):
                assert np.diff(better, axis=axis).min() >= -1e-9


def objective_of(bank, frame, prior, weight):
    penalty = sum(
        float((weight * table_of(prior, variable.name) * np.log(np.maximum(table_of(bank, variable.name), 1e-300))).sum())
        for variable in bank.network.variables
    )
    return log_likelihood(bank, frame) + penalty


@pytest.mark.parametrize("name", ["one skill", "two skills in one question", "three levels, three classes"])
@pytest.mark.parametrize("weight", [0, *(pytest.param(weight, marks=pytest.mark.long) for weight in (1, 4))])
def test_a_constrained_optimiser_finds_the_same(name, weight):
    """The monotone fit by SLSQP on all free numbers under the same linear rules, from the fit and from the bank itself."""
    bank = SMALL[name]
    frame = flipped(draw(bank, 14, missing=0.1), bank)  # one question turned round: the rule binds
    fit = qs.learn(bank, frame, weight=weight, tolerance=1e-12, iterations=3000, restarts=3)  # there may be several tops
    pack, unpack, rules, offset = chances(bank)
    best = objective_of(fit.bank, frame, bank, weight)
    assert best == pytest.approx(fit.objective, abs=1e-6)
    near = 0.99 * pack(fit.bank) + 0.01 * pack(bank)
    for start in (near, pack(qs.learn(bank, frame, weight=weight, iterations=1).bank)):
        found = minimize(
            lambda x: -objective_of(unpack(x), frame, bank, weight),
            start,
            constraints={"type": "ineq", "fun": lambda x: rules @ x + offset, "jac": lambda _: rules},
            method="SLSQP",
            options={"maxiter": 300, "ftol": 1e-10},
        )
        assert found.success
        assert -found.fun <= best + 1e-4
        if start is near:
            assert -found.fun == pytest.approx(best, abs=1e-4)
        if start is near and weight:  # without a weight the top is flat
            np.testing.assert_allclose(found.x, pack(fit.bank), atol=0.02)


def flipped(frame, bank):
    name = next(iter(bank.questions))
    return frame.assign(**{name: frame[name].map({"wrong": "right", "right": "wrong"})})


LEAST = 1e-7


def chances(bank):
    """All tables as P(this state or a later one), and back; the rules, rules @ x + offset >= 0: every state has a chance, and for questions
    no class or better falls."""
    shapes = {variable.name: table_of(bank, variable.name).shape for variable in bank.network.variables}

    def pack(made):
        return np.concatenate([np.cumsum(table_of(made, name)[..., ::-1], axis=-1)[..., -2::-1].ravel() for name in shapes])

    def unpack(x):
        tables, place = {}, 0
        for name, shape in shapes.items():
            size = int(np.prod(shape[:-1])) * (shape[-1] - 1)
            later = x[place : place + size].reshape(*shape[:-1], shape[-1] - 1)
            place += size
            ones, zeros = np.ones((*shape[:-1], 1)), np.zeros((*shape[:-1], 1))
            table = np.maximum(-np.diff(np.concatenate([ones, later, zeros], axis=-1), axis=-1), LEAST / 2)
            tables[name] = table / table.sum(axis=-1, keepdims=True)
        return with_tables(bank, tables)

    rows, offset, place = [], [], 0
    every = np.eye(len(pack(bank)))
    for name, shape in shapes.items():
        index = place + np.arange(int(np.prod(shape[:-1])) * (shape[-1] - 1)).reshape(*shape[:-1], shape[-1] - 1)
        place += index.size
        for row in index.reshape(-1, shape[-1] - 1):
            rows += [-every[row[0]], *(every[one] - every[two] for one, two in pairwise(row)), every[row[-1]]]
            offset += [1 - LEAST] + [-LEAST] * len(row)
        if name in bank.questions:
            for axis in range(index.ndim - 1):
                lower, higher = (np.take(index, range(*ends), axis=axis).ravel() for ends in ((0, shape[axis] - 1), (1, shape[axis])))
                rows += [every[two] - every[one] for one, two in zip(lower, higher, strict=True)]
                offset += [0.0] * len(lower)
    return pack, unpack, np.array(rows), np.array(offset)


def test_a_large_weight_keeps_the_bank_and_no_weight_forgets_it():
    bank = SMALL["one skill"]
    frame = draw(bank, 50)
    kept = qs.learn(bank, frame, weight=1e9)
    for name in bank.questions:
        np.testing.assert_allclose(table_of(kept.bank, name), table_of(bank, name), atol=1e-6)
    other = with_tables(bank, {"Q0": np.array([[0.9, 0.1], [0.3, 0.7]])})
    one, two = (qs.learn(start, frame, weight=0, tolerance=1e-11, iterations=5000) for start in (bank, other))
    assert one.log_likelihood == pytest.approx(two.log_likelihood, abs=1e-3)


def test_the_heaviest_weight():
    bank, frame = SMALL["two parents"], draw(SMALL["two parents"], 50)
    kept = qs.learn(bank, frame, weight=1e12)
    np.testing.assert_allclose(table_of(kept.bank, "Q3"), table_of(bank, "Q3"), atol=1e-9)
    with pytest.raises(QuaestorError, match=r"^learn: weight is at most 1e\+12, got 1e\+308$"):
        qs.learn(bank, frame, weight=1e308)


def test_numbers_of_every_kind_are_options():
    bank, frame = SMALL["one skill"], draw(SMALL["one skill"], 50)
    plain = qs.learn(bank, frame, weight=2, workers=2, tolerance=0.5, restarts=1, folds=2)
    other = qs.learn(
        bank, frame, weight=np.int64(2), workers=np.int64(2), tolerance=np.float32(0.5), restarts=np.int8(1), folds=np.int64(2)
    )
    assert plain.trace == other.trace
    assert imprecise(plain, np.float32(2)) == imprecise(plain, 2)
    for options in ({"weight": True}, {"weight": np.True_}, {"workers": True}, {"tolerance": False}, {"weight": 1j}):
        with pytest.raises(QuaestorError, match=r"got (np\.)?(True|False|1j)"):
            qs.learn(bank, frame, **options)


def test_tied_rows_stay_equal():
    bank = SMALL["two parents"]
    fit = qs.learn(bank, draw(bank, 200), weight=0, tied=True, tolerance=1e-9)
    table = table_of(fit.bank, "Q3")[..., 1]
    assert table[0, 0] == table[0, 1] == table[1, 0] != table[1, 1]
    free = qs.learn(bank, draw(bank, 200), weight=0, tolerance=1e-9)
    assert free.parameters - fit.parameters == 2
    assert free.log_likelihood > fit.log_likelihood


def test_more_levels_than_the_data_can_tell_is_no_harm():
    bank = qs.Bank(
        {"skills": {"a": {"levels": list("abcdef")}}, "questions": {"Q": {"skill": "a", "difficulty": 0.5, "discrimination": 0.5}}}
    )
    fit = qs.learn(bank, pd.DataFrame({"Q": [1, 0, 1]}), weight=0)
    assert all(np.isfinite(variable.table.lower).all() for variable in fit.bank.network.variables)
    assert [str(one) for one in fit.warnings] == [
        "responses: to learn levels, more people than levels are needed; so few tell hardly anything of them, got 3 for 6 levels"
    ]


def test_bic():
    fit = qs.learn(SMALL["one skill"], draw(SMALL["one skill"], 100))
    assert fit.parameters == 7
    assert fit.bic == pytest.approx(-2 * fit.log_likelihood + 7 * np.log(100))


def test_held_out_people_are_foretold_by_the_others_alone():
    """Each part by a bank learnt from the table without it; restarts serve the fit only, and do not reach the parts."""
    bank, frame = SMALL["three levels, three classes"], draw(SMALL["three levels, three classes"], 60)
    fit = qs.learn(bank, frame, weight=0.5, folds=4, seed=3)
    part = fold_of(60, 4, np.random.default_rng(3))
    expected = np.empty(60)
    for number in range(4):
        expected[part == number] = log_likelihoods_by_person(qs.learn(bank, frame[part != number], weight=0.5).bank, frame[part == number])
    np.testing.assert_allclose(fit.held_out.by_person, expected, atol=1e-9)
    assert np.abs(fit.held_out.by_person - log_likelihoods_by_person(fit.bank, frame)).max() > 0.05
    assert fit.held_out.mean == pytest.approx(expected.mean())
    assert fit.held_out.error == pytest.approx(expected.std(ddof=1) / np.sqrt(60))
    started = qs.learn(bank, frame, weight=0.5, folds=4, seed=3, restarts=2)
    assert len(started.restarts) == 3
    assert (started.held_out.by_person == fit.held_out.by_person).all()


def test_a_credal_bank_is_learnt_from_its_centre():
    bank = SMALL["one skill"]
    frame = draw(bank, 50)
    assert qs.learn(bank.widen(0.05), frame).bank.model_version == qs.learn(bank.widen(0.05).centre(), frame).bank.model_version


def test_questions_without_answers_keep_their_tables():
    """Credal ones stay credal, falling ones fall; they are no free numbers, and nothing is said of them."""
    document = SMALL["one skill"].document
    document["questions"]["Q1"] = {"skill": "a", "table": {"no": [[0.35, 0.45], [0.55, 0.65]], "yes": [[0.1, 0.2], [0.8, 0.9]]}}
    document["questions"]["Q2"] = {"skill": "a", "right": [0.8, 0.3]}
    bank = qs.Bank(document)
    fit = qs.learn(bank, draw(bank.centre(), 60)[["Q0"]])
    made = (fit.bank, imprecise(fit), bootstrap(fit, np.random.default_rng(1), 3))
    for one in made:
        assert one.questions["Q1"].table == bank.questions["Q1"].table
        assert one.questions["Q2"].table == bank.questions["Q2"].table
        assert one.questions["Q0"].table != bank.questions["Q0"].table
    assert fit.parameters == 3
    assert not fit.violations
    alone = qs.learn(bank.subset(["Q0"]), draw(bank.centre(), 60)[["Q0"]])
    assert (fit.bic, fit.parameters) == pytest.approx((alone.bic, alone.parameters))


@pytest.mark.parametrize("monotone", [True, False])
def test_violations_name_the_place(monotone):
    bank = SMALL["one skill"]
    frame = flipped(draw(bank, 400), bank)
    fit = qs.learn(bank, frame, monotone=monotone, weight=0)
    worst = fit.violations[0]
    assert (worst.question, worst.answer, worst.lower, worst.higher) == ("Q0", "right", "no", "yes")
    assert worst.fall > 3 * worst.error
    right = table_of(fit.bank, "Q0")[:, 1]
    assert right[0] == pytest.approx(right[1]) if monotone else right[0] > right[1]
