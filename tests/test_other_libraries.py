"""A second opinion on precise inference: pyAgrum. (Its credal engines are no oracle; enumeration is.)"""

import numpy as np
import pytest
import random_models

import quaestor as qs

gum = pytest.importorskip("pyagrum", reason="pyAgrum is not installed (extra `dev` or `bench`)")


def converted(network):
    """The same network in pyAgrum."""
    other = gum.BayesNet()
    for variable in network.variables:
        other.add(gum.LabelizedVariable(variable.name, "", list(variable.states)))
    for variable in network.variables:
        for parent in variable.parents:
            other.addArc(parent, variable.name)
    for variable in network.variables:
        table = other.cpt(variable.name)
        above = [name for name in reversed(table.names) if name != variable.name]
        axes = (*(variable.parents.index(name) for name in above), len(variable.parents))
        table[:] = np.ascontiguousarray(np.transpose(variable.table.lower, axes))
    return other


def posteriors(network, evidence, targets):
    engine = gum.LazyPropagation(network)
    engine.setEvidence(evidence)
    engine.makeInference()
    return {target: engine.posterior(target).toarray() for target in targets}


@pytest.mark.parametrize("name", ["four-skills", "fractions", "german", "single-skill-as-run"])
@pytest.mark.parametrize("seed", range(5))
def test_bundled_banks(name, seed):
    bank = qs.load(name)
    random = np.random.default_rng(seed)
    answers = {q.id: int(random.integers(len(q.classes))) for q in bank.questions.values() if random.random() < 0.4}
    theirs = posteriors(converted(bank.network), answers, bank.skills)
    ours = qs.posterior(bank, answers)
    for skill in bank.skills:
        np.testing.assert_allclose(ours[skill].lower, theirs[skill], atol=1e-10)


@pytest.mark.parametrize("seed", range(40))
def test_random_networks(seed):
    rng = np.random.default_rng(seed)
    graph = (random_models.tree, random_models.polytree, random_models.loopy)[seed % 3]
    network = random_models.network(rng, graph(rng, 9), kinds=("precise",))
    target = int(rng.integers(9))
    evidence = random_models.observe(rng, network, target, 3)
    named = {network.names[index]: state for index, state in evidence.items()}
    theirs = posteriors(converted(network), named, [network.names[target]])[network.names[target]]
    for method in ("joint", "junction"):
        np.testing.assert_allclose(qs.bounds(network, target, evidence, method=method).lower, theirs, atol=1e-10)
