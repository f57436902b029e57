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


def log_summed(logs: Array, axis: int = -1) -> Array:
    """log sum exp over an axis."""
    top = logs.max(axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        found: Array = np.log(np.exp(logs - top).sum(axis=axis)) + np.squeeze(top, axis=axis)
    return found


def farthest_rows(table: Table, signs: Array, logs: Array) -> Array:
    """The distributions that make sum_s p(s) signs(s) exp(logs(s)) largest, (..., rows, states): a greedy fill of each interval row.

    `signs` and `logs` go with that shape; only their order matters, but for rows of vertices.
    """
    states = table.shape[-1]
    lower, upper = table.lower.reshape(-1, states), table.upper.reshape(-1, states)
    shape = np.broadcast_shapes(signs.shape, logs.shape, lower.shape)
    if table.is_precise:
        return np.broadcast_to(lower, shape)
    finite = np.isfinite(logs)
    floor = np.where(finite, logs, np.inf).min(axis=-1, keepdims=True) - 1
    with np.errstate(invalid="ignore"):
        order = np.argsort(-signs * np.where(finite, logs - floor, 0.0), axis=-1)
    order = np.broadcast_to(order, shape)
    room = np.take_along_axis(np.broadcast_to(upper - lower, shape), order, axis=-1)
    rows = np.empty(shape)
    np.put_along_axis(rows, order, fill(room, table.spare), axis=-1)
    rows += lower
    for row, points in table.vertices.items():
        at = np.s_[..., row if signs.shape[-2] > 1 else 0, None, :], np.s_[..., row if logs.shape[-2] > 1 else 0, None, :]
        sign, log = summed(points, signs[at[0]], logs[at[1]])
        least = np.where(np.isfinite(log), log, np.inf).min(axis=-1, keepdims=True) - 1
        with np.errstate(invalid="ignore"):
            rows[..., row, :] = points[(sign * np.where(np.isfinite(log), log - least, 0.0)).argmax(axis=-1)]
    return rows
