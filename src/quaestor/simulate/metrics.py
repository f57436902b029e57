"""Metrics of a test: each is a function of the bounds of a skill and the true levels, with one value for each student and step.

`low`, `high`: bounds, (students, steps, levels); `truth`: indices of the true levels, (students,); result: (students, steps). To add a
metric, write such a function and put it in `METRICS`.

- On the centre of the bounds (for precise banks the probabilities themselves): `accuracy` (a tie between levels counts 1 / number
  tied), `brier` (sum over the levels of squared differences from the truth), `log_loss` (- log P(true level)).
- On the bounds: `brier_best` and `brier_worst`, the smallest and largest Brier score between them; `log_loss_best` and
  `log_loss_worst` with the upper and lower probability of the true level; `not_upper` is 1 - upper P(true level), which the paper plots
  as a "Brier distance".
- On the set of levels that are not interval-dominated: `determinate` (the set has one level), `single_accuracy` (it is the true one; only
  where determinate), `set_accuracy` (the set contains the true one; only where not), and the utility-discounted accuracies `u65` and `u80`
  (Zaffalon, Corani and Maua 2012): with x = 1 / (size of the set) if it contains the true level, else 0, they are 1.6 x - 0.6 x^2 and
  2.2 x - 1.2 x^2.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quaestor.arrays import namespace
from quaestor.credal.decisions import TIED, survivors
from quaestor.model.table import Array, centre, vertices

Truth = NDArray[np.intp]
Metric = Callable[[Array, Array, Truth], Array]


def _at(values: Array, truth: Truth) -> Array:
    """The values of the true levels, (students, steps)."""
    return np.take_along_axis(values, truth[:, None, None], axis=2)[..., 0]


def accuracy(low: Array, high: Array, truth: Truth) -> Array:
    """1 if the most probable level of the centre is the true one, 1 / k if it is tied with k - 1 others, else 0; (students, steps)."""
    p = centre(low, high)
    best = p >= p.max(axis=2, keepdims=True) - TIED
    return _at(best / best.sum(axis=2, keepdims=True), truth)


def brier(low: Array, high: Array, truth: Truth) -> Array:
    """The Brier score of the centre p, sum over levels l of (p_l - [l is true])^2, (students, steps)."""
    p = centre(low, high)
    squares: Array = np.einsum("...l,...l->...", p, p)
    return squares - 2 * _at(p, truth) + 1


def brier_worst(low: Array, high: Array, truth: Truth) -> Array:
    """The largest Brier score of a distribution between the bounds, (students, steps); it is convex in p, so attained at a vertex."""
    if np.array_equal(low, high):
        return brier(low, high, truth)
    if low.shape[2] == 2:
        return _two_level_brier(np.maximum(_at(low, truth), 1 - _at(high, 1 - truth)))
    points, inside = vertices(low, high, TIED)
    wanted = np.eye(low.shape[2])[truth][:, None, None]
    scores = np.einsum("...l,...l->...", points - wanted, points - wanted)
    return np.asarray(np.where(inside, scores, -np.inf).max(axis=2))


def brier_best(low: Array, high: Array, truth: Truth) -> Array:
    """The smallest Brier score of a distribution between the bounds, (students, steps).

    It is attained at the projection of the truth: p = clip([l is true] + t, low, high) with the t for which p sums to one.
    """
    if np.array_equal(low, high):
        return brier(low, high, truth)
    if low.shape[2] == 2:
        return _two_level_brier(np.minimum(_at(high, truth), 1 - _at(low, 1 - truth)))
    wanted = np.eye(low.shape[2])[truth][:, None]
    least, most = np.full(low.shape[:2], -1.0), np.ones(low.shape[:2])
    for _ in range(50):  # bisection: the sum rises with t
        middle = (least + most) / 2
        short = np.clip(wanted + middle[..., None], low, high).sum(axis=2) < 1
        least, most = np.where(short, middle, least), np.where(short, most, middle)
    apart = np.clip(wanted + most[..., None], low, high) - wanted
    return np.asarray(np.einsum("...l,...l->...", apart, apart))


def _two_level_brier(p: Array) -> Array:
    """The Brier score of two levels, given the probability of the true one."""
    return 2 * (1 - p) ** 2


def _minus_log(p: Array) -> Array:
    with np.errstate(divide="ignore"):
        return -np.log(np.clip(p, 0, 1))


def log_loss(low: Array, high: Array, truth: Truth) -> Array:
    """-log P(true level) at the centre of the bounds, (students, steps)."""
    return _minus_log(_at(centre(low, high), truth))


def log_loss_best(low: Array, high: Array, truth: Truth) -> Array:
    """-log of the upper probability of the true level, (students, steps): the smallest log loss between the bounds."""
    return _minus_log(_at(high, truth))


def log_loss_worst(low: Array, high: Array, truth: Truth) -> Array:
    """-log of the lower probability of the true level, (students, steps): the largest log loss between the bounds."""
    return _minus_log(_at(low, truth))


def not_upper(low: Array, high: Array, truth: Truth) -> Array:
    """1 - upper probability of the true level, (students, steps)."""
    return np.asarray(1 - _at(high, truth))


def determinate(low: Array, high: Array, truth: Truth) -> Array:
    """1 if only one level is not interval-dominated, else 0; (students, steps)."""
    return np.asarray(survivors(low, high).sum(axis=2) == 1, dtype=float)


def single_accuracy(low: Array, high: Array, truth: Truth) -> Array:
    """1 if the only undominated level is the true one, else 0; NaN if there are several; (students, steps)."""
    kept = survivors(low, high)
    return np.where(kept.sum(axis=2) == 1, _at(kept.astype(float), truth), np.nan)


def set_accuracy(low: Array, high: Array, truth: Truth) -> Array:
    """1 if the true level is one of several undominated ones, else 0; NaN if there is only one; (students, steps)."""
    kept = survivors(low, high)
    return np.where(kept.sum(axis=2) > 1, _at(kept.astype(float), truth), np.nan)


def _discounted(linear: float, quadratic: float) -> Metric:
    def value(low: Array, high: Array, truth: Truth) -> Array:
        kept = survivors(low, high).astype(float)
        x = _at(kept / kept.sum(axis=2, keepdims=True), truth)
        result: Array = linear * x - quadratic * x**2
        return result

    return value


METRICS: dict[str, Metric] = {
    "accuracy": accuracy,
    "brier": brier,
    "brier_best": brier_best,
    "brier_worst": brier_worst,
    "log_loss": log_loss,
    "log_loss_best": log_loss_best,
    "log_loss_worst": log_loss_worst,
    "not_upper": not_upper,
    "determinate": determinate,
    "single_accuracy": single_accuracy,
    "set_accuracy": set_accuracy,
    "u65": _discounted(1.6, 0.6),
    "u80": _discounted(2.2, 1.2),
}

ALIKE = {"brier": ("brier_best", "brier_worst"), "log_loss": ("log_loss_best", "log_loss_worst")}  # of exact numbers


def exact_values(p: Any, truth: Any) -> dict[str, Any]:
    """Every metric of exact probabilities, (n, levels), and true levels, (n,): (n,) each, those that are `ALIKE` once.

    The same as in `METRICS`, with what they share worked out once, on any library that speaks the array API.
    """
    xp, levels = namespace(p), p.shape[1]
    columns = [p[:, level] for level in range(levels)]  # sums over so short an axis are slow
    top, squares, true = columns[0], columns[0] * columns[0], xp.where(truth == 0, columns[0], 0.0)
    for level, column in enumerate(columns[1:], start=1):
        top, squares, true = xp.maximum(top, column), squares + column * column, xp.where(truth == level, column, true)
    edge = top - TIED
    count = sum(xp.astype(column >= edge, xp.float64) for column in columns)
    is_best = xp.astype(true >= edge, xp.float64)
    share, is_one = is_best / count, count == 1
    return {
        "accuracy": share,
        "brier": squares - 2 * true + 1,
        "log_loss": _loss(xp, true),
        "not_upper": 1 - true,
        "determinate": xp.astype(is_one, xp.float64),
        "single_accuracy": xp.where(is_one, is_best, xp.nan),
        "set_accuracy": xp.where(is_one, xp.nan, is_best),
        "u65": 1.6 * share - 0.6 * share * share,
        "u80": 2.2 * share - 1.2 * share * share,
    }


def two_level_values(low: Any, high: Any, truth: Any) -> dict[str, Any]:
    """Every metric of bounds of two levels, (n, 2), and true levels, (n,): (n,) each.

    The same as in `METRICS`, with what they share worked out once, on any library that speaks the array API.
    """
    xp, is_lower = namespace(low), truth == 0
    columns = [(end[:, 0], end[:, 1]) for end in (low, high, centres(low, high))]
    true_low, true_high, true = (xp.where(is_lower, *pair) for pair in columns)
    other_low, other_high, other = (xp.where(is_lower, *pair[::-1]) for pair in columns)
    share = (xp.astype(true >= other - TIED, xp.float64) + xp.astype(true > other + TIED, xp.float64)) / 2
    edge = xp.maximum(true_low, other_low) - TIED
    stays, rival = (xp.astype(end >= edge, xp.float64) for end in (true_high, other_high))
    count = stays + rival
    is_one, x = count == 1, stays / count
    return {
        "accuracy": share,
        "brier": true * true + other * other - 2 * true + 1,
        "brier_best": 2 * (1 - xp.minimum(true_high, 1 - other_low)) ** 2,
        "brier_worst": 2 * (1 - xp.maximum(true_low, 1 - other_high)) ** 2,
        "log_loss": _loss(xp, true),
        "log_loss_best": _loss(xp, true_high),
        "log_loss_worst": _loss(xp, true_low),
        "not_upper": 1 - true_high,
        "determinate": xp.astype(is_one, xp.float64),
        "single_accuracy": xp.where(is_one, stays, xp.nan),
        "set_accuracy": xp.where(is_one, xp.nan, stays),
        "u65": 1.6 * x - 0.6 * x * x,
        "u80": 2.2 * x - 1.2 * x * x,
    }


def centres(low: Any, high: Any) -> Any:
    """The centre of bounds, (n, levels), as `model.table.centre` finds it, on any library that speaks the array API."""
    xp = namespace(low)
    least, most = (sum(end[:, level] for level in range(1, low.shape[1])) + end[:, 0] for end in (low, high))  # so short an axis is slow
    width = most - least
    share = xp.where(width > 0, (1 - least) / xp.where(width > 0, width, 1.0), 0.0)
    return low + xp.clip(share, 0.0, 1.0)[:, None] * (high - low)


def _loss(xp: Any, p: Any) -> Any:
    """-log p of what may be above 1 by rounding; infinite where it is 0."""
    return xp.where(p > 0, -xp.log(xp.where(p > 0, xp.minimum(p, xp.ones_like(p)), 1.0)), xp.inf)
