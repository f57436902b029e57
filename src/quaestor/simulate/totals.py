"""Sums over students that can be added batch by batch, for means and standard errors, also by true level."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from quaestor.arrays import device, namespace
from quaestor.credal.decisions import TIED
from quaestor.credal.vectors import parts
from quaestor.model.table import Array
from quaestor.simulate.library import fetched
from quaestor.simulate.metrics import ALIKE, METRICS, centres, exact_values, two_level_values
from quaestor.simulate.run import Record

Values = NDArray[np.floating[Any]]
Kind = TypeVar("Kind", bound=NDArray[Any])

BINS = 20  # of the calibration table
_TOGETHER = 16_000  # students x steps
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
class Spread:
    """How far apart students are: how many have a value, its sum, and the sum of the squared distances from the mean, (steps,) each."""

    count: Array
    sum: Array
    squares: Array

    @staticmethod
    def of(values: Values) -> "Spread":
        """The spread of values, (students, steps), NaN where a student has none."""
        found = np.zeros((3, values.shape[1]))
        for step in range(values.shape[1]):  # one after another: a million students fit in memory
            known = values[:, step].astype(float)
            known = known[~np.isnan(known)]
            if len(known):
                with np.errstate(invalid="ignore"):  # nothing is at a distance from an infinite loss
                    found[:, step] = len(known), known.sum(), ((known - known.mean()) ** 2).sum()
        return Spread(*found)

    @staticmethod
    def of_parts(parts: "Iterable[Spread]") -> "Spread":
        """The spread of several groups of students together."""
        return reduce(Spread._plus, parts)

    def _plus(self, other: "Spread") -> "Spread":
        steps = max(len(self.sum), len(other.sum))
        mine, yours = (Spread(*(stretched(one, steps) for one in (part.count, part.sum, part.squares))) for part in (self, other))
        count = mine.count + yours.count
        both = (mine.count > 0) & (yours.count > 0)
        with np.errstate(invalid="ignore"):
            apart = np.where(both, yours.mean - mine.mean, 0.0)
        squares = mine.squares + yours.squares + apart**2 * np.divide(mine.count * yours.count, count, out=np.zeros(steps), where=both)
        return Spread(count, mine.sum + yours.sum, squares)

    @property
    def mean(self) -> Array:
        """The mean over those who have a value, (steps,); NaN where nobody has."""
        return np.asarray(np.divide(self.sum, self.count, out=np.full(len(self.sum), np.nan), where=self.count > 0))

    @property
    def error(self) -> Array:
        """The standard error of the mean, (steps,); NaN where fewer than two have a value, and where one is infinite."""
        pairs = self.count * (self.count - 1)
        return np.asarray(np.sqrt(np.divide(self.squares, pairs, out=np.full(len(self.sum), np.nan), where=pairs > 0)))


@dataclass(frozen=True, eq=False)
class PerStudent:
    """A value of each student at each step: some steps after others, each as (steps, students), or, of one step, as the values of cells,
    (cells,), and the cell of each student, (students,).
    """

    pieces: list[tuple[Values, NDArray[np.integer[Any]] | None]]

    @staticmethod
    def of(values: Values) -> "PerStudent":
        """Values as they are, (students, steps)."""
        return PerStudent([(values.T, None)])

    @property
    def values(self) -> Values:
        """The values, (students, steps)."""
        rows = [values if of is None else values[of][None] for values, of in self.pieces]
        return (rows[0] if len(rows) == 1 else np.concatenate(rows)).T


@dataclass(frozen=True, eq=False)
class _Cells:
    """What students stand at, of one skill, at some steps: bounds (steps x cells, levels) and a true level each, (steps x cells,).

    `members`: how many students of each true level stand at a cell, (cells, levels), the same at all steps. `of`: the cell of each student,
    (students,), where several stand at one; then there is one step. None: each student is a cell.
    """

    steps: int
    low: Any
    high: Any
    truth: Any
    members: Any
    of: Any = None

    @staticmethod
    def at(low: Any, high: Any, node: Any, truth: Any) -> "_Cells":
        """The cells of students at nodes, (steps, students): every level of every node where these are fewer than the students."""
        xp, levels = namespace(node), low.shape[1]
        if isinstance(node, np.ndarray) and len(node) == 1:
            first = int(node.min())
            nodes = int(node.max()) + 1 - first
            if nodes * levels <= len(truth):
                of = (node[0] - first) * levels + truth
                ends = [np.repeat(end[first : first + nodes], levels, axis=0) for end in ((low,) if low is high else (low, high))]
                counts = np.bincount(of, minlength=nodes * levels)
                each = np.tile(np.arange(levels), nodes)
                return _Cells(1, ends[0], ends[-1], each, (each[:, None] == np.arange(levels)) * counts[:, None].astype(float), of)
        flat = xp.reshape(node, (-1,))
        found = xp.take(low, flat, axis=0)
        members = xp.astype(truth[:, None] == xp.arange(levels, device=device(truth)), xp.float64)
        every = xp.reshape(xp.broadcast_to(truth, node.shape), (-1,))
        return _Cells(node.shape[0], found, found if low is high else xp.take(high, flat, axis=0), every, members)

    def values(self) -> dict[str, Any]:
        """Every metric, (steps x cells,)."""
        if self.low is self.high:
            return exact_values(self.low, self.truth)
        if self.low.shape[1] == 2:
            return two_level_values(self.low, self.high, self.truth)
        return {name: metric(self.low[:, None], self.high[:, None], self.truth)[:, 0] for name, metric in METRICS.items()}

    def by_student(self, values: Any) -> Any:
        """Values of cells as values of students, (steps, students)."""
        return namespace(values).reshape(values if self.of is None else values[self.of], (self.steps, -1))


def totals_of(record: Record) -> tuple[dict[str, Total], dict[str, PerStudent], Array]:
    """The sums of every metric over the students of a record; for those in `KEPT` each student's mean over the skills; calibration.

    The calibration table, (steps, bins, 3), has for each bin of P(level) at the centre the number of predictions, the sum of the predicted
    probabilities, and the number of times the level was true.
    """
    xp = namespace(record.node)
    students, steps = record.node.shape
    skills, most = len(record.nodes), max(low.shape[1] for low, _ in record.nodes)
    arrays = {name: np.zeros((3, steps, skills, most)) for name in METRICS}
    own: dict[str, list[tuple[Any, Any]]] = defaultdict(list)
    table = np.zeros((steps, BINS, 3))
    levels = xp.asarray(record.levels, device=device(record.node))
    for some in parts(steps, max(1, _TOGETHER // students)):
        for skill, (low, high) in enumerate(record.nodes):
            cells = _Cells.at(low, high, record.node[:, some].T, levels[:, skill])
            values = cells.values()
            found = _sums(xp.stack([xp.reshape(one, (cells.steps, -1)) for one in values.values()]), cells.members)
            for name, sums in zip(values, np.moveaxis(found, 1, 0), strict=True):
                for each in (name, *ALIKE.get(name, ())) if cells.low is cells.high else (name,):
                    arrays[each][:, some, skill, : low.shape[1]] = sums
            table[some] += _calibration(cells)
            of = None if cells.of is None else cells.of.astype(np.int32)
            for name in (name for name in values if name in KEPT):
                mine = xp.astype(values[name] if skills == 1 else values[name] / skills, xp.float32)
                if skills == 1 and of is not None:
                    own[name].append((mine, of))
                else:
                    rows = cells.by_student(mine)
                    own[name].append((rows if not skill else own[name].pop()[0] + rows, None))
    if not isinstance(record.node, np.ndarray):
        own = {name: [(fetched(xp.concat([rows for rows, _ in pieces])), None)] for name, pieces in own.items()}
    return {name: Total(*sums) for name, sums in arrays.items()}, {name: PerStudent(pieces) for name, pieces in own.items()}, table


def _sums(values: Any, members: Any) -> Array:
    """Count, sum and squares of metrics, (metrics, steps, cells), by true level, (3, metrics, steps, levels); NaN counts for nothing."""
    xp = namespace(values)
    known, endless = ~xp.isnan(values), xp.isinf(values)
    kept = xp.where(known & ~endless, values, 0.0)
    count, total, squares = (fetched(part @ members) for part in (xp.astype(known, xp.float64), kept, kept * kept))
    if bool(xp.any(endless)):
        somewhere = fetched(xp.astype(endless, xp.float64) @ members) > 0
        total[somewhere] = squares[somewhere] = np.inf
    return np.stack([count, total, squares])


def _calibration(cells: _Cells) -> Array:
    """The table of some steps, (steps, bins, 3)."""
    xp = namespace(cells.members)
    p = cells.low if cells.low is cells.high else centres(cells.low, cells.high)
    bins = xp.astype((p + TIED) * BINS, xp.int64)  # on the edge of a bin, but for rounding, is in it
    bins = xp.minimum(bins, xp.full_like(bins, BINS - 1))
    shape = (cells.steps, *cells.members.shape)
    bins, p = xp.reshape(bins, shape), xp.reshape(p, shape)
    members = [cells.members[:, level] for level in range(shape[2])]  # sums over so short an axis are slow
    weight = xp.broadcast_to(sum(members[1:], members[0])[:, None], shape)
    columns = (weight, weight * p, xp.broadcast_to(cells.members, shape))
    if isinstance(p, np.ndarray):
        flat = (bins + np.arange(cells.steps)[:, None, None] * BINS).ravel()
        return np.stack([np.bincount(flat, part.ravel(), cells.steps * BINS).reshape(-1, BINS) for part in columns], axis=2)
    found = [[xp.sum(xp.where(bins == place, part, 0.0), axis=(1, 2)) for part in columns] for place in range(BINS)]
    table: Array = np.moveaxis(fetched(xp.stack([xp.stack(row) for row in found])), 2, 0)
    return table
