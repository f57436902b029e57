"""What many takers draw at once is what numpy's generators draw for one after another."""

import numpy as np
import pytest

from quaestor.draws import Draws

SEEDS = [0, 1, 2**31, 2**32 - 1, *range(40)]
FEW, OWN = SEEDS[:5], [*SEEDS, 2**70]  # a few takers; and one with a seed of more than 32 bits


def generators(seeds):
    return [np.random.default_rng([seed, 5 * number, 3]) for number, seed in enumerate(seeds)]


def draws(seeds):
    return Draws(np.array(seeds, dtype=object) if seeds is OWN else np.array(seeds), 5 * np.arange(len(seeds)), 3)


@pytest.mark.parametrize("seeds", [SEEDS, FEW, OWN])
def test_numbers_one_after_another(seeds):
    found = draws(seeds)
    some = np.random.default_rng(1).random((len(seeds), 7)) < 0.5
    rounds = [some, np.ones((len(seeds), 300), dtype=bool), some]  # a few numbers, many, a few
    drawn = [found.random(wanted) for wanted in rounds]
    own = generators(seeds)
    for wanted, numbers in zip(rounds, drawn, strict=True):
        expected = np.stack([generator.random(wanted.shape[1]) for generator in own])
        assert (numbers[wanted] == expected[wanted]).all()


@pytest.mark.parametrize("seeds", [SEEDS, FEW, OWN])
@pytest.mark.parametrize("most", [1, 2, 3, 7, 3 * 2**30])  # the last so large that every fourth draw is repeated
def test_whole_numbers(seeds, most):
    below = np.full(len(seeds), most)
    assert draws(seeds).integers(below).tolist() == [int(generator.integers(most)) for generator in generators(seeds)]


def test_nobody():
    assert Draws(np.zeros(0, dtype=int), np.zeros(0, dtype=int), 0).integers(np.zeros(0, dtype=int)).tolist() == []
    assert Draws((), 0).random(np.zeros((0, 4), dtype=bool)).shape == (0, 4)
