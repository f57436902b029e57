"""A credal bank whose predictions for new people hold as often as it says, from plausible tables.

A credal bank has an interval for each number of each row, and any choice of numbers inside them is in the set. If every interval by itself
holds the truth in 90 of 100 cases, what the bank predicts is far too wide: plausible tables never have all errors on one side. So the
intervals are made narrower around the learnt numbers, until the share of each answer among new people, as the bank predicts it, holds 90 of
100 plausible shares: of n that are drawn 90 % of n + 1, as conformal predictions count, so that one more is held so often. The skills'
intervals have one factor, the largest that suits every question; each question's own then does the rest.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from quaestor.learn.layout import Layout, Tables
from quaestor.learn.shares import share_bounds, shares
from quaestor.model.table import Array

_FACTORS = np.linspace(0.025, 1, 40)  # of the skills' intervals
_WIDEST = 2.0  # the largest factor of a question's intervals
_HALVINGS = 12
_ROUNDING = 1e-12
Ends = Callable[[Array, float], Array]  # from draws, (draws, ...), and a level to two ends, (2, ...)


def calibrated(
    layout: Layout, tables: Tables, draws: Sequence[Tables], level: float, some: Sequence[NDArray[np.bool_]]
) -> tuple[Tables, Tables]:
    """The lower and upper tables around the learnt `tables`; `some`: for each group which of its questions have answers, (questions,)."""
    low, high = quantiles(draws, level)
    needed = min(level * (len(draws) + 1) / len(draws), 1.0)
    predicted = [shares(layout, one).groups for one in draws]
    drawn = [np.stack(group) for group in zip(*predicted, strict=True)]

    def inside(factor: float, factors: list[Array]) -> list[Array]:
        """The share of plausible shares that lie inside the predicted ones, for the questions of each group."""
        bounds = share_bounds(layout, *around(tables, low, high, factor, factors))
        ends = zip(bounds[0].groups, bounds[1].groups, drawn, strict=True)
        return [((lower - _ROUNDING <= found) & (found <= upper + _ROUNDING)).mean(axis=(0, 2)) for lower, upper, found in ends]

    factor = _FACTORS[-1]
    for narrow in _FACTORS:
        found = inside(narrow, [np.full(len(group), narrow) for group in tables.groups])
        if any((share[chosen] >= needed).any() for share, chosen in zip(found, some, strict=True)):
            factor = narrow
            break
    least = [np.zeros(len(group)) for group in tables.groups]
    most = [np.full(len(group), _WIDEST) for group in tables.groups]
    for _ in range(_HALVINGS):
        middle = [(one + two) / 2 for one, two in zip(least, most, strict=True)]
        holds = [share >= needed for share in inside(factor, middle)]
        least = [np.where(held, one, two) for held, one, two in zip(holds, least, middle, strict=True)]
        most = [np.where(held, two, one) for held, one, two in zip(holds, most, middle, strict=True)]
    return around(tables, low, high, factor, most)


def central(drawn: Array, level: float) -> Array:
    """The ends of central intervals of draws, from (draws, ...) to (2, ...): one more draw lies inside with probability `level`.

    n draws leave n + 1 gaps, in each of which one more lies with the same probability 1 / (n + 1). Ends at ranks of the n alone would be
    too near: of 200 draws the 11th and the 190th hold one more in 179 of 201 cases, 0.89.
    """
    ends: Array = np.quantile(drawn, ((1 - level) / 2, (1 + level) / 2), axis=0, method="weibull")
    return ends


def percentiles(drawn: Array, level: float) -> Array:
    """The percentiles of the draws themselves, as the bootstrap takes them: (draws, ...) to (2, ...)."""
    ends: Array = np.quantile(drawn, ((1 - level) / 2, (1 + level) / 2), axis=0)
    return ends


def quantiles(draws: Sequence[Tables], level: float, ends: Ends = central) -> tuple[Tables, Tables]:
    """The tables of lower and of upper ends: each number's interval at this `level`."""
    skills, groups = (
        [ends(np.stack(one), level) for one in zip(*arrays, strict=True)]
        for arrays in ([one.skills for one in draws], [one.groups for one in draws])
    )
    low, high = (Tables(tuple(one[end] for one in skills), tuple(one[end] for one in groups)) for end in (0, 1))
    return low, high


def around(own: Tables, low: Tables, high: Tables, factor: float = 1.0, factors: Sequence[Array] | None = None) -> tuple[Tables, Tables]:
    """Intervals that hold the learnt numbers `own`, and reach towards the ends of others: by a factor for skills, and by `factors`,
    (questions,), for each group.
    """
    by_group = [np.full(len(table), factor) for table in own.groups] if factors is None else factors
    skills = [_towards(*three, factor) for three in zip(own.skills, low.skills, high.skills, strict=True)]
    groups = [_towards(*four) for four in zip(own.groups, low.groups, high.groups, [by[:, None, None] for by in by_group], strict=True)]
    lower, upper = (Tables(tuple(one[end] for one in skills), tuple(one[end] for one in groups)) for end in (0, 1))
    return lower, upper


def _towards(own: Array, low: Array, high: Array, factor: Array | float) -> tuple[Array, Array]:
    ends = [own + factor * (end - own) for end in (low, high)]
    return np.clip(np.minimum(ends[0], own), 0, 1), np.clip(np.maximum(ends[1], own), 0, 1)
