"""The deviation from the mode that is left after a question, M(S|Q) = m (1 - sum_i max_j P(s_j, q_i)) / (m - 1), and its bounds.

The published way to the bounds (Theorem 1) is m^r linear programs, one for each assignment of answers to levels. Here K(S) is an interval
set (l, u) and K(Q|s_j) interval rows; x_ij = P(s_j, q_i).

- lower M: max sum_i max_j x_ij. For an assignment of answers to levels let A_j be the answers assigned to level j; their upper
  probability is c_j = min(sum over A_j of the upper ends, 1 - sum over the others of the lower ends), and the value is the greedy maximum
  of c . p over K(S).
- upper M: the least sum_i t_i such that t_i >= x_ij is possible. With two levels and two answers it is the minimum over p = P(s_1) of the
  largest of four lines: p, 1 - p, p a_1 + (1 - p) b_0, (1 - p) a_0 + p b_1, where a_j and b_j are the lower probabilities of the two
  answers at level j. In general only the t_i are left as variables, and the limits that they meet are found one at a time (`_least_total`).
"""

from itertools import combinations, product

import numpy as np

from quaestor.credal.indices import deviation
from quaestor.credal.intervals import largest
from quaestor.errors import QuaestorError
from quaestor.model.table import Array

_CHUNK = 2_000_000  # numbers in one array
_MOST = 500_000  # assignments of answers to levels
_LEAST = 1e-12  # lower probabilities below this are taken for 0
_EXACT = 1e-13  # a limit that is missed by less is met
_HOLDS = 1e-9  # by how much the sum of the ends may miss 1
_ROUNDS = 1000  # far more than are needed (two answers: about 10; six: up to 100)


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
    n, classes, levels = rows_low.shape
    if (classes, levels) == (2, 2):
        return deviation(_four_lines(low, high, rows_low), levels)
    for least, most in ((low.sum(axis=1), high.sum(axis=1)), (rows_low.sum(axis=1), rows_high.sum(axis=1))):
        if (least > 1 + _HOLDS).any() or (most < 1 - _HOLDS).any():
            raise QuaestorError("the upper deviation from the mode has no solution: the bounds hold no distribution")
    value = np.empty(n)
    step = max(1, _CHUNK // (classes**2 * levels))
    for start in range(0, n, step):
        some = (np.ascontiguousarray(np.moveaxis(ends[start : start + step], 0, -1)) for ends in (low, high, rows_low, rows_high))
        value[start : start + step] = _least_total(*some)
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


def _least_total(low: Array, high: Array, rows_low: Array, rows_high: Array) -> Array:
    """The least sum_i t_i for each question: the dual simplex method on the t alone; the questions are the last axis of all arrays.

    With P(s_j) = p there are x_ij <= t_i between l_ij p and u_ij p with the sum p where t_i >= l_ij p for all i and
    sum_i min(u_ij p, t_i) >= p. Both hold from 0 up to a largest p, c_j(t) (`_caps`), the least of some linear functions of t. So t is
    possible where c_j(t) >= l_j for all j and sum_j min(u_j, c_j(t)) >= 1: then some p of K(S) lies below c(t). These are many limits,
    normal . t >= end; each is made when t misses it (`_missed`).

    The method keeps as many limits as there are answers, and the t that meets them exactly. The `weights` of their normals, which sum to
    (1, ..., 1), stay positive: so sum_i t_i is the least total under these limits alone, at most the one that is sought, and M is an outer
    bound from the first round on. A limit that t misses takes the place of the one whose weight would be the first to turn negative. The
    total never falls; the tiny parts that make the first weights differ keep it from standing still in a circle.
    """
    classes, n = len(rows_low), low.shape[1]
    total, left = np.empty(n), np.arange(n)
    t = (rows_low * low).max(axis=1)  # the first limits: t_i >= l_ij l_j
    moves = np.repeat(np.eye(classes)[:, :, None], n, axis=2)  # [:, k]: how t moves when the end of limit k rises by one
    weights = np.repeat((1 + 1e-11 * np.sqrt(np.arange(classes)))[:, None], n, axis=1)
    number = np.arange(classes)[:, None]
    for _ in range(_ROUNDS):
        normal, short = _missed(t, low, high, rows_low, rows_high)
        on = short > _EXACT
        if not on.all():
            total[left[~on]] = t[:, ~on].sum(axis=0)
            left = left[on]
            state = (t, moves, weights, normal, short, low, high, rows_low, rows_high)
            t, moves, weights, normal, short, low, high, rows_low, rows_high = (one[..., on] for one in state)
            if not len(left):
                return total
        parts = moves * normal[:, None]
        share = parts.sum(axis=0)  # of the normals of the limits in the new one
        ratio = np.full(share.shape, np.inf)
        np.divide(weights, share, out=ratio, where=share > 1e-14 * np.abs(parts).sum(axis=0))
        leaves = ratio.argmin(axis=0)[None]
        is_it = number == leaves
        move = np.take_along_axis(moves, leaves[None], 1)[:, 0] / np.take_along_axis(share, leaves, 0)
        weight = np.take_along_axis(ratio, leaves, 0)
        t = t + move * short
        moves = np.where(is_it, move[:, None], moves - share * move[:, None])
        weights = np.where(is_it, weight, weights - share * weight)
    total[left] = t.sum(axis=0)
    return total


def _missed(t: Array, low: Array, high: Array, rows_low: Array, rows_high: Array) -> tuple[Array, Array]:
    """A limit that t misses: its normal, (classes, n), and by how much, (n,); not above 0 where there is none."""
    caps, slopes = _caps(t, rows_low, rows_high)
    is_full = caps >= high
    normal: Array = np.where(is_full, 0.0, slopes).sum(axis=1)
    short: Array = np.minimum(high.sum(axis=0), 1.0) - np.where(is_full, high, caps).sum(axis=0)
    under = np.concatenate([low - caps, -t])  # every level has its lower end, and no t_i is negative
    worst = under.argmax(axis=0)[None]
    most = np.take_along_axis(under, worst, 0)[0]
    is_under = most > _EXACT
    if is_under.any():
        units = np.broadcast_to(np.eye(len(t))[:, :, None], (len(t), *t.shape))
        single = np.take_along_axis(np.concatenate([slopes, units], axis=1), worst[None], 1)[:, 0]
        normal, short = np.where(is_under, single, normal), np.where(is_under, most, short)
    return normal, short


def _caps(t: Array, rows_low: Array, rows_high: Array) -> tuple[Array, Array]:
    """The largest p of every level that t leaves room for, (levels, n), and its slopes, (classes, levels, n).

    It is the least of t_i / l_ij and of t(B) / (1 - u_j(not B)), where B are the answers of which t_i / u_ij is at most that of one answer.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        full = np.where(rows_high > 0, t[:, None] / rows_high, np.inf)  # the p from which on t_i, not u_ij p, is the room
        members = full <= full[:, None]  # [i, k]: k is in the B of i
        divisors = np.concatenate([rows_low, 1 - np.where(members, 0.0, rows_high).sum(axis=1)])
        tops = np.concatenate([np.broadcast_to(t[:, None], rows_low.shape), np.where(members, t[:, None], 0.0).sum(axis=1)])
        caps = np.where(divisors > _LEAST, tops / divisors, np.inf)
    best = caps.argmin(axis=0)[None]
    units = np.broadcast_to(np.eye(len(t), dtype=bool)[:, :, None, None], members.shape)
    chosen = np.take_along_axis(np.concatenate([units, members]), best[:, None], 0)[0]
    return np.take_along_axis(caps, best, 0)[0], chosen / np.take_along_axis(divisors, best, 0)
