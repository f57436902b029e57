"""Branch and bound: the largest E[g | evidence] over all networks of a set, bracketed from inside and from outside.

Inner values are attained by networks that were met, the best of them being the *incumbent*: by local search first, then by completing the
nodes of the search. Outer bounds rest on the relaxation of `elimination`: to prove that no network exceeds a threshold t, nodes whose
relaxation is not positive at t are pruned, choices whose effect has a known sign are fixed (`fixing`), one of the others is branched on.

Work is counted in nodes, never in seconds, so that runs repeat.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from quaestor.inference.model import Model, Scope, likelihood
from quaestor.inference.search.ascent import LARGEST_JOINT, ascend
from quaestor.inference.search.core import Core, core_of
from quaestor.inference.search.elimination import Choices, Elimination, Numbers, Preferred
from quaestor.inference.search.fixing import fix, split
from quaestor.inference.search.orders import orders

BATCH = 512  # nodes that are bounded together
COARSEST = 0.1  # the first gap that is proven by branching when the tolerance was too much
_SIMILAR = 1.3  # problems whose best order is better by no more than this factor share the order of others
_BISECTIONS = 12  # of the range in which the root alone is asked for a bound
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Optimum:
    """For each problem an attained value and a bound that no network of the set exceeds, shapes (problems,).

    `points`: the distribution of the goal in the network that attains the value, (problems, *sizes of the goal). `nodes` counts the work:
    if it is not above the limit, the search ended by itself, and a gap above the tolerance is one that more nodes cannot close.
    """

    inner: Numbers
    outer: Numbers
    points: Numbers
    nodes: int


@dataclass
class _Incumbents:
    """The best complete network met so far for each problem, and its value, (problems,)."""

    value: Numbers
    choices: Choices

    def update(self, owner: Numbers, value: Numbers, choices: Choices) -> None:
        """Replace the incumbents that are exceeded; `owner` is the problem of each candidate."""
        order = np.argsort(value)
        order = order[value[order] > self.value[owner[order]]]  # of several for one problem the last, largest one stays
        self.value[owner[order]] = value[order]
        self.choices.put(owner[order], choices.take(order))


def bracket_bounds(model: Model, target: int, tolerance: float, limit: int) -> tuple[Numbers, Numbers, Numbers, Numbers, int]:
    """Lower, upper, inner lower and inner upper P(target | evidence), shapes (states,), and the number of nodes.

    The lower probability of a state is one minus the upper probability of all others together.
    """
    size = model.sizes[target]
    states = np.eye(size)
    core = core_of(model, (target,))
    found = maximise(core, np.concatenate([states, 1 - states]), {}, tolerance, limit, (core.number[target],))
    upper, lower = found.outer[:size], 1 - found.outer[size:]
    inner_upper, inner_lower = found.inner[:size], 1 - found.inner[size:]
    return lower, upper, inner_lower, inner_upper, found.nodes


def maximise(
    core: Core, g: Numbers, evidence: Mapping[Scope, tuple[Numbers, Numbers]], tolerance: float, limit: int, goal: Scope
) -> Optimum:
    """The largest E[g(goal) | evidence] over the set, for each g, shape (problems, *sizes of the goal).

    `evidence` replaces boxes of the core by ends that differ between the problems, shape (problems, *scope's sizes).

    Half of the nodes are spent on proving the tolerance at once: that nothing exceeds the incumbent by more. Where that fails, the root
    alone is bisected, and coarser gaps are proven one after the other while nodes are left, so that the bound is the best that the limit
    allows.
    """
    plans = [Elimination(core, order) for order in orders(core.model, goal)]
    ends = {scope: likelihood(box) for scope, box in core.model.boxes.items()} | dict(evidence)
    root = plans[0].open({s: low for s, (low, _) in ends.items()}, {s: high for s, (_, high) in ends.items()}, len(g))
    search = _Search(plans, root, g, goal)
    inner, outer = search.incumbents.value, g.reshape(len(g), -1).max(axis=1)
    used = 0
    for turn, (gap, allowed) in enumerate([(tolerance, limit // 2), *((gap, limit) for gap in _gaps(tolerance))]):
        if turn == 1:
            search.bisect_at_root(outer, np.flatnonzero(outer > inner + tolerance * (1 + 1e-9)))
        unproven = np.flatnonzero(outer > inner + gap * (1 + 1e-9))
        while len(unproven):
            t = inner[unproven] + gap
            proven, nodes = search.prove(inner + gap, unproven, allowed - used)
            used += nodes
            outer[unproven[proven]] = np.minimum(outer[unproven[proven]], t[proven])
            unproven = unproven[inner[unproven] > t]  # the incumbent became better on the way: prove again from there
    return Optimum(inner, np.maximum(outer, inner), _distributions(plans[0], search.incumbents.choices, goal), used)


def _gaps(tolerance: float) -> list[float]:
    """The gaps to prove when the tolerance was too much: a coarse one, then always a quarter of the last, at the end the tolerance."""
    gaps = [COARSEST / 4**k for k in range(20) if COARSEST / 4**k > tolerance]
    return [*gaps, tolerance]


class _Search:
    """The problems of one core: their incumbents, and proofs that nothing exceeds them by much."""

    def __init__(self, plans: list[Elimination], root: Choices, g: Numbers, goal: Scope) -> None:
        self._plans, self._root, self._g, self._goal = plans, root, g, goal
        self.incumbents = _first_incumbents(plans[0], root, g, goal)

    def _shifted(self, problems: Numbers, t: Numbers) -> Numbers:
        """f = g - t of some problems, (problems, *sizes of the goal); t: (problems,)."""
        f: Numbers = self._g[problems] - t.reshape(-1, *(1,) * len(self._goal))
        return f

    def _root_relaxation(self, problems: Numbers, t: Numbers) -> Numbers:
        """F(t) of some problems at the root in every order, (orders, problems)."""
        start, f = self._root.take(problems), self._shifted(problems, t)
        return np.stack([plan.eliminate(start, f, self._goal) for plan in self._plans])

    def bisect_at_root(self, outer: Numbers, problems: Numbers) -> None:
        """Lower the outer bounds of some problems to what the relaxation at the root proves, without any branching."""
        low, high = self.incumbents.value[problems], outer[problems]
        for _ in range(_BISECTIONS if len(problems) else 0):
            t = (low + high) / 2
            proven = (self._root_relaxation(problems, t) <= 0).any(axis=0)
            low, high = np.where(proven, low, t), np.where(proven, t, high)
        outer[problems] = high

    def prove(self, t: Numbers, problems: Numbers, limit: int) -> tuple[Numbers, int]:
        """Try to prove for some problems that no network exceeds t. Returns whether it is proven, (problems,), and the nodes used.

        One order of elimination at the root is enough for a proof. Where none is, each problem is branched on in an order that is about as
        good for it as its best.
        """
        values = self._root_relaxation(problems, t[problems])
        proven = np.any(values <= 0, axis=0)
        used, left = 0, np.flatnonzero(~proven)
        while len(left):
            loss = values[:, left] / values[:, left].min(axis=0)  # against the best order for each problem
            chosen = loss.sum(axis=1).argmin()
            similar = loss[chosen] <= max(_SIMILAR, loss[chosen].min())
            together, left = left[similar], left[~similar]
            proven[together], nodes = self._branch_and_bound(self._plans[chosen], t, problems[together], limit - used)
            used += nodes
        return proven & (self.incumbents.value[problems] <= t[problems]), used

    def _branch_and_bound(self, plan: Elimination, t: Numbers, problems: Numbers, limit: int) -> tuple[Numbers, int]:
        """Try to prove by branching, in one order of elimination; see `prove`. A problem is proven when none of its nodes is left open."""
        waiting, used = [(self._root.take(problems), problems)], 0
        doubtful = np.zeros(len(t), dtype=bool)
        while waiting and used <= max(limit, 0):
            nodes, owner = _next_batch(waiting)
            nodes, owner = self._expand(plan, nodes, owner, t, doubtful)
            used += len(owner)
            parts = [slice(first, first + BATCH) for first in range(0, len(owner), BATCH)]
            waiting += [(nodes.take(part), owner[part]) for part in parts]
        left = [owner for _, owner in waiting]
        return ~np.isin(problems, np.concatenate([problems[:0], *left])) & ~doubtful[problems], used

    def _expand(self, plan: Elimination, nodes: Choices, owner: Numbers, t: Numbers, doubtful: Numbers) -> tuple[Choices, Numbers]:
        """Prune the nodes that cannot exceed t, fix choices in the others, and branch: the nodes that come of it, and their problems.

        Sets `doubtful` for problems with a node that is positive at t though it has nothing left to choose and no incumbent attains it.
        """
        f, preferred = self._shifted(owner, t[owner]), plan.first_allowed(nodes)
        value = plan.eliminate(nodes, f, self._goal, preferred)
        keep = np.flatnonzero((value > 0) & (self.incumbents.value[owner] <= t[owner]))
        nodes, owner, f, preferred = nodes.take(keep), owner[keep], f[keep], preferred.take(keep)
        if not len(owner):
            return nodes, owner
        networks = complete(plan, nodes, preferred)
        self.incumbents.update(owner, evaluate(plan, networks, self._g[owner], self._goal), networks)
        nodes, branching, changed = fix(plan, nodes, f, self._goal, preferred)
        is_open = np.isfinite(branching.gain)
        attained = self.incumbents.value[owner] > t[owner] - _ROUNDING  # where nothing was open, the value is attained
        doubtful[owner[~is_open & ~changed & ~attained]] = True  # or should be: this is no proof
        again, branched = np.flatnonzero(~is_open & changed), np.flatnonzero(is_open)
        children = split(plan, nodes.take(branched), preferred.take(branched), branching.take(branched))
        return Choices.join([nodes.take(again), *children]), np.concatenate([owner[again], owner[branched], owner[branched]])


def _next_batch(waiting: list[tuple[Choices, Numbers]]) -> tuple[Choices, Numbers]:
    """Take up to a batch of nodes off those that wait, the latest first: depth first keeps few of them in memory."""
    taken = [waiting.pop()]
    while waiting and sum(len(owner) for _, owner in taken) + len(waiting[-1][1]) <= BATCH:
        taken.append(waiting.pop())
    return Choices.join([choices for choices, _ in taken]), np.concatenate([owner for _, owner in taken])


def complete(plan: Elimination, nodes: Choices, preferred: Preferred) -> Choices:
    """One complete network for each node: every row, message and end as preferred."""
    rows = [np.eye(allowed.shape[2], dtype=bool)[vertex] for allowed, vertex in zip(nodes.rows, preferred.rows, strict=True)]
    ends = {s: np.where(preferred.ends[s], nodes.high[s], nodes.low[s]) for s in plan.scopes}
    messages = [np.eye(allowed.shape[1], dtype=bool)[vertex] for allowed, vertex in zip(nodes.messages, preferred.messages, strict=True)]
    return Choices(rows, messages, ends, ends)


def evaluate(plan: Elimination, networks: Choices, g: Numbers, goal: Scope) -> Numbers:
    """E[g | evidence] in complete networks, (networks,); -inf where the evidence is impossible. g: (networks, *sizes of the goal)."""
    twice = networks.take(np.tile(np.arange(len(g)), 2))
    weight, mass = np.split(plan.eliminate(twice, np.concatenate([g, np.ones_like(g)]), goal), 2)
    value: Numbers = np.divide(weight, mass, out=np.full(len(g), -np.inf), where=mass > 0)
    return value


def _distributions(plan: Elimination, networks: Choices, goal: Scope) -> Numbers:
    """The distribution of the goal in complete networks, (networks, *sizes of the goal); not finite where the evidence is impossible."""
    sizes = [plan.model.sizes[v] for v in goal]
    count, cells = len(networks.rows[0]), int(np.prod(sizes))
    indicators = np.tile(np.eye(cells).reshape(cells, *sizes), (count, *(1 for _ in sizes)))
    return evaluate(plan, networks.take(np.repeat(np.arange(count), cells)), indicators, goal).reshape(count, *sizes)


def _first_incumbents(plan: Elimination, root: Choices, g: Numbers, goal: Scope) -> _Incumbents:
    """A first network for each problem: what the relaxation prefers at two thresholds, improved by local search.

    Where the joint table is too large for that, by what the relaxation prefers at the value reached, as long as that rises (Dinkelbach).
    """
    flat, problems = g.reshape(len(g), -1), np.arange(len(g))

    def preferred_at(t: Numbers) -> Choices:
        preferred = plan.first_allowed(root)
        plan.eliminate(root, g - t.reshape(-1, *(1,) * len(goal)), goal, preferred)
        return complete(plan, root, preferred)

    starts = Choices.join([preferred_at(flat.mean(axis=1)), preferred_at(flat.min(axis=1) - 10)])  # far below, mass is all that counts
    twice = np.tile(problems, 2)
    is_small = plan.model.joint_size <= LARGEST_JOINT
    if is_small:
        starts = ascend(plan, root.take(twice), starts, g[twice], goal)
    value = evaluate(plan, starts, g[twice], goal)
    incumbents = _Incumbents(value[problems].copy(), starts.take(problems))
    incumbents.update(twice, value, starts)
    for _ in range(0 if is_small else 20):
        before = incumbents.value.copy()
        networks = preferred_at(np.where(np.isfinite(before), before, 0.0))
        incumbents.update(problems, evaluate(plan, networks, g, goal), networks)
        if (incumbents.value <= before + 1e-13).all():
            break
    incumbents.value = np.maximum(incumbents.value, flat.min(axis=1))
    return incumbents
