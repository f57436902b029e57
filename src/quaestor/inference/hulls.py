"""Exact credal inference on singly connected models with any number of states, by propagating sets of messages.

A message to a variable is a set of vectors over its states, of which only the direction matters: it is kept as the vertices of the
convex hull of the normalised vectors. Positive projective maps keep hulls, and every posterior is a ratio that is linear in each message,
so its bounds are attained at vertices.

- Down to a child: for weights w over the parents' configurations the message is sum_u w(u) P(. | u). The rows are independent; when they
  are interval rows (2-monotone sets) the extreme points of the sum are among those got by filling every row greedily in the same order
  of the states, one point for each order. Rows given by vertices are combined in every way, or (`mixtures`) only in those ways that are
  the farthest in some direction.
- Up to a parent: for a vector phi over the child's states the value at each state of the parent is an interval of expectations,
  independent of the others: the corners of a box.

Sets with many candidates are pruned a part at a time, so memory stays bounded.
"""

from collections.abc import Iterable, Iterator
from itertools import permutations, product
from math import factorial, prod

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from quaestor.errors import QuaestorError
from quaestor.inference.model import Box, Link, Model, Scope, likelihood
from quaestor.table import Array, Table

LARGEST = 60_000  # candidate vectors for one hull
MOST = 20_000_000  # candidate vectors that are pruned a part at a time
_NUMBERS = 2_000_000  # numbers in one array of heights
_MOST_HEIGHTS = 20_000_000_000  # heights that are looked at, a part at a time
_MANY = 256  # directions that are not sent on
_FEW = 2_000  # candidates that are not worth a filter
_TINY = 1e-4  # probabilities above this do not drown in rounding
_RANGE = 1e3  # numbers within this factor are of one size
_FLAT = 1e-12  # singular values below this share of the largest count as zero
_WIDEST_BOX = 10  # states whose boxes' corners are listed


class TooLargeError(QuaestorError):
    """A set of messages with more candidates than we want to look at."""


class HullMessages:
    """The sets of messages of a singly connected model, each worked out once."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._children: list[list[Link]] = [[] for _ in model.sizes]
        self._own: list[Box | None] = [None for _ in model.sizes]
        self._leaves: list[tuple[Scope, tuple[Array, Array]]] = []
        self._known: dict[tuple[int, Link], Array] = {}
        self._sent: dict[tuple[Link, int], Array] = {}
        self._above: dict[int, Array] = {}
        for child, parents in enumerate(model.parents):
            for parent in parents:
                self._children[parent].append(("family", child))
        for scope, box in model.boxes.items():
            if len(scope) == 1:
                self._own[scope[0]] = likelihood(box)
                continue
            for variable in scope:
                self._children[variable].append(("leaf", len(self._leaves)))
            self._leaves.append((scope, likelihood(box)))

    def bounds(self, variable: int) -> tuple[Array, Array]:
        """Lower and upper P(variable | evidence), shape (states,)."""
        if self._own[variable] is None and not self._children[variable]:
            return self._marginal(variable)
        low, high = self.own(variable)
        lower, upper = bounds_of(self.around(variable, prune=False), low[None], high[None])
        return lower[0], upper[0]

    def _marginal(self, variable: int) -> tuple[Array, Array]:
        """The bounds of a variable with nothing below it.

        In a direction every row is at its farthest, whatever its weight. So directions, shape (questions, directions, states), are sent up
        to the parent with the most above it, one for each combination of what the other parents say, and meet its set of messages when
        they have become many or it knows something from elsewhere.
        """
        for sender, link in self._model.sendings(variable):
            self._gather(sender, link)
        states = np.eye(self._model.sizes[variable])
        directions = np.concatenate([-states, states])[:, None]
        while self._model.parents[variable]:
            link, parents = ("family", variable), self._model.parents[variable]
            main = max(parents, key=self._above_it)
            others = combined([self._gather(parent, link) for parent in parents if parent != main])
            _, heights = expectations(self._model.tables[variable], directions.reshape(-1, directions.shape[2]))
            axis = parents.index(main) + 1
            heights = np.moveaxis(heights, axis, -1).reshape(*directions.shape[:2], -1, heights.shape[axis])
            variable = main
            if directions.shape[1] * len(others) > _MANY or self._own[main] is not None or self._children[main] != [link]:
                values = farthest(heights, others, self._gather(main, link))
                break
            directions = np.einsum("wo,qdoi->qdwi", others, heights).reshape(len(directions), -1, heights.shape[3])
        else:
            values = expectations(self._model.tables[variable], directions.reshape(-1, directions.shape[2]))[1]
            values = values.reshape(directions.shape[:2]).max(axis=1)
        return -values[: len(states)], values[len(states) :]

    def _above_it(self, variable: int) -> int:
        """How many variables are above a variable."""
        found = {variable}
        for child in range(variable, -1, -1):
            if child in found:
                found.update(self._model.parents[child])
        return len(found)

    def own(self, variable: int) -> tuple[Array, Array]:
        """The likelihood box of the evidence on the variable alone."""
        size = self._model.sizes[variable]
        return self._own[variable] or (np.ones(size), np.ones(size))

    def around(self, variable: int, prune: bool = True) -> Array:
        """The vertices of all that reaches a variable but its own evidence, shape (vertices, states); more points if not pruned."""
        for sender, link in self._model.sendings(variable):
            self._gather(sender, link)
        sets = [self._from_above(variable), *(self._from_below(link, variable) for link in self._children[variable])]
        return products(sets, self._model.sizes[variable], prune)

    def _gather(self, variable: int, link: Link) -> Array:
        """The vertices of what a variable sends to a family or leaf: everything it knows from elsewhere."""
        key = (variable, link)
        if key not in self._known:
            sets = [] if link == ("family", variable) else [self._from_above(variable)]
            sets += [self._from_below(other, variable) for other in self._children[variable] if other != link]
            own = self._own[variable]
            if own is not None:
                sets.append(corners(own[0][None], own[1][None]))
            self._known[key] = products(sets, self._model.sizes[variable])
        return self._known[key]

    def _from_above(self, variable: int) -> Array:
        if variable not in self._above:
            weights = combined([self._gather(parent, ("family", variable)) for parent in self._model.parents[variable]])
            self._above[variable] = mixtures(self._model.tables[variable], weights)
        return self._above[variable]

    def _from_below(self, link: Link, parent: int) -> Array:
        if (link, parent) in self._sent:
            return self._sent[link, parent]
        kind, number = link
        if kind == "family":
            scope, table = self._model.parents[number], self._model.tables[number]
            low, high = expectations(table, self._gather(number, link))
        else:
            scope, (low, high) = self._leaves[number]
            low, high = low[None], high[None]
        axis = scope.index(parent)
        others = combined([self._gather(variable, link) for variable in scope if variable != parent])
        low, high = (np.moveaxis(end, axis + 1, -1).reshape(len(end), -1, end.shape[axis + 1]) for end in (low, high))
        self._sent[link, parent] = joined(_mixed_boxes(others, low, high))
        return self._sent[link, parent]


def combined(sets: list[Array]) -> Array:
    """The outer products of one vector of each set, shape (combinations, configurations)."""
    vectors = np.ones((1, 1))
    if prod(vertices.size for vertices in sets) > MOST:
        raise TooLargeError(f"more than {MOST} numbers in combinations of messages")
    for vertices in sets:
        vectors = np.einsum("ka,lb->klab", vectors, vertices).reshape(len(vectors) * len(vertices), -1)
    return vectors


def farthest(heights: Array, weights: Array, vectors: Array) -> Array:
    """The largest sum_oi w(o) heights(., d, o, i) v(i) of each question over its directions d, the weights w and the vectors v.

    Shapes: heights (questions, directions, configurations, states), weights (weights, configurations), vectors (vectors, states).
    """
    questions, directions, _, states = heights.shape
    count = questions * directions * len(vectors)
    if count * len(weights) > _MOST_HEIGHTS:
        raise TooLargeError(f"{len(weights)} x {len(vectors)} combinations of messages in {questions * directions} directions")
    best = np.full(questions, -np.inf)
    for part in _parts(len(weights), max(1, _NUMBERS // max(1, count))):
        sent = np.einsum("wo,qdoi->qdwi", weights[part], heights).reshape(-1, states)
        best = np.maximum(best, (sent @ vectors.T).reshape(questions, -1).max(axis=1))
    return best


def products(sets: list[Array], states: int, prune: bool = True) -> Array:
    """The products of one vector of each set, shape (vertices, states); without pruning the last product is left as it is."""
    vectors = np.ones((1, states))
    for number, added in enumerate(sets):
        if len(vectors) * len(added) > MOST:
            raise TooLargeError(f"more than {MOST} candidate messages")
        step = max(1, LARGEST // max(1, len(added)))
        pieces = ((vectors[part, None] * added[None]).reshape(-1, states) for part in _parts(len(vectors), step))
        if number and (prune or number < len(sets) - 1 or len(vectors) * len(added) > LARGEST):
            vectors = joined(pieces)
        else:
            vectors = np.concatenate(list(pieces))
    return vectors


def bounds_of(vectors: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Bounds of the posterior from message vectors (vertices, states) and likelihood boxes (boxes, states): shapes (boxes, states).

    upper P(s) = max over vectors v of  high_s v_s / (high_s v_s + sum_{t != s} low_t v_t), and the other way round for the lower.
    Where that is 0/0, the networks with this vector that allow the evidence at all say one (lower) or zero (upper).
    """
    lowest, highest = low[:, None] * vectors, high[:, None] * vectors
    with np.errstate(invalid="ignore", divide="ignore"):
        upper = highest / (highest + _others(lowest))
        lower = lowest / (lowest + _others(highest))
    return np.where(np.isnan(lower), 1, lower).min(axis=1), np.where(np.isnan(upper), 0, upper).max(axis=1)


def _others(values: Array) -> Array:
    """For each state the sum over the other states, without subtracting (which would cancel)."""
    states = values.shape[-1]
    return values @ (1 - np.eye(states))


def expectations(table: Table, vectors: Array) -> tuple[Array, Array]:
    """Lower and upper expectations of vectors (vertices, states) over every row: shapes (vertices, *parent sizes)."""
    states = table.shape[-1]
    lower, upper = table.lower.reshape(-1, states), table.upper.reshape(-1, states)
    order = np.argsort(vectors, axis=1)
    least = _filled_expectation(lower, upper, vectors, order)
    most = _filled_expectation(lower, upper, vectors, order[:, ::-1])
    for row, points in table.vertices.items():
        values = vectors @ points.T
        least[:, row], most[:, row] = values.min(axis=1), values.max(axis=1)
    shape = (len(vectors), *table.shape[:-1])
    return least.reshape(shape), most.reshape(shape)


def _filled_expectation(lower: Array, upper: Array, vectors: Array, order: NDArray[np.intp]) -> Array:
    """Expectations when each row starts at its lower ends and fills up in the given order of states: shape (vectors, rows)."""
    room = (upper - lower)[:, order].transpose(1, 0, 2)  # (vectors, rows, states)
    spare = (1 - lower.sum(axis=1))[None, :, None]
    before = np.cumsum(room, axis=2) - room
    given = np.clip(spare - before, 0, room)
    ordered = np.take_along_axis(vectors, order, axis=1)
    result: Array = vectors @ lower.T + np.einsum("vrs,vs->vr", given, ordered)
    return result


def row_choices(table: Table) -> int:
    """How many ways `extreme_rows` has to fill all rows."""
    by_order = factorial(table.shape[-1]) if len(table.vertices) < table.rows else 1
    return by_order * prod(len(points) for points in table.vertices.values())


def extreme_rows(table: Table) -> list[Array]:
    """Tables, shape (rows, states), among whose mixtures are all extreme points of sums of the rows' credal sets."""
    states = table.shape[-1]
    lower, upper = table.lower.reshape(-1, states), table.upper.reshape(-1, states)
    orders = permutations(range(states)) if len(table.vertices) < table.rows else [tuple(range(states))]
    found = []
    for order in orders:
        rows = fill(lower, upper, order)
        for choice in product(*table.vertices.values()):
            for row, point in zip(table.vertices, choice, strict=True):
                rows[row] = point
            found.append(rows.copy())
    return found


def fill(lower: Array, upper: Array, order: tuple[int, ...]) -> Array:
    """The distributions that start at the lower ends and give what is left to the states in this order: shape (rows, states)."""
    rows = lower.copy()
    spare = 1 - lower.sum(axis=1)
    for state in order:
        given = np.minimum(upper[:, state] - lower[:, state], np.maximum(spare, 0))
        rows[:, state] += given
        spare = spare - given
    return rows


def mixtures(table: Table, weights: Array) -> Array:
    """The vertices of all sums of the rows' distributions with normalised weights, shape (vectors, rows): shape (vertices, states).

    In a direction d all rows are at the vertices that are the farthest in it, whatever their (positive) weights are. So the directions
    fall into cones, one for each choice of vertices (`choice_cones`), and of the mixtures of a choice only those matter that no other
    exceeds on the whole cone, which is to say at all of its rays. What rounding could lose is harmless as long as no probability is tiny;
    otherwise all candidates are compared with care.
    """
    candidates = len(weights) * row_choices(table)
    if candidates <= _FEW:
        return hull(np.concatenate([weights @ rows for rows in extreme_rows(table)]))
    least, most = (weights @ end.reshape(-1, table.shape[-1]) for end in (table.lower, table.upper))
    if bool((least.min(axis=0) > np.where(most.max(axis=0) > 0, _TINY, -1)).all()):
        return joined(_undominated(weights, rows, rays) for rows, rays in choice_cones(table))
    if candidates > MOST:
        raise TooLargeError(f"more than {MOST} candidate messages")
    return joined(weights[part] @ rows for rows in extreme_rows(table) for part in _parts(len(weights), LARGEST))


def _undominated(weights: Array, rows: Array, rays: Array) -> Array:
    """The mixtures of some rows, shape (rows, states), that none of a few others exceeds at all rays, shape (rays, states)."""
    left = weights
    for champion in range(len(rays) + 1) if len(weights) > 1 else ():
        heights = (rays @ rows.T) @ left.T
        best = heights.sum(axis=0).argmax() if champion == 0 else heights[champion - 1].argmax()
        kept = np.flatnonzero((heights > heights[:, best, None]).any(axis=0))
        left = left[np.append(kept, best)]
    mixed: Array = left @ rows
    return mixed


def choice_cones(table: Table) -> list[tuple[Array, Array]]:
    """For each choice of the rows' vertices that is the farthest in some directions: the rows, (rows, states), and rays, (rays, states).

    The rays span the cone of those directions. Interval rows: one choice for each order of the states, the rays are the sets of the first
    states. Others: the vertices of the sum of all rows' sets, found row by row; the rays are the normals of the facets at a vertex.
    """
    states = table.shape[-1]
    if not table.vertices:
        steps = np.tri(states)[:-1]
        orders = permutations(range(states))
        return [(rows, steps[:, np.argsort(order)]) for rows, order in zip(extreme_rows(table), orders, strict=True)]
    sums, chosen = np.zeros((1, states)), np.zeros((1, 0, states))
    for row in range(table.rows):
        points = table.row_vertices(row)
        every = (sums[:, None] + points).reshape(-1, states)
        if len(every) > LARGEST:
            raise TooLargeError(f"more than {LARGEST} choices of vertices")
        kept = _extreme(every[:, :-1]) if len(every) > 2 else np.arange(len(every))
        chosen = np.concatenate([chosen[kept // len(points)], points[kept % len(points)][:, None]], axis=1)
        sums = every[kept]
    return [(rows, rays) for rows, rays in zip(chosen, _normals(sums), strict=True) if len(rays)]


def _normals(points: Array) -> list[Array]:
    """For each vertex of a polytope, shape (vertices, states), the normals of its facets; where it is flat, all axes both ways."""
    states = points.shape[1]
    try:
        found = ConvexHull(points[:, :-1])
    except (QhullError, ValueError):
        return [np.concatenate([np.eye(states), -np.eye(states)])] * len(points)
    normals = np.column_stack([found.equations[:, :-1], np.zeros(len(found.equations))])
    return [normals[(found.simplices == vertex).any(axis=1)] for vertex in range(len(points))]


def joined(pieces: Iterable[Array]) -> Array:
    """The vertices of several sets of vectors together, a part at a time."""
    waiting: list[Array] = []
    for piece in pieces:
        for part in _parts(len(piece), LARGEST // 2):
            if sum(map(len, waiting)) + len(piece[part]) > LARGEST:
                waiting = [hull(np.concatenate(waiting))]
            waiting.append(piece[part])
    return hull(np.concatenate(waiting))


def _parts(length: int, step: int) -> Iterator[slice]:
    """Slices of at most `step` that cover a length; one, empty, for nothing."""
    return (slice(start, start + step) for start in range(0, max(length, 1), step))


def _mixed_boxes(weights: Array, low: Array, high: Array) -> Iterator[Array]:
    """The corners of the sums of boxes, shapes (sets, configurations, states), with weights, shape (vectors, configurations)."""
    sets, _, states = low.shape
    step = max(1, LARGEST >> states)
    if (len(weights) * sets) << states > MOST:
        raise TooLargeError(f"more than {MOST} corners")
    for some in _parts(sets, max(1, step // max(1, len(weights)))):
        for part in _parts(len(weights), step):
            ends = (np.einsum("wo,koi->kwi", weights[part], end[some]).reshape(-1, states) for end in (low, high))
            yield corners(*ends)


def corners(low: Array, high: Array) -> Array:
    """All corners of boxes, shape (boxes, states): shape (boxes * corners, states). States of no width have one end."""
    states = low.shape[1]
    free = [state for state in range(states) if (low[:, state] != high[:, state]).any()]
    if len(free) > _WIDEST_BOX or len(low) * 2 ** len(free) > LARGEST:
        raise TooLargeError(f"more than {LARGEST} corners")
    chosen = np.zeros((2 ** len(free), states), dtype=bool)
    chosen[:, free] = np.array(list(product((False, True), repeat=len(free))), dtype=bool).reshape(2 ** len(free), len(free))
    return np.where(chosen[None], high[:, None], low[:, None]).reshape(-1, states)


def hull(vectors: Array) -> Array:
    """The vertices of the convex hull of the normalised vectors; vectors of zeros (impossible) are left out."""
    sums = vectors.sum(axis=1)
    points: Array = vectors[sums > 0] / sums[sums > 0, None]
    if len(points) > 2 and points.shape[1] == 2:
        with np.errstate(divide="ignore"):
            ratios = np.log(points[:, 0]) - np.log(points[:, 1])  # 1 - 1e-20 and 1 - 1e-30 are one number, their odds are not
        points = points[[ratios.argmin(), ratios.argmax()]]
    elif len(points) > LARGEST:
        raise TooLargeError(f"more than {LARGEST} candidate messages")
    elif len(points) > 2:
        points = points[_extreme_directions(points)]
    return points


def _extreme_directions(points: Array) -> NDArray[np.intp]:
    """Indices of points that span all others as directions, also where coordinates are tiny beside others.

    A state of weight 1e-20 decides everything when later evidence rules out the rest, so no coordinate may drown in the rounding of
    another. Scaling a coordinate in all points keeps what is extreme; points that differ in order of magnitude are compared with
    those of their own size only, which keeps more than is needed but never less.
    """
    with np.errstate(divide="ignore"):
        orders = np.ceil(np.log(_levelled(points)) / np.log(_RANGE))
    orders = np.where(points.max(axis=0) > 0, np.maximum(orders, -1000), 0)
    kept = [_extreme(_levelled(points)[:, :-1])]
    if (orders < 0).any():
        sizes, size = np.unique(orders, axis=0, return_inverse=True)
        for number in np.flatnonzero((sizes < 0).any(axis=1)):
            alike = np.flatnonzero(size == number)
            kept.append(alike[_extreme(_levelled(points[alike])[:, :-1])] if len(alike) > 2 else alike)
    return np.unique(np.concatenate(kept))


def _levelled(points: Array) -> Array:
    """The points with each coordinate scaled to a maximum of one, then normalised: shape (points, states)."""
    top = points.max(axis=0)
    scaled = points / np.where(top > 0, top, 1)
    result: Array = scaled / scaled.sum(axis=1, keepdims=True)
    return result


def _extreme(points: Array) -> NDArray[np.intp]:
    """Indices of the extreme points, also where the points lie in a flat."""
    try:
        return ConvexHull(points).vertices  # type: ignore[no-any-return]
    except (QhullError, ValueError):
        centred = points - points.mean(axis=0)
        _, values, axes = np.linalg.svd(centred, full_matrices=False)
        rank = int((values > _FLAT * max(values[0], 1e-300)).sum()) if values[0] > 1e-15 else 0
        if rank == 0:
            return np.array([0])
        along = centred @ axes[:rank].T
        if rank == 1:
            return np.unique([along[:, 0].argmin(), along[:, 0].argmax()])
        if rank < points.shape[1]:
            return _extreme(along)
        return np.arange(len(points))
