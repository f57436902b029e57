"""Second opinions on precise inference: pyAgrum and pgmpy. (Their credal engines, where they have one, are no oracle; enumeration is.)"""

import warnings

import numpy as np
import pytest

import quaestor as qs
from helpers import random_models
from helpers.agrum import agrum


def ask_pyagrum(network, evidence, targets):
    """The posteriors by lazy propagation."""
    engine = agrum(network, evidence)[1]
    return {target: engine.posterior(target).toarray() for target in targets}


def ask_pgmpy(network, evidence, targets):
    """The posteriors by contracting the tables that matter for each target."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "`pgmpy.estimators.StructureScore` is deprecated", FutureWarning)  # it imports that itself
        pytest.importorskip("pgmpy.inference", reason="pgmpy is not installed (extra `bench`)")
        from pgmpy.factors.discrete import TabularCPD
        from pgmpy.inference import VariableElimination
        from pgmpy.models import DiscreteBayesianNetwork
    other = DiscreteBayesianNetwork([(parent, variable.name) for variable in network.variables for parent in variable.parents])
    other.add_nodes_from(network.names)
    for variable in network.variables:
        *above, states = variable.table.shape
        columns = variable.table.lower.reshape(-1, states).T
        other.add_cpds(TabularCPD(variable.name, states, columns, list(variable.parents), above))
    engine = VariableElimination(other)
    return {target: engine.query([target], evidence, show_progress=False).values for target in targets}


LIBRARIES = pytest.mark.parametrize("posteriors", [ask_pyagrum, ask_pgmpy])


@LIBRARIES
@pytest.mark.parametrize("name", ["four-skills", "fractions", "german", "single-skill-as-run"])
@pytest.mark.parametrize("seed", range(5))
def test_bundled_banks(name, seed, posteriors):
    bank = qs.load(name)
    random = np.random.default_rng(seed)
    answers = {q.id: int(random.integers(len(q.classes))) for q in bank.questions.values() if random.random() < 0.4}
    theirs = posteriors(bank.network, answers, bank.skills)
    ours = qs.posterior(bank, answers)
    for skill in bank.skills:
        np.testing.assert_allclose(ours[skill].lower, theirs[skill], rtol=0, atol=1e-10)


@LIBRARIES
@pytest.mark.parametrize("seed", range(40))
def test_random_networks(seed, posteriors):
    rng = np.random.default_rng(seed)
    graph = (random_models.tree, random_models.polytree, random_models.loopy)[seed % 3]
    network = random_models.network(rng, graph(rng, 9), kinds=("precise",))
    target = int(rng.integers(9))
    evidence = random_models.observe(rng, network, target, 3)
    named = {network.names[index]: state for index, state in evidence.items()}
    theirs = posteriors(network, named, [network.names[target]])[network.names[target]]
    for method in ("joint", "junction"):
        np.testing.assert_allclose(qs.bounds(network, target, evidence, method=method).lower, theirs, rtol=0, atol=1e-10)
