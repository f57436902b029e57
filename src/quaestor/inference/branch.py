"""Certified bounds on any model: inner bounds by votes and flips, outer bounds by a relaxation, branch and bound to bring them together.

Work is counted in nodes, never in seconds, so that runs repeat.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from quaestor.inference.core import Core, core_of
from quaestor.inference.elimination import Choices, Elimination, Numbers, Pushed
from quaestor.inference.fixing import fix
from quaestor.inference.model import Model, Scope, likelihood

BATCH = 512  # nodes pushed at a time
COARSEST = 0.1  # the first gap that is proven
_ROUNDING = 1e-12
FIXING = 2  # every so many levels of the tree, slopes are looked at


@dataclass(frozen=True)
class Bracket:
    """For each problem an attained value and a bound that no network of the set exceeds; `nodes` counts the work.

    `points`: the target's distribution in the network that attains the value, (problems, states).
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
    found = maximise(core_of(model, target), np.concatenate([states, 1 - states]), {}, tolerance, limit)
    upper, lower = found.outer[:size], 1 - found.outer[size:]
    inner_upper, inner_lower = found.inner[:size], 1 - found.inner[size:]
    return lower, upper, inner_lower, inner_upper, found.nodes


def maximise(core: Core, g: Numbers, evidence: Mapping[Scope, tuple[Numbers, Numbers]], tolerance: float, limit: int) -> Bracket:
    """The largest E[g(target) | evidence] over the set, for each row of g, shape (problems, states).

    `evidence` replaces boxes of the core by ends that differ between the problems, shape (problems, *scope's sizes).
    """
    plan = Elimination(core)
    ends = {scope: likelihood(box) for scope, box in core.model.boxes.items()} | dict(evidence)
    problems = len(g)
    root = plan.open({s: low for s, (low, _) in ends.items()}, {s: high for s, (_, high) in ends.items()}, problems)
    champions = _climb(plan, root, g)
    inner, outer = champions.value, g.max(axis=1)
    used = 0
    for step, allowed in [(tolerance, limit // 2), *((step, limit) for step in _steps(tolerance))]:
        waiting = np.flatnonzero(outer > inner + step * (1 + 1e-9))
        while len(waiting):
            t = inner[waiting] + step
            proven, nodes = _prove(plan, root, g, inner + step, waiting, champions, allowed - used)
            used += nodes
            outer[waiting[proven]] = np.minimum(outer[waiting[proven]], t[proven])
            waiting = waiting[inner[waiting] > t]  # a better network was met on the way: prove again from there
    size = g.shape[1]
    points = [evaluate(plan, champions.choices, np.broadcast_to(np.eye(size)[state], g.shape)) for state in range(size)]
    return Bracket(inner, np.maximum(outer, inner), np.stack(points, axis=1), used)


def _steps(tolerance: float) -> list[float]:
    """Coarse gaps first and finer ones while nodes are left: what to prove when the tolerance itself was too much."""
    steps = [COARSEST / 4**k for k in range(20) if COARSEST / 4**k > tolerance]
    return [*steps, tolerance]


def _prove(
    plan: Elimination, root: Choices, g: Numbers, t: Numbers, problems: Numbers, champions: _Champions, limit: int
) -> tuple[Numbers, int]:
    """Try to prove for some problems that no network exceeds t. Returns whether it is proven, and the nodes used."""
    nodes, owner, depth, used = root.take(problems), problems, np.zeros(len(problems), dtype=int), 0
    doubtful = np.zeros(len(t), dtype=bool)
    while len(owner) and used <= max(limit, 0):
        now, later = np.arange(min(BATCH, len(owner))), np.arange(BATCH, len(owner))
        batch, mine, deep = nodes.take(now), owner[now], depth[now]
        nodes, owner, depth = nodes.take(later), owner[later], depth[later]
        pushed = plan.push(batch, g[mine], t[mine])
        still = np.flatnonzero((pushed.value > 0) & (champions.value[mine] <= t[mine]))
        batch, mine, deep, pushed = batch.take(still), mine[still], deep[still], _part(pushed, still)
        due = np.flatnonzero(deep % FIXING == 0)
        if len(due):
            batch, pushed = _fixed(plan, batch, g[mine], t[mine], pushed, due)
        if len(mine):
            settled = settle(plan, batch, pushed)
            champions.challenge(mine, evaluate(plan, settled, g[mine]), settled)
            still = np.flatnonzero((pushed.value > 0) & (pushed.gain > 0))  # without dispute the value is attained
            attained = champions.value[mine] > t[mine] - _ROUNDING
            doubtful[mine[(pushed.value > 0) & (pushed.gain <= 0) & ~attained]] = True  # or should be: this is no proof
            nodes = Choices.join([_split(plan, batch.take(still), _part(pushed, still)), nodes])
            owner = np.concatenate([mine[still], mine[still], owner])
            depth = np.concatenate([deep[still] + 1, deep[still] + 1, depth])
            used += 2 * len(still)
    return (champions.value[problems] <= t[problems]) & ~np.isin(problems, owner) & ~doubtful[problems], used


def _fixed(plan: Elimination, batch: Choices, g: Numbers, t: Numbers, pushed: Pushed, due: Numbers) -> tuple[Choices, Pushed]:
    """The batch with what slopes settle in the nodes that are due, pushed again."""
    part = _part(pushed, due)
    changed = fix(plan, batch.take(due), g[due], t[due], (part.votes_rows, part.votes_pulls))
    rest = np.setdiff1d(np.arange(len(t)), due)
    joined = Choices.join([changed, batch.take(rest)]).take(np.argsort(np.concatenate([due, rest])))
    return joined, plan.push(joined, g, t)


def settle(plan: Elimination, choices: Choices, pushed: Pushed) -> Choices:
    """One network for each node: every row and every end as voted."""
    rows = [np.eye(allowed.shape[2], dtype=bool)[votes] for allowed, votes in zip(choices.rows, pushed.votes_rows, strict=True)]
    ends = {s: np.where(pushed.votes_ends[s], choices.high[s], choices.low[s]) for s in plan.scopes}
    pulls = [np.eye(allowed.shape[1], dtype=bool)[votes] for allowed, votes in zip(choices.pulls, pushed.votes_pulls, strict=True)]
    return Choices(rows, pulls, ends, ends)


def evaluate(plan: Elimination, settled: Choices, g: Numbers) -> Numbers:
    """E[g | evidence] of settled nodes; -inf where the evidence is impossible."""
    pushed = plan.push(settled, g, np.zeros(len(g)))
    value: Numbers = np.divide(pushed.value, pushed.mass, out=np.full(len(g), -np.inf), where=pushed.mass > 0)
    return value


def _part(pushed: Pushed, nodes: Numbers) -> Pushed:
    names = ("value", "mass", "gain", "kind", "place", "item")
    part = Pushed(*(getattr(pushed, name)[nodes] for name in names))
    part.votes_rows = [votes[nodes] for votes in pushed.votes_rows]
    part.votes_pulls = [votes[nodes] for votes in pushed.votes_pulls]
    part.votes_ends = {scope: votes[nodes] for scope, votes in pushed.votes_ends.items()}
    return part


def _split(plan: Elimination, choices: Choices, pushed: Pushed) -> Choices:
    """Two children of each node: the disputed row at its voted vertex, or at another; the disputed end at the upper or the lower end."""
    count = len(pushed.value)
    one, other = choices.take(np.arange(count)), choices.take(np.arange(count))
    for v in range(len(choices.rows)):
        mine = np.flatnonzero((pushed.kind == 0) & (pushed.place == v))
        if len(mine):
            item = pushed.item[mine]
            vote = pushed.votes_rows[v][mine, item]
            one.rows[v][mine, item] = False
            one.rows[v][mine, item, vote] = True
            other.rows[v][mine, item, vote] = False
        mine = np.flatnonzero((pushed.kind == 2) & (pushed.place == v))
        if len(mine):
            vote = pushed.votes_pulls[v][mine]
            one.pulls[v][mine] = False
            one.pulls[v][mine, vote] = True
            other.pulls[v][mine, vote] = False
    for number, scope in enumerate(plan.scopes):
        mine = np.flatnonzero((pushed.kind == 1) & (pushed.place == number))
        if len(mine):
            item = pushed.item[mine]
            one.low[scope][mine, item] = one.high[scope][mine, item]
            other.high[scope][mine, item] = other.low[scope][mine, item]
    return Choices.join([one, other])


def _climb(plan: Elimination, root: Choices, g: Numbers) -> _Champions:
    """A first network for each problem: repeat the vote at the value reached until it rises no more."""
    settled = settle(plan, root, plan.push(root, g, g.mean(axis=1)))
    champions = _Champions(evaluate(plan, settled, g), settled)
    everyone = np.arange(len(g))
    likely = settle(plan, root, plan.push(root, g, g.min(axis=1) - 10))  # far below, mass is all that counts
    champions.challenge(everyone, evaluate(plan, likely, g), likely)
    for _ in range(20):
        before = champions.value.copy()
        start = np.where(np.isfinite(before), before, 0.0)
        settled = settle(plan, root, plan.push(root, g, start))
        champions.challenge(everyone, evaluate(plan, settled, g), settled)
        if (champions.value <= before + 1e-13).all():
            break
    champions.value = np.maximum(champions.value, g.min(axis=1))
    return champions
