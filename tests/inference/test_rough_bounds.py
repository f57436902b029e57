"""Bounds from where a search begins lie around those that it ends with, and asking for them first changes nothing."""

from itertools import pairwise

import numpy as np
import pytest

import quaestor as qs
from helpers.random_models import bank, loopy, scopes_of
from quaestor.inference.chooser import TOLERANCE, Chooser
from quaestor.inference.evidence import Evidence


def evidence_of(seed):
    rng = np.random.default_rng([seed, 4])
    made = bank(rng, loopy(rng, 5, 3), scopes_of(rng, 5, 8, 2), kinds=("interval",), width=0.2)
    return Evidence.of(made, {name: int(rng.integers(len(question.classes))) for name, question in made.questions.items()})


LARGE = {0, 1, 3, 5, 7, 8, 9}  # seconds each
SEEDS = [pytest.param(seed, marks=pytest.mark.long) if seed in LARGE else seed for seed in range(12)]


@pytest.mark.parametrize("seed", SEEDS)
def test_rough_bounds_lie_around_the_good_ones(seed):
    evidence = evidence_of(seed)
    asked_first, alone = Chooser(evidence.model), Chooser(evidence.model)
    for skill in range(5):
        rough, now, same = asked_first.roughly(skill), asked_first.now(skill), alone.now(skill)
        for one, other in zip(now[:4], same[:4], strict=True):
            np.testing.assert_array_equal(one, other)
        order = (rough.lower, now.lower, now.inner_lower, rough.inner_lower)
        assert all((one <= other + 1e-12).all() for one, other in pairwise(order))
        order = (rough.inner_upper, now.inner_upper, now.upper, rough.upper)
        assert all((one <= other + 1e-12).all() for one, other in pairwise(order))
        assert now.gap <= TOLERANCE + 1e-9 or now.method != "branch"


def test_rough_bounds_of_fractions_are_rough():
    made = qs.load("fractions").widen(0.05)
    several = {name: 1 for name, question in made.questions.items() if len(question.skills) > 1}
    chooser = Chooser(Evidence.of(made, several).model)
    rough, now = (find(0) for find in (chooser.roughly, Chooser(Evidence.of(made, several).model).now))
    assert rough.gap > 2 * TOLERANCE > now.gap
