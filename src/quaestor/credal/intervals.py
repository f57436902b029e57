"""Interval credal sets, all p with l <= p <= u and sum 1, in whole arrays: linear functions, even points, vertices; and drawing a state."""

import numpy as np
from numpy.typing import NDArray

from quaestor.model.table import Array


def pick(probabilities: Array, uniform: Array) -> NDArray[np.intp]:
    """The state that a uniform number falls on, for rows (..., states); the last one where rounding leaves a rest."""
    below = np.cumsum(probabilities, axis=-1)[..., :-1] <= uniform[..., None]
    found: NDArray[np.intp] = below.sum(axis=-1)
    return found


def largest(c: Array, low: Array, high: Array) -> Array:
    """max of c . p over the sets, shapes (..., states): start at l, give the rest to the largest c first."""
    order = np.argsort(-c, axis=-1)
    room = np.take_along_axis(np.broadcast_to(high - low, c.shape), order, axis=-1)
    rest = 1 - low.sum(axis=-1, keepdims=True)
    given = np.clip(rest - (np.cumsum(room, axis=-1) - room), 0, room)
    result: Array = (c * low).sum(axis=-1) + (np.take_along_axis(c, order, axis=-1) * given).sum(axis=-1)
    return result


def smallest(c: Array, low: Array, high: Array) -> Array:
    """min of c . p over the sets, shapes (..., states)."""
    return -largest(-c, low, high)


def most_even(low: Array, high: Array) -> Array:
    """The distribution with p = clip(t, l, u) for one t, shape (..., states): it has the largest entropy and the smallest maximum."""
    if low.shape[-1] == 2:
        p = np.minimum(np.maximum(low[..., 1], 0.5), high[..., 1])
        return np.stack([1 - p, p], axis=-1)
    steps = np.sort(np.concatenate([low, high], axis=-1), axis=-1)
    sums = np.clip(steps[..., :, None], low[..., None, :], high[..., None, :]).sum(axis=-1)
    last = np.maximum((sums <= 1).sum(axis=-1) - 1, 0)[..., None]
    first = np.minimum(last + 1, steps.shape[-1] - 1)
    t, after = (np.take_along_axis(steps, place, axis=-1) for place in (last, first))
    total, total_after = (np.take_along_axis(sums, place, axis=-1) for place in (last, first))
    rise = total_after - total
    level = t + np.divide((1 - total) * (after - t), rise, out=np.zeros_like(t), where=rise > 0)
    result: Array = np.clip(level, low, high)
    return result


def vertices(low: Array, high: Array) -> tuple[Array, Array]:
    """All points with all but one state at a bound, (..., points, states), and which of them lie in the set, (..., points)."""
    states = low.shape[-1]
    patterns = (np.arange(2 ** (states - 1))[:, None] >> np.arange(states - 1)) & 1  # of the states that are not free
    points, inside = [], []
    for free in range(states):
        others = [state for state in range(states) if state != free]
        point = np.empty((*low.shape[:-1], len(patterns), states))
        point[..., others] = np.where(patterns == 1, high[..., None, others], low[..., None, others])
        rest = 1 - point[..., others].sum(axis=-1)
        point[..., free] = np.clip(rest, low[..., None, free], high[..., None, free])
        points.append(point)
        inside.append(np.abs(point[..., free] - rest) <= 1e-9)
    return np.concatenate(points, axis=-2), np.concatenate(inside, axis=-1)
