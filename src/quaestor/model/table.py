"""Tables of conditional probabilities whose every row is a credal set.

A row is an interval row `[l, u]` (a box cut by `sum = 1`) or a list of vertices. A precise row is an interval row of width zero, so
there is one type for Bayesian and for credal networks. Interval rows are made *reachable* on construction: each bound is attained by
some distribution of the set: `l_i <- max(l_i, 1 - sum_{j!=i} u_j)`, `u_i <- min(u_i, 1 - sum_{j!=i} l_j)`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quaestor.errors import NetworkError
from quaestor.i18n import say

Array = NDArray[np.float64]

SUM_TOLERANCE = 1e-6  # how far a row's sum may be from one before it is an error
_ROUNDING = 1e-12  # bounds that move by less are left alone, which makes construction idempotent


_NO_VERTICES: Mapping[int, Array] = MappingProxyType({})


@dataclass(frozen=True)
class RowFault:
    """A row that is not a credal set: its number, the rule it breaks, and the value."""

    row: int
    rule: str
    value: str


@dataclass(frozen=True, eq=False)
class Table:
    """P(child | parents): `lower` and `upper` have shape (*parent sizes, states); C order, the last parent varies fastest.

    `vertices` maps a row's number (counted in C order) to its vertices, shape (vertices, states), for rows given by vertices; their
    `lower` and `upper` are the envelope. Rows with two states, with one vertex, or with just the vertices of their envelope are stored as
    interval rows, so that equal sets are stored alike.
    """

    lower: Array
    upper: Array
    vertices: Mapping[int, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        lower, upper = np.array(self.lower, dtype=float), np.array(self.upper, dtype=float)
        if lower.ndim == 0 or lower.shape != upper.shape or lower.size == 0:
            raise NetworkError(f"lower and upper have the same non-empty shape, got {lower.shape} and {upper.shape}")
        states = lower.shape[-1]
        flat_lower, flat_upper = lower.reshape(-1, states), upper.reshape(-1, states)
        vertices: dict[int, Array] = {}
        for row, given in self.vertices.items():
            points = np.array(given, dtype=float)
            if row not in range(len(flat_lower)) or points.ndim != 2 or points.shape[1] != states or not len(points):
                rule = f"vertices are for rows 0 to {len(flat_lower) - 1}, of shape (vertices, {states})"
                raise NetworkError(f"row {row}: {rule}, got {points.shape}")
            kept = np.unique(points, axis=0)
            faults = vertex_faults(kept)
            if faults:
                raise NetworkError(f"row {row}: {faults[0].rule}, got {faults[0].value}")
            kept = normalised(kept)
            flat_lower[row], flat_upper[row] = kept.min(axis=0), kept.max(axis=0)
            if states > 2 and len(kept) > 1 and not _fills_envelope(kept):
                kept.setflags(write=False)
                vertices[row] = kept
        faults = interval_faults(flat_lower, flat_upper)
        if faults:
            raise NetworkError("\n".join(f"row {fault.row}: {fault.rule}, got {fault.value}" for fault in faults))
        flat_lower, flat_upper = reachable(flat_lower, flat_upper)
        for name, array in (("lower", flat_lower), ("upper", flat_upper)):
            shaped = array.reshape(lower.shape)
            shaped.setflags(write=False)
            object.__setattr__(self, name, shaped)
        object.__setattr__(self, "vertices", MappingProxyType(vertices))

    @classmethod
    def precise(cls, probabilities: ArrayLike) -> "Table":
        """A table of exact numbers, shape (*parent sizes, states)."""
        array = np.asarray(probabilities, dtype=float)
        return cls(array, array)

    @classmethod
    def of_checked(cls, lower: Array, upper: Array, vertices: Mapping[int, Array] = _NO_VERTICES) -> "Table":
        """A table from rows that are already read-only, valid and reachable, without any check; a bank checks all its tables at once."""
        made = object.__new__(cls)
        made.__dict__.update(lower=lower, upper=upper, vertices=vertices)
        return made

    @property
    def shape(self) -> tuple[int, ...]:
        """(*parent sizes, states)."""
        return self.lower.shape

    @property
    def rows(self) -> int:
        """Number of rows: one for each combination of the parents' states."""
        return self.lower.size // self.shape[-1]

    @property
    def is_precise(self) -> bool:
        """Whether every row holds exactly one distribution."""
        return self.lower is self.upper or bool((self.lower == self.upper).all())

    def row_vertices(self, row: int) -> Array:
        """The extreme distributions of one row, shape (vertices, states)."""
        if row in self.vertices:
            return self.vertices[row]
        states = self.shape[-1]
        return row_vertices(self.lower.reshape(-1, states)[row], self.upper.reshape(-1, states)[row])

    def widen(self, epsilon: float) -> "Table":
        """Every bound moved outwards by epsilon, cut to [0, 1]; a row of vertices becomes its widened envelope."""
        if isinstance(epsilon, bool) or not isinstance(epsilon, int | float) or not 0 <= epsilon <= 1:
            raise NetworkError(f"a table is widened by a number between 0 and 1, got {epsilon}")
        if epsilon == 0:
            return self
        return Table(np.maximum(self.lower - epsilon, 0), np.minimum(self.upper + epsilon, 1))

    def centre(self) -> "Table":
        """One precise table inside: `p = l + t (u - l)` for interval rows, the mean of the vertices for the others."""
        middle = centre(self.lower, self.upper)
        flat = middle.reshape(-1, self.shape[-1])
        for row, points in self.vertices.items():
            flat[row] = points.mean(axis=0)
        return Table.precise(middle)

    def vertex(self, rng: np.random.Generator) -> "Table":
        """One precise table of the set: a random vertex of each row."""
        drawn = []
        for row in range(self.rows):
            points = self.row_vertices(row)
            drawn.append(points[rng.integers(len(points))])
        return Table.precise(np.clip(np.array(drawn), 0, 1).reshape(self.shape))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return (
            np.array_equal(self.lower, other.lower)
            and np.array_equal(self.upper, other.upper)
            and self.vertices.keys() == other.vertices.keys()
            and all(np.array_equal(points, other.vertices[row]) for row, points in self.vertices.items())
        )

    def __hash__(self) -> int:
        return hash(((self.lower + 0.0).tobytes(), (self.upper + 0.0).tobytes()))  # -0.0 equals 0.0

    def __reduce__(self) -> tuple[Any, ...]:
        return Table, (self.lower, self.upper, dict(self.vertices))


def centre(lower: Array, upper: Array) -> Array:
    """The distribution `l + t (u - l)` that sums to one, for bounds of shape (..., states); the midpoint for two states."""
    low, high = lower.sum(axis=-1, keepdims=True), upper.sum(axis=-1, keepdims=True)
    width = high - low
    share = np.divide(1 - low, width, out=np.zeros_like(width), where=width > _ROUNDING)
    result: Array = lower + np.clip(share, 0, 1) * (upper - lower)
    return result


def reachable(lower: Array, upper: Array) -> tuple[Array, Array]:
    """Tighten valid interval rows, shape (rows, states), so that each bound is attained; sums within tolerance of one are normalised."""
    exact = normalised(lower)
    precise = (lower == upper).all(axis=1, keepdims=True)
    if precise.all():
        return exact, exact
    low, high = lower.sum(axis=1, keepdims=True), upper.sum(axis=1, keepdims=True)
    lower = np.where(low > 1 + _ROUNDING, lower / np.maximum(low, 1), lower)
    upper = np.where(high < 1 - _ROUNDING, upper / np.minimum(high, 1), upper)
    raised = 1 - (upper.sum(axis=1, keepdims=True) - upper)
    cut = 1 - (lower.sum(axis=1, keepdims=True) - lower)
    lower = np.where(raised > lower + _ROUNDING, raised, lower)
    upper = np.where(cut < upper - _ROUNDING, cut, upper)
    upper = np.where(upper > lower + _ROUNDING, upper, lower)  # a set of one distribution has width zero, not rounding
    return np.where(precise, exact, lower), np.where(precise, exact, upper)


def normalised(rows: Array) -> Array:
    """Divide precise rows, shape (rows, states), by their sums where they are off by more than rounding."""
    sums = rows.sum(axis=1, keepdims=True)
    off = np.abs(sums - 1) > _ROUNDING
    return np.where(off, rows / np.where(off & (sums > 0), sums, 1), rows) if off.any() else rows


def interval_faults(lower: Array, upper: Array) -> list[RowFault]:
    """Every rule that interval rows of shape (rows, states) break; empty when all are credal sets."""
    inside = (lower >= 0) & (upper <= 1) & (lower <= upper)
    summing = (lower.sum(axis=1) <= 1 + SUM_TOLERANCE) & (upper.sum(axis=1) >= 1 - SUM_TOLERANCE)
    if inside.all() and summing.all():
        return []
    good = inside.all(axis=1) & summing
    return [_interval_fault(int(row), lower[row], upper[row]) for row in np.flatnonzero(~good)]


def _interval_fault(row: int, lower: Array, upper: Array) -> RowFault:
    for low, high in zip(lower.tolist(), upper.tolist(), strict=True):
        if not (0 <= low <= 1 and 0 <= high <= 1):
            return RowFault(row, say("a probability lies between 0 and 1"), _interval_text(low, high))
        if low > high:
            return RowFault(row, say("an interval's lower end is not above its upper end"), _interval_text(low, high))
    shown = " + ".join(_interval_text(low, high) for low, high in zip(lower.tolist(), upper.tolist(), strict=True))
    if np.array_equal(lower, upper):
        return RowFault(row, say("a row sums to 1 within {tolerance:g}", tolerance=SUM_TOLERANCE), f"{lower.sum():.9g} = {shown}")
    if lower.sum() > 1:
        rule, total = say("an interval row holds a distribution: its lower ends sum to at most 1"), lower.sum()
    else:
        rule, total = say("an interval row holds a distribution: its upper ends sum to at least 1"), upper.sum()
    return RowFault(row, rule, say("{total:.9g} for {row}", total=float(total), row=shown))


def vertex_faults(points: Array) -> list[RowFault]:
    """Every rule that the vertices of one row, shape (vertices, states), break; `row` is the vertex's number."""
    faults = []
    for number, point in enumerate(points):
        if not ((point >= 0) & (point <= 1)).all():
            faults.append(RowFault(number, say("a probability lies between 0 and 1"), str(point.tolist())))
        elif abs(point.sum() - 1) > SUM_TOLERANCE:
            shown = " + ".join(f"{value:g}" for value in point.tolist())
            rule = say("a vertex sums to 1 within {tolerance:g}", tolerance=SUM_TOLERANCE)
            faults.append(RowFault(number, rule, f"{point.sum():.9g} = {shown}"))
    return faults


def row_vertices(lower: Array, upper: Array) -> Array:
    """All vertices of one reachable interval row, shape (vertices, states): points with at least all but one coordinate at a bound."""
    if np.array_equal(lower, upper):
        return np.array([lower])
    found = {tuple(np.round(point, 11) + 0.0): point for point in _walk_vertices(lower.tolist(), upper.tolist())}
    return np.array(sorted(found.values()))


def _walk_vertices(lower: list[float], upper: list[float]) -> Iterator[list[float]]:
    """Depth-first search: each coordinate but one is set to a bound; a branch is cut where the sum can no longer be one."""
    states = len(lower)
    least = [sum(lower[i:]) for i in range(states + 1)]
    most = [sum(upper[i:]) for i in range(states + 1)]

    def walk(point: list[float], total: float, free: int | None) -> Iterator[list[float]]:
        i = len(point)
        low, high = (0.0, 0.0) if free is None else (lower[free], upper[free])
        if total + low + least[i] > 1 + _ROUNDING or total + high + most[i] < 1 - _ROUNDING:
            return
        if i == states:
            if free is not None:
                point = point.copy()
                point[free] = min(max(1 - total, low), high)
            yield point
            return
        for end in {lower[i], upper[i]}:
            yield from walk([*point, end], total + end, free)
        if free is None and lower[i] < upper[i]:
            yield from walk([*point, 0.0], total, i)

    return walk([], 0.0, None)


def _fills_envelope(points: Array) -> bool:
    """Whether the points include all vertices of their envelope."""
    lower, upper = points.min(axis=0), points.max(axis=0)
    limit = len(points) * (points.shape[1] + 1)  # a degenerate vertex is met once for each coordinate that may be the free one
    every = list(islice(_walk_vertices(lower.tolist(), upper.tolist()), limit + 1))
    if len(every) > limit:
        return False
    distances = np.abs(points[:, None] - np.array(every)[None]).max(axis=2)
    return bool((distances.min(axis=0) <= 10 * _ROUNDING).all())


def _interval_text(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"[{low:g}, {high:g}]"
