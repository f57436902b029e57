"""Ordered classes: maximum likelihood rows under stochastic order, where P(class or better) never falls from a level to a higher one.

Given counts n (elements, classes), p maximises the sum of n log p subject to G_k(lower) <= G_k(higher), where G_k = P(class k or better).
The problem is concave with linear constraints, and is solved by a primal-dual interior point method (Boyd and Vandenberghe 2004, section
11.7): with s the slacks, all probabilities p and all rises G_k(higher) - G_k(lower), which are linear in G with matrix A, and y their
multipliers, it solves A'y = 0, y s = n + m for probabilities, y s = m for rises, while the barrier parameter m goes to zero. All questions
of a group are solved at once.
"""

import numpy as np
import scipy
from numpy.typing import NDArray

from quaestor.learn.order import Order
from quaestor.model.table import Array

_START, _END = 1e-2, 1e-14  # of the barrier parameter m, for counts that sum to one
_MOST = 80  # steps; about 20 are needed
_EDGE = 0.99  # of the largest step for which all slacks and multipliers stay positive
_ROUNDING = 1e-12
_SMALL = 40  # a Newton system with more unknowns is solved as a sparse one


def obeys(table: Array, order: Order) -> NDArray[np.bool_]:
    """Whether P(class or better) never falls along the order, (questions,), for tables (questions, elements, classes)."""
    reached = at_least(table)
    low, high = order.covers.T
    return np.asarray((reached[:, low] <= reached[:, high] + _ROUNDING).all(axis=(1, 2)))


def at_least(table: Array) -> Array:
    """P(class or better): sums over a class and all better ones along the last axis, (..., classes)."""
    return np.cumsum(table[..., ::-1], axis=-1)[..., ::-1]


def ordered(counts: Array, order: Order) -> Array:
    """The maximum likelihood rows that obey the order, for counts (questions, elements, classes); every element has a positive count."""
    labels, covers = _without_cycles(order)
    merged = (labels == np.arange(labels.max() + 1)[:, None]).astype(float) @ counts
    return _maximum(merged / merged.sum(axis=(1, 2), keepdims=True), covers)[:, labels]


def _without_cycles(order: Order) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Labels, (elements,), and the covering relation of the labels: elements in a cycle of the order (ties make some) share one."""
    from scipy.sparse.csgraph import connected_components  # only here: it takes long to import

    low, high = order.covers.T
    links = scipy.sparse.csr_array((np.ones(len(low)), (low, high)), shape=(order.size, order.size))
    labels = connected_components(links, connection="strong")[1].astype(np.intp)
    covers = np.unique(labels[order.covers], axis=0)
    return labels, covers[covers[:, 0] != covers[:, 1]]


def _maximum(counts: Array, covers: NDArray[np.intp]) -> Array:
    """The interior point method, for an order without cycles and counts (questions, elements, classes) that sum to one in each question."""
    questions, elements, classes = counts.shape
    constraints = _constraints(elements, classes, covers)
    slack = np.repeat(_interior_point(elements, classes, covers)[None], questions, axis=0)
    aim = np.concatenate([counts.reshape(questions, -1), np.zeros((questions, len(covers) * (classes - 1)))], axis=1)
    barrier = np.full((questions, 1), _START)
    multiplier = (aim + barrier) / slack
    for _ in range(_MOST):
        step = _newton_step(constraints, multiplier / slack, ((aim + barrier) / slack) @ constraints)
        change = step @ constraints.T
        multiplier_change = (aim + barrier - multiplier * change) / slack - multiplier
        length = np.minimum(1.0, _EDGE * np.minimum(_largest_step(slack, change), _largest_step(multiplier, multiplier_change)))
        slack, multiplier = slack + length * change, multiplier + length * multiplier_change
        if (barrier <= _END).all():
            break
        barrier = np.maximum(barrier * (1 - 0.9 * length), _END)
    found = slack[:, : elements * classes].reshape(counts.shape)
    result: Array = found / found.sum(axis=2, keepdims=True)
    return result


def _newton_step(constraints: "scipy.sparse.csr_array", weight: Array, gradient: Array) -> Array:
    """The solution of A' diag(weight) A step = gradient for each question, (questions, columns of A)."""
    if constraints.shape[1] <= _SMALL:
        dense = constraints.toarray()
        return np.asarray(np.linalg.solve((weight[:, None, :] * dense.T) @ dense, gradient[..., None])[..., 0])
    from scipy.sparse.linalg import splu  # only here: it takes long to import

    stacked = scipy.sparse.kron(scipy.sparse.eye_array(len(weight)), constraints, format="csr")
    matrix = stacked.T @ scipy.sparse.diags_array(weight.reshape(-1)) @ stacked
    return np.asarray(splu(matrix.tocsc()).solve(gradient.reshape(-1))).reshape(gradient.shape)


def _largest_step(now: Array, change: Array) -> Array:
    """The largest multiple of a change that keeps all numbers at or above zero, (questions, 1)."""
    steps = np.divide(-now, change, out=np.full_like(now, np.inf), where=change < 0)
    return np.asarray(steps.min(axis=1, keepdims=True))


def _constraints(elements: int, classes: int, covers: NDArray[np.intp]) -> "scipy.sparse.csr_array":
    """The matrix A: from G (elements, classes - 1) to all probabilities (elements, classes), then all rises (covers, classes - 1)."""
    fall = scipy.sparse.eye_array(classes, classes - 1, k=-1) - scipy.sparse.eye_array(classes, classes - 1)
    ends = np.arange(len(covers))
    shape = (len(covers), elements)
    rise = scipy.sparse.csr_array((np.ones(len(covers)), (ends, covers[:, 1])), shape=shape)
    rise = rise - scipy.sparse.csr_array((np.ones(len(covers)), (ends, covers[:, 0])), shape=shape)
    parts = [scipy.sparse.kron(scipy.sparse.eye_array(elements), fall), scipy.sparse.kron(rise, scipy.sparse.eye_array(classes - 1))]
    return scipy.sparse.csr_array(scipy.sparse.vstack(parts))


def _interior_point(elements: int, classes: int, covers: NDArray[np.intp]) -> Array:
    """The slacks of a strictly feasible start, (slacks,): P(best class) rises with the rank of an element, P(worst class) falls."""
    rank = np.zeros(elements)
    for _ in range(elements):
        np.maximum.at(rank, covers[:, 1], rank[covers[:, 0]] + 1)
    share = rank / max(float(rank.max()), 1.0) - 0.5
    chances = np.full((elements, classes), 1 / classes)
    chances[:, 0] -= share / classes
    chances[:, -1] += share / classes
    rises = (share[covers[:, 1]] - share[covers[:, 0]]) / classes
    return np.concatenate([chances.reshape(-1), np.repeat(rises, classes - 1)])
