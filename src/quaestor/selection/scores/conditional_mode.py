"""The deviation from the mode that is left after a question, M(S|Q) = m (1 - sum_i max_j P(s_j, q_i)) / (m - 1), and its bounds.

The published way to the bounds (Theorem 1) is m^r linear programs, one for each assignment of answers to levels. Here K(S) is an interval
set (l, u) and K(Q|s_j) interval rows; x_ij = P(s_j, q_i).

- lower M: max sum_i max_j x_ij. For an assignment of answers to levels let A_j be the answers assigned to level j; their upper
  probability is c_j = min(sum over A_j of the upper ends, 1 - sum over the others of the lower ends), and the value is the greedy maximum
  of c . p over K(S).
- upper M: min sum_i max_j x_ij is convex: one linear program with t_i >= x_ij. With two levels and two answers it is the minimum over
  p = P(s_1) of the largest of four lines: p, 1 - p, p a_1 + (1 - p) b_0, (1 - p) a_0 + p b_1, where a_j and b_j are the lower
  probabilities of the two answers at level j.
"""

from itertools import combinations, product

import numpy as np
from scipy.sparse import coo_array

from quaestor.credal.indices import deviation
from quaestor.credal.intervals import largest
from quaestor.errors import QuaestorError
from quaestor.model.table import Array

_CHUNK = 2_000_000  # numbers in one array
_MOST = 500_000  # assignments of answers to levels
_SMALL, _FINER = 1e-5, 1e4  # probabilities below this, and what the lines of the program with them are multiplied by
_LEAST = 1e-12  # smaller ends are moved outwards, to 0 or to this
_TOLERANCE = 1e-10  # of the solver: the finest that it knows


def lower_mode(low: Array, high: Array, rows_low: Array, rows_high: Array) -> Array:
    """Lower M(S|Q) for K(S) of shape (n, levels) and rows P(class | level) of shape (n, classes, levels): shape (n,)."""
    classes, levels = rows_low.shape[1:]
    if levels**classes > _MOST:
        raise QuaestorError(f"the mode score takes at most {_MOST} assignments of answers to levels, got {levels}^{classes}")
    best = np.full(len(low), -np.inf)
    assignments = np.array(list(product(range(levels), repeat=classes)))
    step = max(1, _CHUNK // max(1, len(low) * classes * levels))
    for start in range(0, len(assignments), step):
        member = (assignments[start : start + step, :, None] == np.arange(levels)).astype(float)  # (assignments, classes, levels)
        mine = np.einsum("nij,aij->naj", rows_high, member)
        others = 1 - np.einsum("nij,aij->naj", rows_low, 1 - member)
        best = np.maximum(best, largest(np.minimum(mine, others), low[:, None], high[:, None]).max(axis=1))
    return deviation(best, levels)


def upper_mode(low: Array, high: Array, rows_low: Array, rows_high: Array) -> Array:
    """Upper M(S|Q); shapes as for `lower_mode`."""
    classes, levels = rows_low.shape[1:]
    value = _four_lines(low, high, rows_low) if (classes, levels) == (2, 2) else _one_program(low, high, rows_low, rows_high)
    return deviation(value, levels)


def _four_lines(low: Array, high: Array, rows_low: Array) -> Array:
    """The smallest value on [l, u] of the largest of four lines: it is at an end or where two lines cross."""
    (b0, b1), (a0, a1) = rows_low[:, 0].T, rows_low[:, 1].T  # lower P(first answer | level), lower P(second answer | level)
    zero, one = np.zeros(len(low)), np.ones(len(low))
    lines = [(zero, one), (one, -one), (b0, a1 - b0), (a0, b1 - a0)]  # at p = 0, and the slope
    p = np.empty((8, len(low)))
    p[0], p[1] = low[:, 1], high[:, 1]
    for row, (first, second) in enumerate(combinations(lines, 2), start=2):
        turn = first[1] - second[1]
        np.divide(second[0] - first[0], turn, out=p[row], where=turn != 0)
        p[row][turn == 0] = 0.0
    np.minimum(np.maximum(p, low[:, 1], out=p), high[:, 1], out=p)
    value = lines[0][0] + p * lines[0][1]
    for start, slope in lines[1:]:
        np.maximum(value, start + p * slope, out=value)
    result: Array = value.min(axis=0)
    return result


def _one_program(low: Array, high: Array, rows_low: Array, rows_high: Array) -> Array:
    """The programs of all questions as the blocks of one: variables p_j, x_ij and t_i of each.

    The solver takes entries of at most 1e-9 for zero, which makes x_ij <= u_ij p_j a false x_ij <= 0, and its presolve makes such entries
    out of larger ones (1 - .5 - (.5 - 1e-9)): then valid rows have no solution. So lines with small ends are multiplied, presolve is left
    out (the programs take as long without it), and ends below 1e-12 are moved outwards: that widens the rows, so the result stays an
    outer bound, and as no more than 1e-12 of each P(class | level) moves, M rises by less than 2e-12 times the number of classes, which
    is less than the solver's tolerance.
    """
    from scipy.optimize import linprog  # only here: it takes long to import

    n, classes, levels = rows_low.shape
    cells = classes * levels
    width = levels + cells + classes
    first = (np.arange(n) * width)[:, None, None]
    i, j = (grid[None] for grid in np.meshgrid(np.arange(classes), np.arange(levels), indexing="ij"))
    p, x, t = (np.broadcast_to(first + at, (n, classes, levels)) for at in (j, levels + i * levels + j, levels + cells + i))
    row = np.arange(n * cells).reshape(n, classes, levels)
    ones = np.ones(row.shape)
    rows_low, rows_high = np.where(rows_low < _LEAST, 0, rows_low), np.where(rows_high > 0, np.maximum(rows_high, _LEAST), 0)
    finer_low, finer_high = (np.where((ends > 0) & (ends < _SMALL), _FINER, 1.0) for ends in (rows_low, rows_high))
    above = [(row, x, finer_high), (row, p, -finer_high * rows_high)]
    above += [(row + n * cells, p, finer_low * rows_low), (row + n * cells, x, -finer_low)]
    above += [(row + 2 * n * cells, x, ones), (row + 2 * n * cells, t, -ones)]
    column = np.arange(n * levels).reshape(n, 1, levels)
    total = np.broadcast_to(n * levels + np.arange(n)[:, None, None], (n, 1, levels))
    equal = [(np.broadcast_to(column, x.shape), x, ones), (column, p[:, :1], -ones[:, :1]), (total, p[:, :1], ones[:, :1])]
    cost, least, most = np.zeros((n, width)), np.zeros((n, width)), np.ones((n, width))
    cost[:, levels + cells :] = 1.0
    least[:, :levels], most[:, :levels] = low, np.maximum(low, high)
    solved = linprog(
        cost.ravel(),
        A_ub=_sparse(above, (3 * n * cells, n * width)),
        b_ub=np.zeros(3 * n * cells),
        A_eq=_sparse(equal, (n * levels + n, n * width)),
        b_eq=np.concatenate([np.zeros(n * levels), np.ones(n)]),
        bounds=np.stack([least.ravel(), most.ravel()], axis=1),
        method="highs",
        options={"presolve": False, "primal_feasibility_tolerance": _TOLERANCE, "dual_feasibility_tolerance": _TOLERANCE},
    )
    if solved.status == 2:
        raise QuaestorError(f"the upper deviation from the mode has no solution: the bounds hold no distribution ({solved.message})")
    if solved.status != 0:  # what was reached is no bound
        raise QuaestorError(f"the upper deviation from the mode was not found ({solved.message})")
    result: Array = solved.x.reshape(n, width)[:, levels + cells :].sum(axis=1)
    return result


def _sparse(entries: list[tuple[Array, Array, Array]], shape: tuple[int, int]) -> coo_array:
    rows, columns, values = (np.concatenate([part[k].ravel() for part in entries]) for k in range(3))
    return coo_array((values, (rows, columns)), shape=shape)
