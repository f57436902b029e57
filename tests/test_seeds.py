"""Generators of many takers at once are numpy's own."""

import numpy as np
import pytest

from quaestor.seeds import generators, spread


@pytest.mark.parametrize("seeds", [[0, 1, 2**31, 2**32 - 1], [7, 2**32, 2**70]])
@pytest.mark.parametrize("purpose", [0, 3])
def test_generators_are_those_of_numpy(seeds, purpose):
    counts = np.arange(len(seeds)) * 5
    for seed, count, generator in zip(seeds, counts.tolist(), generators(seeds, counts, purpose), strict=True):
        own = np.random.default_rng([seed, count, purpose])
        assert generator.random(5).tolist() == own.random(5).tolist()
        assert generator.integers(7, size=5).tolist() == own.integers(7, size=5).tolist()


def test_nobody():
    assert generators([], np.zeros(0, dtype=int), 0) == []


def test_many_are_spread_as_each():
    numbers = np.arange(20_000)
    found = np.concatenate([words.T for _, words in spread(3, numbers)])
    for number in (0, 8191, 8192, 19_999):
        assert (found[number] == np.random.SeedSequence([3, number]).generate_state(4, np.uint64)).all()
