"""Bounds of divergences between the answers at the levels of a skill, over all that a credal bank leaves open.

What is known of the skill is an interval set K(S), `low` and `high`, (takers, levels); what its levels would answer are interval rows,
(takers or 1, tables, classes, levels), which vary independently of it and of one another. All bounds are outer ones: the value of every
network of the set lies between them. For two levels and two classes they are attained (`two_rows`); where lower and upper ends are equal
they are the value itself. Where an answer is impossible at a level, the logarithm is that of 1e-300: a large number instead of infinity, so
that questions can still be compared.

Results are (takers, tables), a lower and an upper one.
"""

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np

from quaestor.credal.decisions import TIED
from quaestor.credal.intervals import at_largest, largest, smallest
from quaestor.errors import QuaestorError
from quaestor.inference.engine import Ends
from quaestor.model.table import Array, centre, vertices
from quaestor.selection.scores.kernels import TINY
from quaestor.selection.scores.two_rows import BOUNDS_OF_TWO, Row

Between = Callable[[Array, Array], Array]  # what one class adds to the divergence of two rows, from its probability in each
_ROUNDS = 8
_MOST_LEVELS = 8  # whose sets have a thousand vertices


def bounds_of(name: str, now: Ends, rows: Ends) -> Ends:
    """The bounds of a score by its name, in closed form where there is one."""
    if now[0].shape[-1] != 2 or rows[0].shape[2] != 2:
        return BOUNDS_OF[name](now, rows)
    lower, higher = (
        Row((rows[1][:, :, 0, level], rows[0][:, :, 1, level]), (rows[0][:, :, 0, level], rows[1][:, :, 1, level])) for level in (0, 1)
    )
    found: Ends = BOUNDS_OF_TWO[name](np, now[0][:, 1:], now[1][:, 1:], lower, higher)
    return found


def gdi(now: Ends, rows: Ends) -> Ends:
    """Half the sum over the classes of the variance of P(class | level), which is sum over c < d of p_c p_d (w_c - w_d)^2."""
    return _pairs(now, rows, lambda one, other: (one - other) ** 2 / 2)


def mpwkl(now: Ends, rows: Ends) -> Ends:
    """sum_d sum_c p_d p_c KL(w_d || w_c) = sum over c < d of p_c p_d J(w_c, w_d), J Jeffreys' divergence."""
    return _pairs(now, rows, lambda one, other: (one - other) * (_log(one) - _log(other)))


def pwkl(now: Ends, rows: Ends) -> Ends:
    """sum_c p_c KL(w_s || w_c), s the most probable level: over every level that is so for some p, and the p for which it is."""
    found = []
    for low, high, several in _from_estimates(now, rows):
        shape = (len(now[0]), rows[0].shape[1], len(low))
        p = [np.broadcast_to(end, shape) for end in several]
        found.append((smallest(_each(low, shape), *p), largest(_each(high, shape), *p)))
    return _widest(now, found)


def kl(now: Ends, rows: Ends) -> Ends:
    """sum_c KL(w_s || w_c), s the most probable level."""
    return _widest(now, [(sum(low), sum(high)) for low, high, _ in _from_estimates(now, rows)])  # type: ignore[misc]


def mutual_information(now: Ends, rows: Ends) -> Ends:
    """I(S; Q) = H(Q) - sum_c p_c H(w_c), the Jensen-Shannon divergence of the rows, in units of log(levels)."""
    unit = np.log(now[0].shape[-1])
    return _least_told(now, rows) / unit, _most_told(now, rows) / unit


def _log(p: Array) -> Array:
    return np.log(np.maximum(p, TINY))


def _divergence(p: Array, q: Array) -> Array:
    """What a class adds to KL(p || q); no part is negative, and they sum to it."""
    return p * (_log(p) - _log(q)) - p + q


def _between(rows: Ends, one: int, other: int, of_class: Between) -> Ends:
    """The least and the most sum over the classes for two rows, (takers or 1, tables); falls as probabilities come together."""
    (a, b), (c, d) = ((rows[0][..., level], rows[1][..., level]) for level in (one, other))
    above, below = a > d, b < c
    common = np.maximum(a, c)  # of overlapping intervals
    least = of_class(np.where(above, a, np.where(below, b, common)), np.where(above, d, np.where(below, c, common))).sum(axis=-1)
    far = of_class(b, c), of_class(a, d)
    if a.shape[-1] == 2:  # where one class is as likely as it can be, the other one is as unlikely
        most = np.maximum(far[0][..., 0] + far[1][..., 1], far[1][..., 0] + far[0][..., 1])
    else:
        most = np.maximum(*far).sum(axis=-1)
    return least, most


def _pairs(now: Ends, rows: Ends, of_class: Between) -> Ends:
    """Bounds of sum over c < d of p_c p_d D(w_c, w_d)."""
    least, most = np.zeros(()), np.zeros(())
    for one, other in combinations(range(now[0].shape[-1]), 2):
        together, apart = _product(*now, one, other), _between(rows, one, other, of_class)
        least, most = least + together[0][:, None] * apart[0], most + together[1][:, None] * apart[1]
    return least, most


def _product(low: Array, high: Array, one: int, other: int) -> Ends:
    """The least and the most p_one p_other over interval sets, (takers,)."""
    rest_low = low.sum(axis=1) - low[:, one] - low[:, other]
    rest_high = high.sum(axis=1) - high[:, one] - high[:, other]
    ends = []
    for total in (
        np.maximum(low[:, one] + low[:, other], 1 - rest_high),
        np.minimum(high[:, one] + high[:, other], 1 - rest_low),
    ):
        first, last = np.maximum(low[:, one], total - high[:, other]), np.minimum(high[:, one], total - low[:, other])
        ends.append((total, first, np.maximum(first, last)))
    (least, *corners), (most, first, last) = ends
    even = np.clip(most / 2, first, last)
    return np.maximum(np.minimum(*(p * (least - p) for p in corners)), 0), even * (most - even)


def _from_estimates(now: Ends, rows: Ends) -> Iterator[tuple[list[Array], list[Array], Ends]]:
    """Of each level the bounds of its divergence from every level, (takers or 1, tables), and the p for which it is the most probable."""
    levels = range(now[0].shape[-1])
    for estimate in levels:
        none = np.zeros(rows[0].shape[:2])
        ends = [_between(rows, estimate, level, _divergence) if level != estimate else (none, none) for level in levels]
        top = _top(*now, estimate)[:, None]
        low, high = now[0].copy(), np.minimum(now[1], np.maximum(top, now[0]))
        low[:, estimate] = np.minimum(np.maximum(now[0].max(axis=1), 1 / len(levels)), high[:, estimate])
        yield [least for least, _ in ends], [most for _, most in ends], (low[:, None], high[:, None])


def _each(values: list[Array], shape: tuple[int, ...]) -> Array:
    """Values of each level as a last axis, (takers, tables, levels)."""
    return np.broadcast_to(np.stack(values, axis=-1), shape)


def _top(low: Array, high: Array, level: int) -> Array:
    """The largest probability that a level attains, (takers,)."""
    result: Array = np.minimum(high[:, level], 1 - (low.sum(axis=1) - low[:, level]))
    return result


def _widest(now: Ends, found: list[Ends]) -> Ends:
    """The bounds over all levels that may be the most probable; of tied ones it is the lowest."""
    low, high = now
    middle = centre(low, high)
    sure = (middle >= middle.max(axis=1, keepdims=True) - TIED).argmax(axis=1)
    least, most = np.full((len(low), 1), np.inf), np.full((len(low), 1), -np.inf)
    for level, (lower, upper) in enumerate(found):
        top = _top(low, high, level)[:, None]
        caps = np.where(np.arange(low.shape[1]) < level, top - TIED, top + TIED)
        fits = (low <= caps).all(axis=1) & (np.minimum(high, caps).sum(axis=1) >= 1 - TIED)
        may = (fits | (sure == level))[:, None]
        least, most = np.where(may, np.minimum(least, lower), least), np.where(may, np.maximum(most, upper), most)
    return least, most


def _least_told(now: Ends, rows: Ends) -> Array:
    """I is the sum over the classes of E f(w) - f(E w), f(t) = t log t; each is concave in p, so least at a vertex of K(S), and there least
    where every w is as near to their mean as its interval lets it be.
    """
    if (levels := now[0].shape[1]) > _MOST_LEVELS:
        rule = f"the score mutual_information is for skills of at most {_MOST_LEVELS} levels in credal banks"
        raise QuaestorError(f"{rule}, got {levels}; use entropy or mpwkl")
    points, inside = vertices(np.minimum(*now), np.maximum(*now), TIED)  # (takers, points, levels)
    low, high = rows  # (takers or 1, tables, classes, levels)
    steps = np.sort(np.concatenate([low, high], axis=-1), axis=-1)
    near = np.clip(steps[..., None], low[..., None, :], high[..., None, :])  # (..., steps, levels)
    found = np.full((len(points), low.shape[1]), np.inf)
    for number in range(points.shape[1]):
        p = points[:, number, None, None, :]
        above = np.einsum("...sl,...l->...s", near, p) - steps  # falls from step to step; the mean is where it is 0
        last = np.clip((above >= 0).sum(axis=-1) - 1, 0, steps.shape[-1] - 2)[..., None]
        several = np.broadcast_to(steps, above.shape)
        (start, end), (rise, fall) = (
            [np.take_along_axis(each, at, axis=-1)[..., 0] for at in (last, last + 1)] for each in (several, above)
        )
        share = np.divide(rise, rise - fall, out=np.zeros_like(rise), where=rise - fall > 0)
        w = np.clip((start + np.clip(share, 0, 1) * (end - start))[..., None], low, high)
        mean = (p * w).sum(axis=-1)
        told = ((p * w * _log(w)).sum(axis=-1) - mean * _log(mean)).sum(axis=-1)
        found = np.where(inside[:, number, None], np.minimum(found, told), found)
    least: Array = np.maximum(found, 0)
    return least


def _most_told(now: Ends, rows: Ends) -> Array:
    """I <= sum_c p_c KL(w_c || r) for any r, with equality where r is P(Q): the least of what a few r give, from that of the centre on."""
    low, high = now[0][:, None], now[1][:, None]
    w = centre(np.swapaxes(rows[0], 2, 3), np.swapaxes(rows[1], 2, 3))  # (..., levels, classes)
    r = np.einsum("tl,tqlc->tqc", centre(*now), np.broadcast_to(w, (len(low), *w.shape[1:])))
    found = np.full(r.shape[:2], np.inf)
    ends = [np.swapaxes(end, 2, 3) for end in rows]
    for number in range(_ROUNDS):
        each = [_divergence(end, r[:, :, None]) for end in ends]  # (takers, tables, levels, classes)
        if r.shape[-1] == 2:
            sides = each[0][..., 0] + each[1][..., 1], each[1][..., 0] + each[0][..., 1]
            apart = np.maximum(*sides)
            is_first = (sides[0] >= sides[1])[..., None]
            at = np.where(is_first ^ (np.arange(2) == 1), *ends)
        else:
            apart = np.maximum(*each).sum(axis=-1)
            at = w
        found = np.minimum(found, largest(apart, np.broadcast_to(low, apart.shape), np.broadcast_to(high, apart.shape)))
        p = at_largest(apart, np.broadcast_to(low, apart.shape), np.broadcast_to(high, apart.shape))
        r = r + (np.einsum("tql,tqlc->tqc", p, np.broadcast_to(at, (*p.shape, r.shape[-1]))) - r) / (number + 2)
    return found


BOUNDS_OF: dict[str, Callable[[Ends, Ends], Ends]] = {
    "mutual_information": mutual_information,
    "jensen_shannon": mutual_information,
    "gdi": gdi,
    "mpwkl": mpwkl,
    "pwkl": pwkl,
    "kl": kl,
}
