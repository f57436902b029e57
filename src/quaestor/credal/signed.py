"""Numbers of any size, kept as signs and logarithms: sums of them over distributions, and the rows of a table that make these largest."""

import numpy as np

from quaestor.credal.intervals import fill
from quaestor.model.table import Array, Table


def summed(rows: Array, signs: Array, logs: Array) -> tuple[Array, Array]:
    """sum_s rows(s) signs(s) exp(logs(s)) over the last axis, as signs and logarithms."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.log(rows) + logs
        top = terms.max(axis=-1)
        top = np.where(np.isfinite(top), top, 0.0)
        value = (signs * np.exp(terms - top[..., None])).sum(axis=-1)
        return np.sign(value), top + np.log(np.abs(value))


def log_summed(logs: Array, axis: int | tuple[int, ...] = -1) -> Array:
    """The logarithm of the sum over some axes, from logarithms."""
    top = logs.max(axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        found: Array = np.log(np.exp(logs - top).sum(axis=axis)) + np.squeeze(top, axis=axis)
    return found


def _keys(signs: Array, logs: Array) -> Array:
    """Plain numbers in the order of signs and logarithms along the last axis."""
    finite = np.isfinite(logs)
    least = np.where(finite, logs, np.inf).min(axis=-1, keepdims=True) - 1
    with np.errstate(invalid="ignore"):
        found: Array = signs * np.where(finite, logs - least, 0.0)
    return found


def farthest(low: Array, high: Array, spare: Array, signs: Array, logs: Array) -> Array:
    """The p between `low` and `high` that make sum_s p(s) signs(s) exp(logs(s)) largest, (..., states): a greedy fill.

    `spare`: what the lower ends leave of one.
    """
    shape = np.broadcast_shapes(low.shape, signs.shape, logs.shape)
    order = np.broadcast_to(np.argsort(-_keys(signs, logs), axis=-1), shape)
    rows = np.empty(shape)
    np.put_along_axis(rows, order, fill(np.take_along_axis(np.broadcast_to(high - low, shape), order, axis=-1), spare), axis=-1)
    rows += low
    return rows


def farthest_rows(table: Table, signs: Array, logs: Array) -> Array:
    """The same for all rows of a table, (..., rows, states)."""
    states = table.shape[-1]
    lower, upper = table.lower.reshape(-1, states), table.upper.reshape(-1, states)
    if table.is_precise:
        return np.broadcast_to(lower, np.broadcast_shapes(signs.shape, logs.shape, lower.shape))
    rows = farthest(lower, upper, table.spare, signs, logs)
    for row, points in table.vertices.items():
        sign, log = (end[..., row if end.shape[-2] > 1 else 0, None, :] for end in (signs, logs))
        rows[..., row, :] = points[_keys(*summed(points, sign, log)).argmax(axis=-1)]
    return rows
