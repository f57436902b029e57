"""Credal tables made wider, and the precise table in the middle of one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.strategies import distributions, interval_rows
from helpers.table_checks import ROUNDING, SOLVER, any_interval_row, any_table, optimum
from quaestor.errors import NetworkError
from quaestor.model.table import Table, centre


@given(any_interval_row, st.sampled_from([0.01, 0.05, 0.3, 1.0]))
def test_widening_moves_every_bound_outwards_and_keeps_it_attained(row, epsilon):
    table = Table(*row)
    wide = table.widen(epsilon)
    box = np.maximum(table.lower - epsilon, 0), np.minimum(table.upper + epsilon, 1)
    for state in range(len(row[0])):
        goal = np.eye(len(row[0]))[state]
        assert wide.upper[state] == pytest.approx(optimum(*box, goal), abs=SOLVER)
        assert wide.lower[state] == pytest.approx(-optimum(*box, -goal), abs=SOLVER)


@given(any_table, st.sampled_from([0.0, 0.02, 0.2]), st.sampled_from([0.0, 0.1, 0.5]))
def test_more_widening_gives_wider_tables(table, epsilon, more):
    narrow, wide = table.widen(epsilon), table.widen(epsilon + more)
    assert (wide.lower <= narrow.lower + ROUNDING).all()
    assert (wide.upper >= narrow.upper - ROUNDING).all()


def test_widening_two_states_moves_both_by_epsilon():
    table = Table.precise([[0.3, 0.7], [0.99, 0.01]]).widen(0.05)
    assert table.lower == pytest.approx(np.array([[0.25, 0.65], [0.94, 0.0]]))
    assert table.upper == pytest.approx(np.array([[0.35, 0.75], [1.0, 0.06]]))


def test_widening_a_row_of_vertices_widens_its_envelope():
    points = {0: [[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]]}
    table = Table([0.0] * 3, [1.0] * 3, points).widen(0.1)
    assert not table.vertices
    assert table == Table([0.1, 0.1, 0.1], [0.7, 0.7, 0.5])


@given(any_table)
def test_widening_by_nothing_changes_nothing(table):
    assert table.widen(0) is table


@given(any_table)
def test_widening_by_one_leaves_no_knowledge(table):
    wide = table.widen(1)
    assert (wide.lower == 0).all()
    assert (wide.upper == 1).all()


@pytest.mark.parametrize("epsilon", [-0.1, 1.1, float("nan")])
def test_widening_by_no_probability_is_refused(epsilon):
    with pytest.raises(NetworkError) as caught:
        Table.precise([0.5, 0.5]).widen(epsilon)
    assert str(caught.value) == f"a table is widened by a number between 0 and 1, got {epsilon}"


@given(any_table)
def test_the_centre_lies_in_the_set(table):
    middle = table.centre()
    assert middle.is_precise
    assert middle.lower.sum(axis=-1) == pytest.approx(1, abs=ROUNDING)
    assert (middle.lower >= table.lower - ROUNDING).all()
    assert (middle.lower <= table.upper + ROUNDING).all()


@given(any_interval_row)
def test_the_centre_goes_the_same_share_of_the_way_in_every_state(row):
    table = Table(*row)
    shares = (table.centre().lower - table.lower)[table.upper > table.lower] / (table.upper - table.lower)[table.upper > table.lower]
    assert shares == pytest.approx(np.full(len(shares), shares.mean() if len(shares) else 0), abs=ROUNDING)


@given(interval_rows(2))
def test_the_centre_of_two_states_is_the_midpoint(row):
    table = Table(*row)
    assert table.centre().lower == pytest.approx((table.lower + table.upper) / 2, abs=ROUNDING)


def test_the_centre_of_a_row_of_vertices_is_their_mean():
    points = [[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.1, 0.4, 0.5]]
    assert Table([0.0] * 3, [1.0] * 3, {0: points}).centre().lower == pytest.approx([0.3, 0.4, 0.3])


@given(st.integers(2, 5).flatmap(distributions))
def test_a_precise_table_is_its_own_centre(row):
    assert Table.precise(row).centre() == Table.precise(row)


def test_the_centre_of_bounds_on_several_variables():
    lower, upper = np.array([[0.1, 0.2, 0.3], [0.4, 0.3, 0.3]]), np.array([[0.3, 0.6, 0.5], [0.4, 0.3, 0.3]])
    assert centre(lower, upper) == pytest.approx(np.array([[0.2, 0.4, 0.4], [0.4, 0.3, 0.3]]))
