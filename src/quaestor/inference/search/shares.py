"""What the weights of contexts must be: the least share of each, which ties the choices of the relaxation together.

When a row is chosen, f has a score for it in each *context*: each configuration of the other variables that are still in f. What is still
to come multiplies the contexts by weights, which no network can choose at will. The relaxation itself says how small the share of a
context can get: it is at least l if  l * (the weight of all contexts of the row) - (the weight of this one)  is positive in no network,
and that is an elimination of what is still to come. A few values of l are tried for all contexts of a part at once, from the last part to
the first, so that each is worked out with the choices of the later ones tied together already.

Shares depend neither on the threshold nor on the goal's values, and those of a node hold for all nodes below it.
"""

import numpy as np

from quaestor.inference.model import Scope
from quaestor.inference.search.choices import Choices, Numbers
from quaestor.inference.search.elimination import Elimination, Part

LEVELS = (0.97, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)  # of a share in the middle: which are tried at first
FEWER = (0.9, 0.7, 0.4)  # of the way from the share known to the one in the middle: which are tried for nodes
_MOST = 0.99  # of the weight of all contexts that is ever given to least shares: the rest divides rounding errors
_MOST_CONTEXTS = 3  # for each level that is tried: more cost more than they bring
_AT_ONCE = 200_000  # numbers in one array
_TINY = 1e-300


def with_shares(plan: Elimination, choices: Choices, goal: Scope, levels: tuple[float, ...]) -> Choices:
    """The choices with the least shares that can be shown, none below those they have."""
    program = plan.program(goal)
    nodes = len(choices.rows[0])
    shares = [least.copy() for least in choices.shares] or [np.zeros((nodes, part.groups, part.contexts)) for part in program]
    bare = plan.with_spans(choices, goal)
    for number in reversed(range(len(program))):
        part = program[number]
        if 1 < part.contexts <= _MOST_CONTEXTS * len(levels):
            node, group = np.nonzero(part.is_open(choices))
            step = max(1, _AT_ONCE // (len(levels) * part.contexts * part.groups * part.contexts))
            for first in range(0, len(node), step):
                some = slice(first, first + step)
                _raise_shares(plan, bare, program, number, shares, levels, node[some], group[some])
    return Choices(choices.rows, choices.messages, choices.low, choices.high, shares)


def _raise_shares(
    plan: Elimination,
    choices: Choices,
    program: list[Part],
    number: int,
    shares: list[Numbers],
    levels: tuple[float, ...],
    node: Numbers,
    group: Numbers,
) -> None:
    """Raise the least shares of the contexts of one part in some groups of some nodes, from those of the later parts."""
    part, count = program[number], len(node)
    known = shares[number][node, group]  # (those, contexts)
    unit = np.eye(part.contexts)

    def most(weights: Numbers) -> Numbers:
        """The most that sums of a group's later weights can be, (those, sums), from (those, sums, contexts)."""
        of = np.repeat(node, weights.shape[1])
        values = np.zeros((part.groups, len(of), part.contexts))
        values[np.repeat(group, weights.shape[1]), np.arange(len(of))] = weights.reshape(-1, part.contexts)
        later = [least[of] for least in shares]
        return plan.finish(choices.take(of), part.placed(values), program, number + 1, later).reshape(count, -1)

    upper, lower = np.split(most(np.broadcast_to(np.concatenate([unit, -unit]), (count, 2 * part.contexts, part.contexts))), 2, axis=1)
    middle = np.sqrt(np.maximum(upper, 0) * np.maximum(-lower, 0))
    share = middle / np.maximum(middle.sum(axis=1, keepdims=True), _TINY)
    tried = known[:, None] + np.maximum(share - known, 0)[:, None] * np.array(levels)[:, None]  # (those, levels, contexts)
    shown = most((tried[..., None] - unit).reshape(count, -1, part.contexts)).reshape(tried.shape) <= 0
    better = np.maximum(known, np.where(shown, tried, 0).max(axis=1))
    shares[number][node, group] = better * np.minimum(1, _MOST / np.maximum(better.sum(axis=1, keepdims=True), _TINY))
