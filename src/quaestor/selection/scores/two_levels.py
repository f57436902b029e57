"""What questions with two classes tell of a skill of two levels in a credal bank, in closed form, on any library that speaks the array API.

What is known of the skill is an interval of log-odds of its higher level. An answer moves both ends, each by an interval of its own; the
most even probability after it is the one whose log-odds are nearest to 0, the least even one that whose log-odds are farthest. So the
bounds of H and G after an answer are functions of one number, and M is a matter of a few lines (see `conditional_mode`).

`xp` is the library. Gains are (takers, tables).
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import log
from typing import Any, NamedTuple

import numpy as np

from quaestor.inference.layout import Batch
from quaestor.selection.scores.two_rows import BOUNDS_OF_TWO, Bounded, Row

Line = tuple[Any, Any]  # at P(higher level) = 0, and the slope

_FAR = 1e8  # log-odds that no finite numbers reach: a number instead of infinity, whose products with 0 are 0
CERTAIN = 1e12  # log-odds instead of infinite ones of what is known: no answer moves them


class TwoLevels(NamedTuple):
    """What is known of a skill of two levels: the ends of the log-odds of its higher level, at most `CERTAIN`, and of its probability,
    (takers, 1) each.
    """

    least: Any
    most: Any
    low: Any
    high: Any


@dataclass(frozen=True, eq=False)
class TwoByTwo:
    """Interval tables of questions with two classes on a skill of two levels, an array (tables,) each.

    `least`, `most`: the least and the most P(right); `rises`: what a wrong and a right answer add to the log-odds of the higher level, at
    the least and at the most, no more than makes a probability 0 or 1. Of the lines of `conditional_mode` those that are of the table:
    `cautious` for the upper M and `hopeful` for the lower one; `even`: where the largest of the four cautious lines is the least. `rows`:
    what the lower and the higher level would answer, as `two_rows` takes it.
    """

    least: Line
    most: Line
    rises: tuple[tuple[Any, Any], tuple[Any, Any]]
    cautious: tuple[Line, Line]
    hopeful: tuple[Line, Line]
    even: Any
    rows: tuple[Row, Row]

    @staticmethod
    def of(batch: Batch) -> "TwoByTwo | None":
        """The tables of a batch, kept with it; None where they are others, or some answer is impossible in all networks."""
        if "two by two" not in batch.kept:
            fits = batch.low.shape[1:] == (2, 2) and batch.high.min() > 0
            batch.kept["two by two"] = _two_by_two(batch) if fits else None
        found: TwoByTwo | None = batch.kept["two by two"]
        return found

    def put(self, put: Callable[[Any], Any]) -> "TwoByTwo":
        """The same in another library; `put` makes an array of it."""

        def moved(part: Any) -> Any:
            if isinstance(part, Row):
                return Row(*(moved(one) for one in part))
            return tuple(moved(one) for one in part) if isinstance(part, tuple) else put(part)

        return TwoByTwo(*(moved(getattr(self, name)) for name in self.__dataclass_fields__))


def _two_by_two(batch: Batch) -> TwoByTwo:
    (wrong, right), (above, upper) = (np.moveaxis(end, 0, 2) for end in (batch.low, batch.high))  # (levels, tables) each
    low, high = batch.logs
    after_wrong, after_right = (
        (np.maximum(low[:, answer, 1] - high[:, answer, 0], -_FAR), np.minimum(high[:, answer, 1] - low[:, answer, 0], _FAR))
        for answer in (0, 1)
    )
    cautious = _line(wrong[0], right[1]), _line(right[0], wrong[1])
    hopeful = tuple(_line(one[0], other[1]) for one, other in ((above, upper), (upper, above)))
    ones = np.ones(len(low))
    every = [(0 * ones, ones), (ones, -ones), *cautious]
    points = [np.full(len(low), 0.5)]
    for one, other in combinations(every, 2):
        turn = one[1] - other[1]
        points.append(np.clip(np.divide(other[0] - one[0], turn, out=np.full(len(low), 0.5), where=turn != 0), 0, 1))
    values = np.max([[start + slope * point for point in points] for start, slope in every], axis=0)
    even = np.take_along_axis(np.array(points), values.argmin(axis=0)[None], axis=0)[0]
    alone = [[np.ascontiguousarray(one) for one in end] for end in (wrong, right, above, upper)]  # the ends of each class, level by level
    lower, higher = (Row((alone[2][level], alone[1][level]), (alone[0][level], alone[3][level])) for level in (0, 1))
    ends = (after_wrong, after_right)
    return TwoByTwo(_line(*right), _line(*upper), ends, cautious, (hopeful[0], hopeful[1]), even, (lower, higher))


def _line(at_lower: Any, at_higher: Any) -> Line:
    """A line from its values at P(higher level) = 0 and 1; arrays of their own, without gaps."""
    return np.ascontiguousarray(at_lower), at_higher - at_lower


def _entropy(xp: Any, away: Any) -> Any:
    """The entropy of two levels in bits, given log-odds of at least 0."""
    odds = xp.exp(-away)
    total = xp.log(1 + odds)
    away = away * odds
    away /= 1 + odds
    total += away
    total *= 1 / log(2)
    return total


def _gini(xp: Any, away: Any) -> Any:
    """The Gini index of two levels, given log-odds of at least 0."""
    odds = xp.exp(-away)
    total = 4 * odds
    odds += 1
    total /= odds * odds
    return total


def _upper(index: Callable[[Any, Any], Any]) -> Callable[[Any, TwoLevels, TwoByTwo], Any]:
    """Upper U(S) - upper U(S | Q): the most even probabilities, and the P(right) that leaves most."""

    def told(xp: Any, known: TwoLevels, tables: TwoByTwo) -> Any:
        zero = xp.zeros_like(known.least)
        now = index(xp, xp.maximum(xp.maximum(known.least, -known.most), zero))
        left = []
        for least, most in tables.rises:
            away = known.least + least
            left.append(index(xp, xp.maximum(xp.maximum(away, -most - known.most), zero)))
        wrong, right = left
        right -= wrong
        low, high = _chances(xp, known, tables)
        low *= right
        high *= right
        now = now - wrong
        now -= xp.maximum(low, high)
        return now

    return told


def _lower(index: Callable[[Any, Any], Any]) -> Callable[[Any, TwoLevels, TwoByTwo], Any]:
    """Lower U(S) - lower U(S | Q): the least even probabilities, and the P(right) that leaves least."""

    def told(xp: Any, known: TwoLevels, tables: TwoByTwo) -> Any:
        now = index(xp, xp.maximum(-known.least, known.most))
        wrong, right = (index(xp, xp.maximum(-least - known.least, known.most + most)) for least, most in tables.rises)
        right -= wrong
        low, high = _chances(xp, known, tables)
        low *= right
        high *= right
        now = now - wrong
        now -= xp.minimum(low, high)
        return now

    return told


def _chances(xp: Any, known: TwoLevels, tables: TwoByTwo) -> tuple[Any, Any]:
    """The least and the most P(right), (takers, tables): linear in P(higher level), so attained at its ends."""
    return xp.minimum(*_at_ends(known, tables.least)), xp.maximum(*_at_ends(known, tables.most))


def _at_ends(known: TwoLevels, line: Line) -> list[Any]:
    """A line at both ends of P(higher level), (takers, tables)."""
    found = []
    for p in (known.low, known.high):
        value = line[1] * p
        value += line[0]
        found.append(value)
    return found


def _upper_mode(xp: Any, known: TwoLevels, tables: TwoByTwo) -> Any:
    """Upper M(S) - upper M(S | Q).

    What is minimised is convex, so it is least between the bounds where they are nearest to its least point, which is of the table alone.
    """
    low, high = known.low, known.high
    p = xp.minimum(xp.maximum(tables.even, low), high)
    most = xp.maximum(p, 1 - p)
    for start, slope in tables.cautious:
        value = slope * p
        value += start
        most = xp.maximum(most, value)
    most -= xp.maximum(xp.maximum(low, 1 - high), xp.full_like(low, 0.5))
    most *= 2
    return most


def _lower_mode(xp: Any, known: TwoLevels, tables: TwoByTwo) -> Any:
    """Lower M(S) - lower M(S | Q): one level for all answers, or one for each; a line is largest at an end."""
    now = xp.maximum(known.high, 1 - known.low)
    most = now
    for line in tables.hopeful:
        most = xp.maximum(most, xp.maximum(*_at_ends(known, line)))
    most = most - now
    most *= 2
    return most


def _divergence(bounded: Bounded, place: int) -> Callable[[Any, TwoLevels, TwoByTwo], Any]:
    """The lower (0) or upper (1) value of a divergence."""
    return lambda xp, known, tables: bounded(xp, known.low, known.high, *tables.rows)[place]


TOLD = {
    ("entropy", "upper"): _upper(_entropy),
    ("entropy", "lower"): _lower(_entropy),
    ("mode", "upper"): _upper_mode,
    ("mode", "lower"): _lower_mode,
    ("gini", "upper"): _upper(_gini),
    ("gini", "lower"): _lower(_gini),
    ("variance", "upper"): _upper(_gini),  # of two levels the same number
    ("variance", "lower"): _lower(_gini),
    **{(name, "upper"): _divergence(bounded, 0) for name, bounded in BOUNDS_OF_TWO.items()},  # cautious: what it tells at the least
    **{(name, "lower"): _divergence(bounded, 1) for name, bounded in BOUNDS_OF_TWO.items()},
}
