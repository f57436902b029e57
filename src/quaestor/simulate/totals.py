"""Sums over students that can be added batch by batch, for means and standard errors, also by true level."""

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from array_api_compat import array_namespace, device, is_numpy_array
from numpy.typing import NDArray

from quaestor.credal.decisions import TIED
from quaestor.model.table import Array, centre
from quaestor.simulate.library import fetched
from quaestor.simulate.metrics import ALIKE, METRICS, exact_values
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


@dataclass(frozen=True, eq=False)
class _Cells:
    """What students stand at at one step, of one skill: bounds (cells, levels) and a true level, (cells,), each.

    `counts`: how many students stand there, (cells,); None: each is one student. `of`: the cell of each student, (students,); None: in
    order.
    """

    low: Any
    high: Any
    truth: Any
    counts: Any = None
    of: Any = None

    @staticmethod
    def at(low: Any, high: Any, node: Any, truth: Any) -> "_Cells":
        """The cells of students at nodes: every level of every node where these are fewer than the students."""
        xp = array_namespace(node)
        if is_numpy_array(node):
            first, levels = int(node.min()), low.shape[1]
            nodes = int(node.max()) + 1 - first
            if nodes * levels <= len(node):
                of = (node - first) * levels + truth
                ends = [np.repeat(end[first : first + nodes], levels, axis=0) for end in ((low,) if low is high else (low, high))]
                counts = np.bincount(of, minlength=nodes * levels).astype(float)
                return _Cells(ends[0], ends[-1], np.tile(np.arange(levels), nodes), counts, of)
        found = xp.take(low, node, axis=0)
        return _Cells(found, found if low is high else xp.take(high, node, axis=0), truth)

    def values(self) -> dict[str, Any]:
        """Every metric, (cells,)."""
        if self.low is self.high:
            return exact_values(self.low, self.truth)
        return {name: metric(self.low[:, None], self.high[:, None], self.truth)[:, 0] for name, metric in METRICS.items()}

    def members(self) -> Any:
        """How many students of each true level stand there, (cells, levels)."""
        xp = array_namespace(self.truth)
        levels = xp.arange(self.low.shape[1], device=device(self.truth))
        found = xp.astype(self.truth[:, None] == levels, xp.float64)
        return found if self.counts is None else found * self.counts[:, None]


def totals_of(record: Record) -> tuple[dict[str, Total], dict[str, Values], Array]:
    """The sums of every metric over the students of a record; for those in `KEPT` each student's mean over the skills; calibration.

    The calibration table, (steps, bins, 3), has for each bin of P(level) at the centre the number of predictions, the sum of the predicted
    probabilities, and the number of times the level was true.
    """
    xp = array_namespace(record.node)
    steps, skills, most = record.node.shape[1], len(record.nodes), max(low.shape[1] for low, _ in record.nodes)
    arrays = {name: np.zeros((3, steps, skills, most)) for name in METRICS}
    own: dict[str, Any] = {}
    table = np.zeros((steps, BINS, 3))
    levels = xp.asarray(record.levels, device=device(record.node))
    for step in range(steps):
        for skill, (low, high) in enumerate(record.nodes):
            cells = _Cells.at(low, high, record.node[:, step], levels[:, skill])
            values, members = cells.values(), cells.members()
            names = list(values)
            found = _sums(xp.stack([values[name] for name in names]), members)
            for name, sums in zip(names, np.moveaxis(found, 1, 0), strict=True):
                for each in (name, *ALIKE.get(name, ())) if cells.low is cells.high else (name,):
                    arrays[each][:, step, skill, : low.shape[1]] = sums
            table[step] += _calibration(cells, members)
            for name in (name for name in names if name in KEPT):
                mine = xp.astype(values[name] / skills, xp.float32)  # half the memory; the means come from the sums
                if name not in own:
                    own[name] = xp.zeros((steps, record.node.shape[0]), dtype=xp.float32, device=device(record.node))
                own[name][step, :] += mine if cells.of is None else mine[cells.of]
    by_student: dict[str, Values] = {name: fetched(rows).T for name, rows in own.items()}
    return {name: Total(*sums) for name, sums in arrays.items()}, by_student, table


def _sums(values: Any, members: Any) -> Array:
    """Count, sum and sum of squares of metrics, (metrics, cells), by true level, (3, metrics, levels); NaN counts for nothing."""
    xp = array_namespace(values)
    finite = xp.isfinite(values)
    kept = xp.where(finite, values, 0.0)
    count, total, squares = (fetched(part @ members) for part in (xp.astype(~xp.isnan(values), xp.float64), kept, kept * kept))
    if not bool(xp.all(finite)):
        endless = fetched(xp.astype(xp.isinf(values), xp.float64) @ members) > 0
        total[endless] = squares[endless] = np.inf
    return np.stack([count, total, squares])


def _calibration(cells: _Cells, members: Any) -> Array:
    xp = array_namespace(members)
    p = cells.low if cells.low is cells.high else centre(cells.low, cells.high)
    bins = xp.astype((p + TIED) * BINS, xp.int64)  # on the edge of a bin, but for rounding, is in it
    bins = xp.minimum(bins, xp.full_like(bins, BINS - 1))
    weight = xp.sum(members, axis=1)[:, None] + xp.zeros_like(p)
    if is_numpy_array(p):
        flat = bins.ravel()
        return np.stack([np.bincount(flat, part.ravel(), BINS) for part in (weight, weight * p, members)], axis=1)
    found = [[xp.sum(xp.where(bins == place, part, 0.0)) for part in (weight, weight * p, members)] for place in range(BINS)]
    table: Array = fetched(xp.stack([xp.stack(row) for row in found]))
    return table
