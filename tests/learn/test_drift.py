"""Questions watched while answers come in: levels from the other answers, evidence of a change, and pilots whose intervals shrink."""

import numpy as np
import pytest

import quaestor as qs
from quaestor.learn.arrivals import Arrival, watched
from quaestor.learn.drift import ALARM, FEWEST, SHIFTS, SPREAD, drifts, evidence
from quaestor.learn.pilots import calibrated
from quaestor.report.watch import watch

THREE = ["1", "2", "3"]
PAIRS = [f"{b}, {a}" for b in ("no", "yes") for a in THREE]
BOTH = {pair: [0.7 - 0.1 * number, 0.3 + 0.1 * number] for number, pair in enumerate(PAIRS)}
BANK = qs.Bank(
    {
        "skills": {"a": {"levels": THREE, "prior": [0.3, 0.4, 0.3]}, "b": {"parents": ["a"], "strength": 0.5}},
        "questions": {
            **{f"Q{n}": {"skill": "a", "right": [0.2, 0.5, 0.6 + 0.05 * n]} for n in range(6)},
            "both": {"skills": ["b", "a"], "table": BOTH},
            "new": {"skill": "a", "right": [0.3, 0.5, 0.7], "pilot": True},
        },
    }
)  # fmt: skip


def test_levels_are_those_of_the_other_answers():
    lines = [Arrival(1, "Q0", "right"), Arrival(2, "Q1", "wrong"), Arrival(1, "new", "right"), Arrival(1, "both", "wrong")]
    found = watched(BANK, lines)
    alone = qs.posterior(BANK, {"Q0": "right"})
    np.testing.assert_allclose(found["new"].levels[0], qs.posterior(BANK, {"Q0": "right", "both": "wrong"})["a"].lower, atol=1e-9)
    np.testing.assert_allclose(found["Q1"].levels[0], [0.3, 0.4, 0.3], atol=1e-9)
    np.testing.assert_allclose(found["both"].levels[0].reshape(3, 2).sum(axis=1), alone["a"].lower, atol=1e-9)
    assert found["both"].predicted[0] == pytest.approx(1 - _wrong(BANK, {"Q0": "right"}, "both"), abs=1e-9)
    assert watched(BANK, []) == {}


def _wrong(bank, answers, question):
    """P(wrong) by enumeration over all levels."""
    total = 0.0
    scale = 0.0
    a, b = bank.skills["a"].table.lower, bank.skills["b"].table.lower
    for one in range(3):
        for two in range(2):
            chance = a[one] * b[one, two]
            for name, answer in answers.items():
                chance *= bank.questions[name].table.lower[one, int(answer == "right")]
            scale += chance
            total += chance * bank.questions[question].table.lower[two, one, 0]
    return total / scale


def test_the_evidence_is_the_sum_it_says():
    rng = np.random.default_rng(1)
    predicted, best = rng.uniform(0.1, 0.9, 24), rng.random(24) < 0.5
    prior = np.exp(-0.5 * (SHIFTS / SPREAD) ** 2)
    prior /= prior.sum()

    def averaged(part):
        odds = predicted[part] / (1 - predicted[part])
        total = 0.0
        for shift, weight in zip(SHIFTS, prior, strict=True):
            right = odds * np.exp(shift) / (1 + odds * np.exp(shift))
            total += weight * np.prod(np.where(best[part], right, 1 - right))
        return total

    expected = sum(
        FEWEST / (c * (c + 1)) * averaged(slice(0, c)) * averaged(slice(c, None)) / averaged(slice(None))
        for c in range(FEWEST, 24 - FEWEST + 1)
    )
    assert evidence(predicted, best).evidence == pytest.approx(expected, rel=1e-9)


def test_as_long_as_nothing_changes_the_evidence_stays_small():
    """A martingale of mean 1 at most, whatever the constant shift; an alarm would need q / ALARM."""
    rng = np.random.default_rng(2)
    values = []
    for _ in range(300):
        logits = rng.normal(0, 1, 80)
        shift = rng.normal(0, 1)
        best = rng.random(80) < 1 / (1 + np.exp(-(logits + shift)))
        values.append(evidence(1 / (1 + np.exp(-logits)), best).evidence)
    assert np.mean(values) < 1.2
    assert np.mean(np.array(values) >= 1 / ALARM) <= ALARM


def stream(takers, easier_from, seed, shift=2.5):
    """Takers one after another, all questions asked; Q2 becomes easier."""
    rng = np.random.default_rng(seed)
    lines = []
    for taker in range(takers):
        level = rng.choice(3, p=[0.3, 0.4, 0.3])
        for name in (*(f"Q{n}" for n in range(6)), "new"):
            right = BANK.questions[name].table.lower[level, 1]
            if name == "Q2" and taker >= easier_from:
                right = 1 / (1 + np.exp(-(np.log(right / (1 - right)) + shift)))
            lines.append(Arrival(taker, name, "right" if rng.random() < right else "wrong"))
    return lines


def test_a_question_that_leaked_is_named_and_no_other():
    lines = stream(140, 60, 3)
    assert not drifts(watched(BANK, [line for line in lines if line.taker < 60]), pilots=["new"])
    found = drifts(watched(BANK, lines), pilots=["new"])
    assert list(found) == ["Q2"]
    one = found["Q2"]
    assert one.easier
    assert 45 <= one.since <= 75
    assert one.after > one.before + 0.2
    moved, tried = watch(BANK, lines)
    assert str(moved["Q2"]).startswith("It has become easier: of takers like these, ")
    assert list(tried) == ["new"]
    harder, _ = watch(BANK, stream(300, 120, 4, shift=-3))
    assert str(harder["Q2"]).startswith("It has become harder: ")


def test_the_intervals_of_a_pilot_shrink_around_the_truth():
    lines = stream(400, 500, 5)
    widths = []
    for takers in (10, 50, 400):
        one = calibrated(watched(BANK, [line for line in lines if line.taker < takers])["new"])
        widths.append(one.width)
        assert one.answers == takers
        assert (one.more == 0) == one.is_ready == (one.width <= 0.25)
    assert widths[0] > 1.3 * widths[1] > 2 * widths[2]
    np.testing.assert_allclose((one.lower + one.upper) / 2, [0.3, 0.5, 0.7], atol=0.1)  # how often they hold it: studies/drift.py
    assert "That is enough to use it" in str(watch(BANK, lines)[1]["new"])
    assert "more answers make it ready for use" in str(watch(BANK, [line for line in lines if line.taker < 10])[1]["new"])


def test_the_posterior_of_a_pilot_is_that_of_a_dense_grid():
    one = watched(BANK, stream(30, 50, 6))["new"]
    height = np.array([-1.0, 0.0, 1.0])
    slope, intercept = np.polyfit(height, np.log(one.chance / (1 - one.chance)), 1)
    places, rises = np.meshgrid(np.linspace(intercept - 6, intercept + 6, 241), np.linspace(0, slope + 5, 201), indexing="ij")
    chance = 1 / (1 + np.exp(-(places[..., None] + rises[..., None] * height)))
    right = chance @ one.levels.T
    logs = np.where(one.best, np.log(right), np.log(1 - right)).sum(axis=2)
    logs += -0.5 * ((places - intercept) / 1.5) ** 2 - 0.5 * (rises - slope) ** 2
    weights = np.exp(logs - logs.max()).reshape(-1)
    found = calibrated(one)
    for level in range(3):
        order = np.argsort(chance[..., level].reshape(-1))
        reached = np.cumsum(weights[order]) / weights.sum()
        ends = [chance[..., level].reshape(-1)[order][np.searchsorted(reached, share)] for share in (0.05, 0.95)]
        np.testing.assert_allclose([found.lower[level], found.upper[level]], ends, atol=0.02)
