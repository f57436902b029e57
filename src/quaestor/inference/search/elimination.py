"""A relaxation that bounds expectations from above on any model, many problems at a time.

For a threshold t start with f = g(target) - t and sum the variables out one by one. Before a variable goes, f is multiplied by all that
depends on it: where evidence multiplies f, take the upper end where f is positive and the lower end where it is negative; the rows of
a child still in f are treated in the same way, number by number; then take, for every configuration of its parents and of the other
variables still in f (a *context*), the best vertex of the variable's own row and of its message set. A row, a message or an end may thus
be chosen anew in every context, which no network can do, so the result F(t) is at least what any network of the set attains: F(t) <= 0
proves that E[g | evidence] <= t for all of them. Where the same was chosen in all contexts, the value is attained.

Any order of the variables gives a bound. Children before parents keeps every row a distribution; the target first leaves one signed number
for each configuration around it, so that the later choices are made once, not once for each state of the target.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quaestor.inference.model import Model, Scope
from quaestor.inference.search.core import Core

Numbers = NDArray[Any]  # indices, flags or numbers


@dataclass
class Choices:
    """What is still open in each of a batch of nodes: allowed vertices of rows and message sets, and ends of evidence.

    `rows[v]`: (nodes, rows, vertices) booleans; `messages[v]`: (nodes, vertices) booleans; `low[scope]`, `high[scope]`: (nodes,
    configurations) ends, equal where fixed. The last vertex of rows and message sets is all ones: it takes the factor out of the product.
    A node in which one vertex is allowed everywhere and all ends are equal is a *complete* network.
    """

    rows: list[Numbers]
    messages: list[Numbers]
    low: dict[Scope, Numbers]
    high: dict[Scope, Numbers]

    def take(self, nodes: Numbers | slice) -> "Choices":
        """Some of the nodes, in this order."""
        return Choices(
            [allowed[nodes] for allowed in self.rows],
            [allowed[nodes] for allowed in self.messages],
            {scope: ends[nodes] for scope, ends in self.low.items()},
            {scope: ends[nodes] for scope, ends in self.high.items()},
        )

    def put(self, nodes: Numbers, other: "Choices") -> None:
        """Replace some of the nodes by others."""
        for mine, theirs in ((self.rows, other.rows), (self.messages, other.messages)):
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
            [np.concatenate(allowed) for allowed in zip(*(part.messages for part in parts), strict=True)],
            {scope: np.concatenate([part.low[scope] for part in parts]) for scope in parts[0].low},
            {scope: np.concatenate([part.high[scope] for part in parts]) for scope in parts[0].high},
        )


@dataclass
class Preferred:
    """The choices at the relaxation's optimum, one for all contexts: the vertex, or the end, of the largest sum over the contexts.

    `rows[v]`: vertices, (nodes, rows); `messages[v]`: vertices, (nodes,); `ends[scope]`: whether the upper end, (nodes, configurations).
    """

    rows: list[Numbers]
    messages: list[Numbers]
    ends: dict[Scope, Numbers]

    def take(self, nodes: Numbers | slice) -> "Preferred":
        """Those of some of the nodes."""
        ends = {scope: is_upper[nodes] for scope, is_upper in self.ends.items()}
        return Preferred([vertex[nodes] for vertex in self.rows], [vertex[nodes] for vertex in self.messages], ends)


@dataclass(frozen=True)
class _Multiply:
    """Multiply f by the evidence of a scope, or by the rows of a child that stays in f.

    f is brought to the axes (nodes, rest, scope) by `shape` and `order`; `tail` is the shape of the numbers that multiply it.
    """

    scope: Scope
    child: int | None
    shape: tuple[int, ...]
    order: tuple[int, ...]
    tail: tuple[int, ...]
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class _SumOut:
    """Sum a variable out. f is brought to the axes (parents, nodes, rest, variable) by `shape` and `order`; `parents`, `rest` are sizes."""

    variable: int
    own_row: bool  # whether its own row is still to come
    shape: tuple[int, ...]
    order: tuple[int, ...]
    parents: tuple[int, ...]
    rest: tuple[int, ...]


class Elimination:
    """The relaxation of a core in one order of elimination.

    `messages[v]`: the message set of a variable, then ones, (vertices, states). `vertices[v]`: those of its rows, then ones, (rows,
    vertices, states), and which of them a network may take, (rows, vertices).
    """

    def __init__(self, core: Core, order: Sequence[int]) -> None:
        model = core.model
        self.model, self.order = model, order
        self.scopes = list(model.boxes)
        self.messages = [np.concatenate([vectors, np.ones((1, vectors.shape[1]))]) for vectors in core.messages]
        self.vertices = [_padded(model, variable) for variable in range(len(model.sizes))]
        self._products = [
            (points[:, :, None] * vectors).reshape(len(points), -1, vectors.shape[1]).transpose(0, 2, 1).copy()
            for (points, _), vectors in zip(self.vertices, self.messages, strict=True)
        ]
        self._programs: dict[tuple[int, ...], list[_Multiply | _SumOut]] = {}

    def open(self, low: Mapping[Scope, Numbers], high: Mapping[Scope, Numbers], nodes: int) -> Choices:
        """Nodes in which everything is open, as at the root; ends of evidence have shape (nodes, *scope's sizes) or (*scope's sizes,)."""
        rows = [np.broadcast_to(used[None], (nodes, *used.shape)).copy() for _, used in self.vertices]
        messages = [np.broadcast_to(np.arange(len(vectors)) < len(vectors) - 1, (nodes, len(vectors))).copy() for vectors in self.messages]
        ends = []
        for given in (low, high):
            sizes = {scope: [self.model.sizes[v] for v in scope] for scope in self.scopes}
            ends.append({s: np.broadcast_to(given[s], (nodes, *sizes[s])).reshape(nodes, -1).copy() for s in self.scopes})
        return Choices(rows, messages, ends[0], ends[1])

    def eliminate(self, choices: Choices, f: Numbers, axes: Sequence[int], preferred: Preferred | None = None) -> Numbers:
        """F of each node, (nodes,), from f of shape (nodes, *sizes of the variables in `axes`): all variables are summed out.

        For complete networks F is the sum itself, not a bound. What is preferred is written into `preferred` if it is given.
        """
        key = tuple(axes)
        if key not in self._programs:
            self._programs[key] = self._program(key)
        for part in self._programs[key]:
            f = self._multiply(f, part, choices, preferred) if isinstance(part, _Multiply) else self._sum_out(f, part, choices, preferred)
        return f.reshape(len(f))

    def first_allowed(self, choices: Choices) -> Preferred:
        """The first vertex that is allowed everywhere, to be overwritten by `eliminate`, which also adds the ends."""
        return Preferred([allowed.argmax(axis=2) for allowed in choices.rows], [allowed.argmax(axis=1) for allowed in choices.messages], {})

    def align(self, f: Numbers, axes: Sequence[int], wanted: Sequence[int]) -> Numbers:
        """f, (nodes, *axes), with its axes in the wanted order; an axis that f lacks gets length one."""
        every = [*axes, *(v for v in wanted if v not in axes)]
        f = f.reshape(*f.shape, *(1,) * (len(wanted) - len(axes)))
        return f.transpose(0, *(1 + every.index(v) for v in wanted))

    def _program(self, axes: Sequence[int]) -> list[_Multiply | _SumOut]:
        """What is multiplied and summed when f starts on these axes: a factor is multiplied just before the first of its variables goes."""
        model, sizes = self.model, self.model.sizes
        position = {v: number for number, v in enumerate(self.order)}
        first = [min((child, *parents), key=position.__getitem__) for child, parents in enumerate(model.parents)]
        program: list[_Multiply | _SumOut] = []
        present = list(axes)
        for v in self.order:
            factors: list[tuple[Scope, int | None]] = [(s, None) for s in self.scopes if min(s, key=position.__getitem__) == v]
            factors += [((*model.parents[c], c), c) for c in range(len(sizes)) if first[c] == v and c != v]
            for scope, child in factors:
                rest = [u for u in present if u not in scope]
                shape, order = _alignment(present, [*rest, *scope], sizes)
                tail = (*(1 for _ in rest), *(sizes[u] for u in scope))
                program.append(_Multiply(scope, child, shape, order, tail, tuple(sizes[u] for u in scope)))
                present = [*rest, *scope]
            own = first[v] == v
            if v in present or np.ptp(self.messages[v][:-1]) != 0 or not own:
                parents = list(model.parents[v]) if own else []
                rest = [u for u in present if u != v and u not in parents]
                shape, order = _alignment(present, [*rest, *parents, v], sizes)
                count = len(rest)
                order = (*order[1 + count : -1], 0, *order[1 : 1 + count], order[-1])
                program.append(_SumOut(v, own, shape, order, tuple(sizes[u] for u in parents), tuple(sizes[u] for u in rest)))
                present = [*parents, *rest]
        return program

    def _multiply(self, f: Numbers, part: _Multiply, choices: Choices, preferred: Preferred | None) -> Numbers:
        """Multiply by the evidence of a scope or the rows of a child: its upper numbers where f is positive, else its lower ones."""
        nodes = len(f)
        f = f.reshape(nodes, *part.shape).transpose(part.order)
        if part.child is None:
            low, high = choices.low[part.scope], choices.high[part.scope]
        else:
            points, allowed = self.vertices[part.child][0], choices.rows[part.child][..., None]
            low, high = np.where(allowed, points, np.inf).min(axis=2), np.where(allowed, points, -np.inf).max(axis=2)
        if preferred is not None:
            sums = f.sum(axis=tuple(range(1, 1 + len(part.tail) - len(part.sizes))))
            sums = np.broadcast_to(sums, (nodes, *part.sizes))
            if part.child is None:
                preferred.ends[part.scope] = sums.reshape(nodes, low.shape[1]) > 0
            else:
                scores = np.einsum("nrs,rvs->nrv", sums.reshape(low.shape), points)
                preferred.rows[part.child] = np.where(allowed[..., 0], scores, -np.inf).argmax(axis=2)
        return f * np.where(f > 0, high.reshape(nodes, *part.tail), low.reshape(nodes, *part.tail))

    def _sum_out(self, f: Numbers, part: _SumOut, choices: Choices, preferred: Preferred | None) -> Numbers:
        """Sum a variable out, with the best vertices of its row (if that is still to come) and of its message set in every context."""
        v, nodes = part.variable, len(f)
        contexts, states, rows = prod(part.rest), self.model.sizes[v], prod(part.parents)
        f = f.reshape(nodes, *part.shape).transpose(part.order)
        f = np.broadcast_to(f, (*part.parents, nodes, *part.rest, states)).reshape(rows, nodes * contexts, states)
        open_messages = choices.messages[v]
        vectors = self._products[v] if part.own_row else self.messages[v].T
        scores = np.matmul(f, vectors).reshape(rows, nodes, contexts, vectors.shape[-1])
        allowed = open_messages[None, :, None]
        if part.own_row:
            allowed = (choices.rows[v].transpose(1, 0, 2)[..., None] & open_messages[:, None]).reshape(rows, nodes, 1, vectors.shape[-1])
        scores = np.where(allowed, scores, -np.inf)
        if preferred is not None:
            split = scores.reshape(rows, nodes, contexts, -1, open_messages.shape[1])
            message = split.max(axis=3).sum(axis=(0, 2)).argmax(axis=1)  # each row at its best in every context, one message for all
            preferred.messages[v] = message
            if part.own_row:
                preferred.rows[v] = split[:, np.arange(nodes), :, :, message].sum(axis=2).argmax(axis=2)
        result: Numbers = scores.max(axis=3).reshape(*part.parents, nodes, *part.rest)
        count = len(part.parents)
        return result.transpose(count, *range(count), *range(count + 1, result.ndim))


def _alignment(present: Sequence[int], wanted: Sequence[int], sizes: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shape with axes of length one for variables that are not present, and the order (nodes first) that makes them the wanted ones."""
    every = [*present, *(v for v in wanted if v not in present)]
    shape = (*(sizes[v] for v in present), *(1 for _ in range(len(every) - len(present))))
    return shape, (0, *(1 + every.index(v) for v in wanted))


def _padded(model: Model, variable: int) -> tuple[Numbers, Numbers]:
    """The vertices of every row, then ones, (rows, vertices, states), and which of them a network may take, (rows, vertices)."""
    table = model.tables[variable]
    rows = [table.row_vertices(row) for row in range(table.rows)]
    most = max(len(points) for points in rows) + 1
    padded = np.stack([np.concatenate([points, np.ones((most - len(points), points.shape[1]))]) for points in rows])
    used = np.arange(most)[None] < np.array([[len(points)] for points in rows])
    return padded, used
