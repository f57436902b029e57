"""Complete networks: their values, and the best that have been met."""

import numpy as np

from quaestor.inference.model import Scope
from quaestor.inference.search.ascent import LARGEST_JOINT, ascend
from quaestor.inference.search.choices import Choices, Numbers, Preferred
from quaestor.inference.search.elimination import Elimination

_STARTS = 20  # networks at random from which incumbents are looked for where exact bounds are wanted


class Incumbents:
    """The best complete network met so far for each problem, and its value, (problems,)."""

    def __init__(self, plan: Elimination, root: Choices, g: Numbers) -> None:
        """Before anything is known: any network, and the least that any network can attain."""
        self.value = g.reshape(len(g), -1).min(axis=1)
        self.choices = complete(plan, root, plan.first_allowed(root))

    def search(self, plan: Elimination, root: Choices, g: Numbers, goal: Scope) -> None:
        """Try what the relaxation prefers at two thresholds, improved by local search.

        Where the joint table is too large for that, what the relaxation prefers at the value reached, as long as that rises (Dinkelbach).
        """
        flat, problems = g.reshape(len(g), -1), np.arange(len(g))

        def preferred_at(t: Numbers) -> Choices:
            preferred = plan.first_allowed(root)
            plan.eliminate(root, g - t.reshape(-1, *(1,) * len(goal)), goal, preferred)
            return complete(plan, root, preferred)

        starts = Choices.join([preferred_at(flat.mean(axis=1)), preferred_at(flat.min(axis=1) - 10)])  # far below, mass is all that counts
        self.try_out(plan, root, np.tile(problems, 2), starts, g, goal, polish=True)
        for _ in range(0 if plan.model.joint_size <= LARGEST_JOINT else 20):
            before = self.value.copy()
            self.try_out(plan, root, problems, preferred_at(before), g, goal)
            if (self.value <= before + 1e-13).all():
                break

    def search_more(self, plan: Elimination, root: Choices, g: Numbers, goal: Scope, problems: Numbers) -> None:
        """Try some networks at random for some problems, improved by local search."""
        for seed in range(_STARTS if plan.model.joint_size <= LARGEST_JOINT else 0):
            self.try_out(plan, root, problems, _any(plan, root.take(problems), seed), g, goal, polish=True)

    def try_out(
        self, plan: Elimination, root: Choices, owner: Numbers, networks: Choices, g: Numbers, goal: Scope, polish: bool = False
    ) -> None:
        """Replace the incumbents that complete networks exceed; `owner` is the problem of each.

        Those that do (or all of them: `polish`) are improved by local search first, where the joint table is small enough.
        """
        if not len(owner):
            return
        value = evaluate(plan, networks, g[owner], goal)
        tried = np.flatnonzero(polish | (value > self.value[owner]))
        owner, value, networks = owner[tried], value[tried], networks.take(tried)
        if len(tried) and plan.model.joint_size <= LARGEST_JOINT:
            climbed = ascend(plan, root.take(owner), networks.take(np.arange(len(owner))), g[owner], goal)
            height = evaluate(plan, climbed, g[owner], goal)
            better = np.flatnonzero(height > value)  # where the evidence became impossible on the way up, it is not
            networks.put(better, climbed.take(better))
            value[better] = height[better]
        order = np.argsort(value)
        order = order[value[order] > self.value[owner[order]]]  # of several for one problem the last, largest one stays
        self.value[owner[order]] = value[order]
        self.choices.put(owner[order], networks.take(order))


def complete(plan: Elimination, nodes: Choices, preferred: Preferred) -> Choices:
    """One complete network for each node: every row, message and end as preferred (the lower end where none is)."""
    rows = [np.eye(allowed.shape[2], dtype=bool)[vertex] for allowed, vertex in zip(nodes.rows, preferred.rows, strict=True)]
    ends = {s: np.where(preferred.ends.get(s, False), nodes.high[s], nodes.low[s]) for s in plan.scopes}
    messages = [np.eye(allowed.shape[1], dtype=bool)[vertex] for allowed, vertex in zip(nodes.messages, preferred.messages, strict=True)]
    return Choices(rows, messages, ends, ends)


def _any(plan: Elimination, nodes: Choices, seed: int) -> Choices:
    """A complete network for each node, at random, but always the same."""
    rng = np.random.default_rng(seed)
    rows, messages = (
        [(allowed * rng.random(allowed.shape)).argmax(axis=-1) for allowed in every] for every in (nodes.rows, nodes.messages)
    )
    return complete(plan, nodes, Preferred(rows, messages, {s: rng.random(low.shape) < 0.5 for s, low in nodes.low.items()}))


def evaluate(plan: Elimination, networks: Choices, g: Numbers, goal: Scope) -> Numbers:
    """E[g | evidence] in complete networks, (networks,); -inf where the evidence is impossible. g: (networks, *sizes of the goal)."""
    twice = networks.take(np.tile(np.arange(len(g)), 2))
    weight, mass = np.split(plan.eliminate(twice, np.concatenate([g, np.ones_like(g)]), goal), 2)
    value: Numbers = np.divide(weight, mass, out=np.full(len(g), -np.inf), where=mass > 0)
    return value


def distributions(plan: Elimination, networks: Choices | None, shape: tuple[int, ...], goal: Scope) -> Numbers:
    """The distribution of the goal in complete networks, (networks, *sizes of the goal); not finite where it is not known."""
    if networks is None:
        return np.full(shape, np.nan)
    count, *sizes = shape
    cells = int(np.prod(sizes))
    indicators = np.tile(np.eye(cells).reshape(cells, *sizes), (count, *(1 for _ in sizes)))
    return evaluate(plan, networks.take(np.repeat(np.arange(count), cells)), indicators, goal).reshape(count, *sizes)
