"""Indices of uncertainty over interval sets against dense samples and vertices; linear functions against a solver."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from oracles.scores import BOUNDS, KINDS, UNCERTAINTY, even, index_of, interval_set, linear
from quaestor import Table
from quaestor.credal.indices import INDICES, deviation, entropy, gini, mode
from quaestor.credal.intervals import largest, most_even, smallest
from quaestor.model.table import vertices

LEVELS = (2, 3, 4, 5)
SEEDS = st.integers(0, 2**32 - 1)


def dense(rng, low, high, count=2000):
    """Distributions of an interval set: its vertices, mixtures of them near and far from the corners, and points around the even one."""
    corners = Table(low, high).row_vertices(0)
    mixed = [rng.dirichlet(np.full(len(corners), spread), count // 2) @ corners for spread in (0.3, 3.0)]
    return np.concatenate([corners, *mixed])


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("name", UNCERTAINTY)
def test_values_are_0_for_certainty_1_for_evenness_and_between_elsewhere(name, levels):
    value = INDICES[name].value
    assert value(np.eye(levels)) == pytest.approx(np.zeros(levels), abs=1e-15)
    assert value(np.full(levels, 1 / levels)) == pytest.approx(1, abs=1e-15)
    p = np.random.default_rng(levels).dirichlet(np.ones(levels), (5, 40))
    found = value(p)
    assert found.shape == (5, 40)
    assert ((found > 0) & (found < 1)).all()
    np.testing.assert_allclose(found, index_of(name, p), atol=1e-14)


def test_values_by_hand():
    p = np.array([0.5, 0.25, 0.25])
    assert entropy(p) == pytest.approx(1.5 * np.log(2) / np.log(3))
    assert mode(p) == pytest.approx(3 * 0.5 / 2)
    assert gini(p) == pytest.approx(3 / 2 * (1 - 0.375))
    assert entropy(np.array([0.1, 0.9])) == pytest.approx(0.4689955935892812)
    assert deviation(np.array([0.5, 1.0]), 2) == pytest.approx([1, 0])


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("name", UNCERTAINTY)
def test_bounds_are_never_exceeded_and_are_attained(name, levels):
    rng = np.random.default_rng([levels, len(name)])
    index = INDICES[name]
    for kind in KINDS * 3:
        low, high = interval_set(rng, levels, kind)
        points = dense(rng, low, high)
        values = index_of(name, points)
        lower, upper = index.lower(low, high), index.upper(low, high)
        assert lower == pytest.approx(values.min(), abs=1e-9)  # a vertex attains it
        assert values.max() <= upper + 1e-9
        best = most_even(low, high)
        assert (low - 1e-12 <= best).all()
        assert (best <= high + 1e-12).all()
        assert best.sum() == pytest.approx(1, abs=1e-12)
        assert index_of(name, best) == pytest.approx(upper, abs=1e-12)
        nearer = 0.999 * best + 0.001 * points  # no step away from it gains
        assert index_of(name, nearer).max() <= upper + 1e-12


@pytest.mark.parametrize("levels", LEVELS)
def test_the_upper_mode_is_the_program_of_the_smallest_largest_probability(levels):
    """t* is the smallest t >= max l with sum min(u, t) >= 1."""
    rng = np.random.default_rng(levels)
    for kind in KINDS * 4:
        low, high = interval_set(rng, levels, kind)
        steps = np.concatenate([np.sort(np.concatenate([low, high])), [1.0]])
        fits = [t for t in steps if t >= low.max() and np.minimum(high, t).sum() >= 1 - 1e-12]
        below = [t for t in steps if t < min(fits)]
        t = min(fits)
        if below and max(below) >= low.max():  # between two steps the sum rises by the number of states that are not full
            free = (high > max(below)).sum()
            t = max(below) + (1 - np.minimum(high, max(below)).sum()) / free
        assert INDICES["mode"].upper(low, high) == pytest.approx(levels * (1 - t) / (levels - 1), abs=1e-9)
        assert INDICES["mode"].lower(low, high) == pytest.approx(levels * (1 - high.max()) / (levels - 1), abs=1e-12)


@pytest.mark.parametrize("name", UNCERTAINTY)
def test_an_interval_of_two_levels_that_holds_one_half_is_wholly_uncertain(name):
    assert INDICES[name].upper(np.array([0.3, 0.4]), np.array([0.6, 0.7])) == pytest.approx(1)
    assert INDICES[name].upper(np.array([0.6, 0.3]), np.array([0.7, 0.4])) == pytest.approx(index_of(name, np.array([0.6, 0.4])))


@given(st.sampled_from(UNCERTAINTY), st.integers(2, 5), SEEDS)
def test_whole_arrays_are_sets_one_by_one(name, levels, seed):
    rng = np.random.default_rng(seed)
    sets = [[interval_set(rng, levels, rng.choice(KINDS)) for _ in range(3)] for _ in range(2)]
    low, high = (np.array([[one[end] for one in row] for row in sets]) for end in (0, 1))
    for bound in BOUNDS:
        found = INDICES[name].bound(low, high, bound)
        assert found.shape == (2, 3)
        alone = [[INDICES[name].bound(*one, bound) for one in row] for row in sets]
        np.testing.assert_allclose(found, alone, atol=1e-14)
        assert (INDICES[name].bound(low, high, "lower") <= found + 1e-12).all()


@given(st.sampled_from(UNCERTAINTY), st.integers(2, 5), SEEDS)
def test_wider_sets_have_wider_bounds(name, levels, seed):
    rng = np.random.default_rng(seed)
    low, high = interval_set(rng, levels, rng.choice(KINDS))
    wide = Table(np.maximum(low - 0.1, 0), np.minimum(high + 0.1, 1))
    assert INDICES[name].lower(wide.lower, wide.upper) <= INDICES[name].lower(low, high) + 1e-12
    assert INDICES[name].upper(wide.lower, wide.upper) >= INDICES[name].upper(low, high) - 1e-12


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("name", UNCERTAINTY)
@pytest.mark.parametrize("bound", BOUNDS)
def test_width_zero_is_the_value(name, levels, bound):
    p = np.random.default_rng(levels).dirichlet(np.ones(levels), 30)
    p[:5] = np.eye(levels)[np.arange(5) % levels]
    expected = index_of(name, p)
    np.testing.assert_allclose(INDICES[name].bound(p, p, bound), expected, atol=1e-12)
    np.testing.assert_allclose(INDICES[name].bound(p, p.copy(), bound), expected, atol=1e-9)


@given(st.integers(2, 6), SEEDS)
def test_most_even_is_the_water_level(levels, seed):
    rng = np.random.default_rng(seed)
    low, high = interval_set(rng, levels, rng.choice(KINDS))
    np.testing.assert_allclose(most_even(low, high), even(low, high), atol=1e-9)


@given(st.integers(2, 5), SEEDS)
def test_linear_functions_are_those_of_a_solver(states, seed):
    rng = np.random.default_rng(seed)
    low, high = interval_set(rng, states, rng.choice(KINDS))
    c = rng.choice([rng.normal(size=states), rng.integers(-1, 2, states).astype(float)])  # ties among the second kind
    least, most = linear(c, low, high)
    assert smallest(c, low, high) == pytest.approx(least, abs=1e-9)
    assert largest(c, low, high) == pytest.approx(most, abs=1e-9)


def test_linear_functions_of_whole_arrays():
    """One function for many sets, many functions for one set, a function for each."""
    rng = np.random.default_rng(3)
    sets = [interval_set(rng, 4, "some") for _ in range(6)]
    low, high = (np.array([one[end] for one in sets]) for end in (0, 1))
    c = rng.normal(size=(6, 4))
    np.testing.assert_allclose(largest(c, low, high), [linear(*each)[1] for each in zip(c, low, high, strict=True)], atol=1e-9)
    np.testing.assert_allclose(smallest(c, low[0], high[0]), [linear(one, low[0], high[0])[0] for one in c], atol=1e-9)
    many = np.broadcast_to(c[0], (6, 4))
    np.testing.assert_allclose(largest(many, low, high), [linear(c[0], *one)[1] for one in sets], atol=1e-9)


@given(st.integers(2, 5), SEEDS)
def test_vertices_are_those_of_the_row(states, seed):
    rng = np.random.default_rng(seed)
    low, high = interval_set(rng, states, rng.choice(KINDS))
    points, inside = vertices(low, high)
    found = {tuple(point) for point in np.round(points[inside], 8) + 0.0}
    assert found == {tuple(point) for point in np.round(Table(low, high).row_vertices(0), 8) + 0.0}


@pytest.mark.parametrize("levels", LEVELS)
def test_upper_and_lower_variance_are_never_exceeded_and_are_attained(levels):
    rng = np.random.default_rng([levels, 7])
    numbers = 2 * np.arange(levels) / (levels - 1)
    for kind in KINDS * 2:
        low, high = interval_set(rng, levels, kind)
        points = dense(rng, low, high)
        values = ((points[:, :, None] * points[:, None] * (numbers[:, None] - numbers) ** 2) / 2).sum(axis=(1, 2))
        lower, upper = INDICES["variance"].lower(low, high), INDICES["variance"].upper(low, high)
        np.testing.assert_allclose(INDICES["variance"].value(points), values, atol=1e-12)
        assert lower == pytest.approx(values.min(), abs=1e-9)
        assert values.max() <= upper + 1e-9
        found = minimize(
            lambda p, k=numbers: (p @ k) ** 2 - p @ k**2,
            points[values.argmax()],
            bounds=list(zip(low, np.maximum(low, high), strict=True)),
            constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
        )
        assert -found.fun == pytest.approx(upper, abs=1e-6)
