"""What questions tell, as plain array operations on any library that speaks the array API: written once for simulations of any size.

`xp` is the library. Everything is about a skill (or all skills together) with few configurations, of which a question is asked:
P(class | configuration).
"""

from dataclasses import dataclass
from itertools import combinations
from math import log
from typing import Any

import numpy as np

from quaestor.inference.engine import JointTarget
from quaestor.inference.layout import Batch

BLOCK = 32_000  # numbers of one array: what fits into a core's own memory
TINY = 1e-300  # added to what a logarithm is taken of: 0 log 0 is 0


@dataclass(frozen=True, eq=False)
class Tables:
    """The tables of questions, class by class: each (configurations, tables). `noise`: the entropies of the answers, likewise."""

    classes: tuple[Any, ...]
    noise: Any

    @staticmethod
    def of(batch: Batch) -> "Tables":
        """The tables of a batch of exact numbers, kept with it."""
        if "tables" not in batch.kept:
            flat = batch.low.reshape(*batch.low.shape[:2], -1)
            classes = tuple(np.ascontiguousarray(flat[:, number].T) for number in range(flat.shape[1]))
            batch.kept["tables"] = Tables(classes, np.ascontiguousarray(-sum(one * np.log(one + TINY) for one in classes)))
        found: Tables = batch.kept["tables"]
        return found


def answer_chances(known: JointTarget, tables: Tables) -> list[Any]:
    """P(class), (takers, tables) each."""
    return [known.mass @ one for one in tables.classes]


def entropy_told(xp: Any, known: JointTarget, tables: Tables) -> Any:
    """H(Q) - sum_c P(c) H(Q | c), (takers, tables), in units of the largest entropy."""
    total = known.mass @ tables.noise
    for chance in answer_chances(known, tables):
        part = xp.log(chance + TINY)
        part *= chance
        total += part
    total *= -1 / log(known.states)
    return total


def mode_told(xp: Any, known: JointTarget, tables: Tables) -> Any:
    """How much the deviation from the mode is expected to fall, (takers, tables)."""
    peak = known.peak
    assert peak is not None
    after = 0.0
    for one in tables.classes:
        most = peak[:, :1] * one[0, :]
        for configuration in range(1, one.shape[0]):
            most = xp.maximum(most, peak[:, configuration : configuration + 1] * one[configuration, :])
        after = after + most
    after -= xp.max(peak, axis=1, keepdims=True)
    after *= known.states / (known.states - 1)
    return after


def gini_told(xp: Any, known: JointTarget, tables: Tables) -> Any:
    """How much the Gini index is expected to fall, (takers, tables)."""
    total = -xp.sum(known.squares, axis=1, keepdims=True)
    for one, chance in zip(tables.classes, answer_chances(known, tables), strict=True):
        total = total + (known.squares @ (one * one)) / (chance + TINY)
    total *= known.states / (known.states - 1)
    return total


@dataclass(frozen=True, eq=False)
class TwoByTwo:
    """Interval tables of questions with two classes on a skill of two levels, an array (tables,) each.

    `least`, `most`: the ends of P(right) at both levels; `rises`: what a wrong and a right answer add to the log-odds of the higher level,
    at the least and at the most; `lines`: the last two of the four lines of `conditional_mode`, at P(higher level) = 0 and their slopes;
    `even`: where the largest of the four is the least.
    """

    least: tuple[Any, Any]
    most: tuple[Any, Any]
    rises: tuple[tuple[Any, Any], tuple[Any, Any]]
    lines: tuple[tuple[Any, Any], tuple[Any, Any]]
    even: Any

    @staticmethod
    def of(batch: Batch) -> "TwoByTwo | None":
        """The tables of a batch, kept with it; None where they are others, or some answer is impossible."""
        if "two by two" not in batch.kept:
            fits = batch.low.shape[1:] == (2, 2) and batch.low.min() > 0
            batch.kept["two by two"] = _two_by_two(batch) if fits else None
        found: TwoByTwo | None = batch.kept["two by two"]
        return found


def _two_by_two(batch: Batch) -> TwoByTwo:
    (wrong, right), (_, upper) = (np.moveaxis(end, 0, 2) for end in (batch.low, batch.high))
    low, high = batch.logs
    after_wrong, after_right = ((low[:, answer, 1] - high[:, answer, 0], high[:, answer, 1] - low[:, answer, 0]) for answer in (0, 1))
    lines = ((wrong[0], right[1] - wrong[0]), (right[0], wrong[1] - right[0]))
    every = [(np.zeros(len(low)), np.ones(len(low))), (np.ones(len(low)), -np.ones(len(low))), *lines]
    points = [np.full(len(low), 0.5)]
    for one, other in combinations(every, 2):
        turn = one[1] - other[1]
        points.append(np.clip(np.divide(other[0] - one[0], turn, out=np.full(len(low), 0.5), where=turn != 0), 0, 1))
    values = np.max([[start + slope * point for point in points] for start, slope in every], axis=0)
    even = np.take_along_axis(np.array(points), values.argmin(axis=0)[None], axis=0)[0]
    return TwoByTwo((right[0], right[1]), (upper[0], upper[1]), (after_wrong, after_right), lines, even)


def upper_entropy_told(xp: Any, low: Any, high: Any, tables: TwoByTwo) -> Any:
    """Upper H(S) - upper H(S | Q) of a skill of two levels, (takers, tables); `low`, `high`: bounds of both levels, (takers, 2).

    The most even probability after an answer is the one whose log-odds are nearest to 0.
    """
    ends = [xp.log(low[:, 1] / high[:, 0])[:, None], xp.log(high[:, 1] / low[:, 0])[:, None]]
    low, high = low[:, 1], high[:, 1]
    remaining = []
    for least, most in tables.rises:
        away = xp.maximum(ends[0] + least, -most - ends[1])
        remaining.append(_two_level_entropy(xp, away * xp.astype(away > 0, xp.float64)))
    wrong, right = remaining
    right -= wrong
    chances = [[at[0] + (at[1] - at[0]) * p[:, None] for p in (low, high)] for at in (tables.least, tables.most)]
    worst = xp.maximum(xp.minimum(*chances[0]) * right, xp.maximum(*chances[1]) * right)
    now = xp.maximum(ends[0], -ends[1])
    return _two_level_entropy(xp, now * xp.astype(now > 0, xp.float64)) - wrong - worst


def _two_level_entropy(xp: Any, away: Any) -> Any:
    """The entropy of two levels in bits, given log-odds of at least 0."""
    odds = xp.exp(-away)
    total = xp.log(1 + odds)
    total += away * odds / (1 + odds)
    total *= 1 / log(2)
    return total


def upper_mode_told(xp: Any, low: Any, high: Any, tables: TwoByTwo) -> Any:
    """Upper M(S) - upper M(S | Q) of a skill of two levels, (takers, tables); `low`, `high`: bounds of both levels, (takers, 2).

    What is minimised is convex, so it is least between the bounds where they are nearest to its least point, which is of the table alone.
    """
    low, high = low[:, 1], high[:, 1]
    p = xp.minimum(xp.maximum(tables.even, low[:, None]), high[:, None])
    most = xp.maximum(p, 1 - p)
    for start, slope in tables.lines:
        most = xp.maximum(most, start + slope * p)
    now = xp.maximum(xp.maximum(low, 1 - high), xp.full_like(low, 0.5))[:, None]
    most -= now
    most *= 2
    return most


TOLD_AT_LEAST = {"entropy": upper_entropy_told, "mode": upper_mode_told}
TOLD = {"entropy": entropy_told, "mode": mode_told, "gini": gini_told}
