"""How uncertain a distribution over m levels is, from 0 (one level is certain) to 1 (all are equally likely), and bounds over sets.

- entropy:  H(p) = - sum p log_m p, with 0 log 0 = 0
- mode:     M(p) = m (1 - max p) / (m - 1), the deviation from the mode
- gini:     G(p) = m (1 - sum p^2) / (m - 1)

All three are concave and largest at the most even distribution of an interval set; H and G are smallest at a vertex, M where one level
is as likely as it can be.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from quaestor.credal.intervals import most_even
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


def _least_at_vertex(value: Callable[[Array], Array]) -> Callable[[Array, Array], Array]:
    def lower(low: Array, high: Array) -> Array:
        points, inside = vertices(np.minimum(low, high), np.maximum(low, high), _ROOM)  # crossed: after what is as good as impossible
        result: Array = np.where(inside, value(points), np.inf).min(axis=-1)
        return result

    return lower


def _lower_mode(low: Array, high: Array) -> Array:
    return deviation(high.max(axis=-1), high.shape[-1])


@dataclass(frozen=True)
class Index:
    """An index of uncertainty: of distributions (..., levels), and its smallest value over interval sets (..., levels)."""

    value: Callable[[Array], Array]
    lower: Callable[[Array, Array], Array]

    def upper(self, low: Array, high: Array) -> Array:
        """The largest value over interval sets."""
        return self.value(most_even(low, high))

    def bound(self, low: Array, high: Array, bound: str) -> Array:
        """The upper or lower value over interval sets; the value itself where both ends are one array."""
        if low is high:
            return self.value(low)
        return self.upper(low, high) if bound == "upper" else self.lower(low, high)


INDICES = {
    "entropy": Index(entropy, _least_at_vertex(entropy)),
    "mode": Index(mode, _lower_mode),
    "gini": Index(gini, _least_at_vertex(gini)),
}
