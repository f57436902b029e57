"""Deciding on a skill from the bounds of its levels.

One level: the most probable one of the centre of the bounds. Sets of levels that cannot be ruled out, from the most to the least cautious:
interval dominance, maximality, E-admissibility; all three are the most probable level when the bounds are one distribution. The bounds
stand for all distributions between them, a set that holds the true one, so a level is never ruled out too early.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quaestor.credal.intervals import largest, smallest
from quaestor.errors import QuaestorError, expect, expect_number, format_kind, is_among, several
from quaestor.model.beliefs import Bounds
from quaestor.model.table import Array, centre

TIED = 1e-9  # probabilities this near are equal


def level(bounds: Bounds) -> str:
    """The most probable level of the centre; of tied ones the lowest."""
    _check(bounds)
    return bounds.states[int(best(bounds.lower, bounds.upper))]


def best(lower: Array, upper: Array) -> NDArray[np.intp]:
    """The place of the most probable level of the centre, for bounds (..., levels): shape (...)."""
    p = centre(lower, upper)
    found: NDArray[np.intp] = (p >= p.max(axis=-1, keepdims=True) - TIED).argmax(axis=-1)
    return found


def undominated(bounds: Bounds) -> tuple[str, ...]:
    """Interval dominance: a level stays unless another's lower probability exceeds its upper one."""
    _check(bounds)
    return _named(bounds, survivors(bounds.lower, bounds.upper))


def survivors(lower: Array, upper: Array) -> NDArray[np.bool_]:
    """Which levels interval dominance leaves, for bounds (..., levels)."""
    kept: NDArray[np.bool_] = upper >= lower.max(axis=-1, keepdims=True) - TIED
    return kept


def maximal(bounds: Bounds) -> tuple[str, ...]:
    """Maximality: a level i stays unless some j has p_j > p_i for every distribution between the bounds."""
    _check(bounds)
    states = len(bounds.states)
    difference = np.eye(states)[None, :] - np.eye(states)[:, None]  # [i, j]: p_j - p_i
    least = smallest(difference, bounds.lower, bounds.upper)
    return _named(bounds, ~(least > TIED).any(axis=1))


def admissible(bounds: Bounds) -> tuple[str, ...]:
    """E-admissibility: a level i stays when it is (among) the most probable for some distribution between the bounds.

    It is best off at its upper probability u_i (that a distribution attains: safe bounds may lie above it); then no other may have to
    exceed it, and the rest must fit: sum_j min(u_j, u_i) >= 1.
    """
    _check(bounds)
    top = np.minimum(bounds.upper, 1 - (bounds.lower.sum() - bounds.lower))[:, None]
    fits = np.minimum(bounds.upper[None], top).sum(axis=1) >= 1 - TIED
    return _named(bounds, fits & (bounds.lower[None] <= top + TIED).all(axis=1))


def _check(bounds: object) -> None:
    hint = ": those of one skill, such as beliefs['algebra']" if isinstance(bounds, Mapping) else ""
    expect("bounds", bounds, Bounds, f"Bounds are expected{hint}")


def _named(bounds: Bounds, kept: Any) -> tuple[str, ...]:
    return tuple(state for state, stays in zip(bounds.states, kept, strict=True) if stays)


SETS = {"interval dominance": undominated, "maximality": maximal, "E-admissibility": admissible}


def expectation(bounds: Bounds, values: Sequence[float] | Mapping[str, float]) -> tuple[float, float]:
    """The bounds of the expected value of a utility or a grade scale, a number for each level; equal for precise beliefs."""
    _check(bounds)
    if isinstance(values, Mapping) and set(values) != set(bounds.states):
        raise QuaestorError(f"a scale gives a number for each of {', '.join(bounds.states)}, got {', '.join(map(str, values)) or 'none'}")
    given = [values[state] for state in bounds.states] if isinstance(values, Mapping) else values
    listed = several("values", given, f"a number for each of {', '.join(bounds.states)} is expected")
    if len(listed) != len(bounds.states):
        raise QuaestorError(f"a scale gives a number for each of {', '.join(bounds.states)}, got {len(listed)} numbers")
    if not all(isinstance(value, Real) and isfinite(value) for value in listed):
        raise QuaestorError(f"a scale has finite numbers, got {listed}")
    scale = np.array(listed, dtype=float)
    return float(smallest(scale, bounds.lower, bounds.upper)), float(largest(scale, bounds.lower, bounds.upper))


@dataclass(frozen=True)
class Verdict:
    """`pass`, `fail` or `cannot tell yet`, with the bounds of the probability it rests on."""

    result: str
    lower: float
    upper: float


def verdict(bounds: Bounds, least: str, probability: float = 0.5) -> Verdict:
    """Does the taker reach a level? `pass` when P(level >= least) is at least the probability for all of the set, `fail` when for none."""
    _check(bounds)
    if not is_among(least, bounds.states):
        raise QuaestorError(f"a level is one of {', '.join(bounds.states)}, got {format_kind(least)}")
    if not isinstance(probability, Real) or isinstance(probability, bool) or not 0 < probability <= 1:
        raise QuaestorError(f"a pass needs a probability above 0 and at most 1, got {format_kind(probability)}")
    reached = (np.arange(len(bounds.states)) >= bounds.states.index(least)).astype(float)
    low, high = expectation(bounds, reached.tolist())
    result = "pass" if low >= probability - TIED else "fail" if high < probability - TIED else "cannot tell yet"
    return Verdict(result, low, high)


def share_right(right: int, answered: int) -> float:
    """The share of right answers: a baseline that knows nothing of the questions."""
    for name, value in (("right", right), ("answered", answered)):
        expect_number(name, value, -np.inf)
    if not 0 <= right <= answered or not answered:
        raise QuaestorError(f"a share needs answers, and no more right ones than answers, got {right} of {answered}")
    return right / answered


def passed_at(right: int, needed: int) -> bool:
    """Pass at n right answers: the other baseline."""
    for name, value in (("right", right), ("needed", needed)):
        expect_number(name, value, -np.inf)
    return right >= needed
