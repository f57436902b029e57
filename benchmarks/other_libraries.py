"""A full step of a precise test with other libraries: posteriors now, then one inference for each hypothetical answer.

Each function gives the step to be timed, or None where the library is not installed.
"""

import warnings
from collections.abc import Callable, Iterator

import numpy as np

import quaestor as qs


def pyagrum_step(bank: qs.Bank, answers: dict[str, int]) -> Callable[[], object] | None:
    """pyAgrum: lazy propagation, relevant part only."""
    try:
        import pyagrum as gum
    except ImportError:
        return None
    network = gum.BayesNet()
    for variable in bank.network.variables:
        network.add(gum.LabelizedVariable(variable.name, "", list(variable.states)))
    for variable in bank.network.variables:
        for parent in variable.parents:
            network.addArc(parent, variable.name)
    for variable in bank.network.variables:
        table = network.cpt(variable.name)
        order = [name for name in reversed(table.names) if name != variable.name]
        axes = [variable.parents.index(name) for name in order]
        table[:] = np.ascontiguousarray(np.transpose(variable.table.lower, (*axes, len(variable.parents))))
    engine = gum.LazyPropagation(network)
    engine.setTargets(set(bank.skills))

    def step() -> None:
        for evidence, skills in _inferences(bank, answers):
            engine.setEvidence(evidence)
            engine.makeInference()
            for skill in skills:
                engine.posterior(skill)

    return step


def pgmpy_step(bank: qs.Bank, answers: dict[str, int]) -> Callable[[], object] | None:
    """pgmpy: variable elimination (its default, a greedy contraction of the relevant tables), one query for each skill."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            from pgmpy.factors.discrete import TabularCPD
            from pgmpy.inference import VariableElimination
            from pgmpy.models import DiscreteBayesianNetwork
    except ImportError:
        return None
    variables = bank.network.variables
    network = DiscreteBayesianNetwork([(parent, variable.name) for variable in variables for parent in variable.parents])
    for variable in variables:
        *above, states = variable.table.shape
        network.add_cpds(TabularCPD(variable.name, states, variable.table.lower.reshape(-1, states).T, list(variable.parents), above))
    engine = VariableElimination(network)

    def step() -> None:
        for evidence, skills in _inferences(bank, answers):
            for skill in skills:
                engine.query([skill], evidence, show_progress=False)

    return step


def _inferences(bank: qs.Bank, answers: dict[str, int]) -> Iterator[tuple[dict[str, int], tuple[str, ...]]]:
    """What is observed and which skills are asked for: once for now, then for every answer to every open question."""
    yield answers, tuple(bank.skills)
    for question in bank.questions.values():
        if question.id not in answers:
            for answer in range(len(question.classes)):
                yield {**answers, question.id: answer}, question.skills
