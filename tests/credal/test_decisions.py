"""Decisions on a level against brute force: programs for every level, dense samples of the distributions between the bounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from oracles.scores import KINDS, TIGHT, interval_set, linear
from quaestor import Beliefs, Bounds, QuaestorError, Table, load, posterior
from quaestor.credal.decisions import SETS, admissible, expectation, level, maximal, passed_at, share_right, undominated, verdict

SEEDS = st.integers(0, 2**32 - 1)


def bounds(lower, upper=None):
    upper = lower if upper is None else upper
    return Bounds(tuple("abcdef"[: len(lower)]), lower, upper, lower, upper, "enumeration")


def random_bounds(rng, levels, kind=None):
    """Random bounds; half of them on a coarse grid, so that ties and touching ends are met."""
    kind = rng.choice(KINDS) if kind is None else kind
    if kind == "some" and rng.random() < 0.5:
        centre = rng.multinomial(10, np.ones(levels) / levels) / 10
        reach = rng.integers(0, 3, (2, levels)) / 10
        table = Table(np.maximum(centre - reach[0], 0), np.minimum(centre + reach[1], 1))
        return bounds(table.lower, table.upper)
    return bounds(*interval_set(rng, levels, kind))


def beats_always(made, one, other):
    """Whether P(one) > P(other) for every distribution, by a program."""
    difference = np.eye(len(made.states))[one] - np.eye(len(made.states))[other]
    return linear(difference, made.lower, made.upper)[0] > 1e-9


def is_best_somewhere(made, one):
    """Whether some distribution has P(one) >= P(other) for all others, by the largest margin that a program finds."""
    levels = len(made.states)
    others = [j for j in range(levels) if j != one]
    above = [[*(np.eye(levels)[j] - np.eye(levels)[one]), 1.0] for j in others]  # p_j - p_i + margin <= 0
    box = [*zip(made.lower, np.maximum(made.lower, made.upper), strict=True), (-1, 1)]
    solved = linprog(
        [0.0] * levels + [-1.0],
        A_ub=above,
        b_ub=np.zeros(len(others)),
        A_eq=[[1.0] * levels + [0.0]],
        b_eq=[1.0],
        bounds=box,
        options=TIGHT,
    )
    assert solved.status == 0, solved.message
    return -solved.fun >= -1e-9


def named(made, kept):
    return tuple(state for number, state in enumerate(made.states) if kept(number))


@given(st.integers(2, 5), SEEDS)
def test_sets_of_levels_are_those_of_the_definitions(levels, seed):
    made = random_bounds(np.random.default_rng(seed), levels)
    every = range(levels)
    assert undominated(made) == named(made, lambda i: not any(made.lower[j] > made.upper[i] + 1e-9 for j in every))
    assert maximal(made) == named(made, lambda i: not any(beats_always(made, j, i) for j in every if j != i))
    assert admissible(made) == named(made, lambda i: is_best_somewhere(made, i))


@given(st.integers(2, 5), SEEDS)
def test_the_best_levels_of_sampled_distributions_are_admissible_and_sets_are_nested(levels, seed):
    rng = np.random.default_rng(seed)
    made = random_bounds(rng, levels)
    corners = Table(made.lower, made.upper).row_vertices(0)
    points = np.concatenate([corners, rng.dirichlet(np.full(len(corners), 0.5), 300) @ corners])
    best = {made.states[number] for number in points.argmax(axis=1)}
    assert best <= set(admissible(made)) <= set(maximal(made)) <= set(undominated(made))
    assert admissible(made)
    assert level(made) in admissible(made)


def test_the_three_sets_differ():
    """By hand: c can never be best, though none beats it always; b loses to a always, though their intervals meet."""
    made = bounds([0.0, 0.0, 0.0, 0.3], [0.5, 0.5, 0.5, 0.3])
    assert undominated(made) == ("a", "b", "c", "d")
    never_best = bounds([0.28, 0.28, 0.28], [0.44, 0.44, 0.3])
    assert admissible(never_best) == ("a", "b")
    assert maximal(never_best) == ("a", "b", "c")
    beaten = bounds([0.4, 0.2, 0.2], [0.6, 0.4, 0.2])
    assert undominated(beaten) == ("a", "b")
    two = bounds([0.45, 0.4], [0.6, 0.55])
    assert undominated(two) == maximal(two) == admissible(two) == ("a", "b")
    clear = bounds([0.55, 0.4], [0.6, 0.45])
    assert undominated(clear) == maximal(clear) == admissible(clear) == ("a",)


@given(st.integers(2, 5), SEEDS)
def test_bounds_that_no_distribution_reaches_do_not_change_the_admissible_or_maximal_levels(levels, seed):
    """Safe bounds that are not exact may be looser than the distributions between them."""
    rng = np.random.default_rng(seed)
    made = random_bounds(rng, levels, "some")
    loose = made.upper.copy()
    for number in range(levels):  # raise one upper end that the others' lower ends hold down
        if made.upper[number] >= 1 - (made.lower.sum() - made.lower[number]) - 1e-12:
            loose[number] = min(1, loose[number] + 0.2)
            break
    looser = bounds(made.lower, loose)
    assert admissible(looser) == admissible(made)
    assert maximal(looser) == maximal(made)
    assert set(maximal(looser)) <= set(undominated(looser))


@given(st.integers(2, 5), SEEDS)
def test_precise_beliefs_leave_the_most_probable_level(levels, seed):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(levels))
    best = "abcdef"[int(p.argmax())]
    assert level(bounds(p)) == best
    for decide in SETS.values():
        assert decide(bounds(p)) == (best,)


def test_tied_levels_stay_together_and_the_lowest_is_named():
    even = bounds([0.4, 0.2, 0.4])
    assert level(even) == "a"
    assert level(bounds([0.2, 0.4, 0.4])) == "b"
    assert level(bounds([0.4 - 1e-12, 0.2, 0.4])) == "a"  # rounding is no difference
    assert level(bounds([0.4 - 1e-6, 0.2, 0.4 + 1e-6])) == "c"
    for decide in SETS.values():
        assert decide(even) == ("a", "c")


def test_one_level_is_decided_by_the_centre():
    assert level(bounds([0.2, 0.45], [0.55, 0.8])) == "b"
    assert level(bounds([0.1, 0.2, 0.3], [0.3, 0.6, 0.5])) == "b"  # the centre is .2, .4, .4
    assert level(bounds([0.3, 0.3], [0.7, 0.7])) == "a"


@given(st.integers(2, 5), SEEDS)
def test_expectations_are_those_of_a_solver(levels, seed):
    rng = np.random.default_rng(seed)
    made = random_bounds(rng, levels)
    scale = rng.normal(size=levels).round(2).tolist()
    expected = linear(np.array(scale), made.lower, made.upper)
    assert expectation(made, scale) == pytest.approx(expected, abs=1e-9)
    assert expectation(made, dict(zip(made.states, scale, strict=True))) == expectation(made, scale)


def test_the_expectation_of_precise_beliefs_is_one_number():
    low, high = expectation(bounds([0.2, 0.3, 0.5]), [0, 1, 2])
    assert low == pytest.approx(1.3)
    assert high == pytest.approx(1.3)
    assert isinstance(low, float)


@given(st.integers(2, 5), SEEDS)
def test_a_verdict_is_what_every_distribution_says(levels, seed):
    rng = np.random.default_rng(seed)
    made = random_bounds(rng, levels)
    least, needed = int(rng.integers(levels)), float(rng.choice([0.1, 0.5, 0.9, 1.0]))
    found = verdict(made, made.states[least], needed)
    low, high = linear((np.arange(levels) >= least).astype(float), made.lower, made.upper)
    assert (found.lower, found.upper) == pytest.approx((low, high), abs=1e-9)
    assert found.result == ("pass" if low >= needed - 1e-9 else "fail" if high < needed - 1e-9 else "cannot tell yet")


def test_verdicts_by_hand():
    made = bounds([0.1, 0.2, 0.3], [0.3, 0.6, 0.5])
    assert verdict(made, "b").result == "pass"
    assert verdict(made, "c").result == "cannot tell yet"  # .3 to .5: one distribution reaches one half
    assert verdict(made, "c", 0.6).result == "fail"
    assert verdict(made, "a", 1.0).result == "pass"
    assert verdict(bounds([0.5, 0.5]), "b").result == "pass"


def test_decisions_on_a_posterior():
    beliefs = posterior(load("multiplication").widen(0.05), {"Q1": "right"})
    assert isinstance(beliefs, Beliefs)
    made = beliefs["multiplication"]
    assert level(made) == made.states[1]
    assert admissible(made) == (made.states[1],)
    assert verdict(made, made.states[1], 0.6).result == "pass"
    assert verdict(made, made.states[1], 0.9).result == "fail"
    assert verdict(made, made.states[1], 0.7).result == "cannot tell yet"


def test_shares_of_right_answers():
    assert share_right(3, 4) == 0.75
    assert share_right(0, 4) == 0
    for right, answered in ((5, 4), (-1, 4), (0, 0)):
        with pytest.raises(QuaestorError, match=f"a share needs answers, and no more right ones than answers, got {right} of {answered}"):
            share_right(right, answered)
    assert passed_at(3, 3)
    assert not passed_at(2, 3)


def test_wrong_scales_are_named():
    made = bounds([0.2, 0.3, 0.5])
    with pytest.raises(QuaestorError, match="a scale gives a number for each of a, b, c, got 2 numbers"):
        expectation(made, [0, 1])
    with pytest.raises(QuaestorError, match=r"a scale has finite numbers, got \[0, inf, 1\]"):
        expectation(made, [0, float("inf"), 1])
    with pytest.raises(QuaestorError, match=r"a scale gives a number for each of a, b, c, got a, b$"):
        expectation(made, {"a": 0, "b": 1})
    with pytest.raises(QuaestorError, match=r"a scale gives a number for each of a, b, c, got a, b, c, d$"):
        expectation(made, {"a": 0, "b": 1, "c": 2, "d": 3})
    with pytest.raises(QuaestorError, match=r"a scale has finite numbers, got \['low', 1, 2\]"):
        expectation(made, ["low", 1, 2])


def test_wrong_verdicts_are_named():
    made = bounds([0.2, 0.8])
    with pytest.raises(QuaestorError, match="a level is one of a, b, got 'z'"):
        verdict(made, "z")
    for probability in (0, -0.1, 1.5, float("nan")):
        with pytest.raises(QuaestorError, match=f"a pass needs a probability above 0 and at most 1, got {probability}"):
            verdict(made, "a", probability)
