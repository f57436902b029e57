"""What the answers say: posteriors of skills and bounds of network variables, exact where exactness can be had."""

from collections.abc import Iterable, Mapping

import numpy as np

from quaestor.bankfile.bank import Bank
from quaestor.bankfile.sentences import class_word
from quaestor.credal.indices import INDICES
from quaestor.errors import AnswerError, NetworkError, QuaestorError, format_value, got
from quaestor.i18n import say, together
from quaestor.inference.conflict import excludes, is_possible, smallest_conflict
from quaestor.inference.credal import EXACT, METHODS, NODES, credal_bounds
from quaestor.inference.joint import LARGEST, MOST, Joint
from quaestor.inference.junction import JunctionTree
from quaestor.inference.layout import Answers, BankModel, Stated, bank_model
from quaestor.inference.model import Box, Model, Scope, reduce
from quaestor.model.beliefs import Beliefs, Bounds
from quaestor.model.network import Network
from quaestor.model.table import Array

__all__ = ["bounds", "joint_uncertainties", "joint_uncertainty", "posterior", "refuse_conflict"]

_PRECISE = ("auto", "exact", "joint", "junction")


def posterior(
    bank: Bank,
    answers: Answers | None = None,
    method: str = "auto",
    tolerance: float = EXACT,
    limit: int = NODES,
    seconds: float | None = None,
    stated: Stated | None = None,
) -> Beliefs:
    """What is known of every skill after these answers (question id -> answer class, by name or number), in any order.

    Precise banks: exact (`joint`, or `junction` where the joint does not fit). Credal banks: lower and upper probabilities, by the
    method named or (`auto`) the best one that fits: `odds`, closed form on trees and polytrees of two-level skills; `hulls`, sets of
    messages on others; `enumeration` when the vertices are few; else `branch`, branch and bound until the gap is at most `tolerance` or
    `limit` nodes are used up (`bracket`: its root alone; `exact`: until it is exact or `seconds` are over). What is not exact is a
    certified bracket and says so. Impossible answers raise AnswerError with a smallest set of conflicting ones; networks that exclude
    the answers while others allow them are left out. `stated` holds what is known of skills otherwise: for each the lower and upper
    likelihood of what was seen at each of its levels; in a precise bank both are the same.
    """
    compiled = bank_model(bank)
    model = _possible(compiled, answers or {}, stated or {})
    if compiled.is_precise and method in _PRECISE:
        found = _precise(model, range(len(model.names)), method, compiled)
    else:
        _refuse_precise_ways(method)
        found = credal_bounds(model, range(len(model.names)), method, tolerance, limit, seconds)
    return Beliefs({skill: found[compiled.position[skill]] for skill in bank.skills})


def refuse_conflict(bank: Bank, answers: Answers, stated: Stated) -> None:
    """Raise AnswerError, as `posterior` does, when these answers cannot be given together."""
    _possible(bank_model(bank), answers, stated)


def _possible(compiled: BankModel, answers: Answers, stated: Stated) -> Model:
    model = compiled.model.with_boxes(compiled.boxes(answers, stated))
    if not is_possible(model):
        raise AnswerError(_conflict_of_answers(compiled, answers, stated))
    return model


def joint_uncertainty(bank: Bank, answers: Answers, stated: Stated, index: str) -> float:
    """An index of uncertainty (`entropy`, `mode`, `gini`) of the joint distribution of all skills of a precise bank, from 0 to 1."""
    compiled = bank_model(bank)
    return float(joint_uncertainties(compiled, compiled.boxes(answers, stated), index)[0])


def joint_uncertainties(compiled: BankModel, boxes: Mapping[Scope, Box], index: str) -> Array:
    """The same for many takers, (takers,): boxes of shape (takers, *levels), or without that axis for one."""
    if not compiled.is_precise:
        raise QuaestorError("the joint uncertainty is for precise banks, got a credal one")
    evidence = {scope: low for scope, (low, _) in boxes.items()}
    if compiled.joint is not None:
        return np.atleast_1d(INDICES[index].value(compiled.joint.posterior(evidence)))
    if index != "entropy":
        raise QuaestorError(f"the joint {index} is for at most {LARGEST} joint states, got {compiled.model.joint_size:.3g}; use entropy")
    return np.asarray(compiled.junction.entropy(compiled.junction.calibrate(evidence)) / np.log(compiled.model.joint_size))


def bounds(
    network: Network,
    variable: str | int,
    evidence: Mapping[str | int, str | int] | None = None,
    method: str = "auto",
    tolerance: float = EXACT,
    limit: int = NODES,
    seconds: float | None = None,
) -> Bounds:
    """Bounds of P(variable | evidence) in any credal network; variables and states by name or index. See `posterior` for the rest."""
    if not isinstance(network, Network):
        raise NetworkError(f"a network is expected, as qs.read_network or bank.network gives it, got {format_value(network)}")
    if evidence is not None and not isinstance(evidence, Mapping):
        raise NetworkError(f"evidence is a map from variables to states, got {format_value(evidence)}")
    target = network.index(variable)
    observed = {network.index(name): network.state(name, state) for name, state in (evidence or {}).items()}
    if target in observed:
        raise NetworkError(f"{variable}: the variable asked for is not observed, got it in the evidence")
    model, number = reduce(network, observed)
    if not is_possible(model):
        raise NetworkError(_conflict_of_states(network, observed))
    part, renumber = model.relevant_to([number[target]])
    goal = renumber[number[target]]
    if part.is_precise and method in _PRECISE:
        return _precise(part, [goal], method)[goal]
    _refuse_precise_ways(method)
    return credal_bounds(part, [goal], method, tolerance, limit, seconds)[goal]


def _refuse_precise_ways(method: str) -> None:
    if method in ("joint", "junction"):
        raise QuaestorError(f"method {method} is for precise models; for credal ones: {', '.join(METHODS)}")


def _precise(model: Model, targets: Iterable[int], method: str, compiled: BankModel | None = None) -> dict[int, Bounds]:
    evidence = {scope: low for scope, (low, _) in model.boxes.items()}
    if method == "joint" and model.joint_size > MOST:
        raise QuaestorError(f"method joint is for at most {MOST} joint states, got {model.joint_size:.3g}; junction has no such limit")
    if method == "joint" or (method != "junction" and model.joint_size <= LARGEST):
        joint = compiled.joint if compiled is not None and compiled.joint is not None else Joint(model)
        marginals = joint.marginals(joint.posterior(evidence))
        return {target: _point(model, target, marginals[target], "joint") for target in targets}
    tree = compiled.junction if compiled is not None else JunctionTree(model, model.boxes)
    calibrated = tree.calibrate(evidence)
    return {target: _point(model, target, tree.marginal(calibrated, (target,))[0], "junction") for target in targets}


def _point(model: Model, target: int, probabilities: np.ndarray, method: str) -> Bounds:
    return Bounds(model.states[target], probabilities, probabilities, probabilities, probabilities, method)


def _conflict_of_answers(compiled: BankModel, answers: Answers, stated: Stated) -> str:
    suspects = [
        question for question, answer in answers.items() if any(excludes(box) for box in compiled.boxes({question: answer}).values())
    ]
    about = {f"what was stated of {skill}": skill for skill in stated}

    def possible(some: Iterable[str]) -> bool:
        kept = set(some)
        said = {skill: stated[skill] for name, skill in about.items() if name in kept}
        return is_possible(compiled.model.with_boxes(compiled.boxes({q: answers[q] for q in answers if q in kept}, said)))

    found = smallest_conflict([*suspects, *about], possible)
    named = [
        say("what was stated of {skill}", skill=about[name]) if name in about else together((name, class_word(str(answers[name]))), "=")
        for name in found
    ]
    return got(say("these answers cannot be given together: the bank gives them probability zero"), together(named, ", "))


def _conflict_of_states(network: Network, observed: Mapping[int, int]) -> str:
    def possible(some: Iterable[str]) -> bool:
        wanted = {int(index) for index in some}
        return is_possible(reduce(network, {index: state for index, state in observed.items() if index in wanted})[0])

    found = [int(index) for index in smallest_conflict([str(index) for index in observed], possible)]
    listed = ", ".join(f"{network.variables[i].name}={network.variables[i].states[observed[i]]}" for i in found)
    return f"these states cannot be observed together: the network gives them probability zero, got {listed}"
