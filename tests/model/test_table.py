"""Credal tables: reachable rows, vertices, and what is refused."""

import pickle
from dataclasses import FrozenInstanceError
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.table_checks import ROUNDING, SOLVER, any_interval_row, any_table, optimum
from quaestor.errors import NetworkError
from quaestor.model.table import Table, row_vertices


def brute_force_vertices(lower, upper):
    """Put all coordinates but one at a bound in every way; the free one takes what is left, when its bounds let it."""
    states, found = len(lower), set()
    for free in range(states):
        others = [i for i in range(states) if i != free]
        for ends in product(*((lower[i], upper[i]) for i in others)):
            left = 1 - sum(ends)
            if lower[free] - ROUNDING <= left <= upper[free] + ROUNDING:
                point = dict(zip(others, ends, strict=True)) | {free: left}
                found.add(tuple(round(point[i], 9) + 0.0 for i in range(states)))
    return found


def flat(table):
    """The bounds as rows, shape (rows, states)."""
    states = table.shape[-1]
    return table.lower.reshape(-1, states), table.upper.reshape(-1, states)


# Reachable bounds


@given(any_interval_row)
def test_each_bound_is_the_smallest_or_largest_value_in_the_set(row):
    table = Table(*row)
    for state in range(len(row[0])):
        goal = np.eye(len(row[0]))[state]
        assert table.upper[state] == pytest.approx(optimum(*row, goal), abs=SOLVER)
        assert table.lower[state] == pytest.approx(-optimum(*row, -goal), abs=SOLVER)


def test_a_bound_that_nothing_attains_is_tightened():
    table = Table([0.1, 0.0, 0.2], [0.2, 1.0, 0.3])
    assert table.lower == pytest.approx([0.1, 0.5, 0.2])
    assert table.upper == pytest.approx([0.2, 0.7, 0.3])


@pytest.mark.parametrize(("lower", "upper"), [([0.3, 0.7], [0.5, 0.9]), ([0.1, 0.2], [0.3, 0.7]), ([0.1, 0.2, 0.7], [0.3, 0.2, 0.9])])
def test_bounds_around_a_single_distribution_make_a_precise_row(lower, upper):
    table = Table(lower, upper)
    assert table.is_precise
    assert table.lower.sum() == pytest.approx(1, abs=ROUNDING)


@given(any_table)
def test_making_a_table_again_changes_nothing(table):
    assert Table(table.lower, table.upper, table.vertices) == table


@given(any_table)
def test_bounds_stay_probabilities_in_order(table):
    assert (table.lower >= 0).all()
    assert (table.upper <= 1).all()
    assert (table.lower <= table.upper).all()


# Sums that are off by little or by much


def test_a_precise_row_within_the_tolerance_is_divided_by_its_sum():
    table = Table.precise([0.3333333, 0.3333333, 0.3333333])
    assert table.lower.tolist() == pytest.approx([1 / 3] * 3, abs=1e-15)
    assert table.is_precise


def test_lower_ends_that_sum_to_little_more_than_one_are_scaled():
    table = Table([0.5000004, 0.5], [0.6, 0.7])
    assert table.lower.sum() == pytest.approx(1, abs=ROUNDING)
    assert table.lower == pytest.approx(np.array([0.5000004, 0.5]) / 1.0000004, abs=ROUNDING)


def test_upper_ends_that_sum_to_little_less_than_one_are_scaled():
    table = Table([0.3, 0.2], [0.4999996, 0.5])
    assert table.upper.sum() == pytest.approx(1, abs=ROUNDING)
    assert table.upper == pytest.approx(np.array([0.4999996, 0.5]) / 0.9999996, abs=ROUNDING)


def test_a_vertex_within_the_tolerance_is_divided_by_its_sum():
    table = Table([0.0] * 3, [1.0] * 3, {0: [[0.3333333] * 3, [0.5, 0.5, 0.0]]})
    assert table.row_vertices(0) == pytest.approx(np.array([[1 / 3] * 3, [0.5, 0.5, 0.0]]), abs=1e-15)


FAULTS = [
    ([0.33] * 3, [0.33] * 3, "row 0: a row sums to 1 within 1e-06, got 0.99 = 0.33 + 0.33 + 0.33"),
    ([0.5, 0.500002], [0.5, 0.500002], "row 0: a row sums to 1 within 1e-06, got 1.000002 = 0.5 + 0.500002"),
    ([-0.1, 1.1], [-0.1, 1.1], "row 0: a probability lies between 0 and 1, got -0.1"),
    ([0.5, 0.0], [1.5, 0.5], "row 0: a probability lies between 0 and 1, got [0.5, 1.5]"),
    ([np.nan, 0.5], [0.5, 0.5], "row 0: a probability lies between 0 and 1, got [nan, 0.5]"),
    ([np.inf, 0.5], [np.inf, 0.5], "row 0: a probability lies between 0 and 1, got inf"),
    ([0.6, 0.4], [0.5, 0.5], "row 0: an interval's lower end is not above its upper end, got [0.6, 0.5]"),
    (
        [0.6, 0.5],
        [0.7, 0.5],
        "row 0: an interval row holds a distribution: its lower ends sum to at most 1, got 1.1 for [0.6, 0.7] + 0.5",
    ),
    (
        [0.0, 0.6, 0.6],
        [1.0, 0.6, 0.6],
        "row 0: an interval row holds a distribution: its lower ends sum to at most 1, got 1.2 for [0, 1] + 0.6 + 0.6",
    ),
    (
        [0.1, 0.2],
        [0.3, 0.4],
        "row 0: an interval row holds a distribution: its upper ends sum to at least 1, got 0.7 for [0.1, 0.3] + [0.2, 0.4]",
    ),
]


@pytest.mark.parametrize(("lower", "upper", "message"), FAULTS, ids=[message for _, _, message in FAULTS])
def test_a_row_that_is_no_credal_set_is_refused(lower, upper, message):
    with pytest.raises(NetworkError) as caught:
        Table(lower, upper)
    assert str(caught.value) == message


def test_all_faulty_rows_are_reported_together():
    with pytest.raises(NetworkError) as caught:
        Table.precise([[0.5, 0.6], [0.5, 0.5], [2.0, -1.0]])
    assert str(caught.value) == (
        "row 0: a row sums to 1 within 1e-06, got 1.1 = 0.5 + 0.6\nrow 2: a probability lies between 0 and 1, got 2"
    )


SHAPES = [
    (0.5, 0.5, "lower and upper have the same non-empty shape, got () and ()"),
    ([], [], "lower and upper have the same non-empty shape, got (0,) and (0,)"),
    ([0.5, 0.5], [1.0], "lower and upper have the same non-empty shape, got (2,) and (1,)"),
]


@pytest.mark.parametrize(("lower", "upper", "message"), SHAPES, ids=["number", "empty", "different"])
def test_bounds_of_no_or_different_shape_are_refused(lower, upper, message):
    with pytest.raises(NetworkError) as caught:
        Table(lower, upper)
    assert str(caught.value) == message


BAD_VERTICES = [
    ({1: [[0.2, 0.3, 0.6]]}, "row 1: a vertex sums to 1 within 1e-06, got 1.1 = 0.2 + 0.3 + 0.6"),
    ({0: [[0.2, -0.2, 1.0]]}, "row 0: a probability lies between 0 and 1, got [0.2, -0.2, 1.0]"),
    ({0: [[0.2, np.nan, 0.8]]}, "row 0: a probability lies between 0 and 1, got [0.2, nan, 0.8]"),
    ({2: [[0.2, 0.3, 0.5]]}, "row 2: vertices are for rows 0 to 1, of shape (vertices, 3), got (1, 3)"),
    ({-1: [[0.2, 0.3, 0.5]]}, "row -1: vertices are for rows 0 to 1, of shape (vertices, 3), got (1, 3)"),
    ({0: [[0.5, 0.5]]}, "row 0: vertices are for rows 0 to 1, of shape (vertices, 3), got (1, 2)"),
    ({0: [0.2, 0.3, 0.5]}, "row 0: vertices are for rows 0 to 1, of shape (vertices, 3), got (3,)"),
    ({0: np.empty((0, 3))}, "row 0: vertices are for rows 0 to 1, of shape (vertices, 3), got (0, 3)"),
]


@pytest.mark.parametrize(("vertices", "message"), BAD_VERTICES, ids=[message for _, message in BAD_VERTICES])
def test_vertices_that_make_no_row_are_refused(vertices, message):
    with pytest.raises(NetworkError) as caught:
        Table(np.zeros((2, 3)), np.ones((2, 3)), vertices)
    assert str(caught.value) == message


# Vertices


@given(any_interval_row)
def test_vertices_of_an_interval_row_are_those_of_brute_force(row):
    table = Table(*row)
    found = table.row_vertices(0)
    assert {tuple(round(p, 9) + 0.0 for p in point) for point in found.tolist()} == brute_force_vertices(table.lower, table.upper)


@given(any_interval_row, st.data())
def test_the_best_vertex_is_the_best_distribution(row, data):
    goal = data.draw(st.lists(st.integers(-9, 9), min_size=len(row[0]), max_size=len(row[0])))
    best = max(point @ np.array(goal) for point in Table(*row).row_vertices(0))
    assert best == pytest.approx(optimum(*row, goal), abs=SOLVER)


@given(any_table)
def test_vertices_lie_within_the_bounds_and_sum_to_one(table):
    lower, upper = flat(table)
    for row in range(table.rows):
        points = table.row_vertices(row)
        assert points.sum(axis=1) == pytest.approx(1, abs=ROUNDING)
        assert (points >= lower[row] - ROUNDING).all()
        assert (points <= upper[row] + ROUNDING).all()


@given(any_table)
def test_the_envelope_of_the_vertices_is_the_row(table):
    lower, upper = flat(table)
    for row in range(table.rows):
        points = table.row_vertices(row)
        assert points.min(axis=0) == pytest.approx(lower[row], abs=ROUNDING)
        assert points.max(axis=0) == pytest.approx(upper[row], abs=ROUNDING)


def test_vertices_of_a_known_row():
    assert Table([0.1, 0.2, 0.3], [0.5, 0.6, 0.5]).row_vertices(0) == pytest.approx(
        np.array([[0.1, 0.4, 0.5], [0.1, 0.6, 0.3], [0.3, 0.2, 0.5], [0.5, 0.2, 0.3]])
    )


def test_a_precise_row_has_one_vertex():
    assert Table.precise([[0.2, 0.8], [0.5, 0.5]]).row_vertices(1).tolist() == [[0.5, 0.5]]


def test_the_row_that_holds_every_distribution_has_the_unit_vectors_as_vertices():
    assert Table([0.0] * 4, [1.0] * 4).row_vertices(0).tolist() == np.eye(4)[::-1].tolist()


def test_row_vertices_works_on_bare_bounds():
    assert row_vertices(np.array([0.25, 0.5]), np.array([0.5, 0.75])).tolist() == [[0.25, 0.75], [0.5, 0.5]]


def test_a_row_of_vertices_is_kept_as_given():
    points = [[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]]
    table = Table(np.zeros((2, 3)), [[1.0] * 3] * 2, {1: points})
    assert table.row_vertices(1).tolist() == sorted(points)
    assert list(table.vertices) == [1]
    assert table.lower[1].tolist() == [0.2, 0.2, 0.2]
    assert table.upper[1].tolist() == [0.6, 0.6, 0.4]
    assert table.lower[0].tolist() == [0.0] * 3


def test_the_bounds_given_beside_vertices_do_not_matter():
    points = {0: [[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]]}
    assert Table([0.9] * 3, [0.1] * 3, points) == Table([0.0] * 3, [1.0] * 3, points)


@pytest.mark.parametrize(
    "points",
    [
        [[0.2, 0.8], [0.5, 0.5], [0.4, 0.6]],
        [[0.2, 0.3, 0.5]],
        [[0.2, 0.3, 0.5], [0.2, 0.3, 0.5]],
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.2, 0.3, 0.5], [0.4, 0.3, 0.3], [0.3, 0.3, 0.4]],
    ],
    ids=["two states", "one vertex", "the same twice", "all distributions", "on a line along the bounds"],
)
def test_vertices_that_fill_their_envelope_become_an_interval_row(points):
    states = len(points[0])
    table = Table([0.0] * states, [1.0] * states, {0: points})
    assert not table.vertices
    assert table == Table(np.min(points, axis=0), np.max(points, axis=0))


@given(any_interval_row)
def test_an_interval_row_given_by_its_vertices_is_an_interval_row(row):
    table = Table(*row)
    again = Table(table.lower, table.upper, {0: table.row_vertices(0)})
    assert not again.vertices
    assert again.lower == pytest.approx(table.lower, abs=ROUNDING)
    assert again.upper == pytest.approx(table.upper, abs=ROUNDING)


# Plain properties of the type


def test_shape_and_number_of_rows():
    table = Table.precise(np.full((2, 3, 4), 0.25))
    assert (table.shape, table.rows, table.is_precise) == ((2, 3, 4), 6, True)
    assert not table.widen(0.01).is_precise


def test_one_state_is_certain():
    assert Table.precise([1.0]).row_vertices(0).tolist() == [[1.0]]


def test_arrays_are_read_only():
    table = Table([0.0] * 3, [1.0] * 3, {0: [[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]]})
    for array in (table.lower, table.upper, table.vertices[0]):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(TypeError):
        table.vertices[1] = np.zeros(3)
    with pytest.raises(FrozenInstanceError):
        table.lower = np.zeros(3)


def test_later_changes_of_the_arrays_given_do_not_reach_the_table():
    given_rows = np.array([0.25, 0.75])
    table = Table(given_rows, given_rows)
    given_rows[:] = 0.5
    assert table.lower.tolist() == [0.25, 0.75]


@given(any_table)
def test_a_table_equals_its_copy_and_no_wider_one(table):
    assert Table(table.lower.tolist(), table.upper.tolist(), dict(table.vertices)) == table
    assert (table.widen(0.1) == table) is bool(((table.lower == 0) & (table.upper == 1)).all() and not table.vertices)


def test_a_table_differs_from_one_with_the_same_envelope_and_from_other_things():
    lower, upper = [0.2, 0.2, 0.2], [0.6, 0.6, 0.4]
    corners = {0: [[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]]}
    assert Table(lower, upper) != Table(lower, upper, corners)
    assert Table(lower, upper, corners) != Table(lower, upper, {0: [[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.35, 0.25, 0.4]]})
    assert Table.precise([0.5, 0.5]) != [0.5, 0.5]
    assert Table.precise([0.5, 0.5]) != Table.precise([[0.5, 0.5]])


def test_equal_tables_have_equal_hashes():
    assert hash(Table.precise([0.25, 0.75])) == hash(Table.precise(np.array([0.25, 0.75])))
    assert Table.precise([0.0, 1.0]) == Table.precise([-0.0, 1.0])
    assert hash(Table.precise([0.0, 1.0])) == hash(Table.precise([-0.0, 1.0]))
    assert hash(Table.precise([0.25, 0.75])) != hash(Table.precise([0.75, 0.25]))


@given(any_table)
def test_a_table_survives_pickling(table):
    again = pickle.loads(pickle.dumps(table))
    assert again == table
    assert not again.lower.flags.writeable
    assert not any(points.flags.writeable for points in (again.upper, *again.vertices.values()))


def test_a_table_that_was_pickled_is_not_checked_again(monkeypatch):
    exact = np.array([[0.2, 0.8]])
    made = pickle.dumps(Table.of_checked(exact, exact))
    monkeypatch.setattr(Table, "__post_init__", lambda _: pytest.fail("a bank of 100,000 questions would stop a server"))
    again = pickle.loads(made)
    assert again.lower is again.upper


def test_checked_bounds_make_the_same_table():
    table = Table([[0.1, 0.6], [0.5, 0.5]], [[0.4, 0.9], [0.5, 0.5]])
    assert Table.of_checked(table.lower, table.upper) == table
    assert pickle.loads(pickle.dumps(Table.of_checked(table.lower, table.upper))) == table
