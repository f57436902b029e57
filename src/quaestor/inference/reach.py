"""The set of directions in which everything but its own evidence pulls a variable, bracketed from inside and outside.

With that set in hand, bounds after any evidence on the variable itself have a closed form (`hulls.bounds_of`). On singly connected models
the set is exact (`hulls`). Here it is found by its support function: for a direction g the largest E[g] over the set, attained by a
network (an inner point) and bounded by branch and bound (an outer half-plane). Directions across the edges of the inner polygon are added
until inner and outer meet, or the rounds are over.
"""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from quaestor.inference.branch import maximise
from quaestor.inference.core import Core, core_of
from quaestor.inference.hulls import LARGEST, TooLargeError, bounds_of, corners, extreme_rows, hull, row_choices
from quaestor.inference.junction import JunctionTree
from quaestor.inference.model import Model, likelihood
from quaestor.table import Array

ROUNDS = 4
_PLANE = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])  # three states as the corners of a triangle


@dataclass(frozen=True)
class Reach:
    """Vectors over a variable's states: `inner` are attained, all networks lie in the hull of `outer`."""

    inner: Array
    outer: Array

    def bounds(self, low: Array, high: Array) -> tuple[Array, Array, float]:
        """Bounds after evidence on the variable itself, boxes of shape (boxes, states): lower, upper (boxes, states), and the gap."""
        lower, upper = bounds_of(self.outer, low, high)
        inner_lower, inner_upper = bounds_of(self.inner, low, high)
        gap = max(float((inner_lower - lower).max()), float((upper - inner_upper).max()))
        return lower, upper, gap


def reach(model: Model, variable: int, tolerance: float, limit: int) -> Reach:
    """What reaches a variable of two or three states; its own evidence is left out."""
    without_own = model.with_boxes({scope: box for scope, box in model.boxes.items() if scope != (variable,)})
    part, number = without_own.relevant_to([variable])
    target = number[variable]
    core = core_of(part, target)
    if len(core.model.sizes) == 1:
        vectors = hull((core.model.tables[0].row_vertices(0)[:, None] * core.pulls[0][None]).reshape(-1, core.model.sizes[0]))
        return Reach(vectors, vectors)
    parents = core.model.parents[core.target]
    links = [scope for scope in core.model.boxes if core.target in scope]
    if len(parents) == 1 and not links and all(core.target not in others for others in core.model.parents):
        return _over_bridge(part, target, core, tolerance, limit)
    if core.model.sizes[core.target] == 2:
        found = maximise(core, np.array([[0.0, 1.0], [1.0, 0.0]]), {}, tolerance, limit)
        ends = np.array([found.outer[0], 1 - found.outer[1]])
        return Reach(_possible(found.points, part, target), np.stack([1 - ends, ends], axis=1))
    return _polygon(core, part, target, tolerance, limit)


def _possible(points: Array, model: Model, target: int) -> Array:
    """The points that networks attain which allow the evidence; when none was met, the centre of the set does."""
    kept = points[np.isfinite(points).all(axis=1)]
    if not len(kept):
        centre = model.centre()
        tree = JunctionTree(centre, centre.boxes)
        kept = tree.marginal(tree.calibrate({scope: low for scope, (low, _) in centre.boxes.items()}), (target,))
    return kept


def _over_bridge(model: Model, variable: int, core: Core, tolerance: float, limit: int) -> Reach:
    """A variable that hangs on the rest by its one parent: what reaches the parent, sent down."""
    parent = model.parents[variable][0]
    below = {variable}
    for child, parents in enumerate(model.parents):
        if below & set(parents):
            below.add(child)
    kept = [v for v in range(len(model.sizes)) if v not in below]
    number = {old: new for new, old in enumerate(kept)}
    rest = Model(
        tuple(model.names[v] for v in kept),
        tuple(model.states[v] for v in kept),
        tuple(tuple(number[p] for p in model.parents[v]) for v in kept),
        tuple(model.tables[v] for v in kept),
        {tuple(number[v] for v in scope): box for scope, box in model.boxes.items() if not below & set(scope)},
    )
    found = reach(rest, number[parent], tolerance, limit)
    own = rest.boxes.get((number[parent],))
    low, high = likelihood(own) if own is not None else (np.ones(model.sizes[parent]),) * 2
    table = model.tables[variable]
    sent = []
    for vectors in (found.inner, found.outer):
        weights = hull((vectors[:, None] * corners(low[None], high[None])[None]).reshape(-1, vectors.shape[1]))
        if len(weights) * row_choices(table) > LARGEST:
            raise TooLargeError(f"more than {LARGEST} candidate messages")
        messages = hull(np.concatenate([weights @ rows for rows in extreme_rows(table)]))
        sent.append(hull((messages[:, None] * core.pulls[core.target][None]).reshape(-1, messages.shape[1])))
    return Reach(sent[0], sent[1])


def _polygon(core: Core, model: Model, target: int, tolerance: float, limit: int) -> Reach:
    """Three states: a polygon in the plane."""
    if core.model.sizes[core.target] != 3:
        raise TooLargeError("more than three states")
    angles = np.arange(8) * np.pi / 4
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    normals, offsets, points = np.zeros((0, 2)), np.zeros(0), np.zeros((0, 3))
    for _ in range(ROUNDS):
        g = directions @ _PLANE.T
        found = maximise(core, g, {}, tolerance, limit)
        normals, offsets = np.concatenate([normals, directions]), np.concatenate([offsets, found.outer])
        points = np.concatenate([points, _possible(found.points, model, target)])
        try:
            edges = ConvexHull(points @ _PLANE).equations
        except QhullError:  # all points on a line or in one: the half-planes found so far must do
            break
        slack = (_corners_of(normals, offsets) @ edges[:, :2].T).max(axis=0) + edges[:, 2]
        directions = edges[slack > 2 * tolerance, :2]
        if not len(directions):
            break
    corner = _corners_of(normals, offsets)
    return Reach(hull(points), np.stack([1 - corner.sum(axis=1), corner[:, 0], corner[:, 1]], axis=1).clip(0, 1))


def _corners_of(normals: Array, offsets: Array) -> Array:
    """The corners of the polygon of all x in the triangle with normals @ x <= offsets."""
    planes = np.concatenate([np.column_stack([normals, -offsets - 1e-12]), [[-1, 0, -1e-12], [0, -1, -1e-12], [1, 1, -1 - 1e-12]]])
    one, other = planes[np.stack(np.triu_indices(len(planes), 1))]
    determinant = one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0]
    one, other, determinant = (part[np.abs(determinant) > 1e-12] for part in (one, other, determinant))
    x = (one[:, 1] * other[:, 2] - other[:, 1] * one[:, 2]) / determinant
    y = (other[:, 0] * one[:, 2] - one[:, 0] * other[:, 2]) / determinant
    every = np.stack([x, y], axis=1)
    inside = (every @ planes[:, :2].T + planes[:, 2] <= 1e-9).all(axis=1)
    corner: Array = every[inside]
    return corner
