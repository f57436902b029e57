"""Several classes in order: the rows of the largest likelihood among those where no class or better falls from a level to a higher one.

Counts n (places, classes) are given, and p maximises the sum of n log p under G_k(lower) <= G_k(higher), where G_k is the chance of class k
or a better one. The problem is concave and its rules are linear, so an interior point method finds its top: with s all chances and all
rises, linear in G, and y their multipliers, it follows A'y = 0, y s = n + m for chances, y s = m for rises, while m goes to zero (Boyd and
Vandenberghe 2004, section 11.7). All questions of a group are worked out together.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from quaestor.learn.order import Order
from quaestor.model.table import Array

_START, _END = 1e-2, 1e-14  # of m, for counts that sum to one
_MOST = 80  # steps; about 20 are needed
_EDGE = 0.99  # of the way to where a chance or a multiplier would be zero
_ROUNDING = 1e-12
_SMALL = 40  # numbers of a question up to which its matrix is worked out in full


def obeys(table: Array, order: Order) -> NDArray[np.bool_]:
    """Whether no class or better falls along the order, (questions,), for tables (questions, places, classes)."""
    reached = at_least(table)
    low, high = order.covers.T
    return np.asarray((reached[:, low] <= reached[:, high] + _ROUNDING).all(axis=(1, 2)))


def at_least(table: Array) -> Array:
    """Sums over a class and all better ones, along the last axis."""
    return np.cumsum(table[..., ::-1], axis=-1)[..., ::-1]


def ordered(counts: Array, order: Order) -> Array:
    """The best rows that obey the order, for counts (questions, places, classes) of which every place has some."""
    labels, covers = _without_circles(order)
    merged = (labels == np.arange(labels.max() + 1)[:, None]).astype(float) @ counts
    return _top(merged / merged.sum(axis=(1, 2), keepdims=True), covers)[:, labels]


def _without_circles(order: Order) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Places that are both below and above one another (ties make them so) share a label: labels, and the order of the labels."""
    from scipy.sparse.csgraph import connected_components  # only here: it takes long to import

    low, high = order.covers.T
    links = sparse.csr_array((np.ones(len(low)), (low, high)), shape=(order.size, order.size))
    labels = connected_components(links, connection="strong")[1].astype(np.intp)
    covers = np.unique(labels[order.covers], axis=0)
    return labels, covers[covers[:, 0] != covers[:, 1]]


def _top(counts: Array, covers: NDArray[np.intp]) -> Array:
    """The same where no place is both below and above another, for counts that sum to one in each question."""
    questions, places, classes = counts.shape
    rule = _rule(places, classes, covers)
    slack = np.repeat(_inside(places, classes, covers)[None], questions, axis=0)
    aim = np.concatenate([counts.reshape(questions, -1), np.zeros((questions, len(covers) * (classes - 1)))], axis=1)
    size = np.full((questions, 1), _START)
    multiplier = (aim + size) / slack
    for _ in range(_MOST):
        step = _step(rule, multiplier / slack, ((aim + size) / slack) @ rule)
        change = step @ rule.T
        turn = (aim + size - multiplier * change) / slack - multiplier
        length = np.minimum(1.0, _EDGE * np.minimum(_reach(slack, change), _reach(multiplier, turn)))
        slack, multiplier = slack + length * change, multiplier + length * turn
        if (size <= _END).all():
            break
        size = np.maximum(size * (1 - 0.9 * length), _END)
    found = slack[:, : places * classes].reshape(counts.shape)
    result: Array = found / found.sum(axis=2, keepdims=True)
    return result


def _step(rule: sparse.csr_array, weight: Array, gradient: Array) -> Array:
    """Of Newton, for each question: A' diag(weight) A step = gradient, (questions, columns of A)."""
    if rule.shape[1] <= _SMALL:
        dense = rule.toarray()
        return np.asarray(np.linalg.solve((weight[:, None, :] * dense.T) @ dense, gradient[..., None])[..., 0])
    from scipy.sparse.linalg import splu  # only here: it takes long to import

    rules = sparse.kron(sparse.eye_array(len(weight)), rule, format="csr")
    matrix = rules.T @ sparse.diags_array(weight.reshape(-1)) @ rules
    return np.asarray(splu(matrix.tocsc()).solve(gradient.reshape(-1))).reshape(gradient.shape)


def _reach(now: Array, change: Array) -> Array:
    """How many times a change can be made until some number is zero, (questions, 1)."""
    steps = np.divide(-now, change, out=np.full_like(now, np.inf), where=change < 0)
    return np.asarray(steps.min(axis=1, keepdims=True))


def _rule(places: int, classes: int, covers: NDArray[np.intp]) -> sparse.csr_array:
    """What a step of G (places, classes - 1) does to all chances (places, classes) and then to all rises (covers, classes - 1)."""
    fall = sparse.eye_array(classes, classes - 1, k=-1) - sparse.eye_array(classes, classes - 1)
    ends = np.arange(len(covers))
    shape = (len(covers), places)
    rise = sparse.csr_array((np.ones(len(covers)), (ends, covers[:, 1])), shape=shape)
    rise = rise - sparse.csr_array((np.ones(len(covers)), (ends, covers[:, 0])), shape=shape)
    parts = [sparse.kron(sparse.eye_array(places), fall), sparse.kron(rise, sparse.eye_array(classes - 1))]
    return sparse.csr_array(sparse.vstack(parts))


def _inside(places: int, classes: int, covers: NDArray[np.intp]) -> Array:
    """Chances and rises of rows that keep every rule with room to spare: the worst class gives to the best one, place by place."""
    rank = np.zeros(places)
    for _ in range(places):
        np.maximum.at(rank, covers[:, 1], rank[covers[:, 0]] + 1)
    share = rank / max(float(rank.max()), 1.0) - 0.5
    chances = np.full((places, classes), 1 / classes)
    chances[:, 0] -= share / classes
    chances[:, -1] += share / classes
    rises = (share[covers[:, 1]] - share[covers[:, 0]]) / classes
    return np.concatenate([chances.reshape(-1), np.repeat(rises, classes - 1)])
