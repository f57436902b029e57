"""What the answers say: posteriors of skills and bounds of network variables, exact where exactness can be had."""

from collections.abc import Mapping

from quaestor.bankfile.bank import Bank
from quaestor.errors import NetworkError, expect, format_value
from quaestor.inference.chooser import NODES, Chooser
from quaestor.inference.conflict import refuse_conflict, refuse_states
from quaestor.inference.engine import EXACT, Bracket
from quaestor.inference.evidence import Evidence, Stated
from quaestor.inference.layout import Answers
from quaestor.inference.model import reduce
from quaestor.model.beliefs import Beliefs, Bounds
from quaestor.model.network import A_NETWORK, Network


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
    messages where levels are few, `fills`, greedy fills where they are many; `separators`, sets of messages on narrow loops; `enumeration`
    when the vertices are few; else `branch`, branch and bound until the gap is at most `tolerance` or `limit` nodes are used up (`bracket`:
    its root alone). `exact` is `auto` whose branch and bound goes on, with more and more nodes (`limit` is the first number), until it is
    exact or `seconds` are over; without `seconds` that may take very long. What is not exact is a certified bracket and says so. Impossible
    answers raise AnswerError with a smallest set of conflicting ones; networks that exclude the answers while others allow them are left
    out. `stated` holds what is known of skills otherwise: for each the lower and upper likelihood of what was seen at each of its levels;
    in a precise bank both are the same.
    """
    evidence = Evidence.of(bank, {} if answers is None else answers, stated)
    refuse_conflict(evidence, stated, answers)
    chooser = Chooser(evidence.model, 1, method, tolerance, limit, seconds)
    return beliefs_of(evidence, [chooser.now(skill) for skill in evidence.layout.order])


def beliefs_of(evidence: Evidence, brackets: list[Bracket], taker: int = 0) -> Beliefs:
    """The beliefs about one taker, from the brackets of all skills in the order of the bank."""
    skills = evidence.layout.bank.skills.values()
    return Beliefs({skill.id: bounds_of(skill.levels, bracket, taker) for skill, bracket in zip(skills, brackets, strict=True)})


def bounds_of(states: tuple[str, ...], bracket: Bracket, taker: int = 0) -> Bounds:
    """The bounds of one taker."""
    if not bracket.gap:
        lower, upper = bracket.lower[taker], bracket.upper[taker]
        return Bounds(states, lower, upper, lower, upper, bracket.method)
    inner = bracket.inner_lower[taker], bracket.inner_upper[taker]
    return Bounds(states, bracket.lower[taker], bracket.upper[taker], *inner, bracket.method)


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
    expect("network", network, Network, A_NETWORK, NetworkError)
    if evidence is not None and not isinstance(evidence, Mapping):
        raise NetworkError(f"evidence is a map from variables to states, got {format_value(evidence)}")
    target = network.index(variable)
    observed = {network.index(name): network.state(name, state) for name, state in (evidence or {}).items()}
    if target in observed:
        raise NetworkError(f"{variable}: the variable asked for is not observed, got it in the evidence")
    refuse_states(network, observed)
    model, number = reduce(network, observed)
    part, renumber = model.relevant_to([number[target]])
    goal = renumber[number[target]]
    return bounds_of(part.states[goal], Chooser(part.batched, 1, method, tolerance, limit, seconds).now(goal))
