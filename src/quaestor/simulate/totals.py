"""Sums over students that can be added batch by batch, for means and standard errors, also by true level."""

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from quaestor.model.table import Array, centre
from quaestor.simulate.metrics import METRICS
from quaestor.simulate.run import Record

Values = NDArray[np.floating[Any]]
Kind = TypeVar("Kind", bound=NDArray[Any])

BINS = 20  # of the calibration table
KEPT = tuple(name for name in METRICS if name not in ("single_accuracy", "set_accuracy"))  # with a value for every student


def stretched(values: Kind, steps: int, axis: int = 0) -> Kind:
    """An array extended along its axis of steps by repeating the last value, since nothing changes after a stop."""
    more = steps - values.shape[axis]
    if more <= 0:
        return values
    last = np.take(values, [-1], axis=axis)
    longer: Kind = np.concatenate([values, np.repeat(last, more, axis=axis)], axis=axis)  # type: ignore[assignment]
    return longer


@dataclass
class Total:
    """Sums of one metric: `count`, `sum`, `squares` of shape (steps, skills, levels), by true level."""

    count: Array
    sum: Array
    squares: Array

    def plus(self, other: "Total") -> "Total":
        """The totals of both groups of students together."""
        steps = max(len(self.sum), len(other.sum))
        parts = [(stretched(mine, steps), stretched(yours, steps)) for mine, yours in zip(self._all, other._all, strict=True)]
        return Total(*(mine + yours for mine, yours in parts))

    @property
    def _all(self) -> tuple[Array, Array, Array]:
        return self.count, self.sum, self.squares

    def mean(self, axes: tuple[int, ...] = (2,)) -> Array:
        """The mean over students and the given axes (1: skills, 2: true levels); NaN where nobody counts."""
        count, total = self.count.sum(axis=axes), self.sum.sum(axis=axes)
        return np.asarray(np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0))

    def error(self, axes: tuple[int, ...] = (2,)) -> Array:
        """The standard error of `mean` over the same axes; NaN where fewer than two values count."""
        count, total, squares = (values.sum(axis=axes) for values in self._all)
        enough = count > 1
        with np.errstate(invalid="ignore"):  # an infinite loss has no error
            scatter = np.maximum(squares - np.divide(total**2, count, out=np.zeros_like(total), where=enough), 0)
        return np.asarray(np.sqrt(np.divide(scatter, count * (count - 1), out=np.full(total.shape, np.nan), where=enough)))


def totals_of(record: Record) -> tuple[dict[str, Total], dict[str, Values]]:
    """The sums of every metric over the students of a record, and for those in `KEPT` each student's mean over the skills."""
    steps = record.bounds[0][0].shape[1]
    most = max(low.shape[2] for low, _ in record.bounds)
    found = {}
    by_student = {}
    for name, metric in METRICS.items():
        arrays = np.zeros((3, steps, len(record.bounds), most))
        everyone = np.zeros((len(record.levels), steps))
        for skill, (low, high) in enumerate(record.bounds):
            truth = record.levels[:, skill]
            values = metric(low, high, truth)
            everyone += values
            valid = ~np.isnan(values)
            kept = np.where(valid, values, 0.0)
            for level in range(low.shape[2]):
                mine = truth == level
                arrays[:, :, skill, level] = valid[mine].sum(axis=0), kept[mine].sum(axis=0), (kept[mine] ** 2).sum(axis=0)
        found[name] = Total(*arrays)
        if name in KEPT:
            by_student[name] = (everyone / len(record.bounds)).astype(np.float32)  # half the memory; the means come from the sums
    return found, by_student


def calibration_of(record: Record) -> Array:
    """The calibration table, (steps, bins, 3): for each bin of P(level) at the centre the number of predictions, the sum of the predicted
    probabilities, and the number of times the level was true.
    """
    steps = record.bounds[0][0].shape[1]
    table = np.zeros((steps, BINS, 3))
    for skill, (low, high) in enumerate(record.bounds):
        p = centre(low, high)
        so = np.arange(p.shape[2]) == record.levels[:, skill][:, None, None]
        place = np.minimum((p * BINS).astype(int), BINS - 1)
        for step in range(steps):
            at = place[:, step].ravel()
            for column, weights in enumerate((None, p[:, step].ravel(), np.broadcast_to(so, p.shape)[:, step].ravel().astype(float))):
                table[step, :, column] += np.bincount(at, weights, BINS)
    return table
