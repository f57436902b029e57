"""A relaxation that bounds expectations from above on any model, many problems at a time.

For a threshold t start with f = g(target) - t and sum the variables out one by one. Before a variable goes, f is multiplied by all that
depends on it: where evidence multiplies f, take the upper end where f is positive and the lower end where it is negative; the rows of
a child still in f are treated in the same way, number by number; then take, for every configuration of its parents and of the other
variables still in f (a *context*), the best vertex of the variable's own row and of its message set. A row, a message or an end may thus
be chosen anew in every context, which no network can do, so the result F(t) is at least what any network of the set attains: F(t) <= 0
proves that E[g | evidence] <= t for all of them. Where the same was chosen in all contexts, the value is attained.

Any order of the variables gives a bound. Children before parents keeps every row a distribution; the target first leaves one signed number
for each configuration around it, so that the later choices are made once, not once for each state of the target.

Contexts are not free to weigh as they like: what is still to come multiplies each of them by a weight, and where it is known what share of
the weight of all contexts each has at least (`shares`, worked out by `search.shares`), the choices of a row in its contexts can be tied
together. For a choice j let s(k, j) be its score in context k. Any network gains at most max_j sum_k w(k) s(k, j) from it, a convex
function of the weights w, and all weights lie in the cone whose rays are w_i = l + c e_i, with the least shares l and c = 1 - sum l. The
linear function r . w that agrees with it at these rays is nowhere below it on the cone, so r takes the place of the best score of each
context (which is the case l = 0).
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from math import prod
from time import monotonic

import numpy as np

from quaestor.credal.vectors import TooLargeError
from quaestor.inference.model import Model, Scope
from quaestor.inference.search.choices import Choices, Numbers, Preferred
from quaestor.inference.search.core import Core

_BATCH, _FEWEST = 4096, 16
_MOST_NUMBERS = 5_000_000  # of the products of vertices of rows and messages of one variable
_SMALL = 16_384  # numbers in an elimination, times choices, of a model whose nodes count for one
_LOWEST = -1e300  # in place of minus infinity where that is multiplied by zero


class TimeUpError(Exception):
    """The moment until which something may be worked out is over. Whoever set it catches this."""


@dataclass(frozen=True)
class Multiply:
    """Multiply f by the evidence of a scope, or by the rows of a child that stays in f.

    f is brought to the axes (nodes, rest, scope) by `shape` and `order`; `tail` is the shape of the numbers that multiply it. A choice is
    made in each of `groups` (a configuration of the scope, or of the child's parents), in `contexts` each.
    """

    scope: Scope
    child: int | None
    shape: tuple[int, ...]
    order: tuple[int, ...]
    tail: tuple[int, ...]
    sizes: tuple[int, ...]
    rest: tuple[int, ...]

    @property
    def groups(self) -> int:
        """In how many groups a choice is made."""
        return prod(self.sizes if self.child is None else self.sizes[:-1])

    @property
    def contexts(self) -> int:
        """In how many contexts each of them has a score."""
        return prod(self.rest) * (1 if self.child is None else self.sizes[-1])

    def placed(self, values: Numbers) -> Numbers:
        """Values of all contexts, (groups, nodes, contexts), as the f that comes of this part."""
        nodes = values.shape[1]
        split = values.reshape(self.groups, nodes, prod(self.rest), -1)  # the last axis: states of the child
        return split.transpose(1, 2, 0, 3).reshape(nodes, *self.rest, *self.sizes)

    def is_open(self, choices: Choices) -> Numbers:
        """In which groups there is anything to choose, (nodes, groups)."""
        if self.child is None:
            return np.asarray(choices.high[self.scope] > choices.low[self.scope])
        return np.asarray(choices.rows[self.child].sum(axis=2) > 1)


@dataclass(frozen=True)
class SumOut:
    """Sum a variable out. f is brought to the axes (parents, variable, nodes, rest) by `shape` and `order`; `parents`, `rest` are sizes.

    A choice is made in each of `groups` (a configuration of the parents), in `contexts` each.
    """

    variable: int
    own_row: bool  # whether its own row is still to come
    shape: tuple[int, ...]
    order: tuple[int, ...]
    parents: tuple[int, ...]
    rest: tuple[int, ...]

    @property
    def groups(self) -> int:
        """In how many groups a choice is made."""
        return prod(self.parents)

    @property
    def contexts(self) -> int:
        """In how many contexts each of them has a score."""
        return prod(self.rest)

    def placed(self, values: Numbers) -> Numbers:
        """Values of all contexts, (groups, nodes, contexts), as the f that comes of this part."""
        count = len(self.parents)
        result = values.reshape(*self.parents, values.shape[1], *self.rest)
        return result.transpose(count, *range(count), *range(count + 1, result.ndim))

    def is_open(self, choices: Choices) -> Numbers:
        """In which groups there is anything to choose, (nodes, groups)."""
        messages = np.broadcast_to((choices.messages[self.variable].sum(axis=1) > 1)[:, None], (len(choices.messages[0]), self.groups))
        return np.asarray(messages | (choices.rows[self.variable].sum(axis=2) > 1) if self.own_row else messages)


Part = Multiply | SumOut


class Elimination:
    """The relaxation of a core in one order of elimination.

    `messages[v]`: the message set of a variable, then ones, (vertices, states); ones alone where it says nothing. `vertices[v]`: those of
    its rows, then ones, (rows, vertices, states), and which of them a network may take, (rows, vertices).
    """

    def __init__(self, core: Core, order: Sequence[int]) -> None:
        self.model, self.scopes = core.model, list(core.model.boxes)
        model = core.model
        self.messages = [_with_ones(vectors) for vectors in core.messages]
        self.vertices = [_padded(model, variable) for variable in range(len(model.sizes))]
        for v, ((points, _), vectors) in enumerate(zip(self.vertices, self.messages, strict=True)):
            if points.size * len(vectors) > _MOST_NUMBERS:
                raise TooLargeError(f"{model.names[v]}: {points.shape[1] - 1} vertices of a row times {max(1, len(vectors) - 1)} messages")
        self._products = [
            (points[:, :, None] * vectors).reshape(len(points), -1, vectors.shape[1])
            for (points, _), vectors in zip(self.vertices, self.messages, strict=True)
        ]
        self.batch = max(_FEWEST, _BATCH // max(prod(points.shape[:2]) for points, _ in self.vertices))  # nodes that are bounded together
        self.end: float | None = None  # a moment of `time.monotonic` after which nothing is worked out any more
        self._set_order(order)

    def in_order(self, order: Sequence[int]) -> "Elimination":
        """The same core in another order of elimination."""
        other = copy(self)
        other._set_order(order)
        return other

    def _set_order(self, order: Sequence[int]) -> None:
        self.order = order
        self._programs: dict[tuple[int, ...], list[Part]] = {}

    def open(self, low: Mapping[Scope, Numbers], high: Mapping[Scope, Numbers], nodes: int) -> Choices:
        """Nodes in which everything is open, as at the root; ends of evidence have shape (nodes, *scope's sizes) or (*scope's sizes,)."""
        rows = [np.broadcast_to(used[None], (nodes, *used.shape)).copy() for _, used in self.vertices]
        messages = [
            np.broadcast_to(np.arange(len(vectors)) < max(1, len(vectors) - 1), (nodes, len(vectors))).copy() for vectors in self.messages
        ]
        ends = []
        for given in (low, high):
            sizes = {scope: [self.model.sizes[v] for v in scope] for scope in self.scopes}
            ends.append({s: np.broadcast_to(given[s], (nodes, *sizes[s])).reshape(nodes, -1).copy() for s in self.scopes})
        return Choices(rows, messages, ends[0], ends[1])

    def eliminate(self, choices: Choices, f: Numbers, axes: Sequence[int], preferred: Preferred | None = None) -> Numbers:
        """F of each node, (nodes,), from f of shape (nodes, *sizes of the variables in `axes`): all variables are summed out.

        For complete networks F is the sum itself, not a bound. What is preferred is written into `preferred` if it is given. Shares are for
        elimination from the goal: where f starts elsewhere, choices must not have any.
        """
        return self.finish(choices, f, self.program(axes), 0, choices.shares, preferred)

    def finish(
        self, choices: Choices, f: Numbers, program: list[Part], first: int, shares: list[Numbers], preferred: Preferred | None = None
    ) -> Numbers:
        """F of each node from the f that the parts before the first one have left."""
        for number in range(first, len(program)):
            self.keep_time()
            part, least = program[number], shares[number] if shares else None
            if isinstance(part, Multiply):
                f = self._multiply(f, part, choices, preferred, least)
            else:
                f = self._sum_out(f, part, choices, preferred, least)
        return f.reshape(len(f))

    def work(self, axes: Sequence[int]) -> int:
        """How many numbers one elimination goes through, about: a measure of the time it takes."""
        return sum(part.groups * part.contexts for part in self.program(axes))

    def weight(self, axes: Sequence[int]) -> int:
        """How many nodes of a small model one of this model counts for: in a large one each takes much longer."""
        choices = sum(prod(allowed.shape) for _, allowed in self.vertices)
        return 1 + self.work(axes) * choices // _SMALL

    def keep_time(self) -> None:
        """Raise TimeUpError when the time is over."""
        if self.end is not None and monotonic() > self.end:
            raise TimeUpError

    def program(self, axes: Sequence[int]) -> list[Part]:
        """What is multiplied and summed, in order, when f starts on these axes."""
        key = tuple(axes)
        if key not in self._programs:
            self._programs[key] = self._program(key)
        return self._programs[key]

    def first_allowed(self, choices: Choices) -> Preferred:
        """The first vertex that is allowed everywhere, to be overwritten by `eliminate`, which also adds the ends."""
        return Preferred([allowed.argmax(axis=2) for allowed in choices.rows], [allowed.argmax(axis=1) for allowed in choices.messages], {})

    def align(self, f: Numbers, axes: Sequence[int], wanted: Sequence[int]) -> Numbers:
        """f, (nodes, *axes), with its axes in the wanted order; an axis that f lacks gets length one."""
        every = [*axes, *(v for v in wanted if v not in axes)]
        f = f.reshape(*f.shape, *(1,) * (len(wanted) - len(axes)))
        return f.transpose(0, *(1 + every.index(v) for v in wanted))

    def _program(self, axes: Sequence[int]) -> list[Part]:
        """What is multiplied and summed when f starts on these axes: a factor is multiplied just before the first of its variables goes."""
        model, sizes = self.model, self.model.sizes
        position = {v: number for number, v in enumerate(self.order)}
        first = [min((child, *parents), key=position.__getitem__) for child, parents in enumerate(model.parents)]
        program: list[Part] = []
        present = list(axes)
        for v in self.order:
            factors: list[tuple[Scope, int | None]] = [(s, None) for s in self.scopes if min(s, key=position.__getitem__) == v]
            factors += [((*model.parents[c], c), c) for c in range(len(sizes)) if first[c] == v and c != v]
            for scope, child in factors:
                rest = [u for u in present if u not in scope]
                shape, order = _alignment(present, [*rest, *scope], sizes)
                tail = (*(1 for _ in rest), *(sizes[u] for u in scope))
                of_rest = tuple(sizes[u] for u in rest)
                program.append(Multiply(scope, child, shape, order, tail, tuple(sizes[u] for u in scope), of_rest))
                present = [*rest, *scope]
            own = first[v] == v
            if v in present or len(self.messages[v]) > 1 or not own:
                parents = list(model.parents[v]) if own else []
                rest = [u for u in present if u != v and u not in parents]
                shape, order = _alignment(present, [*rest, *parents, v], sizes)
                count = len(rest)
                order = (*order[1 + count :], 0, *order[1 : 1 + count])
                program.append(SumOut(v, own, shape, order, tuple(sizes[u] for u in parents), tuple(sizes[u] for u in rest)))
                present = [*parents, *rest]
        return program

    def scores(self, f: Numbers, part: Part, choices: Choices) -> Numbers:
        """What f becomes in each context with each choice of each group, (groups, choices, nodes, contexts); -inf where not allowed."""
        if isinstance(part, SumOut):
            return self._scores_of_sum(f, part, choices)
        return self._scores_of_product(f.reshape(len(f), *part.shape).transpose(part.order), part, choices)

    def _multiply(self, f: Numbers, part: Multiply, choices: Choices, preferred: Preferred | None, least: Numbers | None) -> Numbers:
        """Multiply by the evidence of a scope or the rows of a child: its upper numbers where f is positive, else its lower ones."""
        nodes, child = len(f), part.child
        f = f.reshape(nodes, *part.shape).transpose(part.order)
        if child is None:
            low, high = choices.low[part.scope], choices.high[part.scope]
        else:
            low, high = choices.spans[child] if child in choices.spans else self.span(choices, child)
        if preferred is not None:
            sums = f.sum(axis=tuple(range(1, 1 + len(part.rest))))
            sums = np.broadcast_to(sums, (nodes, *part.sizes))
            if child is None:
                preferred.ends[part.scope] = sums.reshape(nodes, low.shape[1]) > 0
            else:
                scores = np.einsum("nrs,rvs->nrv", sums.reshape(low.shape), self.vertices[child][0])
                preferred.rows[child] = np.where(choices.rows[child], scores, -np.inf).argmax(axis=2)
        if least is None or not least.any():
            return f * np.where(f > 0, high.reshape(nodes, *part.tail), low.reshape(nodes, *part.tail))
        return part.placed(_tied(self._scores_of_product(f, part, choices), least, part.is_open(choices)))

    def with_spans(self, choices: Choices, axes: Sequence[int]) -> Choices:
        """The bare choices with the spans that an elimination from these axes needs: worth it where every node is taken many times."""
        children = {part.child for part in self.program(axes) if isinstance(part, Multiply) and part.child is not None}
        bare = Choices(choices.rows, choices.messages, choices.low, choices.high)
        bare.spans = {child: self.span(bare, child) for child in children}
        return bare

    def span(self, choices: Choices, child: int) -> tuple[Numbers, Numbers]:
        """The least and the largest numbers that the allowed vertices of the rows of a variable have, (nodes, rows, states) each."""
        points, allowed = self.vertices[child][0], choices.rows[child][..., None]
        return np.where(allowed, points, np.inf).min(axis=2), np.where(allowed, points, -np.inf).max(axis=2)

    def _scores_of_product(self, f: Numbers, part: Multiply, choices: Choices) -> Numbers:
        """See `scores`; f has the axes (nodes, rest, scope)."""
        nodes = len(f)
        f = np.broadcast_to(f, (nodes, *part.rest, *part.sizes))
        if part.child is None:
            f = f.reshape(nodes, -1, part.groups)
            return np.stack([f * choices.low[part.scope][:, None], f * choices.high[part.scope][:, None]]).transpose(3, 0, 1, 2)
        f = f.reshape(nodes, -1, part.groups, 1, part.sizes[-1])
        scores = np.where(choices.rows[part.child][:, None, ..., None], f * self.vertices[part.child][0], -np.inf)
        return scores.transpose(2, 3, 0, 1, 4).reshape(part.groups, -1, nodes, part.contexts)

    def _sum_out(self, f: Numbers, part: SumOut, choices: Choices, preferred: Preferred | None, least: Numbers | None) -> Numbers:
        """Sum a variable out, with the best vertices of its row (if that is still to come) and of its message set in every context."""
        v, nodes = part.variable, len(f)
        scores = self._scores_of_sum(f, part, choices)
        if preferred is not None:
            split = scores.reshape(part.groups, -1, len(self.messages[v]), nodes, part.contexts)
            message = split.max(axis=1).sum(axis=(0, 3)).argmax(axis=0)  # each row at its best in every context, one message for all
            preferred.messages[v] = message
            if part.own_row:
                preferred.rows[v] = split[:, :, message, np.arange(nodes)].sum(axis=3).argmax(axis=1).T
        if least is None or not least.any():
            return part.placed(scores.max(axis=1))
        return part.placed(_tied(scores, least, part.is_open(choices)))

    def _scores_of_sum(self, f: Numbers, part: SumOut, choices: Choices) -> Numbers:
        """See `scores`; the choices of a group are the pairs of a vertex of its row (if that is still to come) and one of the messages."""
        v, nodes = part.variable, len(f)
        contexts, states, rows = part.contexts, self.model.sizes[v], part.groups
        f = f.reshape(nodes, *part.shape).transpose(part.order)
        f = np.broadcast_to(f, (*part.parents, states, nodes, *part.rest)).reshape(rows, states, nodes * contexts)
        allowed = choices.messages[v].T
        vectors = self._products[v] if part.own_row else self.messages[v]
        scores: Numbers = np.matmul(vectors, f).reshape(rows, vectors.shape[-2], nodes, contexts)
        if part.own_row:
            allowed = (choices.rows[v].transpose(1, 2, 0)[:, :, None] & allowed).reshape(rows, vectors.shape[-2], nodes)
        np.copyto(scores, -np.inf, where=~allowed[..., None])
        return scores


def _tied(scores: Numbers, least: Numbers, is_open: Numbers) -> Numbers:
    """What takes the place of the best score of each context: (groups, nodes, contexts) from scores (groups, choices, nodes, contexts).

    `least`: the least shares, (nodes, groups, contexts). Where nothing is open, (nodes, groups), the score itself is kept to the last bit.
    """
    shares = least.transpose(1, 0, 2)
    room = 1 - shares.sum(axis=2)[..., None]
    best = scores.max(axis=1)
    together = np.where(np.isneginf(scores[..., 0]), -np.inf, np.einsum("gnk,gjnk->gjn", shares, np.maximum(scores, _LOWEST)))
    at_rays = (together[..., None] + room[:, None] * scores).max(axis=1)
    tied = (at_rays - np.einsum("gnk,gnk->gn", shares, at_rays)[..., None]) / room
    result: Numbers = np.where(is_open.T[..., None], tied, best)
    return result


def _alignment(present: Sequence[int], wanted: Sequence[int], sizes: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shape with axes of length one for variables that are not present, and the order (nodes first) that makes them the wanted ones."""
    every = [*present, *(v for v in wanted if v not in present)]
    shape = (*(sizes[v] for v in present), *(1 for _ in range(len(every) - len(present))))
    return shape, (0, *(1 + every.index(v) for v in wanted))


def _with_ones(vectors: Numbers) -> Numbers:
    """A message set, then ones; where it says nothing, ones alone, so that there is nothing to choose."""
    says_nothing = len(vectors) == 1 and np.ptp(vectors) == 0
    return np.concatenate([vectors[: 0 if says_nothing else None], np.ones((1, vectors.shape[1]))])


def _padded(model: Model, variable: int) -> tuple[Numbers, Numbers]:
    """The vertices of every row, then ones, (rows, vertices, states), and which of them a network may take, (rows, vertices)."""
    table = model.tables[variable]
    rows = [table.row_vertices(row) for row in range(table.rows)]
    most = max(len(points) for points in rows) + 1
    padded = np.stack([np.concatenate([points, np.ones((most - len(points), points.shape[1]))]) for points in rows])
    used = np.arange(most)[None] < np.array([[len(points)] for points in rows])
    return padded, used
