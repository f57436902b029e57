"""How uncertain a distribution over m levels is, from 0 (one level is certain) to 1 (all are equally likely), and bounds over sets.

- entropy:  H(p) = - sum p log_m p, with 0 log 0 = 0
- mode:     M(p) = m (1 - max p) / (m - 1), the deviation from the mode
- gini:     G(p) = m (1 - sum p^2) / (m - 1)
- variance: V(p) = 4 (sum p k^2 - (sum p k)^2) / (m - 1)^2 over the numbers k = 0 ... m - 1 of the levels; 1 when the lowest and the
  highest are equally likely. With two levels it is G

All are concave. The first three are largest at the most even distribution of an interval set; H, G and V are smallest at a vertex, M
where one level is as likely as it can be.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from quaestor.credal.intervals import at_largest, most_even
from quaestor.model.table import Array, vertices

_ROOM = 1e-9  # bounds that were computed hold a distribution but for this


def entropy(p: Array) -> Array:
    """H of distributions of shape (..., levels)."""
    logs = np.log(p, out=np.zeros_like(p), where=p > 0)
    result: Array = np.einsum("...i,...i->...", p, logs) / -np.log(p.shape[-1])
    return result


def mode(p: Array) -> Array:
    """M of distributions of shape (..., levels)."""
    return deviation(p.max(axis=-1), p.shape[-1])


def deviation(largest: Array, levels: float) -> Array:
    """M from the largest probability (or the sum over the answers of the largest P(level, answer))."""
    return levels * (1 - largest) / (levels - 1)


def gini(p: Array) -> Array:
    """G of distributions of shape (..., levels)."""
    levels = p.shape[-1]
    result: Array = levels * (1 - np.einsum("...i,...i->...", p, p)) / (levels - 1)
    return result


def variance(p: Array) -> Array:
    """V of distributions of shape (..., levels)."""
    numbers = _numbers(p.shape[-1])
    mean = p @ numbers
    result: Array = p @ numbers**2 - mean**2
    return result


def _numbers(levels: int) -> Array:
    """The numbers of the levels, from 0 to 2: then the largest variance is 1."""
    return 2 * np.arange(levels) / (levels - 1)


def _upper_variance(low: Array, high: Array) -> Array:
    """The largest V over interval sets: max_p min_t E (k - t)^2 = min_t max_p E (k - t)^2, since it is convex in t and linear in p.

    The order in which levels are far from t changes at their midpoints only; between two of them one p is the largest for all t.
    """
    numbers = _numbers(low.shape[-1])
    turns = np.unique((numbers[:, None] + numbers) / 2)
    found = np.full(low.shape[:-1], np.inf)
    for start, end in pairwise(turns):
        p = at_largest(np.broadcast_to((numbers - (start + end) / 2) ** 2, low.shape), low, high)
        t = np.clip(p @ numbers, start, end)
        found = np.minimum(found, (p * (numbers - t[..., None]) ** 2).sum(axis=-1))
    return found


def _least_at_vertex(value: Callable[[Array], Array]) -> Callable[[Array, Array], Array]:
    def lower(low: Array, high: Array) -> Array:
        points, inside = vertices(np.minimum(low, high), np.maximum(low, high), _ROOM)  # crossed: after what is as good as impossible
        result: Array = np.where(inside, value(points), np.inf).min(axis=-1)
        return result

    return lower


def _lower_mode(low: Array, high: Array) -> Array:
    return deviation(high.max(axis=-1), high.shape[-1])


def _most_even(value: Callable[[Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda low, high: value(most_even(low, high))


@dataclass(frozen=True)
class Index:
    """An index of uncertainty: of distributions (..., levels), and its smallest and largest value over interval sets (..., levels)."""

    value: Callable[[Array], Array]
    lower: Callable[[Array, Array], Array]
    upper: Callable[[Array, Array], Array]

    def bound(self, low: Array, high: Array, bound: str) -> Array:
        """The upper or lower value over interval sets; the value itself where both ends are one array."""
        if low is high:
            return self.value(low)
        return self.upper(low, high) if bound == "upper" else self.lower(low, high)


INDICES = {
    "entropy": Index(entropy, _least_at_vertex(entropy), _most_even(entropy)),
    "mode": Index(mode, _lower_mode, _most_even(mode)),
    "gini": Index(gini, _least_at_vertex(gini), _most_even(gini)),
    "variance": Index(variance, _least_at_vertex(variance), _upper_variance),
}
