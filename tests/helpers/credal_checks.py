"""Random credal networks small enough for enumeration, and what it means that bounds agree with it."""

import numpy as np
import pytest

from helpers import random_models
from quaestor.credal.vectors import TooLargeError
from quaestor.inference.chooser import ENGINES
from quaestor.inference.engines.enumeration import enumerate_bounds
from quaestor.inference.engines.fills import is_forest
from quaestor.inference.engines.separators import SeparatorEngine
from quaestor.inference.model import reduce

EXACT = 1e-9
SAFE = 1e-12  # outer bounds may round, no more
KINDS = [random_models.KINDS, ("interval",), ("precise", "interval"), ("precise", "vertices")]
STATES = [(2,), (2, 3), (2, 3, 4), (3,)]


def drawn(seed, zeros=0.0, width=None, most=600):
    """A random network with a target and evidence; few enough vertices for enumeration."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 7))
    graph = random_models.GRAPHS[random_models.SHAPES[seed % 3]](rng, count)
    states, kinds = STATES[int(rng.integers(4))], KINDS[int(rng.integers(4))]
    network = random_models.network(rng, graph, states, kinds, width or float(rng.choice([0.1, 0.3, 0.8])), zeros)
    target = int(rng.integers(count))
    evidence = random_models.observe(rng, network, target, 4) if rng.random() < 0.8 else {}
    return random_models.tame(rng, network, target, evidence, most), target, evidence


def is_possible(network, evidence):
    """Whether the evidence is possible in some network of the set: the centre has the widest support."""
    model, _ = reduce(network, evidence)
    return np.isfinite(enumerate_bounds(model.centre(), 0)[0]).all()


def agrees(found, truth):
    """Outer bounds hold the truth, the truth holds the inner bounds, and what is called exact is."""
    lower, upper = truth
    assert (found.lower <= lower + SAFE).all()
    assert (found.upper >= upper - SAFE).all()
    assert (found.inner_lower >= lower - EXACT).all()
    assert (found.inner_upper <= upper + EXACT).all()
    assert (found.lower <= found.inner_lower).all()
    assert (found.inner_upper <= found.upper).all()
    if found.exact:
        assert found.gap == 0
        assert found.lower == pytest.approx(lower, abs=EXACT)
        assert found.upper == pytest.approx(upper, abs=EXACT)


def may_be_wide(method, model):
    """Whether a method may leave a gap on a model."""
    return method == "bracket" or (method == "fills" and not is_forest(model))


def fitting(model):
    """The methods that can be forced on a model."""
    table = [name for name, entry in ENGINES.items() if entry.fits(model) and (name != "separators" or is_narrow(model))]
    return [*table, "enumeration", "branch", "bracket", "auto", "exact"]


def is_narrow(model):
    """Whether `separators` finds the bounds of every variable."""
    engine = SeparatorEngine(model.batched, 1)
    try:
        for variable in range(len(model.sizes)):
            engine.now(variable)
    except TooLargeError:
        return False
    return True
