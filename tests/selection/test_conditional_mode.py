"""The bounds of the conditional deviation from the mode against the m^r linear programs of the paper's Theorem 1."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.scores import KINDS, index_bound, index_of, interval_set, one_program, theorem_one
from quaestor import QuaestorError, Table
from quaestor.selection.scores.conditional_mode import lower_mode, upper_mode

CASES = {  # (levels, classes): how many random cases
    **{(2, 2): 60, (2, 3): 50, (3, 2): 50, (3, 3): 50, (2, 4): 40},
    **{(4, 2): 40, (3, 4): 16, (4, 3): 16, (4, 4): 4},
}
LONG = pytest.mark.long  # these programs are many
PARTS = [(*size, part) for size, count in CASES.items() for part in range(-(-count // 10))]  # of ten cases: two cores share them


def random_case(rng, levels, classes, kinds=KINDS):
    """K(S) as two arrays (levels,), the rows as two arrays (classes, levels); each credal set of its own kind."""
    sets = interval_set(rng, levels, rng.choice(kinds))
    alike = rng.choice([*kinds, "mixed", "mixed", "mixed"])
    rows = [interval_set(rng, classes, rng.choice(kinds) if alike == "mixed" else alike) for _ in range(levels)]
    return *sets, *(np.stack([row[end] for row in rows], axis=1) for end in (0, 1))


def stacked(cases):
    return [np.stack(parts) for parts in zip(*cases, strict=True)]


def test_there_are_three_hundred_cases():
    assert sum(CASES.values()) >= 300


@pytest.mark.parametrize(("levels", "classes", "part"), [pytest.param(*one, marks=LONG if one[0] * one[1] > 9 else ()) for one in PARTS])
def test_both_bounds_are_those_of_the_programs_of_theorem_1(levels, classes, part):
    rng = np.random.default_rng([levels, classes, part])
    cases = [random_case(rng, levels, classes) for _ in range(min(10, CASES[levels, classes] - 10 * part))]
    expected = [theorem_one(*case) for case in cases]
    for bound, found in (("lower", lower_mode(*stacked(cases))), ("upper", upper_mode(*stacked(cases)))):
        np.testing.assert_allclose(found, [one[bound] for one in expected], rtol=0, atol=1e-9)
        alone = [(lower_mode if bound == "lower" else upper_mode)(*stacked([case]))[0] for case in cases]
        np.testing.assert_allclose(found, alone, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("levels", "classes"), CASES)
def test_no_distribution_of_the_sets_lies_outside_and_lower_bounds_are_attained(levels, classes):
    """The sum of largest x_ij is convex: over products of vertices its maximum, which gives the lower M, is attained."""
    rng = np.random.default_rng([9, levels, classes])
    for _ in range(6):
        low, high, rows_low, rows_high = case = random_case(rng, levels, classes)
        lower, upper = lower_mode(*stacked([case]))[0], upper_mode(*stacked([case]))[0]
        sets = [Table(low, high).row_vertices(0), *(Table(rows_low[:, j], rows_high[:, j]).row_vertices(0) for j in range(levels))]
        seen = []
        for _ in range(50):
            p, *rows = (rng.dirichlet(np.ones(len(points)) * 0.5) @ points for points in sets)
            seen.append(_left(p, np.stack(rows, axis=1)))
        if np.prod([len(points) for points in sets]) <= 3000:
            corners = [_left(p, np.stack(rows, axis=1)) for p, *rows in product(*sets)]
            assert min(corners) == pytest.approx(lower, abs=1e-12)
            seen += corners
        assert lower - 1e-12 <= min(seen)
        assert max(seen) <= upper + 1e-9


def _left(p, rows):
    """M(S|Q) of one distribution of the levels and one of the classes for each level, (classes, levels)."""
    levels = len(p)
    return levels * (1 - (p * rows).max(axis=1).sum()) / (levels - 1)


@pytest.mark.parametrize(("levels", "classes"), CASES)
def test_width_zero_is_the_precise_value(levels, classes):
    rng = np.random.default_rng([1, levels, classes])
    cases = [random_case(rng, levels, classes, ("point", "corner")) for _ in range(20)]
    expected = [_left(low, rows_low) for low, _, rows_low, _ in cases]
    np.testing.assert_allclose(lower_mode(*stacked(cases)), expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(upper_mode(*stacked(cases)), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("levels", "classes"), CASES)
def test_where_everything_is_possible_the_bounds_are_0_and_1(levels, classes):
    case = [np.zeros((1, levels)), np.ones((1, levels)), np.zeros((1, classes, levels)), np.ones((1, classes, levels))]
    assert lower_mode(*case) == pytest.approx([0], abs=1e-12)
    assert upper_mode(*case) == pytest.approx([1], abs=1e-9)


@pytest.mark.parametrize(("levels", "classes"), CASES)
def test_equal_precise_rows_leave_what_there_was(levels, classes):
    rng = np.random.default_rng([2, levels, classes])
    low, high = interval_set(rng, levels, "some")
    row = rng.dirichlet(np.ones(classes))[:, None]
    case = stacked([(low, high, np.tile(row, (1, levels)), np.tile(row, (1, levels)))])
    assert lower_mode(*case)[0] == pytest.approx(index_bound("mode", "lower", low, high), abs=1e-9)
    assert upper_mode(*case)[0] == pytest.approx(index_bound("mode", "upper", low, high), abs=1e-9)


def test_a_case_by_hand():
    """p in [.4, .6], P(right) = .2 and .8 exactly: at p = 1/2 what is left is 2 (1 - .8), at .4 and .6 as well; no answer is needed."""
    case = stacked([([0.4, 0.4], [0.6, 0.6], [[0.8, 0.2], [0.2, 0.8]], [[0.8, 0.2], [0.2, 0.8]])])
    assert lower_mode(*case)[0] == pytest.approx(0.4, abs=1e-15)
    assert upper_mode(*case)[0] == pytest.approx(0.4, abs=1e-15)
    loose = stacked([([0.4, 0.4], [0.6, 0.6], [[0.7, 0.1], [0.1, 0.7]], [[0.9, 0.3], [0.3, 0.9]])])
    assert lower_mode(*loose)[0] == pytest.approx(0.2, abs=1e-15)
    assert upper_mode(*loose)[0] == pytest.approx(0.6, abs=1e-15)


@given(st.integers(2, 4), st.integers(2, 4), st.integers(0, 2**32 - 1))
def test_wider_sets_give_wider_bounds_that_a_question_never_raises_above_the_lower_ones(levels, classes, seed):
    """Of a convex combination of networks none is outside; and no question can raise M on average, for any network."""
    rng = np.random.default_rng(seed)
    low, high, rows_low, rows_high = random_case(rng, levels, classes)
    wide = Table(np.maximum(low - 0.05, 0), np.minimum(high + 0.05, 1))
    rows = Table(np.maximum(rows_low - 0.05, 0).T, np.minimum(rows_high + 0.05, 1).T)
    narrow, wider = stacked([(low, high, rows_low, rows_high)]), stacked([(wide.lower, wide.upper, rows.lower.T, rows.upper.T)])
    assert lower_mode(*wider)[0] <= lower_mode(*narrow)[0] + 1e-9
    assert upper_mode(*wider)[0] >= upper_mode(*narrow)[0] - 1e-9
    assert lower_mode(*narrow)[0] <= upper_mode(*narrow)[0] + 1e-9
    assert upper_mode(*narrow)[0] <= index_bound("mode", "upper", low, high) + 1e-9
    assert lower_mode(*narrow)[0] <= index_bound("mode", "lower", low, high) + 1e-9


def test_the_two_ways_to_write_m_are_one():
    p = np.random.default_rng(0).dirichlet(np.ones(4), 50)
    np.testing.assert_allclose(index_of("mode", p), 4 * (1 - p.max(axis=1)) / 3, atol=1e-15)


def test_too_many_assignments_are_refused():
    rows = np.full((1, 12, 4), 1 / 12)
    with pytest.raises(QuaestorError, match=r"the mode score takes at most 500000 assignments of answers to levels, got 4\^12"):
        lower_mode(np.full((1, 4), 0.25), np.full((1, 4), 0.25), rows, rows)


def test_bounds_without_a_distribution_are_refused():
    rows = np.full((1, 3, 3), 1 / 3)
    with pytest.raises(QuaestorError, match="the upper deviation from the mode has no solution: the bounds hold no distribution"):
        upper_mode(np.full((1, 3), 0.2), np.full((1, 3), 0.3), rows, rows)


@pytest.mark.parametrize(("levels", "classes"), [*product(range(3, 7), (2, 3, 4)), (2, 3), (2, 4), (3, 6)])
def test_the_upper_bound_is_that_of_one_linear_program(levels, classes):
    rng = np.random.default_rng([3, levels, classes])
    cases = stacked([random_case(rng, levels, classes) for _ in range(250)])
    np.testing.assert_allclose(upper_mode(*cases), one_program(*cases), rtol=0, atol=1e-9)


def test_questions_with_many_classes_are_those_of_the_program():
    rng = np.random.default_rng(4)
    cases = stacked([random_case(rng, 3, 11, ("some", "zeros")) for _ in range(30)])
    np.testing.assert_allclose(upper_mode(*cases), one_program(*cases), rtol=0, atol=1e-9)


def test_levels_that_nobody_can_have_count_for_nothing():
    """With p_2 = 0 what is left is that of two levels, on the scale of three."""
    rng = np.random.default_rng(5)
    cases = stacked([random_case(rng, 2, 2) for _ in range(50)])
    sets = [np.concatenate([ends, np.zeros((50, 1))], axis=1) for ends in cases[:2]]
    rows = [np.concatenate([ends, rest], axis=2) for ends, rest in zip(cases[2:], (np.zeros((50, 2, 1)), np.ones((50, 2, 1))), strict=True)]
    np.testing.assert_allclose(upper_mode(*sets, *rows), upper_mode(*cases) * 3 / 4, rtol=0, atol=1e-9)


def test_rows_need_not_be_reachable():
    """Ends that no distribution of a row attains change nothing: here P(right) up to .9 where P(wrong) is at least .3."""
    sets = [[0.2, 0.2, 0.2], [0.6, 0.6, 0.6]]
    loose = stacked([(*sets, [[0.3, 0.1, 0.5], [0.1, 0.2, 0.2]], [[0.9, 0.8, 0.8], [0.9, 0.9, 0.5]])])
    tight = stacked([(*sets, [[0.3, 0.1, 0.5], [0.1, 0.2, 0.2]], [[0.9, 0.8, 0.8], [0.7, 0.9, 0.5]])])
    assert upper_mode(*loose) == pytest.approx(upper_mode(*tight), abs=1e-12)


@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_where_the_method_stops_early_the_bound_is_an_outer_one(monkeypatch, rounds):
    rng = np.random.default_rng(0)
    cases = stacked([random_case(rng, 3, 3) for _ in range(100)])
    expected = upper_mode(*cases)
    monkeypatch.setattr("quaestor.selection.scores.conditional_mode._ROUNDS", rounds)
    early = upper_mode(*cases)
    assert (early >= expected - 1e-12).all()
    assert (early > expected + 1e-6).any()


def test_no_questions_have_no_bounds():
    assert upper_mode(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 2, 3)), np.zeros((0, 2, 3))).shape == (0,)
