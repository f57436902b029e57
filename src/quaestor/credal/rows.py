"""The rows of a table as credal sets: expectations over them, and the extreme points of their weighted sums."""

from collections.abc import Iterator
from itertools import permutations, product
from math import factorial, prod

import numpy as np

from quaestor.credal.intervals import fill
from quaestor.credal.vectors import LARGEST, MOST, TooLargeError, extreme, hull, joined, parts
from quaestor.model.table import Array, Table

_FEW = 2_000  # candidates that are not worth a filter
_TINY = 1e-4  # probabilities above this do not drown in rounding


def expectations(table: Table, vectors: Array) -> tuple[Array, Array]:
    """Lower and upper expectations of vectors (vertices, states) over every row: shapes (vertices, *parent sizes)."""
    states = table.shape[-1]
    lower, upper = table.lower.reshape(-1, states), table.upper.reshape(-1, states)
    order = np.argsort(vectors, axis=1)
    orders = np.concatenate([order, order[:, ::-1]])  # the least come from the smallest first, the most from the largest
    given = fill((upper - lower)[:, orders], table.spare[:, None])  # (rows, both ends' vectors, states)
    ordered = np.take_along_axis(np.concatenate([vectors, vectors]), orders, axis=1)
    added = np.einsum("rvs,vs->vr", given, ordered).reshape(2, len(vectors), len(lower))
    least, most = vectors @ lower.T + added
    for row, points in table.vertices.items():
        values = vectors @ points.T
        least[:, row], most[:, row] = values.min(axis=1), values.max(axis=1)
    shape = (len(vectors), *table.shape[:-1])
    return least.reshape(shape), most.reshape(shape)


def row_choices(table: Table) -> int:
    """How many ways `extreme_rows` has to fill all rows."""
    return factorial(len(open_states(table))) * prod(len(points) for points in table.vertices.values())


def extreme_rows(table: Table) -> list[Array]:
    """Tables, shape (rows, states), among whose mixtures are all extreme points of sums of the rows' credal sets."""
    found = []
    for rows in _filled(table, list(permutations(open_states(table)))):
        for choice in product(*table.vertices.values()):
            for row, point in zip(table.vertices, choice, strict=True):
                rows[row] = point
            found.append(rows.copy())
    return found


def open_states(table: Table) -> list[int]:
    """The states to which some interval row can give more or less: only their order matters."""
    room = (table.upper - table.lower).reshape(-1, table.shape[-1])
    rows = [row for row in range(table.rows) if row not in table.vertices]
    found: list[int] = np.flatnonzero((room[rows] > 0).any(axis=0)).tolist()
    return found


def _filled(table: Table, orders: list[tuple[int, ...]]) -> Iterator[Array]:
    """For each order of some states the rows, (rows, states), that start at their lower ends and give what is left in this order."""
    states = table.shape[-1]
    lower, upper = table.lower.reshape(-1, states), table.upper.reshape(-1, states)
    listed = np.array(orders, dtype=np.intp).reshape(len(orders), -1)
    if not listed.size:  # nothing is left to give
        yield lower.copy()
        return
    given = fill((upper - lower)[:, listed], table.spare[:, None])  # (rows, orders, states in order)
    for number, order in enumerate(listed):
        rows = lower.copy()
        rows[:, order] += given[:, number]
        yield rows


def mixtures(table: Table, weights: Array) -> Array:
    """The vertices of all sums of the rows' distributions with normalised weights, shape (vectors, rows): shape (vertices, states).

    In a direction d all rows are at the vertices that are the farthest in it, whatever their (positive) weights are. So the directions
    fall into cones, one for each choice of vertices (`choice_cones`), and of the mixtures of a choice only those matter that no other
    dominates on the whole cone, which is to say at all of its rays. What rounding could lose is harmless as long as no probability is tiny;
    otherwise all candidates go to `hull`, which keeps tiny ones.
    """
    candidates = len(weights) * row_choices(table)
    if candidates <= _FEW:
        return hull(np.concatenate([weights @ rows for rows in extreme_rows(table)]))
    least, most = (weights @ end.reshape(-1, table.shape[-1]) for end in (table.lower, table.upper))
    if bool((least.min(axis=0) > np.where(most.max(axis=0) > 0, _TINY, -1)).all()):
        return joined(_undominated(weights, rows, rays) for rows, rays in choice_cones(table))
    if candidates > MOST:
        raise TooLargeError(f"more than {MOST} candidate messages")
    return joined(weights[part] @ rows for rows in extreme_rows(table) for part in parts(len(weights), LARGEST))


def _undominated(weights: Array, rows: Array, rays: Array) -> Array:
    """The mixtures of some rows, shape (rows, states), that are not dominated by a few of them at all rays, shape (rays, states).

    These few are the best on average and the best at each ray.
    """
    left = weights
    for dominating in range(len(rays) + 1) if len(weights) > 1 else ():
        heights = (rays @ rows.T) @ left.T
        best = heights.sum(axis=0).argmax() if dominating == 0 else heights[dominating - 1].argmax()
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
        orders = list(permutations(range(states)))
        return [(rows, steps[:, np.argsort(order)]) for rows, order in zip(_filled(table, orders), orders, strict=True)]
    sums, chosen = np.zeros((1, states)), np.zeros((1, 0, states))
    for row in range(table.rows):
        points = table.row_vertices(row)
        every = (sums[:, None] + points).reshape(-1, states)
        if len(every) > LARGEST:
            raise TooLargeError(f"more than {LARGEST} choices of vertices")
        kept = extreme(every[:, :-1]) if len(every) > 2 else np.arange(len(every))
        chosen = np.concatenate([chosen[kept // len(points)], points[kept % len(points)][:, None]], axis=1)
        sums = every[kept]
    return [(rows, rays) for rows, rays in zip(chosen, _normals(sums), strict=True) if len(rays)]


def _normals(points: Array) -> list[Array]:
    """For each vertex of a polytope, shape (vertices, states), the normals of its facets; where it is flat, all axes both ways."""
    from scipy.spatial import ConvexHull, QhullError  # only here: it takes long to import

    states = points.shape[1]
    try:
        found = ConvexHull(points[:, :-1])
    except (QhullError, ValueError):
        return [np.concatenate([np.eye(states), -np.eye(states)])] * len(points)
    normals = np.column_stack([found.equations[:, :-1], np.zeros(len(found.equations))])
    return [normals[(found.simplices == vertex).any(axis=1)] for vertex in range(len(points))]
