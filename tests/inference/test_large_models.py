"""Beyond what enumeration can do: exact or certified, held against a local search that knows nothing of the package's inference."""

from functools import lru_cache

import numpy as np
import pytest

from helpers import random_models
from helpers.large_models import SIZES, large_cases
from oracles.local_search import Climber
from quaestor.credal import rows, vectors
from quaestor.credal.rows import extreme_rows, mixtures
from quaestor.credal.vectors import bounds_of
from quaestor.inference.engines import hulls
from quaestor.inference.engines.hulls import HullMessages
from quaestor.inference.posterior import bounds

SAFE = 1e-9
CASES = 40
SOME = [
    number for number in range(CASES) if number % 5 in (1, 2, 3) and number != 33
]  # of every shape, none of the slow ones; the long run has them all

cases = lru_cache(large_cases)


def attained(case, seed, starts):
    """The lowest and the highest probability of each state that the search meets, shapes (states,)."""
    climber, rng = Climber(case.network, case.target, case.evidence), np.random.default_rng(seed)
    states = range(len(case.network.variables[case.target].states))
    low, high = ([sign * max(sign * climber.climb(rng, s, sign) for _ in range(starts)) for s in states] for sign in (-1, 1))
    return np.array(low), np.array(high)


def agrees(case, seed, starts, limit):
    """Inner bounds inside outer ones, what the search attains inside, and exact on every tree and polytree."""
    found = bounds(case.network, case.target, case.evidence, limit=limit)
    assert (found.lower <= found.inner_lower).all()
    assert (found.inner_upper <= found.upper).all()
    assert (found.inner_lower <= found.inner_upper).all()
    assert found.exact == (found.gap == 0)
    assert found.gap <= 1
    low, high = attained(case, seed, starts)
    assert (low >= found.lower - SAFE).all()
    assert (high <= found.upper + SAFE).all()
    if case.shape != "loopy":
        assert found.exact
        assert found.method in ("odds", "hulls")
    return found, low, high


def test_the_cases_are_what_they_promise():
    assert len(cases(CASES)) == CASES
    for case in cases(CASES):
        fewest, most = SIZES[case.shape]
        assert fewest <= case.matter <= len(case.network.variables) <= most
        assert case.magnitude > 12
        assert case.model.is_singly_connected == (case.shape != "loopy")
    assert {(case.shape, bool(case.evidence)) for case in cases(CASES)} == {(shape, seen) for shape in SIZES for seen in (False, True)}


@pytest.mark.parametrize("number", SOME)
def test_exact_or_certified(number):
    agrees(cases(CASES)[number], number, starts=1, limit=0)


@pytest.mark.long
@pytest.mark.parametrize("number", range(CASES))
def test_exact_or_certified_with_more_starts_and_nodes(number):
    agrees(cases(CASES)[number], 100 + number, starts=10, limit=500)


@pytest.mark.long
@pytest.mark.parametrize("number", range(CASES))
def test_other_cases(number):
    agrees(cases(CASES, 1)[number], number, starts=5, limit=100)


@pytest.mark.long
def test_exact_bounds_are_attained():
    """The search is local and may stop short, but without evidence it meets the exact bounds on all trees and most polytrees."""
    met = {"tree": [], "polytree": []}
    for number, case in enumerate(cases(CASES)):
        if case.shape != "loopy" and not case.evidence:
            found, low, high = agrees(case, number, starts=2, limit=0)
            ends = np.concatenate([low - found.lower, found.upper - high])
            met[case.shape] += (ends < SAFE).tolist()
    assert all(met["tree"])
    assert np.mean(met["polytree"]) > 0.5


def support(vectors, directions):
    """How far a set reaches in each direction."""
    return (vectors @ directions.T).max(axis=0)


@pytest.mark.parametrize("seed", range(60))
def test_mixtures_lose_nothing(seed, monkeypatch):
    """Filtered by cones or listed in full: the same set, also with zeros, precise rows, equal rows and weights of many sizes."""
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(rows, "_FEW", 0)
    for module in (rows, vectors):
        monkeypatch.setattr(module, "LARGEST", 2_000)
    states, parents = int(rng.integers(2, 5)), int(rng.integers(2, 5))
    kinds = [("interval",), ("interval", "vertices"), ("vertices",), random_models.KINDS][seed % 4]
    table = random_models.random_table(rng, (parents, states), kinds, float(rng.choice([0.1, 0.5])), zeros=0.3 * (seed % 3 == 0))
    weights = rng.dirichlet(np.ones(parents) * 10 ** rng.uniform(-2, 1), size=50)
    every = np.concatenate([weights @ rows for rows in extreme_rows(table)])
    found = mixtures(table, weights)
    directions = np.concatenate([rng.normal(size=(500, states)), np.eye(states), -np.eye(states)])
    np.testing.assert_allclose(support(found, directions), support(every, directions), rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_directions_sent_up_meet_the_sets_sent_down(seed, monkeypatch):
    """The bounds of a variable without evidence below it, by directions and by the hull of what reaches it."""
    rng = np.random.default_rng(seed)
    graph = random_models.polytree(rng, int(rng.integers(3, 8)))
    network = random_models.network(rng, graph, (2, 3, 4), zeros=0.2 * (seed % 2))
    target = len(graph) - 1
    model, number = random_models.relevant(network, target, random_models.observe(rng, network, target, 2) if seed % 3 == 0 else {})
    ones = np.ones((1, model.sizes[number]))
    (lower,), (upper,) = bounds_of(HullMessages(model).around(number), ones, ones)
    for many in (0, 10, 1000):
        monkeypatch.setattr(hulls, "_MANY", many)
        low, high = HullMessages(model).bounds(number)
        np.testing.assert_allclose(low, lower, rtol=0, atol=1e-12)
        np.testing.assert_allclose(high, upper, rtol=0, atol=1e-12)


@pytest.mark.parametrize("number", [1, 3, 7, 19])
def test_parts_do_not_matter(number, monkeypatch):
    """A set pruned a part at a time is the set pruned at once."""
    case = cases(CASES)[number]
    found = bounds(case.network, case.target, case.evidence, method="hulls")
    for module in (rows, vectors):
        monkeypatch.setattr(module, "LARGEST", 2_500)
    again = bounds(case.network, case.target, case.evidence, method="hulls")
    np.testing.assert_allclose([again.lower, again.upper], [found.lower, found.upper], rtol=0, atol=1e-12)
