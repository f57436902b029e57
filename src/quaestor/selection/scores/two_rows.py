"""Bounds of divergences between the answers at two levels, for questions with two classes, in closed form, on any library that speaks the
array API. What they mean stands in `divergence`; with more levels or classes they are found by `divergence_bounds`.

A row is an interval of P(right), with the matching one of P(wrong): near 0 and 1 a difference from 1 would lose the digits that logarithms
need. A divergence grows as two rows come apart, so it is least at their nearest ends, where they do not overlap, and most at one of the two
pairs of far ends; p = P(higher level) and the rows vary independently. So all bounds are attained.

`xp` is the library. Results are (takers, tables), a lower and an upper one.
"""

from collections.abc import Callable
from functools import partial
from math import log
from typing import Any, NamedTuple

from quaestor.credal.decisions import TIED
from quaestor.selection.scores.kernels import TINY

Point = tuple[Any, Any]  # P(wrong), P(right)
Both = tuple[Any, Any]  # the least and the most


class Row(NamedTuple):
    """What one level would answer: P(wrong) and P(right) at the least P(right), and at the most."""

    least: Point
    most: Point


Bounded = Callable[
    [Any, Any, Any, Row, Row], Both
]  # of the library, the ends of p, (takers, 1), and the rows of the lower and higher level


def gdi(xp: Any, low: Any, high: Any, lower: Row, higher: Row) -> Both:
    """p (1 - p) times the squared difference of P(right)."""
    return _products(xp, low, high, _apart(xp, lower, higher, lambda one, other: (one[1] - other[1]) ** 2))


def mpwkl(xp: Any, low: Any, high: Any, lower: Row, higher: Row) -> Both:
    """p (1 - p) times both divergences."""
    return _products(xp, low, high, _apart(xp, lower, higher, lambda one, other: _divergence(xp, one, other) + _divergence(xp, other, one)))


def kl(xp: Any, low: Any, high: Any, lower: Row, higher: Row) -> Both:
    """The divergence of the more probable level from the other."""
    one = xp.ones_like(low)
    return _from_estimate(xp, low, high, lower, higher, ((one, one), (one, one)))


def pwkl(xp: Any, low: Any, high: Any, lower: Row, higher: Row) -> Both:
    """The divergence of the more probable level from the other, times the probability of the other."""
    half = xp.full_like(low, 0.5)
    weights = (low, xp.minimum(high, half)), (1 - high, 1 - xp.maximum(low, half))
    return _from_estimate(xp, low, high, lower, higher, weights)


def mutual_information(xp: Any, low: Any, high: Any, lower: Row, higher: Row) -> Both:
    """I(S; Q) in bits: concave in p, so least at one of its ends."""
    far = (lower.least, higher.most), (lower.most, higher.least)
    most = xp.maximum(*(_told(xp, xp.minimum(xp.maximum(_best(xp, *pair), low), high), *pair) for pair in far))
    ends = [_apart(xp, lower, higher, partial(_told, xp, p))[0] for p in (low, high)]
    return xp.minimum(*ends) / log(2), most / log(2)


def _apart(xp: Any, lower: Row, higher: Row, divergence: Callable[[Point, Point], Any]) -> Both:
    """The least and the most divergence of two rows."""
    down, up = divergence(lower.least, higher.most), divergence(lower.most, higher.least)
    is_above, is_below = lower.least[1] > higher.most[1], lower.most[1] < higher.least[1]
    return xp.where(is_above, down, xp.where(is_below, up, xp.zeros_like(up))), xp.maximum(down, up)


def _products(xp: Any, low: Any, high: Any, apart: Both) -> Both:
    even = xp.minimum(xp.maximum(xp.full_like(low, 0.5), low), high)
    return xp.minimum(low * (1 - low), high * (1 - high)) * apart[0], even * (1 - even) * apart[1]


def _from_estimate(xp: Any, low: Any, high: Any, lower: Row, higher: Row, weights: tuple[Both, Both]) -> Both:
    """Over the levels that may be the more probable one (of tied ones the lower); `weights`: of the other level then."""
    at_lower = _apart(xp, lower, higher, lambda one, other: _divergence(xp, one, other))
    at_higher = _apart(xp, lower, higher, lambda one, other: _divergence(xp, other, one))
    (first_low, first_high), (second_low, second_high) = (
        (weight[0] * apart[0], weight[1] * apart[1]) for weight, apart in zip(weights, (at_lower, at_higher), strict=True)
    )
    never_lower, never_higher = low > 0.5 + TIED / 2, high <= 0.5 + TIED / 2
    least = xp.where(never_lower, second_low, xp.where(never_higher, first_low, xp.minimum(first_low, second_low)))
    most = xp.where(never_lower, second_high, xp.where(never_higher, first_high, xp.maximum(first_high, second_high)))
    return least, most


def _divergence(xp: Any, one: Point, other: Point) -> Any:
    """KL of the answers at one level from those at another."""
    return sum(p * (xp.log(p + TINY) - xp.log(q + TINY)) for p, q in zip(one, other, strict=True))


def _noise(xp: Any, point: Point) -> Any:
    return -sum(p * xp.log(p + TINY) for p in point)


def _told(xp: Any, p: Any, lower: Point, higher: Point) -> Any:
    """I in nats of two rows that are known."""
    mixed = (1 - p) * lower[0] + p * higher[0], (1 - p) * lower[1] + p * higher[1]
    value = _noise(xp, mixed) - (1 - p) * _noise(xp, lower) - p * _noise(xp, higher)
    return xp.maximum(value, xp.zeros_like(value))


def _best(xp: Any, lower: Point, higher: Point) -> Any:
    """The p of which two classes tell most: where log(P(wrong) / P(right)) is the slope of the noise."""
    rise = higher[1] - lower[1]
    is_flat = xp.abs(rise) < 1e-12
    rise = xp.where(is_flat, xp.ones_like(rise), rise)
    slope = (_noise(xp, higher) - _noise(xp, lower)) / rise
    slope = xp.minimum(xp.maximum(slope, xp.full_like(slope, -700.0)), xp.full_like(slope, 700.0))
    found = (1 / (1 + xp.exp(slope)) - lower[1]) / rise
    return xp.where(is_flat, xp.full_like(found, 0.5), found)


BOUNDS_OF_TWO: dict[str, Bounded] = {
    "mutual_information": mutual_information,
    "jensen_shannon": mutual_information,
    "gdi": gdi,
    "mpwkl": mpwkl,
    "pwkl": pwkl,
    "kl": kl,
}
