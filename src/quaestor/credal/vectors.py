"""Sets of vectors of which only the directions matter: convex hulls, products, boxes. Large ones are pruned a part at a time."""

from collections.abc import Iterable, Iterator
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from quaestor.errors import QuaestorError
from quaestor.model.table import Array

LARGEST = 60_000  # candidate vectors for one hull
MOST = 20_000_000  # candidate vectors that are pruned a part at a time
_NUMBERS = 2_000_000  # numbers in one array of heights
_MOST_HEIGHTS = 20_000_000_000  # heights that are compared, a part at a time
_RANGE = 1e3  # numbers within this factor are of one size
_FLAT = 1e-11  # singular values below this share of the largest count as zero
_WIDEST_BOX = 10  # states whose boxes' corners are listed


class TooLargeError(QuaestorError):
    """A set of messages with more candidates than are worth listing."""


def combined(sets: list[Array]) -> Array:
    """The outer products of one vector of each set, shape (combinations, configurations)."""
    vectors = np.ones((1, 1))
    if prod(vertices.size for vertices in sets) > MOST:
        raise TooLargeError(f"more than {MOST} numbers in combinations of messages")
    for vertices in sets:
        vectors = np.einsum("ka,lb->klab", vectors, vertices).reshape(len(vectors) * len(vertices), -1)
    return vectors


def farthest(heights: Array, weights: Array, vectors: Array) -> Array:
    """The largest sum_oi w(o) heights(., d, o, i) v(i) of each problem over its directions d, the weights w and the vectors v.

    Shapes: heights (problems, directions, configurations, states), weights (weights, configurations), vectors (vectors, states); the result
    has shape (problems,).
    """
    problems, directions, _, states = heights.shape
    count = problems * directions * len(vectors)
    if count * len(weights) > _MOST_HEIGHTS:
        raise TooLargeError(f"{len(weights)} x {len(vectors)} combinations of messages in {problems * directions} directions")
    best = np.full(problems, -np.inf)
    for part in parts(len(weights), max(1, _NUMBERS // max(1, count))):
        sent = np.einsum("wo,qdoi->qdwi", weights[part], heights).reshape(-1, states)
        best = np.maximum(best, (sent @ vectors.T).reshape(problems, -1).max(axis=1))
    return best


def products(sets: list[Array], states: int, prune: bool = True) -> Array:
    """The products of one vector of each set, shape (vertices, states); without pruning the last product is left as it is."""
    vectors = np.ones((1, states))
    for number, added in enumerate(sets):
        if len(vectors) * len(added) > MOST:
            raise TooLargeError(f"more than {MOST} candidate messages")
        step = max(1, LARGEST // max(1, len(added)))
        pieces = ((vectors[part, None] * added[None]).reshape(-1, states) for part in parts(len(vectors), step))
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


def joined(pieces: Iterable[Array]) -> Array:
    """The vertices of several sets of vectors together, a part at a time."""
    waiting: list[Array] = []
    for piece in pieces:
        for part in parts(len(piece), LARGEST // 2):
            if sum(map(len, waiting)) + len(piece[part]) > LARGEST:
                waiting = [hull(np.concatenate(waiting))]
            waiting.append(piece[part])
    return hull(np.concatenate(waiting))


def parts(length: int, step: int) -> Iterator[slice]:
    """Slices of at most `step` that cover a length; one, empty, for nothing."""
    return (slice(start, min(start + step, length)) for start in range(0, max(length, 1), step))


def mixed_boxes(weights: Array, low: Array, high: Array) -> Iterator[Array]:
    """The corners of the sums of boxes, shapes (sets, configurations, states), with weights, shape (vectors, configurations)."""
    sets, _, states = low.shape
    step = max(1, LARGEST >> states)
    if (len(weights) * sets) << states > MOST:
        raise TooLargeError(f"more than {MOST} corners")
    for some in parts(sets, max(1, step // max(1, len(weights)))):
        for part in parts(len(weights), step):
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


def box_directions(low: Array, high: Array) -> Array:
    """The vertices of one box, (states,), as directions, (vertices, states), without a hull.

    Where every state has a width they are all corners but the lowest and the highest: H (L) is a positive combination of the corners that
    have one state low (high). Where one has none, all corners are vertices.
    """
    points = corners(low[None], high[None])
    if len(points) > 2 and (low < high)[high > 0].all():
        points = points[1:-1]
    sums = points.sum(axis=1)
    found: Array = points[sums > 0] / sums[sums > 0, None]
    return found


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
    kept = [extreme(_levelled(points)[:, :-1])]
    if (orders < 0).any():
        sizes, size = np.unique(orders, axis=0, return_inverse=True)
        for number in np.flatnonzero((sizes < 0).any(axis=1)):
            alike = np.flatnonzero(size == number)
            kept.append(alike[extreme(_levelled(points[alike])[:, :-1])] if len(alike) > 2 else alike)
    return np.unique(np.concatenate(kept))


def _levelled(points: Array) -> Array:
    """The points with each coordinate scaled to a maximum of one, then normalised: shape (points, states)."""
    top = points.max(axis=0)
    scaled = points / np.where(top > 0, top, 1)
    result: Array = scaled / scaled.sum(axis=1, keepdims=True)
    return result


def extreme(points: Array) -> NDArray[np.intp]:
    """Indices of the extreme points, also where all points lie in a flat of lower dimension.

    The flat is found first: of points that are hardly thicker than rounding Qhull loses corners without a word.
    """
    from scipy.spatial import ConvexHull, QhullError  # only here: it takes long to import

    centred = points - points.mean(axis=0)
    _, values, axes = np.linalg.svd(centred, full_matrices=False)
    rank = int((values > _FLAT * values[0]).sum()) if values[0] > 1e-15 else 0
    if rank == 0:
        return np.array([0])
    along = centred @ axes[:rank].T / values[:rank]
    if rank == 1:
        return np.unique([along[:, 0].argmin(), along[:, 0].argmax()])
    try:
        return ConvexHull(along).vertices  # type: ignore[no-any-return]
    except (QhullError, ValueError):
        return np.arange(len(points))
