"""Bounds and beliefs: arrays that do not change, and what is told of them."""

import numpy as np
import pytest

from quaestor.model.beliefs import Beliefs, Bounds


def bounds(lower, upper, inner_lower=None, inner_upper=None, method="enumeration"):
    """Bounds whose inner ends are the outer ones unless told."""
    states = tuple(str(number) for number in range(len(lower)))
    return Bounds(states, lower, upper, inner_lower or lower, inner_upper or upper, method)


EXACT = bounds([0.1, 0.2, 0.3], [0.3, 0.6, 0.5])
OUTER = bounds([0.1, 0.5], [0.5, 0.9], [0.125, 0.5], [0.5, 0.8], "local search")


def test_exact_bounds_have_no_gap():
    assert (EXACT.exact, EXACT.gap) == (True, 0.0)


def test_the_gap_is_the_largest_distance_between_outer_and_inner_bounds():
    assert OUTER.gap == pytest.approx(0.1)
    assert not OUTER.exact
    assert bounds([0.1, 0.5], [0.5, 0.9], [0.3, 0.5], [0.5, 0.9]).gap == pytest.approx(0.2)


def test_the_width_is_the_largest_distance_between_lower_and_upper():
    assert EXACT.width == pytest.approx(0.4)
    assert bounds([0.25, 0.75], [0.25, 0.75]).width == 0


def test_the_centre_is_a_distribution_between_the_bounds():
    assert EXACT.centre == pytest.approx([0.2, 0.4, 0.4])
    assert OUTER.centre == pytest.approx([0.3, 0.7])


def test_bounds_are_read_only_copies():
    lower = np.array([0.25, 0.5])
    made = Bounds(("no", "yes"), lower, [0.5, 0.75], lower, [0.5, 0.75], "odds")
    lower[:] = 0
    assert made.lower.tolist() == [0.25, 0.5]
    for array in (made.lower, made.upper, made.inner_lower, made.inner_upper):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_beliefs_are_a_map_from_skills_to_bounds():
    given = {"a": EXACT, "b": OUTER}
    beliefs = Beliefs(given)
    given.clear()
    assert (list(beliefs), len(beliefs), beliefs["b"]) == (["a", "b"], 2, OUTER)
    with pytest.raises(KeyError):
        beliefs["c"]
    with pytest.raises(TypeError):
        beliefs.skills["c"] = EXACT


def test_beliefs_are_as_exact_as_the_worst_of_them():
    assert Beliefs({"a": EXACT}).exact
    assert Beliefs({"a": EXACT, "b": OUTER}).gap == OUTER.gap
    assert not Beliefs({"a": EXACT, "b": OUTER}).exact


def test_beliefs_name_each_method_once():
    assert Beliefs({"a": EXACT, "b": EXACT}).method == "enumeration"
    assert Beliefs({"a": OUTER, "b": EXACT, "c": OUTER}).method == "local search + enumeration"
