"""Interval credal sets, all p with l <= p <= u and sum 1, in whole arrays: linear functions, even points; and drawing a state."""

import numpy as np
from numpy.typing import NDArray

from quaestor.model.table import NOISE, Array


def pick(probabilities: Array, uniform: Array) -> NDArray[np.intp]:
    """The state that a uniform number falls on, for rows (..., states); the last one where rounding leaves a rest."""
    below = np.cumsum(probabilities, axis=-1)[..., :-1] <= uniform[..., None]
    found: NDArray[np.intp] = below.sum(axis=-1)
    return found


def fill(room: Array, spare: Array) -> Array:
    """What states get that take what they have room for, one after another, until nothing is spare: shape (..., states).

    `room`: (..., states), in the order in which they take; `spare`: (...). A state that lacks no more than rounding is full, and what
    rounding leaves goes to nobody: ends of sets are attained as they are, zeros too.
    """
    given = np.empty(room.shape)  # first what is left for each; a running sum over so short an axis is slow
    given[..., 0] = spare
    for place in range(1, room.shape[-1]):
        np.subtract(given[..., place - 1], room[..., place - 1], out=given[..., place])
    enough = room - NOISE
    np.maximum(enough, 0.5 * room, out=enough)
    np.multiply(room, given >= enough, out=enough)  # of those who get all
    np.maximum(given, 0, out=given)
    np.minimum(given, room, out=given)
    given *= given > NOISE
    np.maximum(given, enough, out=given)
    return given


def largest(c: Array, low: Array, high: Array) -> Array:
    """max of c . p over the sets, shapes (..., states): start at l, give the rest to the largest c first."""
    order = np.argsort(-c, axis=-1)
    room = np.take_along_axis(np.broadcast_to(high - low, c.shape), order, axis=-1)
    given = fill(room, 1 - low.sum(axis=-1))
    result: Array = (c * low).sum(axis=-1) + (np.take_along_axis(c, order, axis=-1) * given).sum(axis=-1)
    return result


def at_largest(c: Array, low: Array, high: Array) -> Array:
    """The p of the sets that makes c . p the largest, shapes (..., states)."""
    order = np.argsort(-c, axis=-1)
    room = np.take_along_axis(np.broadcast_to(high - low, c.shape), order, axis=-1)
    p = np.empty(c.shape)
    np.put_along_axis(p, order, fill(room, 1 - low.sum(axis=-1)), axis=-1)
    p += low
    return p


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
