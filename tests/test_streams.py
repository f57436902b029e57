"""Numbers of many streams at once are those of numpy's generators, on every library."""

import numpy as np
import pytest

from helpers.libraries import library
from quaestor.streams import Streams, places, seeds_of

PLACES = [0, 1, 5, 1003, 17]


@pytest.mark.parametrize("name", ["numpy", "strict", "torch"])
@pytest.mark.parametrize("seed", [0, 1, 2**31, 2**32 - 1, 2**32, 2**70 + 3])
def test_a_stream_is_a_generator(name, seed):
    made, numbers = library(name), np.array([0, 1, 2, 999, 10**6, 2**32 - 1])
    streams = Streams(made.put(Streams.of(seed, numbers).states))
    factors, everyone = made.put(places(PLACES)), made.put(np.arange(len(numbers)))
    for which, place in enumerate(PLACES):
        found = streams.uniform(factors, everyone, made.put(np.full(len(numbers), which)))
        drawn = [np.random.default_rng([seed, int(number)]).random(place + 1)[-1] for number in numbers]
        assert np.asarray(found).tolist() == drawn


def test_some_streams_at_places_of_their_own():
    streams, some, which = Streams.of(7, np.arange(50_000)), np.arange(3, 50_000, 7), np.arange(3, 50_000, 7) % len(PLACES)
    found = streams.uniform(places(PLACES), some, which)
    for row in (0, 1, 2, 3, 4, 5000, len(some) - 1):
        assert found[row] == np.random.default_rng([7, int(some[row])]).random(PLACES[which[row]] + 1)[-1]


def test_words_of_three_and_more():
    numbers = np.arange(5)
    found = Streams.of(numbers, 3, 0, 2**90, 4).uniform(places([2]), numbers, np.zeros(5, dtype=int))
    assert found.tolist() == [np.random.default_rng([number, 3, 0, 2**90, 4]).random(3)[2] for number in range(5)]


def test_seeds():
    streams, numbers = Streams.of(3, np.arange(20)), np.arange(20)
    found = seeds_of(streams.bits(places([4]), numbers, np.zeros(20, dtype=int)))
    for number in range(20):
        rng = np.random.default_rng([3, number])
        rng.random(4)
        assert found[number] == rng.integers(2**31)
