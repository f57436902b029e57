"""Exact credal inference on models with narrow loops, by propagating sets of messages over several variables at once.

Variables are eliminated one after the other. The *bucket* of a variable holds the tables and the evidence in which it is the first to be
eliminated, and shares with the bucket above it a *separator*: all that is left of it when the variable is summed out. The buckets form a
tree, and what one sends to the next is a set of vectors over the separator's configurations, of which only the directions matter: it is
kept as the vertices of the convex hull of the normalised vectors. A product of tables, evidence and messages is linear in each row, in each
number of the evidence and in each message, so every posterior is a ratio that is linear in each of them, and its bounds are attained at
vertices (see `engines.hulls`, where every separator is one variable).

What a bucket sends is found from one vertex of each message, every choice of vertices of its rows, and the ends of its boxes. A row that
touches one configuration of the result only, and each number of a box that covers the separator, stand for an interval there, independent
of the others: the corners of a box instead of a product of choices.
"""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from math import prod
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from quaestor.credal.vectors import LARGEST, TooLargeError, box_directions, corners, hull, joined, parts
from quaestor.inference.buckets import Buckets, buckets_of, cells_of, idle_of, members, places
from quaestor.inference.engine import Bracket, Ends
from quaestor.inference.layout import Batch
from quaestor.inference.model import Box, Model, Scope, likelihood
from quaestor.model.table import Array

_MOST_CELLS = 16  # configurations of a separator
_HULL_CELLS = 4  # configurations of a goal of which the vertices are found
_MOST = {1: 1, 2: 50_000_000, 3: 2_000_000, 4: 500_000, 5: 2_000, 6: 300}  # candidates for a hull over so many configurations
_FEW = 200  # candidates over more configurations: they are all kept
_DIRECTIONS = 64  # in which vertices are looked for before they are all found
_MOST_TABLES = 20_000  # choices of the rows of tables
_MOST_WIDE = 2_000  # vectors over the configurations of a goal that are too many for a hull
_CHUNK = 4_000_000  # numbers in one array of the look-ahead


class SeparatorEngine:
    """Models with narrow loops, taker by taker. Questions: the set of vectors that reaches their scope, times the new box.

    Raises TooLargeError where a separator has too many configurations, or a set more candidates than it looks at, or when the time is over
    (`end`, a moment of `time.monotonic`).
    """

    def __init__(self, model: Model, takers: int, end: float | None = None) -> None:
        self._models, self._end = [model.of_taker(taker) for taker in range(takers)], end
        self._made: dict[object, SeparatorMessages] = {}
        self._reached: dict[tuple[int, Scope], Array] = {}
        self._too_large: dict[Scope, str] = {}
        self._asked: Batch | None = None  # the last one about which variables elsewhere were asked, and what is known after its answers
        self._after: dict[object, SeparatorMessages] = {}

    def now(self, variable: int) -> Bracket:
        """P(variable | evidence), (takers, states)."""
        scope, states = (variable,), self._models[0].sizes[variable]
        ones = np.ones((1, states))
        found = [_bounds(self._vectors(taker, scope), ones, ones, np.eye(states)) for taker in range(len(self._models))]
        return _stacked([(lower[0], upper[0]) for lower, upper in found])

    def answers(self, batch: Batch) -> Bracket:
        """P(class | evidence), (takers, tables, classes)."""
        return _stacked([self._answers(taker, batch) for taker in range(len(self._models))])

    def _answers(self, taker: int, batch: Batch) -> Ends:
        points = self._vectors(taker, batch.scope)
        low, high = (end.reshape(-1, points.shape[1]) for end in (batch.low, batch.high))
        ends = []
        for part in parts(len(low), max(1, _CHUNK // max(1, len(points)))):
            ends.append(((low[part] @ points.T).min(axis=1, initial=1), (high[part] @ points.T).max(axis=1, initial=0)))
        lower, upper = (np.concatenate([pair[end] for pair in ends]).reshape(batch.low.shape[:2]) for end in (0, 1))
        return lower, upper

    def after(self, batch: Batch, variable: int) -> Bracket:
        """P(variable | evidence, class), (takers, tables, classes, states)."""
        find = self._inside if variable in batch.scope else self._elsewhere
        return _stacked([find(taker, batch, variable) for taker in range(len(self._models))])

    def _inside(self, taker: int, batch: Batch, variable: int) -> Ends:
        vectors, sizes = self._vectors(taker, batch.scope), self._models[taker].sizes
        low, high = (end.reshape(-1, vectors.shape[1]) for end in (batch.low, batch.high))
        lower, upper = _bounds(vectors, low, high, members(batch.scope, (variable,), sizes))
        return lower.reshape(*batch.low.shape[:2], -1), upper.reshape(*batch.low.shape[:2], -1)

    def _elsewhere(self, taker: int, batch: Batch, variable: int) -> Ends:
        """Only the messages that lead from the question's scope to the variable are worked out anew for each answer."""
        if self._asked is not batch:
            self._asked, self._after = batch, {}
        model = self._models[taker]
        before = model.boxes.get(batch.scope, (0.0, 0.0))
        messages, number = self._messages(taker, batch.scope, (variable,))
        goal, scope = (number[variable],), tuple(number[v] for v in batch.scope)
        messages.around(goal)  # what all answers share
        possible = self._answers(taker, batch)[1].reshape(-1) > 0
        tables, classes, *levels = batch.low.shape
        ones = np.ones((1, model.sizes[variable]))
        lower, upper = np.ones((len(possible), ones.size)), np.zeros((len(possible), ones.size))
        logs = [log.reshape(-1, *levels) for log in batch.logs]
        for place in np.flatnonzero(possible).tolist():
            if (messages, place) not in self._after:
                self._after[messages, place] = messages.updated(scope, (logs[0][place] + before[0], logs[1][place] + before[1]))
            found = _bounds(self._after[messages, place].around(goal), ones, ones, np.eye(ones.size))
            lower[place], upper[place] = found[0][0], found[1][0]
        return lower.reshape(tables, classes, -1), upper.reshape(tables, classes, -1)

    def _vectors(self, taker: int, scope: Scope) -> Array:
        """The vertices of all that is known of a scope, (vertices, configurations)."""
        if scope in self._too_large:
            raise TooLargeError(self._too_large[scope])
        if (taker, scope) not in self._reached:
            try:
                messages, number = self._messages(taker, scope)
                self._reached[taker, scope] = messages.around(tuple(number[v] for v in scope))
            except TooLargeError as error:
                self._too_large[scope] = str(error)
                raise
        return self._reached[taker, scope]

    def _messages(self, taker: int, scope: Scope, others: Scope = ()) -> tuple["SeparatorMessages", dict[int, int]]:
        """Messages that reach a scope, and the numbers of the variables there; with `others` evidence on the scope may be added.

        All goals share the messages of the whole model where it is narrow; else only what matters for these variables is looked at, with
        nothing idle.
        """
        model, made = self._models[taker], self._made
        if others and scope not in model.boxes:
            made = self._after
            silent = np.zeros([model.sizes[v] for v in scope])
            model = model.with_boxes({**model.boxes, scope: (silent, silent)})
        number = {v: v for v in range(len(model.sizes))}
        buckets = buckets_of(model, scope, idle_of(model))
        if buckets.widest > max(_MOST):
            model, number = model.relevant_to((*scope, *others))
            buckets = buckets_of(model, tuple(number[v] for v in scope), frozenset())
        if buckets.widest > _MOST_CELLS:
            raise TooLargeError(f"{buckets.widest} configurations of a separator, at most {_MOST_CELLS}")
        key = taker, model.names, tuple(model.boxes), buckets
        if key not in made:
            made[key] = SeparatorMessages(model, buckets, self._end)
        return made[key], number


def _stacked(found: list[Ends]) -> Bracket:
    return Bracket.exact(np.stack([low for low, _ in found]), np.stack([high for _, high in found]), "separators")


def _bounds(vectors: Array, low: Array, high: Array, member: Array) -> Ends:
    """Bounds of a variable, (boxes, states), from vectors and likelihood boxes over configurations of which each is `member` of a state.

    As `credal.vectors.bounds_of`, where every configuration is a state of its own; no vectors: lower is above upper.
    """
    states = member.shape[1]
    lower, upper = np.ones((len(low), states)), np.zeros((len(low), states))
    for part in parts(len(low), max(1, _CHUNK // max(1, vectors.size))):
        for state in range(states):
            inside, outside = member[:, state], 1 - member[:, state]
            with np.errstate(invalid="ignore", divide="ignore"):
                least, most = (low[part] * inside) @ vectors.T, (high[part] * inside) @ vectors.T
                least = least / (least + (high[part] * outside) @ vectors.T)
                most = most / (most + (low[part] * outside) @ vectors.T)
            lower[part, state] = np.where(np.isnan(least), 1, least).min(axis=1, initial=1)
            upper[part, state] = np.where(np.isnan(most), 0, most).max(axis=1, initial=0)
    return lower, upper


@dataclass(frozen=True)
class _Choices:
    """What the rows of a bucket's tables leave open when it is summed to a goal.

    `tables`: the products of all tables but one, for each choice of their rows' vertices, (choices, configurations). Of that one table,
    `mixing`: for each choice of those of its rows that touch several configurations of the goal, what a configuration of the bucket gives
    to each of the goal, (choices, bucket's, goal's configurations); `apart`: for every other row the same for each of its vertices.
    """

    tables: Array
    mixing: Array
    apart: list[Array]

    @property
    def is_open(self) -> NDArray[np.bool_]:
        """Which configurations of the goal are intervals, because of rows of their own."""
        found = np.zeros(self.mixing.shape[2], dtype=bool)
        for row in self.apart:
            found |= (len(row) > 1) & (row > 0).any(axis=(0, 1))
        return found


class SeparatorMessages:
    """The sets of messages between the buckets of a model with the evidence of one taker, each worked out once."""

    def __init__(self, model: Model, buckets: Buckets, end: float | None) -> None:
        self._model, self._buckets, self._end = model, buckets, end
        self._boxes = {scope: likelihood(box) for scope, box in model.boxes.items()}
        self._families: list[list[int]] = [[] for _ in model.sizes]
        for child, parents in enumerate(model.parents):
            self._families[buckets.home((*parents, child))].append(child)
        self._sent: dict[tuple[int, int], Array] = {}

    def updated(self, scope: Scope, box: Box) -> "SeparatorMessages":
        """The same with other evidence on a scope; messages that do not come from there are shared."""
        made = copy(self)
        made._boxes = {**self._boxes, scope: likelihood(box)}
        changed = set(self._towards(self._buckets.home(scope)))
        made._sent = {(one, other): vectors for (one, other), vectors in self._sent.items() if (other, one) not in changed}
        return made

    def _towards(self, bucket: int, without: int | None = None) -> list[tuple[int, int]]:
        """The messages on the way to a bucket, but from one neighbour: in this order none waits for another."""
        reached = [(bucket, without)]
        for at, behind in reached:
            reached += [(near, at) for near in self._buckets.near[at] if near != behind]
        return [(one, other) for one, other in reversed(reached[1:]) if other is not None]

    def _send(self, wanted: list[tuple[int, int]]) -> list[Array]:
        """The vertices of some messages, each from a bucket to a neighbour. What waits for nothing is counted before hulls take time."""
        on_the_way = [edge for source, target in wanted for edge in (*self._towards(source, target), (source, target))]
        waiting = [edge for edge in dict.fromkeys(on_the_way) if edge not in self._sent]
        counted = {edge: self._candidates(*edge) for edge in waiting if all(before in self._sent for before in self._before(*edge))}
        for one, other in waiting:
            if self._end is not None and monotonic() > self._end:
                raise TooLargeError("the time is over")
            pieces, cells = counted.pop((one, other)) if (one, other) in counted else self._candidates(one, other)
            if cells > _HULL_CELLS:  # the hull takes long: not where what comes of it would be refused
                vectors = _normalised(pieces)
                for nearest in (edge[1] for edge in waiting if edge[0] == other and edge[1] != one):
                    self._refuse_with(_fewest(vectors), other, nearest)
                self._sent[one, other] = hull(vectors) if cells in _MOST else vectors
            else:
                self._sent[one, other] = joined(pieces)
        return [self._sent[edge] for edge in wanted]

    def _before(self, source: int, target: int) -> list[tuple[int, int]]:
        """The messages that a bucket waits for before it sends one to a neighbour."""
        return [] if self._is_idle(source, target) else [(near, source) for near in self._buckets.near[source] if near != target]

    def _is_idle(self, source: int, target: int) -> bool:
        """Whether a bucket sends ones, since there is no evidence below it."""
        return source in self._buckets.idle and self._buckets.above[source] == target

    def _candidates(self, source: int, target: int) -> tuple[Iterator[Array], int]:
        """Vectors among which are the vertices of what a bucket sends, in parts, and over how many configurations; not too many of them."""
        separator = self._buckets.separator(source, target)
        if self._is_idle(source, target):
            cells = cells_of(separator, self._model.sizes)
            return iter([np.ones((1, cells))]), cells
        pieces, candidates, cells = self._summed(source, separator, target)
        _refuse(candidates, _MOST.get(cells, _FEW), cells)
        return pieces, cells

    def _refuse_with(self, vertices: int, source: int, target: int) -> None:
        """Stop where one of the messages that a bucket gets has so many vertices that it would have too much to send."""
        separator = self._buckets.separator(source, target)
        if not self._is_idle(source, target):
            choices, cells = self._choices(source, separator), cells_of(separator, self._model.sizes)
            own = len(choices.tables) * len(choices.mixing) << int(choices.is_open.sum())
            _refuse(vertices * own, _MOST.get(cells, _FEW), cells)

    def around(self, goal: Scope) -> Array:
        """The vertices of all that is known of a goal that some bucket holds, (vertices, configurations)."""
        sizes, shared = self._model.sizes, [edge for edge in self._buckets.edges if set(goal) <= set(self._buckets.separator(*edge))]
        if not shared:
            bucket = next(number for number, clique in enumerate(self._buckets.cliques) if set(goal) <= set(clique))
            self._send([(source, bucket) for source in self._buckets.near[bucket]])
            return _reaching(*self._summed(bucket, goal))
        one, other = min(shared, key=lambda edge: cells_of(self._buckets.separator(*edge), sizes))
        up, down = self._send([(one, other), (other, one)])
        member = members(self._buckets.separator(one, other), goal, sizes)
        step = max(1, LARGEST // max(1, len(down)))
        pieces = (np.stack([(up[part] * inside) @ down.T for inside in member.T], axis=-1) for part in parts(len(up), step))
        return _reaching((piece.reshape(-1, member.shape[1]) for piece in pieces), len(up) * len(down), member.shape[1])

    def _summed(self, bucket: int, goal: Scope, without: int | None = None) -> tuple[Iterator[Array], int, int]:
        """All that a bucket knows of a goal, but from one neighbour: vectors in parts, how many, and over how many configurations."""
        sizes, clique = self._model.sizes, self._buckets.cliques[bucket]
        sets = [(self._buckets.separator(near, bucket), self._sent[near, bucket]) for near in self._buckets.near[bucket] if near != without]
        low = high = np.ones(cells_of(clique, sizes))
        for scope, ends in self._boxes.items():
            if self._buckets.home(scope) != bucket:
                continue
            least, most = (end.reshape(1, -1) for end in ends)
            if set(goal) <= set(scope):  # each of its numbers belongs to one configuration of the goal
                place = places(clique, scope, sizes)
                low, high = low * least[0, place], high * most[0, place]
            else:
                sets.append((scope, box_directions(least[0], most[0])))
        choices = self._choices(bucket, goal)
        factors = [vectors[:, places(clique, scope, sizes)] for scope, vectors in _merged(sets, sizes)]
        factors.append(choices.tables)
        is_open = choices.is_open | (members(clique, goal, sizes)[low != high] > 0).any(axis=0)
        each = len(choices.mixing) << int(is_open.sum())
        return _pieces(factors, (low, high), choices, each), prod(map(len, factors)) * each, len(is_open)

    def _choices(self, bucket: int, goal: Scope) -> _Choices:
        clique, families = self._buckets.cliques[bucket], tuple(self._families[bucket])
        return self._model.keep(("choices", clique, families, goal), lambda: _choices_of(self._model, clique, families, goal))


def _pieces(factors: list[Array], box: Ends, choices: _Choices, each: int) -> Iterator[Array]:
    """Vectors over the goal from all products of factors, (vectors, bucket's configurations), within a box, so many of each product."""
    (low, high), cells = box, choices.mixing.shape[2]
    *rest, largest = sorted(factors, key=len)
    others = np.ones((1, len(low)))
    for factor in rest:
        others = (others[:, None] * factor[None]).reshape(-1, len(low))
    for some in parts(len(others), max(1, LARGEST // each)):
        for part in parts(len(largest), max(1, LARGEST // (each * max(1, len(others[some]))))):
            vectors = (largest[part, None] * others[some][None]).reshape(-1, len(low))
            ends = [vectors * low, vectors * high] if low is not high else [vectors]
            summed = [_mixed(end, choices.mixing) for end in ends]
            least, most = summed[0], summed[-1]
            for row in choices.apart:
                values = [_mixed(end, row) for end in ends]
                least, most = least + values[0].min(axis=1, keepdims=True), most + values[-1].max(axis=1, keepdims=True)
            yield corners(least.reshape(-1, cells), most.reshape(-1, cells))


def _mixed(vectors: Array, mixing: Array) -> Array:
    """Vectors (vectors, configurations) times matrices (choices, configurations, goal's): (vectors, choices, goal's)."""
    choices, cells, goal = mixing.shape
    mixed: Array = vectors @ mixing.transpose(1, 0, 2).reshape(cells, -1)
    return mixed.reshape(len(vectors), choices, goal)


def _choices_of(model: Model, clique: Scope, families: tuple[int, ...], goal: Scope) -> _Choices:
    """The choices of all tables of a bucket; those of the table that has the most rows to itself are made last."""
    member = members(clique, goal, model.sizes)
    tables, mixing, apart = np.ones((1, len(member))), member[None], list[Array]()
    listed = [_row_choices(model, clique, child) for child in families]
    alone = [[bool((member[cells].sum(axis=0) > 0).sum() == 1) for cells, _ in rows] for rows in listed]
    order = sorted(range(len(families)), key=lambda number: sum(alone[number]))
    for number in order[:-1]:
        for cells, choice in listed[number]:
            _refuse(len(tables) * len(choice), _MOST_TABLES, len(member))
            tables = (tables[:, None] * np.where(cells, choice, 1.0)[None]).reshape(-1, len(member))
    for number in order[-1:]:
        together = [choice for (_, choice), is_alone in zip(listed[number], alone[number], strict=True) if not is_alone]
        apart = [choice[:, :, None] * member for (_, choice), is_alone in zip(listed[number], alone[number], strict=True) if is_alone]
        rows = np.zeros((1, len(member)))
        for choice in together:
            _refuse(len(rows) * len(choice), _MOST_TABLES, len(member))
            rows = (rows[:, None] + choice[None]).reshape(-1, len(member))
        mixing = rows[:, :, None] * member
    return _Choices(tables, mixing, apart)


def _row_choices(model: Model, clique: Scope, child: int) -> list[tuple[NDArray[np.bool_], Array]]:
    """For each row of a table its configurations of the bucket, and its vertices there, (vertices, configurations), zero elsewhere."""
    table, parents = model.tables[child], model.parents[child]
    row_of, state_of = places(clique, parents, model.sizes), places(clique, (child,), model.sizes)
    found = []
    for row in range(table.rows):
        cells = row_of == row
        found.append((cells, np.where(cells, table.row_vertices(row)[:, state_of], 0.0)))
    return found


def _merged(sets: list[tuple[Scope, Array]], sizes: tuple[int, ...]) -> list[tuple[Scope, Array]]:
    """The sets with those that lie inside another's scope multiplied into that one."""
    found: list[tuple[Scope, Array]] = []
    for scope, vectors in sorted(sets, key=lambda one: len(one[0]), reverse=True):
        for number, (around, others) in enumerate(found):
            if set(scope) <= set(around) and len(vectors) * len(others) <= min(LARGEST, _MOST.get(others.shape[1], 0)):
                spread = vectors[:, places(around, scope, sizes)]
                found[number] = around, hull((others[:, None] * spread[None]).reshape(-1, others.shape[1]))
                break
        else:
            found.append((scope, vectors))
    return found


def _refuse(candidates: int, most: int, cells: int) -> None:
    """Stop before there are too many vectors over so many configurations."""
    if candidates > most:
        raise TooLargeError(f"more than {most} candidate messages over {cells} configurations")


def _fewest(vectors: Array) -> int:
    """A number of vertices that the hull of some vectors has at least: those farthest in some directions."""
    directions = np.random.default_rng(0).normal(size=(vectors.shape[1], _DIRECTIONS))
    return len(np.unique((vectors @ directions).argmax(axis=0)))


def _reaching(pieces: Iterator[Array], candidates: int, cells: int) -> Array:
    """The vectors that reach a goal, normalised; only where its configurations are few it is worth to find the vertices."""
    if cells <= _HULL_CELLS:
        _refuse(candidates, _MOST[cells], cells)
        return joined(pieces)
    _refuse(candidates, _MOST_WIDE, cells)
    return _normalised(pieces)


def _normalised(pieces: Iterator[Array]) -> Array:
    """All vectors that are possible, as directions, each once."""
    vectors = np.concatenate(list(pieces))
    sums = vectors.sum(axis=1)
    normalised: Array = np.unique(vectors[sums > 0] / sums[sums > 0, None], axis=0)
    return normalised
