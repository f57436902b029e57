"""Isotonic regression on chains and partial orders against a quadratic program, and the upper sets against their definition."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from quaestor.learn import order as ordering
from quaestor.learn.order import Order, isotonic, levels_order, tied_order

SIZES = [(2,), (5,), (2, 2), (3, 2), (2, 2, 2), (4, 4)]


@pytest.mark.parametrize(("sizes", "count"), [((4,), 5), ((2, 2), 6), ((2, 2, 2), 20), ((4, 4), 70), ((3, 3, 3), 980), ((2,) * 5, 7581)])
def test_the_number_of_upper_sets_is_known(sizes, count):
    """Chains: one more than places; a 4 x 4 grid: binomial(8, 4); a 3 x 3 x 3 box: plane partitions; Boolean lattices: Dedekind numbers."""
    assert len(levels_order(sizes).sets) == count


def test_upper_sets_by_their_definition():
    order = levels_order((3, 2))
    places = list(product(range(3), range(2)))
    every = {
        chosen
        for chosen in product([0, 1], repeat=6)
        if all(
            not chosen[one] or chosen[other]
            for one, below in enumerate(places)
            for other, above in enumerate(places)
            if all(a >= b for a, b in zip(above, below, strict=True))
        )
    }
    assert {tuple(row) for row in order.sets.astype(int).tolist()} == every


def by_program(values, weights, covers):
    rules = np.zeros((len(covers), len(values)))
    rules[np.arange(len(covers)), covers[:, 0]], rules[np.arange(len(covers)), covers[:, 1]] = -1, 1
    found = minimize(
        lambda x: float(weights @ (x - values) ** 2),
        np.full(len(values), values.mean()),
        jac=lambda x: 2 * weights * (x - values),
        constraints={"type": "ineq", "fun": lambda x: rules @ x, "jac": lambda _: rules},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return found.x


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("listed", [True, False])
def test_against_a_quadratic_program(sizes, listed):
    order = levels_order(sizes)
    order = order if listed else Order(order.size, order.covers, None)
    rng = np.random.default_rng(3)
    values, weights = rng.random((4, order.size)), rng.uniform(0.1, 3, (4, order.size))
    found = isotonic(values, weights, order)
    for one in range(4):
        np.testing.assert_allclose(found[one], by_program(values[one], weights[one], order.covers), atol=2e-4)
        assert (found[one][order.covers[:, 1]] - found[one][order.covers[:, 0]] >= -1e-12).all()


@given(st.lists(st.floats(0, 1), min_size=4, max_size=4), st.lists(st.sampled_from([1e-9, 0.5, 1.0, 100.0]), min_size=4, max_size=4))
def test_a_chain_by_both_ways(values, weights):
    """The formula for chains, and cuts; weights as small as they come."""
    y, w = np.array([values]), np.array([weights])
    cuts = ordering._by_splits(y[0], w[0], levels_order((4,)))
    chain = isotonic(y, w, levels_order((4,)))[0]
    assert float(w[0] @ (chain - y[0]) ** 2) == pytest.approx(float(w[0] @ (cuts - y[0]) ** 2), abs=1e-9)
    assert (np.diff(chain) >= -1e-12).all()
    assert chain.min() >= min(values) - 1e-12
    assert chain.max() <= max(values) + 1e-12


def test_what_is_monotone_stays_as_it_is():
    values = np.array([[0.1, 0.2, 0.3, 0.9]])
    assert (isotonic(values, np.ones((1, 4)), levels_order((2, 2))) == values).all()
    np.testing.assert_allclose(isotonic(values, np.ones((1, 4)), levels_order((4,))), values, atol=1e-15)


def test_ties_make_a_smaller_order():
    order = levels_order((2, 2, 2))
    tied = tied_order(order, np.array([0, 0, 0, 0, 0, 0, 0, 1]))  # those who can, and the others
    assert tied.is_chain
    assert len(tied.sets) == 3
    crossed = tied_order(levels_order((3,)), np.array([0, 1, 0]))  # lowest and highest together: all are
    assert isotonic(np.array([[0.2, 0.8]]), np.array([[1.0, 1.0]]), crossed).tolist() == [[0.5, 0.5]]
