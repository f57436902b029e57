"""Precise networks in pyAgrum: a second opinion on inference and on what is made of it."""

import numpy as np
import pytest


def agrum(network, evidence):
    """pyAgrum and its lazy propagation on a precise network, given evidence (the numbers of states by name); else the test is skipped."""
    gum = pytest.importorskip("pyagrum", reason="pyAgrum is not installed (extra `dev` or `bench`)")
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
    engine = gum.LazyPropagation(other)
    engine.setEvidence(evidence)
    engine.makeInference()
    return gum, engine
