"""Certified bounds on any model: inner bounds by local search, outer bounds by a relaxation, branch and bound to bring them together.

Work is counted in nodes, never in seconds, so that runs repeat.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from quaestor.inference.model import Model, Scope, likelihood
from quaestor.inference.search.ascent import LARGEST_JOINT, ascend
from quaestor.inference.search.core import Core, core_of
from quaestor.inference.search.elimination import Choices, Elimination, Numbers, Votes
from quaestor.inference.search.fixing import fix, split
from quaestor.inference.search.orders import orders

BATCH = 512  # nodes looked at together
COARSEST = 0.1  # the first gap that is proven by branching when the tolerance was too much
_ALIKE = 1.3  # problems whose best order is better by no more than this share the order of others
_HALVINGS = 12  # of the range in which the root alone looks for a bound
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Bracket:
    """For each problem an attained value and a bound that no network of the set exceeds; `nodes` counts the work.

    `points`: the distribution of the goal in the network that attains the value, (problems, *sizes of the goal).
    """

    inner: Numbers
    outer: Numbers
    points: Numbers
    nodes: int


@dataclass
class _Champions:
    """The best network met so far for each problem, and its value."""

    value: Numbers
    choices: Choices

    def challenge(self, owner: Numbers, value: Numbers, choices: Choices) -> None:
        """Take over the networks that beat those of their problems."""
        order = np.argsort(value)
        order = order[value[order] > self.value[owner[order]]]  # of several for one problem the last, largest one stays
        self.value[owner[order]] = value[order]
        self.choices.put(owner[order], choices.take(order))


def bracket_bounds(model: Model, target: int, tolerance: float, limit: int) -> tuple[Numbers, Numbers, Numbers, Numbers, int]:
    """Lower, upper, inner lower and inner upper P(target | evidence), shapes (states,), and the number of nodes."""
    size = model.sizes[target]
    states = np.eye(size)
    core = core_of(model, (target,))
    found = maximise(core, np.concatenate([states, 1 - states]), {}, tolerance, limit, (core.number[target],))
    upper, lower = found.outer[:size], 1 - found.outer[size:]
    inner_upper, inner_lower = found.inner[:size], 1 - found.inner[size:]
    return lower, upper, inner_lower, inner_upper, found.nodes


def maximise(
    core: Core, g: Numbers, evidence: Mapping[Scope, tuple[Numbers, Numbers]], tolerance: float, limit: int, goal: Scope
) -> Bracket:
    """The largest E[g(goal) | evidence] over the set, for each g, shape (problems, *sizes of the goal).

    `evidence` replaces boxes of the core by ends that differ between the problems, shape (problems, *scope's sizes).
    """
    plans = [Elimination(core, order) for order in orders(core.model, goal)]
    ends = {scope: likelihood(box) for scope, box in core.model.boxes.items()} | dict(evidence)
    root = plans[0].open({s: low for s, (low, _) in ends.items()}, {s: high for s, (_, high) in ends.items()}, len(g))
    work = _Work(plans, root, g, goal)
    inner, outer = work.champions.value, g.reshape(len(g), -1).max(axis=1)
    used = 0
    for turn, (step, allowed) in enumerate([(tolerance, limit // 2), *((step, limit) for step in _steps(tolerance))]):
        if turn == 1:
            work.halve(outer, np.flatnonzero(outer > inner + tolerance * (1 + 1e-9)))
        waiting = np.flatnonzero(outer > inner + step * (1 + 1e-9))
        while len(waiting):
            t = inner[waiting] + step
            proven, nodes = work.prove(inner + step, waiting, allowed - used)
            used += nodes
            outer[waiting[proven]] = np.minimum(outer[waiting[proven]], t[proven])
            waiting = waiting[inner[waiting] > t]  # a better network was met on the way: prove again from there
    return Bracket(inner, np.maximum(outer, inner), _distributions(plans[0], work.champions.choices, goal), used)


def _steps(tolerance: float) -> list[float]:
    """Coarse gaps first and finer ones while nodes are left: what to prove when the tolerance itself was too much."""
    steps = [COARSEST / 4**k for k in range(20) if COARSEST / 4**k > tolerance]
    return [*steps, tolerance]


class _Work:
    """The problems of one core: the best networks met, and proofs that there are no better ones."""

    def __init__(self, plans: list[Elimination], root: Choices, g: Numbers, goal: Scope) -> None:
        self._plans, self._root, self._g, self._goal = plans, root, g, goal
        self.champions = _climb(plans[0], root, g, goal)

    def _less(self, problems: Numbers, t: Numbers) -> Numbers:
        """g - t for some problems; t: one number for each of them."""
        less: Numbers = self._g[problems] - t.reshape(-1, *(1,) * len(self._goal))
        return less

    def _at_root(self, problems: Numbers, t: Numbers) -> Numbers:
        """F of some problems at the root in every order, (orders, problems)."""
        start, f = self._root.take(problems), self._less(problems, t)
        return np.stack([plan.push(start, f, self._goal) for plan in self._plans])

    def halve(self, outer: Numbers, problems: Numbers) -> None:
        """Lower the outer bounds of some problems to what the root alone proves."""
        low, high = self.champions.value[problems], outer[problems]
        for _ in range(_HALVINGS if len(problems) else 0):
            t = (low + high) / 2
            proven = (self._at_root(problems, t) <= 0).any(axis=0)
            low, high = np.where(proven, low, t), np.where(proven, t, high)
        outer[problems] = high

    def prove(self, t: Numbers, problems: Numbers, limit: int) -> tuple[Numbers, int]:
        """Try to prove for some problems that no network exceeds t. Returns whether it is proven, and the nodes used."""
        values = self._at_root(problems, t[problems])
        proven = np.any(values <= 0, axis=0)
        used, left = 0, np.flatnonzero(~proven)
        while len(left):
            loss = values[:, left] / values[:, left].min(axis=0)  # against the best order for each problem
            chosen = loss.sum(axis=1).argmin()
            alike = loss[chosen] <= max(_ALIKE, loss[chosen].min())
            mine, left = left[alike], left[~alike]
            proven[mine], nodes = self._branch(self._plans[chosen], t, problems[mine], limit - used)
            used += nodes
        return proven & (self.champions.value[problems] <= t[problems]), used

    def _branch(self, plan: Elimination, t: Numbers, problems: Numbers, limit: int) -> tuple[Numbers, int]:
        """The same in one order."""
        waiting, used = [(self._root.take(problems), problems)], 0
        doubtful = np.zeros(len(t), dtype=bool)
        while waiting and used <= max(limit, 0):
            nodes, owner = _next(waiting)
            nodes, owner = self._look(plan, nodes, owner, t, doubtful)
            used += len(owner)
            parts = [slice(first, first + BATCH) for first in range(0, len(owner), BATCH)]
            waiting += [(nodes.take(part), owner[part]) for part in parts]
        left = [owner for _, owner in waiting]
        return ~np.isin(problems, np.concatenate([problems[:0], *left])) & ~doubtful[problems], used

    def _look(self, plan: Elimination, nodes: Choices, owner: Numbers, t: Numbers, doubtful: Numbers) -> tuple[Choices, Numbers]:
        """Drop the nodes that cannot exceed t, settle in the others what can be, and split them."""
        f, votes = self._less(owner, t[owner]), plan.no_votes(nodes)
        value = plan.push(nodes, f, self._goal, votes)
        keep = np.flatnonzero((value > 0) & (self.champions.value[owner] <= t[owner]))
        nodes, owner, f, votes = nodes.take(keep), owner[keep], f[keep], votes.take(keep)
        if not len(owner):
            return nodes, owner
        settled = settle(plan, nodes, votes)
        self.champions.challenge(owner, evaluate(plan, settled, self._g[owner], self._goal), settled)
        nodes, branches, changed = fix(plan, nodes, f, self._goal, votes)
        is_open = np.isfinite(branches.gain)
        attained = self.champions.value[owner] > t[owner] - _ROUNDING  # where nothing was open, the value is attained
        doubtful[owner[~is_open & ~changed & ~attained]] = True  # or should be: this is no proof
        whole, ready = np.flatnonzero(~is_open & changed), np.flatnonzero(is_open)
        children = split(plan, nodes.take(ready), votes.take(ready), branches.take(ready))
        return Choices.join([nodes.take(whole), *children]), np.concatenate([owner[whole], owner[ready], owner[ready]])


def _next(waiting: list[tuple[Choices, Numbers]]) -> tuple[Choices, Numbers]:
    """Take a batch of nodes off those that wait, the latest first."""
    taken = [waiting.pop()]
    while waiting and sum(len(owner) for _, owner in taken) + len(waiting[-1][1]) <= BATCH:
        taken.append(waiting.pop())
    return Choices.join([choices for choices, _ in taken]), np.concatenate([owner for _, owner in taken])


def settle(plan: Elimination, choices: Choices, votes: Votes) -> Choices:
    """One network for each node: every row and every end as voted."""
    rows = [np.eye(allowed.shape[2], dtype=bool)[vote] for allowed, vote in zip(choices.rows, votes.rows, strict=True)]
    ends = {s: np.where(votes.ends[s], choices.high[s], choices.low[s]) for s in plan.scopes}
    pulls = [np.eye(allowed.shape[1], dtype=bool)[vote] for allowed, vote in zip(choices.pulls, votes.pulls, strict=True)]
    return Choices(rows, pulls, ends, ends)


def evaluate(plan: Elimination, settled: Choices, g: Numbers, goal: Scope) -> Numbers:
    """E[g | evidence] of settled nodes; -inf where the evidence is impossible."""
    twice = settled.take(np.tile(np.arange(len(g)), 2))
    weight, mass = np.split(plan.push(twice, np.concatenate([g, np.ones_like(g)]), goal), 2)
    value: Numbers = np.divide(weight, mass, out=np.full(len(g), -np.inf), where=mass > 0)
    return value


def _distributions(plan: Elimination, settled: Choices, goal: Scope) -> Numbers:
    """The distribution of the goal in settled nodes, (nodes, *sizes of the goal); not finite where the evidence is impossible."""
    sizes = [plan.model.sizes[v] for v in goal]
    nodes, cells = len(settled.rows[0]), int(np.prod(sizes))
    indicators = np.tile(np.eye(cells).reshape(cells, *sizes), (nodes, *(1 for _ in sizes)))
    return evaluate(plan, settled.take(np.repeat(np.arange(nodes), cells)), indicators, goal).reshape(nodes, *sizes)


def _climb(plan: Elimination, root: Choices, g: Numbers, goal: Scope) -> _Champions:
    """A first network for each problem: by votes at a value in the middle and far below, then by local search or further votes."""
    flat, everyone = g.reshape(len(g), -1), np.arange(len(g))

    def voted(t: Numbers) -> Choices:
        votes = plan.no_votes(root)
        plan.push(root, g - t.reshape(-1, *(1,) * len(goal)), goal, votes)
        return settle(plan, root, votes)

    starts = Choices.join([voted(flat.mean(axis=1)), voted(flat.min(axis=1) - 10)])  # far below, mass is all that counts
    twice = np.tile(everyone, 2)
    is_small = plan.model.joint_size <= LARGEST_JOINT
    if is_small:
        starts = ascend(plan, root.take(twice), starts, g[twice], goal)
    value = evaluate(plan, starts, g[twice], goal)
    champions = _Champions(value[everyone].copy(), starts.take(everyone))
    champions.challenge(twice, value, starts)
    for _ in range(0 if is_small else 20):
        before = champions.value.copy()
        settled = voted(np.where(np.isfinite(before), before, 0.0))
        champions.challenge(everyone, evaluate(plan, settled, g, goal), settled)
        if (champions.value <= before + 1e-13).all():
            break
    champions.value = np.maximum(champions.value, flat.min(axis=1))
    return champions
