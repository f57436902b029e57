"""Branch and bound: the largest E[g | evidence] over all networks of a set, bracketed from inside and from outside.

Inner values are attained by networks that were met, the best of them being the *incumbent*: by local search first, then by completing the
nodes of the search. Outer bounds rest on the relaxation of `elimination`: to prove that no network exceeds a threshold t, nodes whose
relaxation is not positive at t are pruned, choices whose effect has a known sign are fixed (`fixing`), one of the others is branched on.

Work is counted in nodes, never in seconds, so that runs repeat.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from time import monotonic

import numpy as np

from quaestor.inference.model import Model, Scope, likelihood
from quaestor.inference.search.choices import Choices, Numbers
from quaestor.inference.search.core import Core, core_of
from quaestor.inference.search.elimination import Elimination, TimeUpError
from quaestor.inference.search.fixing import fix, split
from quaestor.inference.search.incumbents import Incumbents, complete, distributions
from quaestor.inference.search.orders import orders
from quaestor.inference.search.settling import settle
from quaestor.inference.search.shares import FEWER, LEVELS, with_shares
from quaestor.lazy import lazy

COARSEST = 0.1  # the first gap that is proven by branching when the tolerance was too much
_SIMILAR = 1.3  # problems whose best order is better by no more than this factor share the order of others
_SETTLED_AT_FIRST, _SETTLED = 400, 1_000  # nodes into which a problem may part before shares are asked for, before it is branched on
_LIGHTER = 16  # nodes made on the way that count for one
_CHEAPER = 0.25  # the power of the work that an order takes which weighs as much as what it loses
_BISECTIONS = 12  # of the range in which the root alone is asked for a bound
_SHARED = 4  # of so many batches of nodes one has its shares raised
_FOR_INCUMBENTS = 0.1  # of the time, where that is limited: what more incumbents may take
_FOR_COARSER = 0.15  # what is kept for coarser gaps where the tolerance is not proven before
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Optimum:
    """For each problem an attained value and a bound that no network of the set exceeds, shapes (problems,).

    `nodes` counts the work: if it is not above the limit, the search ended by itself, and a gap above the tolerance is one that more nodes
    cannot close.
    """

    inner: Numbers
    outer: Numbers
    nodes: int
    find_points: Callable[[], Numbers] = field(repr=False)

    @lazy
    def points(self) -> Numbers:
        """The distribution of the goal in the network that attains the value, (problems, *sizes of the goal).

        Not finite where the evidence is impossible in it, or when the time was over.
        """
        return self.find_points()


def state_goals(size: int) -> Numbers:
    """What is maximised to bound a variable: each state, and for more than two each state's complement.

    The lower probability of a state is one minus the upper probability of all others together.
    """
    return np.eye(size) if size == 2 else np.concatenate([np.eye(size), 1 - np.eye(size)])


def state_bounds(most: Numbers, size: int) -> tuple[Numbers, Numbers]:
    """Lower and upper bounds, (..., states), from the largest values of the goals, (..., goals)."""
    upper = most[..., :size]
    return 1 - (upper[..., ::-1] if size == 2 else most[..., size:]), upper


def maximise(
    core: Core,
    g: Numbers,
    evidence: Mapping[Scope, tuple[Numbers, Numbers]],
    tolerance: float | Callable[[Numbers], Numbers],
    limit: int,
    goal: Scope,
    end: float | None = None,
) -> Optimum:
    """The largest E[g(goal) | evidence] over the set, for each g, shape (problems, *sizes of the goal).

    `evidence` replaces boxes of the core by ends that differ between the problems, shape (problems, *scope's sizes). The tolerance may
    depend on the values that a first local search has attained, (problems,).

    Half of the nodes are spent on proving the tolerance at once: that nothing exceeds the incumbent by more. Where that fails, the root
    alone is bisected, and coarser gaps are proven one after the other while nodes are left, so that the bound is the best that the limit
    allows. After `end`, a moment of `time.monotonic`, what has been found until then is all.
    """
    search = Search(core, g, goal, evidence)
    search.run(tolerance, limit, end)
    return search.optimum


def _gaps(tolerance: Numbers) -> list[Numbers]:
    """The gaps to prove when the tolerance was too much: a coarse one, then always a quarter of the last, at the end the tolerance."""
    gaps = [np.maximum(COARSEST / 4**k, tolerance) for k in range(20) if COARSEST / 4**k > tolerance.min()]
    return [*gaps, tolerance]


class Search:
    """The problems of one core: their incumbents and outer bounds, the nodes used, and proofs that nothing exceeds incumbents by much.

    It may be run with one tolerance after another: what is known only gets better. See `maximise`.
    """

    def __init__(self, core: Core, g: Numbers, goal: Scope, evidence: Mapping[Scope, tuple[Numbers, Numbers]]) -> None:
        first, *others = orders(core.model, goal)
        plan = Elimination(core, first)
        self._plans = [plan, *(plan.in_order(order) for order in others)]
        ends = {scope: likelihood(box) for scope, box in core.model.boxes.items()} | dict(evidence)
        self._root = plan.open({s: low for s, (low, _) in ends.items()}, {s: high for s, (_, high) in ends.items()}, len(g))
        self._g, self._goal = g, goal
        self._shares: dict[int, list[Numbers]] = {}  # of the root, by the number of the plan
        self.incumbents = Incumbents(plan, self._root, g)
        self.outer, self.used, self.is_over, self._has_begun = g.reshape(len(g), -1).max(axis=1), 0, False, False

    def run(self, tolerance: float | Callable[[Numbers], Numbers], limit: int, end: float | None) -> None:
        """Bring incumbents and outer bounds together, as near as the tolerance says or as nodes (of all runs) and time allow."""
        self._end_at(end)
        try:
            if not self._has_begun:
                self.incumbents.search(self._plans[0], self._root, self._g, self._goal)
                self._has_begun = True
            wanted = tolerance(self.incumbents.value) if callable(tolerance) else tolerance
            self._close(np.broadcast_to(wanted, self.outer.shape), limit, end)
        except TimeUpError:
            self.is_over = True  # what is known by now stands
        self._end_at(None)

    def _end_at(self, end: float | None) -> None:
        """Set the moment after which nothing is worked out any more."""
        for plan in self._plans:
            plan.end = end

    @property
    def optimum(self) -> Optimum:
        """What is known by now."""
        inner, networks = self.incumbents.value, None if self.is_over else self.incumbents.choices
        points = partial(distributions, self._plans[0], networks, self._g.shape, self._goal)
        return Optimum(inner, np.maximum(self.outer, inner), self.used, points)

    def _close(self, tolerance: Numbers, limit: int, end: float | None) -> None:
        """Prove the tolerance, (problems,), or one gap after the other."""
        if end is None:
            self._prove_gap(tolerance, limit // 2)
            self._bisect_at_root(self._unproven(tolerance))
        else:
            self._bisect_at_root(self._unproven(tolerance))  # whenever the time is over, there is a bound
            now, plan = monotonic(), self._plans[0]
            self._end_at(now + _FOR_INCUMBENTS * (end - now))
            with suppress(TimeUpError):  # a proof that begins below the maximum has to begin again
                self.incumbents.search_more(plan, self._root, self._g, self._goal, self._unproven(tolerance))
            self._end_at(end - _FOR_COARSER * (end - now))
            with suppress(TimeUpError):
                self._prove_gap(tolerance, limit)
            self._end_at(end)
        for gap in _gaps(tolerance):
            self._prove_gap(gap, limit)

    def _unproven(self, gap: Numbers) -> Numbers:
        """The problems whose outer bound is above the incumbent by more than a gap, (problems,)."""
        return np.flatnonzero(self.outer > self.incumbents.value + gap * (1 + 1e-9))

    def _prove_gap(self, gap: Numbers, limit: int) -> None:
        """Prove that nothing exceeds the incumbents by more than a gap, (problems,), with so many nodes, those used before counted."""
        inner, unproven = self.incumbents.value, self._unproven(gap)
        while len(unproven):
            t = inner + gap
            self._prove(t, unproven, limit - self.used)
            unproven = unproven[inner[unproven] > t[unproven]]  # the incumbent became better on the way: prove again from there

    def _shifted(self, problems: Numbers, t: Numbers) -> Numbers:
        """f = g - t of some problems, (problems, *sizes of the goal); t: (problems,)."""
        f: Numbers = self._g[problems] - t.reshape(-1, *(1,) * len(self._goal))
        return f

    def _root_relaxation(self, problems: Numbers, t: Numbers) -> Numbers:
        """F(t) of some problems at the root in every order, (orders, problems)."""
        start, f = self._root.take(problems), self._shifted(problems, t)
        return np.stack([plan.eliminate(start, f, self._goal) for plan in self._plans])

    def _bisect_at_root(self, problems: Numbers) -> None:
        """Lower the outer bounds of some problems to what the relaxation at the root proves, without any branching.

        In every order first; then, with the choices tied together, in the one that is best for most of them.
        """
        if not len(problems):
            return
        self._bisect(problems, lambda t: self._root_relaxation(problems, t).min(axis=0))
        chosen = self._best_order(self._root_relaxation(problems, self.incumbents.value[problems]))[0]
        tied = self._tied_root(chosen, problems)
        self._bisect(problems, lambda t: self._plans[chosen].eliminate(tied, self._shifted(problems, t), self._goal))

    def _bisect(self, problems: Numbers, relaxation: Callable[[Numbers], Numbers]) -> None:
        low, high = self.incumbents.value[problems], self.outer[problems]
        for _ in range(_BISECTIONS):
            t = (low + high) / 2
            proven = relaxation(t) <= 0
            low, high = np.where(proven, low, t), np.where(proven, t, high)
            self.outer[problems] = high

    def _prove(self, t: Numbers, problems: Numbers, limit: int) -> None:
        """Try to prove for some problems that no network exceeds t, (all problems,), and lower the outer bounds of those proven.

        One order of elimination at the root is enough for a proof. Where none is, each problem is branched on in an order that is about as
        good for it as its best.
        """
        values = self._root_relaxation(problems, t[problems])
        proven = np.any(values <= 0, axis=0)
        self.outer[problems[proven]] = np.minimum(self.outer, t)[problems[proven]]
        last, left = self.used + limit, np.flatnonzero(~proven)
        while len(left):
            chosen, similar = self._best_order(values[:, left])
            together, left = problems[left[similar]], left[~similar]
            together = self._settle(chosen, t, together, last)
            if not len(together):
                continue
            proven = self._branch_and_bound(chosen, t, together, last) & (self.incumbents.value[together] <= t[together])
            self.outer[together[proven]] = np.minimum(self.outer, t)[together[proven]]

    def _settle(self, chosen: int, t: Numbers, problems: Numbers, last: int) -> Numbers:
        """Try to prove it for some problems by settling choices in one order of elimination; those for which nothing came of it.

        At first without shares, which take longer to find than little work saves.
        """
        plan = self._plans[chosen]
        for most in (_SETTLED_AT_FIRST, _SETTLED):
            if self.used >= last or not len(problems):
                break
            roots = self._root.take(problems) if most < _SETTLED else self._tied_root(chosen, problems)
            proven, owner, networks, nodes = settle(plan, roots, self._shifted(problems, t[problems]), self._goal, most)
            self.used += -(-nodes // _LIGHTER)
            self.outer[problems[proven]] = np.minimum(self.outer, t)[problems[proven]]
            self.incumbents.try_out(plan, self._root, problems[owner], networks, self._g, self._goal)
            problems = problems[~proven]
            problems = problems[self.incumbents.value[problems] <= t[problems]]
        return problems

    def _best_order(self, values: Numbers) -> tuple[int, Numbers]:
        """The order that is the best for problems whose relaxation is positive, (orders, problems), and for which it is good enough."""
        positive = np.maximum(values, np.finfo(float).tiny)
        loss = positive / positive.min(axis=0)  # against the best order for each problem
        chosen = int((loss.sum(axis=1) * [plan.work(self._goal) ** _CHEAPER for plan in self._plans]).argmin())
        return chosen, loss[chosen] <= max(_SIMILAR, loss[chosen].min())

    def _tied_root(self, chosen: int, problems: Numbers) -> Choices:
        """The roots of some problems with the shares that hold for all of them."""
        root = self._root
        if chosen not in self._shares:
            rows, messages = ([allowed[:1] for allowed in every] for every in (root.rows, root.messages))
            low, high = (
                {s: end.min(axis=0)[None] for s, end in root.low.items()},
                {s: end.max(axis=0)[None] for s, end in root.high.items()},
            )
            plan = self._plans[chosen]
            self._shares[chosen] = with_shares(plan, Choices(rows, messages, low, high), self._goal, LEVELS).shares
        nodes = root.take(problems)
        nodes.shares = [np.repeat(least, len(problems), axis=0) for least in self._shares[chosen]]
        return nodes

    def _branch_and_bound(self, chosen: int, t: Numbers, problems: Numbers, last: int) -> Numbers:
        """Whether branching in one order of elimination proves it, (problems,); see `_prove`. It does when no node is left open."""
        plan = self._plans[chosen]
        waiting = [(self._tied_root(chosen, problems), problems)]
        doubtful = np.zeros(len(t), dtype=bool)
        for turn in count():
            if not waiting or self.used > last:
                break
            nodes, owner = _next_batch(waiting, plan.batch)
            nodes, owner = self._expand(plan, nodes, owner, t, doubtful, turn % _SHARED == 0)
            self.used += len(owner) * plan.weight(self._goal)
            parts = [slice(first, first + plan.batch) for first in range(0, len(owner), plan.batch)]
            waiting += [(nodes.take(part), owner[part]) for part in parts]
        left = [owner for _, owner in waiting]
        return ~np.isin(problems, np.concatenate([problems[:0], *left])) & ~doubtful[problems]

    def _expand(
        self, plan: Elimination, nodes: Choices, owner: Numbers, t: Numbers, doubtful: Numbers, raises: bool
    ) -> tuple[Choices, Numbers]:
        """Prune the nodes that cannot exceed t, fix choices in the others, and branch: the nodes that come of it, and their problems.

        `raises`: whether the shares of nodes that are branched on are raised, which costs more than all the rest.

        Sets `doubtful` for problems with a node that is positive at t though it has nothing left to choose and no incumbent attains it.
        """
        f, preferred = self._shifted(owner, t[owner]), plan.first_allowed(nodes)
        value = plan.eliminate(nodes, f, self._goal, preferred)
        keep = np.flatnonzero((value > 0) & (self.incumbents.value[owner] <= t[owner]))
        nodes, owner, f, preferred = nodes.take(keep), owner[keep], f[keep], preferred.take(keep)
        if not len(owner):
            return nodes, owner
        self.incumbents.try_out(plan, self._root, owner, complete(plan, nodes, preferred), self._g, self._goal)
        nodes, branching, changed = fix(plan, nodes, f, self._goal, preferred)
        is_open = np.isfinite(branching.gain)
        attained = self.incumbents.value[owner] > t[owner] - _ROUNDING  # where nothing was open, the value is attained
        doubtful[owner[~is_open & ~changed & ~attained]] = True  # or should be: this is no proof
        again, branched = np.flatnonzero(~is_open & changed), np.flatnonzero(is_open)
        parents = nodes.take(branched)
        parents = with_shares(plan, parents, self._goal, FEWER) if raises else parents
        children = split(plan, parents, preferred.take(branched), branching.take(branched))
        return Choices.join([nodes.take(again), *children]), np.concatenate([owner[again], owner[branched], owner[branched]])


def search_of(model: Model, target: int) -> Search:
    """The search for bounds of P(target | evidence), see `state_bounds`."""
    core = core_of(model, (target,))
    return Search(core, state_goals(model.sizes[target]), (core.number[target],), {})


def _next_batch(waiting: list[tuple[Choices, Numbers]], most: int) -> tuple[Choices, Numbers]:
    """Take up to so many nodes off those that wait, the latest first: depth first keeps few of them in memory."""
    taken = [waiting.pop()]
    while waiting and sum(len(owner) for _, owner in taken) + len(waiting[-1][1]) <= most:
        taken.append(waiting.pop())
    return Choices.join([choices for choices, _ in taken]), np.concatenate([owner for _, owner in taken])
