"""The long walk: a thousand more random networks against enumeration, whatever way `auto` and `branch` take."""

import numpy as np
import pytest

from helpers import random_models
from quaestor.errors import NetworkError
from quaestor.inference.engines.enumeration import enumerate_bounds
from quaestor.inference.posterior import bounds


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10_000, 11_000))
def test_bounds_equal_enumeration(seed):
    rng = np.random.default_rng(seed)
    graph = (random_models.tree, random_models.polytree, random_models.loopy)[seed % 3]
    network = random_models.network(rng, graph(rng, int(rng.integers(3, 7))), states=(2, 3), zeros=0.1 * (seed % 2))
    target = int(rng.integers(len(network.variables)))
    evidence = random_models.observe(rng, network, target, 2)
    network = random_models.tame(rng, network, target, evidence, 2000)
    if any(bounds(network, index).upper[state] == 0 for index, state in evidence.items()):
        with pytest.raises(NetworkError, match="cannot be observed together"):
            bounds(network, target, evidence)
        return
    lower, upper = enumerate_bounds(*random_models.relevant(network, target, evidence))
    if not np.isfinite(lower).all():
        with pytest.raises(NetworkError, match="cannot be observed together"):
            bounds(network, target, evidence)
        return
    for method in ("auto", "branch"):
        found = bounds(network, target, evidence, method=method)
        assert found.exact
        np.testing.assert_allclose(found.lower, lower, rtol=0, atol=1e-9)
        np.testing.assert_allclose(found.upper, upper, rtol=0, atol=1e-9)
