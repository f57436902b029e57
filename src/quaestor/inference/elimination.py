"""A relaxation that bounds expectations from above on any model, many problems at a time.

For a threshold t push f = g(target) - t up the network, children before parents. At each variable take, for every configuration of its
parents and of the other variables still in f, the best vertex of its row and of what pulls it; where evidence multiplies f, take the
upper end where f is positive and the lower end where it is negative. A row or an end may thus choose anew in every context, so the result
F(t) is at least what any network of the set attains: F(t) <= 0 proves that E[g | evidence] <= t for all of them. Where everything
chose alike in all contexts, the value is attained.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quaestor.inference.core import Core
from quaestor.inference.model import Model, Scope

Numbers = NDArray[Any]  # indices, flags or numbers


ROWS, ENDS, PULLS = 0, 1, 2  # what can be disputed: a row's vertex, an end of evidence, a vertex of what pulls a variable


@dataclass(frozen=True)
class Focus:
    """Numbers in the place of one thing: of the rows of variable `place` (nodes, rows, states), of what pulls it (nodes, states), or of
    the ends of scope number `place` (nodes, configurations). F is linear in them, so this bounds how F changes with that thing."""

    kind: int
    place: int
    weights: Numbers


@dataclass
class Choices:
    """What is still open in each of a batch of nodes: allowed vertices of rows and ends of evidence.

    `rows[v]`: (nodes, rows, vertices) booleans; `pulls[v]`: (nodes, vertices) booleans; `low[scope]`, `high[scope]`: (nodes,
    configurations) ends, equal where settled.
    """

    rows: list[Numbers]
    pulls: list[Numbers]
    low: dict[Scope, Numbers]
    high: dict[Scope, Numbers]

    def take(self, nodes: Numbers) -> "Choices":
        """The same for some of the nodes, in this order."""
        return Choices(
            [allowed[nodes] for allowed in self.rows],
            [allowed[nodes] for allowed in self.pulls],
            {scope: ends[nodes] for scope, ends in self.low.items()},
            {scope: ends[nodes] for scope, ends in self.high.items()},
        )

    def put(self, nodes: Numbers, other: "Choices") -> None:
        """Replace some of the nodes by others."""
        for mine, theirs in ((self.rows, other.rows), (self.pulls, other.pulls)):
            for v, allowed in enumerate(mine):
                allowed[nodes] = theirs[v]
        for ends, others in ((self.low, other.low), (self.high, other.high)):
            for scope in ends:
                ends[scope][nodes] = others[scope]

    @staticmethod
    def join(parts: Sequence["Choices"]) -> "Choices":
        """Several batches as one."""
        return Choices(
            [np.concatenate(allowed) for allowed in zip(*(part.rows for part in parts), strict=True)],
            [np.concatenate(allowed) for allowed in zip(*(part.pulls for part in parts), strict=True)],
            {scope: np.concatenate([part.low[scope] for part in parts]) for scope in parts[0].low},
            {scope: np.concatenate([part.high[scope] for part in parts]) for scope in parts[0].high},
        )


@dataclass
class Pushed:
    """The outcome of one push: F(t) and the mass of the evidence at the choices made, shapes (nodes,); then what to settle next.

    `gain` is by how much contexts disagreed about the most disputed thing; `kind`, `place`, `item` name it (a variable and a row, or a
    scope's number and a configuration); `votes_*` is the choice that suits all contexts together best.
    """

    value: Numbers
    mass: Numbers
    gain: Numbers
    kind: Numbers
    place: Numbers
    item: Numbers
    votes_rows: list[Numbers] = field(default_factory=list)
    votes_pulls: list[Numbers] = field(default_factory=list)
    votes_ends: dict[Scope, Numbers] = field(default_factory=dict)


class Elimination:
    """The order of elimination for one target of a model, and the push itself."""

    def __init__(self, core: Core) -> None:
        model, target = core.model, core.target
        self.model, self.target, self.pulls = model, target, core.pulls
        self.scopes = list(model.boxes)
        self.vertices = [_padded(model, variable) for variable in range(len(model.sizes))]
        self._order = _order(model, target)
        first = {scope: next(v for v in self._order if v in scope) for scope in self.scopes}
        self._before = {v: [scope for scope in self.scopes if first[scope] == v] for v in self._order}

    def open(self, low: Mapping[Scope, Numbers], high: Mapping[Scope, Numbers], nodes: int) -> Choices:
        """Nodes in which everything is open; evidence ends have shape (nodes, *scope's sizes) or (*scope's sizes,)."""
        rows = [np.broadcast_to(used[None], (nodes, *used.shape)).copy() for _, used in self.vertices]
        ends = []
        for given in (low, high):
            sizes = {scope: [self.model.sizes[v] for v in scope] for scope in self.scopes}
            ends.append({s: np.broadcast_to(given[s], (nodes, *sizes[s])).reshape(nodes, -1).copy() for s in self.scopes})
        return Choices(rows, [np.ones((nodes, len(vectors)), dtype=bool) for vectors in self.pulls], ends[0], ends[1])

    def push(self, choices: Choices, g: Numbers, t: Numbers, focus: Focus | None = None) -> Pushed:
        """Push g - t up; g has shape (nodes, target's states), t (nodes,). A focus puts numbers in the place of one row, pull or scope."""
        nodes = len(t)
        axes: list[int] = [self.target]
        f, h = g - t[:, None], np.ones_like(g)
        if focus is not None:
            f, axes = self._start(f, focus)
        out = Pushed(t, t, np.zeros(nodes), np.zeros(nodes, int), np.zeros(nodes, int), np.zeros(nodes, int))
        out.votes_rows = [allowed.argmax(axis=2) for allowed in choices.rows]
        out.votes_pulls = [allowed.argmax(axis=1) for allowed in choices.pulls]
        for v in self._order:
            for scope in self._before[v]:
                f, h, axes = self._weigh(f, h, axes, scope, choices, out, focus)
            if v in axes or np.ptp(self.pulls[v]) != 0:
                f, h, axes = self._eliminate(f, h, axes, v, choices, out, focus)
        out.value = f.reshape(nodes)
        out.mass = h.reshape(nodes) if focus is None else np.ones(nodes)
        return out

    def _start(self, f: Numbers, focus: Focus) -> tuple[Numbers, list[int]]:
        """f times the weights of a focus: their signs must be known before anything else is chosen."""
        if focus.kind == ENDS:
            scope = list(self.scopes[focus.place])
        else:
            scope = [*(self.model.parents[focus.place] if focus.kind == ROWS else ()), focus.place]
        weights = focus.weights.reshape(len(f), *(self.model.sizes[v] for v in scope))
        wanted = [self.target, *(v for v in scope if v != self.target)]
        return self._align(f, [self.target], wanted) * self._align(weights, scope, wanted), wanted

    def _align(self, f: Numbers, axes: list[int], wanted: list[int]) -> Numbers:
        """f with its axes in the wanted order; an axis that f lacks gets length one."""
        f = f.reshape(*f.shape, *(1,) * (len(wanted) - len(axes)))
        every = axes + [v for v in wanted if v not in axes]
        return f.transpose(0, *(1 + every.index(v) for v in wanted))

    def _weigh(
        self, f: Numbers, h: Numbers, axes: list[int], scope: Scope, choices: Choices, out: Pushed, focus: Focus | None
    ) -> tuple[Numbers, Numbers, list[int]]:
        """Multiply by the evidence of a scope."""
        rest = [v for v in axes if v not in scope]
        wanted = [*rest, *scope]
        f = self._align(f, axes, wanted)
        h = self._align(h, axes, wanted) if focus is None else h
        nodes = len(f)
        sizes = [self.model.sizes[v] for v in scope]
        shape = (nodes, *(1 for _ in rest), *sizes)
        if focus is not None and focus.kind == ENDS and self.scopes[focus.place] == scope:
            return f, h, wanted
        low, high = choices.low[scope].reshape(shape), choices.high[scope].reshape(shape)
        positive = f > 0
        weight = np.where(positive, high, low)
        if focus is not None:
            return f * weight, h, wanted
        spread = high - low
        contexts = tuple(range(1, 1 + len(rest)))
        up = (np.where(positive, f, 0) * spread).sum(axis=contexts).reshape(nodes, -1)
        down = (np.where(positive, 0, -f) * spread).sum(axis=contexts).reshape(nodes, -1)
        up, down = (np.broadcast_to(part, (nodes, prod(sizes))) for part in (up, down))
        out.votes_ends[scope] = up > down
        self._dispute(out, np.minimum(up, down), ENDS, self.scopes.index(scope))
        return f * weight, h * weight, wanted

    def _eliminate(
        self, f: Numbers, h: Numbers, axes: list[int], v: int, choices: Choices, out: Pushed, focus: Focus | None
    ) -> tuple[Numbers, Numbers, list[int]]:
        """Sum a variable out, each row at its best vertex in every context."""
        parents = list(self.model.parents[v])
        rest = [other for other in axes if other != v and other not in parents]
        wanted = [*rest, *parents, v]
        sizes = [self.model.sizes[other] for other in parents]
        nodes, contexts = len(f), prod(self.model.sizes[other] for other in rest)
        shape = (nodes, *(self.model.sizes[other] for other in wanted))
        flat = (nodes, contexts, prod(sizes), 1, shape[-1])
        f = np.broadcast_to(self._align(f, axes, wanted), shape).reshape(flat)
        h = np.broadcast_to(self._align(h, axes, wanted), shape).reshape(flat) if focus is None else h
        points, pulls = self.vertices[v][0], self.pulls[v]
        open_rows, open_pulls = choices.rows[v], choices.pulls[v]
        if focus is not None and focus.kind == ROWS and focus.place == v:
            points, open_rows = np.ones((len(points), 1, shape[-1])), np.ones((nodes, len(points), 1), dtype=bool)
        if focus is not None and focus.kind == PULLS and focus.place == v:
            pulls, open_pulls = np.ones((1, shape[-1])), np.ones((nodes, 1), dtype=bool)
        count, pulled = points.shape[1], len(pulls)
        both = (points[:, :, None] * pulls).reshape(len(points), count * pulled, -1).transpose(0, 2, 1)
        allowed = (open_rows[..., None] & open_pulls[:, None, None]).reshape(nodes, 1, len(points), -1)
        scores = np.where(allowed, np.matmul(f, both)[..., 0, :], -np.inf)  # (nodes, contexts, rows, vertices x pulls)
        result = (nodes, *(self.model.sizes[other] for other in (*rest, *parents)))
        if focus is not None:
            return scores.max(axis=3).reshape(result), h, [*rest, *parents]
        masses = np.matmul(h, both)[..., 0, :]
        best = scores.argmax(axis=3)[..., None]
        value = np.take_along_axis(scores, best, axis=3)[..., 0]
        mass = np.take_along_axis(masses, best, axis=3)[..., 0]
        split = scores.reshape(*scores.shape[:3], count, pulled)
        by_pull = split.max(axis=3).sum(axis=(1, 2))  # (nodes, pulls): each row at its best in every context, one pull for all
        out.votes_pulls[v] = by_pull.argmax(axis=1)
        agreed = np.take_along_axis(split, out.votes_pulls[v][:, None, None, None, None], axis=4)[..., 0]
        out.votes_rows[v] = agreed.sum(axis=1).argmax(axis=2)
        by_vertex = split.max(axis=4)
        # what a vote loses is summed over the contexts as differences: in differences of sums a context of tiny weight would drown
        by_row = (value - _pick(by_vertex, by_vertex.sum(axis=1).argmax(axis=2))).sum(axis=1)
        over_pulls = (value - _pick(agreed, out.votes_rows[v])).sum(axis=(1, 2))[:, None]  # what all votes together lose
        self._dispute(out, np.where(open_rows.sum(axis=2) > 1, by_row, 0), ROWS, v)  # rounding alone is no dispute
        self._dispute(out, np.where(open_pulls.sum(axis=1, keepdims=True) > 1, over_pulls, 0), PULLS, v)
        return value.reshape(result), mass.reshape(result), [*rest, *parents]

    @staticmethod
    def _dispute(out: Pushed, gains: Numbers, kind: int, place: int) -> None:
        """Remember the item on which the contexts disagree most."""
        item = gains.argmax(axis=1)
        gain = gains[np.arange(len(gains)), item]
        larger = gain > out.gain
        out.gain = np.where(larger, gain, out.gain)
        out.kind, out.place = np.where(larger, kind, out.kind), np.where(larger, place, out.place)
        out.item = np.where(larger, item, out.item)


def _pick(scores: Numbers, vertex: Numbers) -> Numbers:
    """Scores (nodes, contexts, rows, vertices) at one vertex for each node and row: (nodes, contexts, rows)."""
    picked: Numbers = np.take_along_axis(scores, vertex[:, None, :, None], axis=3)[..., 0]
    return picked


def _padded(model: Model, variable: int) -> tuple[Numbers, Numbers]:
    """The vertices of every row, (rows, most vertices, states), and which of them are real, (rows, most vertices)."""
    table = model.tables[variable]
    rows = [table.row_vertices(row) for row in range(table.rows)]
    most = max(len(points) for points in rows)
    padded = np.stack([np.concatenate([points, np.repeat(points[:1], most - len(points), axis=0)]) for points in rows])
    used = np.arange(most)[None] < np.array([[len(points)] for points in rows])
    return padded, used


def _order(model: Model, target: int) -> list[int]:
    """Children before parents; the target and its forebears as early as that allows, so that few contexts arise."""
    count = len(model.sizes)
    children = {v: {child for child, parents in enumerate(model.parents) if v in parents} for v in range(count)}
    line = {target}
    for v in reversed(range(count)):
        if v in line:
            line.update(model.parents[v])
    order: list[int] = []
    left = set(range(count))
    while left:
        ready = [v for v in left if not children[v] & left]
        chosen = min(ready, key=lambda v: (v != target, v in line, -v))
        order.append(chosen)
        left.discard(chosen)
    return order
