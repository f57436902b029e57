"""The vertices of a box as directions, against the hull of all its corners."""

import numpy as np
import pytest

from quaestor.credal.vectors import box_directions, corners, hull


@pytest.mark.parametrize("seed", range(40))
def test_directions_of_a_box_span_what_its_corners_span(seed):
    rng = np.random.default_rng(seed)
    states = int(rng.integers(2, 5))
    low = rng.uniform(0.05, 0.9, states) * (rng.random(states) > 0.15)
    high = low + rng.uniform(0.01, 0.5, states) * (rng.random(states) > 0.25)
    found, expected = box_directions(low, high), hull(corners(low[None], high[None]))
    assert np.allclose(found.sum(axis=1), 1)
    together = hull(np.concatenate([found, expected]))
    for one in (found, expected):  # neither reaches beyond the other in any direction
        heights = rng.normal(size=(200, states))
        np.testing.assert_allclose((heights @ one.T).max(axis=1), (heights @ together.T).max(axis=1), atol=1e-12)


def test_lowest_and_highest_corner_are_left_out():
    low, high = np.array([0.1, 0.2, 0.3]), np.array([0.2, 0.5, 0.4])
    assert len(box_directions(low, high)) == 6
    assert len(box_directions(low, np.array([0.1, 0.5, 0.4]))) == 4
