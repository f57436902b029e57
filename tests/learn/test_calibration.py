"""Intervals that hold as often as they say: plausible tables, what banks predict for new people, and the factor between the two."""

import importlib
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta, binom

import quaestor as qs
from helpers.paths import ROOT
from oracles.learning import SMALL, draw, school
from quaestor.errors import QuaestorError
from quaestor.inference.chooser import Chooser
from quaestor.inference.evidence import Evidence
from quaestor.learn.calibration import central, percentiles, quantiles
from quaestor.learn.curves import curves_of, drawn_curves
from quaestor.learn.expect import chosen_answers, expect, prior
from quaestor.learn.graphs import every_link, independent
from quaestor.learn.layout import as_tables, layout_of
from quaestor.learn.predictions import class_share, predict, rows
from quaestor.learn.shares import share_bounds, shares
from quaestor.learn.skeleton import skeleton
from quaestor.learn.verification import verify

augmentation = importlib.import_module("quaestor.learn.augmentation")  # `quaestor.learn` itself is the function
BANK = SMALL["one skill"]
FRAME = draw(BANK, 150)
FIT = qs.learn(BANK, FRAME, intervals=0.9)


def predicted(bank, answers=None):
    """Bounds of every P(answer) by the engines that sessions use: by question id, (classes,) each."""
    evidence = Evidence.of(bank, answers or {})
    chooser = Chooser(evidence.model, 1)
    found = {}
    for batch in evidence.layout.batches:
        low, high = chooser.answers(batch).ends
        for position, row in zip(batch.index, batch.row, strict=True):
            found[evidence.layout.questions[position].id] = low[0, row], high[0, row]
    return found


@pytest.mark.parametrize("name", SMALL)
def test_the_shares_that_a_bank_predicts_are_those_of_the_engines(name):
    fit = qs.learn(SMALL[name], draw(SMALL[name], 60), intervals=0.9)
    low, high = quantiles(fit.draws, 0.5)
    bank = fit.given.with_tables(as_tables(fit.given, fit.layout, low, high))
    expected = predicted(bank)
    found = share_bounds(fit.layout, low, high)
    for group, lower, upper in zip(fit.layout.groups, found[0].groups, found[1].groups, strict=True):
        for position, one, two in zip(group.positions, lower, upper, strict=True):
            ends = expected[list(bank.questions)[position]]
            np.testing.assert_allclose([one, two], ends, atol=1e-9)
    beliefs = qs.posterior(bank, {})
    for skill, lower, upper in zip(fit.layout.names, found[0].skills, found[1].skills, strict=True):
        np.testing.assert_allclose([lower, upper], [beliefs[skill].lower, beliefs[skill].upper], atol=1e-9)


def test_precise_shares_are_sums_over_profiles():
    bank = SMALL["two skills in one question"]
    layout = layout_of(bank)
    found = shares(layout, qs.learn(bank, draw(bank, 40), iterations=1, intervals=None).tables)
    learnt = qs.learn(bank, draw(bank, 40), iterations=1).bank
    a, b = learnt.skills["a"].table.lower, learnt.skills["b"].table.lower
    table = learnt.questions["Q1"].table.lower  # over b, a
    expected = sum(a[i] * b[i, j] * table[j, i, 1] for i, j in product(range(2), range(3)))
    group = next(n for n, one in enumerate(layout.groups) if list(bank.questions).index("Q1") in one.positions)
    assert found.groups[group][0, 1] == pytest.approx(expected, abs=1e-12)


def test_plausible_tables_are_beta_where_levels_are_known():
    """One level is certain from the answers: P(right | level) is then a beta distribution of counts, prior and 1/2."""
    bank = qs.Bank({
        "skills": {"a": {"prior": [0.5, 0.5]}},
        "questions": {
            **{f"K{n}": {"skill": "a", "right": [0.001, 0.999]} for n in range(4)},
            "Q": {"skill": "a", "right": [0.3, 0.6]},
        },
    })  # fmt: skip
    level = np.arange(80) % 2
    right = np.where(level == 1, np.arange(80) % 8 != 1, np.arange(80) % 5 == 0).astype(int)
    frame = pd.DataFrame({**{f"K{n}": level for n in range(4)}, "Q": right})
    fit = qs.learn(bank, frame, weight=10, intervals=0.9)
    group = fit.layout.groups[0]
    drawn = np.stack([one.groups[0][list(group.positions).index(4), :, 1] for one in fit.draws])
    for own, stated in ((0, 0.3), (1, 0.6)):
        count = right[level == own]
        expected = beta(count.sum() + 10 * stated + 0.5, (1 - count).sum() + 10 * (1 - stated) + 0.5)
        assert drawn[:, own].mean() == pytest.approx(expected.mean(), abs=3 * expected.std() / np.sqrt(len(drawn)))
        assert drawn[:, own].std() == pytest.approx(expected.std(), rel=0.2)


def test_constraints_hold_in_every_plausible_table():
    bank = SMALL["two parents"]
    fit = qs.learn(bank, draw(bank, 60), tied=True, intervals=0.9)
    for one in fit.draws:
        made = bank.with_tables(as_tables(bank, fit.layout, one))
        table = made.questions["Q3"].table.lower[..., 1]
        assert table[0, 0] == pytest.approx(table[0, 1], abs=1e-12)
        assert table[1, 1] >= table[0, 0]
        assert (np.diff(made.questions["Q1"].table.lower[:, 1]) >= -1e-12).all()


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_the_bank_holds_so_many_plausible_shares_and_the_learnt_numbers(level):
    fit = qs.learn(BANK, FRAME, intervals=level)
    plain = qs.learn(BANK, FRAME)
    assert not fit.bank.is_precise
    assert plain.bank.is_precise
    np.testing.assert_array_equal(fit.tables.groups[0], plain.tables.groups[0])
    drawn = np.stack([shares(fit.layout, one).groups[0][:, 1] for one in fit.draws])
    for number, (low, high) in enumerate(predicted(fit.bank).values()):
        inside = ((low[1] - 1e-9 <= drawn[:, number]) & (drawn[:, number] <= high[1] + 1e-9)).mean()
        assert level * 201 / 200 <= inside < level + 0.02  # the least that holds so many of 201; draws are 200
    for question in fit.bank.questions.values():
        own = plain.bank.questions[question.id].table.lower
        assert ((question.table.lower <= own + 1e-12) & (own <= question.table.upper + 1e-12)).all()


def test_a_bank_of_single_intervals_is_wider_than_what_it_predicts_has_to_be():
    alone = BANK.with_tables(rows(FIT))
    whole, each = predicted(FIT.bank), predicted(alone)
    for name, (low, high) in whole.items():
        assert high[1] - low[1] < 0.8 * (each[name][1][1] - each[name][0][1])


def test_predictions_by_hand():
    found = predict(FIT, {"Q0": "right"})
    posteriors = [qs.posterior(BANK.with_tables(as_tables(BANK, FIT.layout, one)), {"Q0": "right"})["a"].lower for one in FIT.draws]
    ends = np.quantile(posteriors, (0.05, 0.95), axis=0, method="weibull")
    np.testing.assert_allclose([found.skills["a"].lower, found.skills["a"].upper], ends, atol=1e-9)
    right = [level @ one.groups[0][1, :, 1] for level, one in zip(posteriors, FIT.draws, strict=True)]
    ends = np.quantile(right, (0.05, 0.95), method="weibull")
    assert [found.questions["Q1"].lower[1], found.questions["Q1"].upper[1]] == pytest.approx(ends.tolist())
    assert list(found.questions) == list(BANK.questions)


def test_chance_widens_what_is_predicted_for_a_class():
    whole, class_of_20 = predict(FIT).questions["Q1"], predict(FIT, people=20).questions["Q1"]
    assert class_of_20.lower[1] < whole.lower[1] < whole.upper[1] < class_of_20.upper[1]
    p = (whole.lower[1] + whole.upper[1]) / 2
    assert class_of_20.upper[1] - class_of_20.lower[1] == pytest.approx(2 * 1.645 * np.sqrt(p * (1 - p) / 20), abs=0.1)


def test_the_same_seed_gives_the_same_intervals():
    again = qs.learn(BANK, FRAME, intervals=0.9)
    assert again.bank.version == FIT.bank.version
    assert qs.learn(BANK, FRAME, intervals=0.9, seed=5).bank.version != FIT.bank.version


def test_a_question_without_answers_keeps_its_table():
    fit = qs.learn(BANK, FRAME.assign(Q1=None), intervals=0.9)
    assert fit.bank.questions["Q1"].table == BANK.questions["Q1"].table
    assert not fit.bank.questions["Q0"].table.is_precise


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "learn: intervals: a share above 0 and below 1, such as 0.9, got 0"),
        (1, "learn: intervals: a share above 0 and below 1, such as 0.9, got 1"),
        (90, "learn: intervals: a share above 0 and below 1, such as 0.9, got 90; for 90 in 100 write 0.9"),
        (True, "learn: intervals: a share above 0 and below 1, such as 0.9, got True"),
        (float("nan"), "learn: intervals: a share above 0 and below 1, such as 0.9, got nan"),
        ("wide", "learn: intervals: a share above 0 and below 1, such as 0.9, got 'wide'"),
    ],
)
def test_levels_that_make_no_sense(value, words):
    with pytest.raises(QuaestorError) as caught:
        qs.learn(BANK, FRAME, intervals=value)
    assert str(caught.value) == words


def test_predictions_need_intervals_and_people():
    with pytest.raises(QuaestorError, match="learnt with intervals"):
        predict(qs.learn(BANK, FRAME))
    with pytest.raises(QuaestorError, match="people are a whole number of at least 1, got 0"):
        predict(FIT, people=0)


def test_large_networks_are_resampled(monkeypatch):
    monkeypatch.setattr(augmentation, "JOINT", 1)
    monkeypatch.setattr(augmentation, "RESAMPLED", 20)
    fit = qs.learn(BANK, FRAME, intervals=0.9)
    assert len(fit.draws) == 20
    assert not fit.bank.is_precise


def test_the_narrowest_counts_are_found():
    drawn = np.full((200, 1), 0.3)
    share = class_share(drawn, 0.9, np.array([10]), np.random.default_rng(1))
    chances = binom(10, 0.3).pmf(np.arange(11))
    best = min((b - a, a, b) for a in range(11) for b in range(a, 11) if chances[a : b + 1].sum() >= 0.9)
    assert share.upper[0] - share.lower[0] == pytest.approx(best[0] / 10)
    assert chances[round(10 * share.lower[0]) : round(10 * share.upper[0]) + 1].sum() > 0.89


def test_people_held_out_are_predicted():
    found = verify(FIT, np.random.default_rng(1))
    assert found.shares == 6  # three questions, two halves
    assert found.inside >= 4
    wrong = replace(FIT, level=0.01)
    assert verify(wrong, np.random.default_rng(1)).inside < 4


def test_curves_and_fixed_tables():
    bank = SMALL["three levels, three classes"]
    frame = draw(bank, 120)
    fit = qs.learn(bank, frame, shape="curves", fixed=["Q1"], intervals=0.9)
    assert fit.bank.questions["Q1"].table == bank.questions["Q1"].table
    assert not fit.bank.questions["Q2"].table.is_precise
    assert not fit.bank.skills["a"].table.is_precise
    for one in fit.draws[:20]:
        table = bank.with_tables(as_tables(bank, fit.layout, one)).questions["Q2"].table.lower
        reached = table[:, ::-1].cumsum(axis=1)
        assert (np.diff(reached, axis=0) >= -1e-12).all()


def test_drawn_curves_have_the_spread_of_their_logits():
    """Many answers at known levels: the numbers are normal with the inverse of the information as covariance, as in logistic regression."""
    family = curves_of(layout_of(BANK), qs.learn(BANK, FRAME).tables)[0]
    family = replace(family, spread=np.full_like(family.spread, 1e3))
    counts = np.array([[[300.0, 100.0], [120.0, 280.0]]] * 3)
    rng = np.random.default_rng(1)
    drawn = np.stack([drawn_curves(counts, counts / 400, family, True, rng)[..., 1] for _ in range(400)])
    np.testing.assert_allclose(drawn.mean(axis=0), counts[..., 1] / 400, atol=0.005)
    np.testing.assert_allclose(drawn.std(axis=0), np.sqrt(counts[..., 0] * counts[..., 1] / 400**3), rtol=0.15)


def test_one_more_draw_lies_between_the_ends_as_often_as_is_said():
    rng = np.random.default_rng(1)
    drawn = rng.random((60, 20_000))
    for level in (0.5, 0.9):
        low, high = central(drawn, level)
        assert (high - low).mean() == pytest.approx(level, abs=0.002)  # of uniform numbers, the share between is the length
        np.testing.assert_array_less(low, percentiles(drawn, level)[0])


def test_everybody_gets_a_column_by_its_weight():
    rng = np.random.default_rng(1)
    weights = np.array([[1.0, 0.0, 3.0], [0.0, 5.0, 0.0], [2e-9, 1e-9, 1e-9]])
    owners = np.sort(np.arange(30_000) % 3)
    found = augmentation._chosen(weights, owners, rng)
    for row, expected in enumerate(weights / weights.sum(axis=1, keepdims=True)):
        np.testing.assert_allclose(np.bincount(found[owners == row], minlength=3) / 10_000, expected, atol=0.02)


def test_profiles_are_drawn_by_their_probability():
    """Skills are drawn in two parts; together the counts have the means of the E-step."""
    bank = SMALL["two parents"]
    frame = draw(bank, 30)
    fit = qs.learn(bank, frame)
    parts = chosen_answers(fit.layout, fit.people.patterns)
    rng, owners = np.random.default_rng(1), np.sort(fit.people.pattern_of)
    log_prior = np.log(prior(fit.layout, fit.tables))
    configurations = augmentation._configurations(fit.layout)
    runs = [augmentation._counts(fit.layout, fit.tables, log_prior, parts, owners, configurations, rng) for _ in range(1000)]
    expected = expect(fit.layout, fit.tables, fit.people.patterns, fit.people.weights()).counts
    for drawn, mean in zip(zip(*runs, strict=True), (*expected.skills, *expected.groups), strict=True):
        np.testing.assert_allclose(np.mean(drawn, axis=0), mean, atol=0.35)  # standard errors are at most 0.09


def test_what_is_unexplained_by_hand():
    """Every question after every answer to another one, people one by one."""
    bank = school()
    frame = draw(bank, 80)
    fit = qs.learn(bank, frame, intervals=0.9)
    learnt = qs.learn(bank, frame).bank
    right = (frame == "right").to_numpy()
    names = list(bank.questions)
    free = 1 - (fit.parameters - 24) / (24 * 23 / 2)
    total = count = 0.0
    for other, answer in product(range(24), (False, True)):
        chosen = right[:, other] == answer
        if (number := chosen.sum()) < 10:
            continue
        at = predicted(learnt, {names[other]: "right" if answer else "wrong"})
        for one in set(range(24)) - {other}:
            p = at[names[one]][0][1]
            total += (right[chosen, one].mean() - p) ** 2 / (p * (1 - p)) - free * (1 / number - 1 / 80)
            count += 1
    assert fit.unexplained == pytest.approx(np.sqrt(max(total / count, 0)), abs=1e-6)


def test_a_common_factor_is_unexplained_by_independent_skills():
    rng = np.random.default_rng(1)
    skill = rng.normal(size=(400, 1)) + 0.5 * rng.normal(size=(400, 3))
    right = rng.random((400, 12)) < 1 / (1 + np.exp(-2 * np.repeat(skill, 4, axis=1)))
    frame = pd.DataFrame(right.astype(int), columns=[f"Q{n}" for n in range(12)])
    matrix = pd.DataFrame(np.repeat(np.eye(3, dtype=int), 4, axis=0), index=frame.columns, columns=list("abc"))
    found = [qs.learn(made(skeleton(matrix, 2)), frame, intervals=0.9) for made in (independent, every_link)]
    assert found[0].unexplained > 0.1
    assert found[1].unexplained < 0.06
    widths = [predict(one, {"Q0": "right"}).questions["Q11"] for one in found]
    assert widths[0].upper[1] - widths[0].lower[1] > 1.5 * (widths[1].upper[1] - widths[1].lower[1])
    assert qs.learn(BANK, FRAME, intervals=0.9).unexplained == 0  # three questions leave no degrees of freedom


def test_the_committed_coverage_is_as_the_docs_say():
    table = pd.read_csv(ROOT / "studies" / "coverage" / "coverage.csv")
    share = table[table["prediction"] == "share"]
    for method, level in (("bank", 0.9), ("bank", 0.5), ("predict", 0.9), ("predict", 0.5)):
        chosen = share[(share["method"] == method) & (share["level"] == level)]
        assert len(chosen) == 21
        assert chosen["inside"].mean() == pytest.approx(level, abs=0.01)
        assert ((chosen["inside"] - level).abs() <= 0.03).sum() >= 20
    bank = share[(share["method"] == "bank") & (share["level"] == 0.9)]
    assert ((bank["inside"] - 0.9).abs() <= 0.03).all()
    assert (bank["standard error"] < 0.0125).all()
