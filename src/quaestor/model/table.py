"""Tables of conditional probabilities whose every row is a credal set.

A row is an interval row `[l, u]` (a box cut by `sum = 1`) or a list of vertices. A precise row is an interval row of width zero, so
there is one type for Bayesian and for credal networks. Interval rows are made *reachable* on construction: each bound is attained by
some distribution of the set: `l_i <- max(l_i, 1 - sum_{j!=i} u_j)`, `u_i <- min(u_i, 1 - sum_{j!=i} l_j)`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quaestor.errors import NetworkError, expect, format_kind, got
from quaestor.i18n import say
from quaestor.lazy import lazy

Array = NDArray[np.float64]

SUM_TOLERANCE = 1e-6  # how far a row's sum may be from one before it is an error
_ROUNDING = 1e-12  # sums this near to one are one: rows are not divided by them
NOISE = 2.0**-51  # 4e-16, what rounded numbers that sum to one leave of it: an end that would move by less is left alone
_SAME = 1e-11  # of a probability: what differs by a smaller share of it is the same
_FEW = 6  # states whose vertices are all listed


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
        lower, upper = numbers("lower", self.lower), numbers("upper", self.upper)
        expect("vertices", self.vertices, Mapping, "a map from rows to their vertices is expected")
        if lower.ndim == 0 or lower.shape != upper.shape or lower.size == 0:
            raise NetworkError(f"lower and upper have the same non-empty shape, got {lower.shape} and {upper.shape}")
        states = lower.shape[-1]
        flat_lower, flat_upper = lower.reshape(-1, states), upper.reshape(-1, states)
        vertices: dict[int, Array] = {}
        for row, given in self.vertices.items():
            points = numbers(f"vertices of row {row}", given)
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
        flat_lower, flat_upper = (end.copy() for end in reachable(flat_lower, flat_upper))
        for row, points in vertices.items():
            flat_lower[row], flat_upper[row] = points.min(axis=0), points.max(axis=0)
        for name, array in (("lower", flat_lower), ("upper", flat_upper)):
            shaped = array.reshape(lower.shape)
            shaped.setflags(write=False)
            object.__setattr__(self, name, shaped)
        object.__setattr__(self, "vertices", MappingProxyType(vertices))

    @classmethod
    def precise(cls, probabilities: ArrayLike) -> "Table":
        """A table of exact numbers, shape (*parent sizes, states)."""
        array = numbers("probabilities", probabilities)
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

    @lazy
    def spare(self) -> Array:
        """What the lower ends of each row leave of one, shape (rows,)."""
        return left(self.lower.reshape(-1, self.shape[-1]))

    def row_vertices(self, row: int) -> Array:
        """The extreme distributions of one row, shape (vertices, states); kept, and read-only."""
        if row in self.vertices:
            return self.vertices[row]
        if row not in self._extremes:
            states = self.shape[-1]
            self._extremes[row] = row_vertices(self.lower.reshape(-1, states)[row], self.upper.reshape(-1, states)[row])
            self._extremes[row].setflags(write=False)
        return self._extremes[row]

    @lazy
    def _extremes(self) -> dict[int, Array]:
        return {}

    def widen(self, epsilon: float) -> "Table":
        """Every bound moved outwards by epsilon, cut to [0, 1]; a row of vertices becomes its widened envelope."""
        if isinstance(epsilon, bool) or not isinstance(epsilon, int | float) or not 0 <= epsilon <= 1:
            raise NetworkError(f"a table is widened by a number between 0 and 1, got {format_kind(epsilon)}")
        if epsilon == 0:
            return self
        return Table(*widened(self.lower, self.upper, epsilon))

    def centre(self) -> "Table":
        """One precise table inside: `p = l + t (u - l)` for interval rows, the mean of the vertices for the others."""
        if self.lower is self.upper:
            return self
        middle = centre(self.lower, self.upper)
        flat = middle.reshape(-1, self.shape[-1])
        for row, points in self.vertices.items():
            flat[row] = points.mean(axis=0)
        return Table.precise(middle)

    def vertex(self, rng: np.random.Generator) -> "Table":
        """One precise table of the set: a random vertex of each row."""
        check_rng(rng)
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
        """As it was made, not to be checked again: a large bank has 100,000 tables."""
        return _restored, (self.lower, self.upper, dict(self.vertices))


def numbers(place: str, given: object) -> Array:
    """A new array of what is given: numbers, or lists of them, all of one length."""
    try:
        return np.array(given, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise NetworkError.at(place, got("numbers are expected, in lists of one length", format_kind(given))) from error


def check_rng(rng: object) -> None:
    """Refuse what is no random generator."""
    expect("rng", rng, np.random.Generator, "a generator such as numpy.random.default_rng(1) is expected")


def _restored(lower: Array, upper: Array, vertices: dict[int, Array]) -> Table:
    """A table as `Table.__reduce__` took it apart."""
    for array in (lower, upper, *vertices.values()):
        array.setflags(write=False)
    return Table.of_checked(lower, upper, MappingProxyType(vertices) if vertices else _NO_VERTICES)


def centre(lower: Array, upper: Array) -> Array:
    """The distribution `l + t (u - l)` that sums to one, for bounds of shape (..., states); the midpoint for two states."""
    low, high = lower.sum(axis=-1, keepdims=True), upper.sum(axis=-1, keepdims=True)
    width = high - low
    share = np.divide(1 - low, width, out=np.zeros_like(width), where=width > 0)
    result: Array = lower + np.clip(share, 0, 1) * (upper - lower)
    return result


def widened(lower: Array, upper: Array, epsilon: Array | float) -> tuple[Array, Array]:
    """Bounds moved outwards by epsilon, cut to [0, 1]; 0.05 - 0.05 is zero, not the 7e-18 that rounding may leave."""
    less = lower - epsilon
    return np.where((less < NOISE) & (less < lower), 0, less), np.minimum(upper + epsilon, 1)


def reachable(lower: Array, upper: Array) -> tuple[Array, Array]:
    """Tighten valid interval rows, shape (rows, states), until each bound is attained; sums within tolerance of one are mended.

    Only what rounding leaves is left alone, so a small number keeps its meaning: an upper end of 1e-15 is no zero. Making reachable bounds
    reachable again changes nothing.
    """
    exact = normalised(lower)
    precise = (lower == upper).all(axis=1, keepdims=True)
    if precise.all():
        return exact, exact
    low, high = lower.sum(axis=1, keepdims=True), upper.sum(axis=1, keepdims=True)
    lower = np.where(low > 1 + _ROUNDING, lower / np.maximum(low, 1), lower)
    upper = np.where(high < 1 - _ROUNDING, upper / np.minimum(high, 1), upper)
    raised, cut = _rest(upper), _rest(lower)
    raised = np.where(raised > lower + NOISE, np.minimum(raised, upper), lower)
    cut = np.where(cut < upper - NOISE, np.where(cut <= lower + NOISE, lower, cut), upper)  # 1 - 0.7 - 0.2 - 0.1 is no probability
    single = (cut - raised <= np.minimum(NOISE, 1e-3 * cut)).all(axis=1, keepdims=True)  # one distribution has width zero, not rounding
    return np.where(precise, exact, raised), np.where(precise, exact, np.where(single, raised, cut))


def _rest(rows: Array) -> Array:
    """For each state what the others leave of one, shape (rows, states): `1 - sum_{j != i} p_j`, rounded once."""
    excess, lost = _excess(rows)
    left, error = _two_sum(rows, -excess[:, None])
    result: Array = left + (error - lost[:, None])
    return result


def left(rows: Array) -> Array:
    """What rows (..., states) leave of one, (...): `1 - sum p`, rounded once, so that no small number drowns in sums near one."""
    excess, lost = _excess(rows.reshape(-1, rows.shape[-1]))
    result: Array = (-excess - lost).reshape(rows.shape[:-1])
    return result


def _excess(rows: Array) -> tuple[Array, Array]:
    """`sum - 1` of rows (rows, states), as two numbers, (rows,) each: of 1 - (1 - 1e-15) plain sums leave a number that is a tenth off."""
    total, lost = np.full(len(rows), -1.0), np.zeros(len(rows))
    for state in range(rows.shape[1]):
        total, error = _two_sum(total, rows[:, state])
        lost = lost + error
    return total, lost


def _two_sum(one: Array, other: Array) -> tuple[Array, Array]:
    """A sum as it is rounded, and what the rounding took away (Knuth)."""
    total = one + other
    added = total - one
    return total, (one - (total - added)) + (other - added)


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
    """All vertices of one reachable interval row, shape (vertices, states), each once."""
    if np.array_equal(lower, upper):
        return np.array([lower])
    points, inside = vertices(lower, upper)
    over, under, near = points[inside] - lower, upper - points[inside], NOISE + np.minimum(_SAME * upper, 1e-3 * (upper - lower))
    ends = np.where(over < under, -1 * (over <= near), under <= near)  # where all states are at ends, the vertex is met several times
    points = np.where(np.minimum(over, under) <= NOISE, np.where(over < under, lower, upper), points[inside])
    found = {end.tobytes(): point for end, point in zip(ends, points.tolist(), strict=True)}
    return np.array(sorted(found.values()))


def vertices(lower: Array, upper: Array, room: float = NOISE, most: float = np.inf) -> tuple[Array, NDArray[np.bool_]]:
    """The vertices of interval sets, shape (..., states), all at once: all states but one at a bound, that one takes what is left.

    Returns points (..., points, states) and which of them lie in the set (..., points); the free state may be off its bounds by `room`.
    With few states all points are listed, with many only those that some set may have; no point where these are more than `most`.
    """
    states = lower.shape[-1]
    low, high = lower.reshape(-1, states), upper.reshape(-1, states)
    width, spare = high - low, left(low)  # what the states get above their lower ends
    free, above = _all_choices(states) if states <= _FEW else _choices(width, spare, room, most)
    given, least, greatest = spare[:, None] - width @ above.T, low[:, free], high[:, free]
    inside = (given >= -room) & (given <= greatest - least + room)
    place = np.arange(states) + states * above.astype(np.intp)  # in the ends below: of every point and state
    place[np.arange(len(free)), free] = 2 * states + np.arange(len(free))
    ends = np.concatenate([low, high, np.minimum(least + np.maximum(given, 0), greatest)], axis=1)
    return ends[:, place.ravel()].reshape(*lower.shape[:-1], len(free), states), inside.reshape(*lower.shape[:-1], len(free))


@cache
def _all_choices(states: int) -> tuple[NDArray[np.intp], Array]:
    """Every choice of a free state, (choices,), and of which others are at their upper ends, (choices, states): 1 there, 0 elsewhere."""
    free = np.repeat(np.arange(states), 2 ** (states - 1))
    ends = (np.arange(2 ** (states - 1))[:, None] >> np.arange(states - 1)) & 1
    above = np.concatenate([np.insert(ends, state, 0, axis=1) for state in range(states)]).astype(float)
    return free, above


def _choices(width: Array, spare: Array, room: float, most: float) -> tuple[NDArray[np.intp], Array]:
    """The same, without those where no set, (sets, states) and (sets,), can reach one: the states choose one after another."""
    sets, states = width.shape
    may: NDArray[np.bool_] = np.asarray((width > 0).any(axis=0))  # whether a state may be the free one; if none, the first
    may[0] |= not may.any()
    free, above = np.full(1, -1), np.zeros((1, states))
    least, greatest = np.zeros((1, sets)), width.sum(axis=1)[None]  # what the states can take together
    slack = room + 1e-13  # here nothing is lost to rounding: what the free state gets decides
    for state in range(states):
        wide = width[:, state]
        fits = free >= 0 if not may[state + 1 :].any() else np.ones(len(free), dtype=bool)
        at_low = fits & ((least <= spare + slack) & (greatest - wide >= spare - slack)).any(axis=1)
        at_high = fits & may[state] & ((least + wide <= spare + slack) & (greatest >= spare - slack)).any(axis=1)
        parts = [np.flatnonzero(chosen) for chosen in (at_low, at_high, may[state] & (free < 0))]
        free, above, least, greatest = (np.concatenate([kept[part] for part in parts]) for kept in (free, above, least, greatest))
        first, second = len(parts[0]), len(parts[0]) + len(parts[1])
        greatest[:first] -= wide
        least[first:second] += wide
        above[first:second, state] = 1
        free[second:] = state
        if len(free) > most:
            return free[:0], above[:0]
    return free, above


def _fills_envelope(points: Array) -> bool:
    """Whether the points include all vertices of their envelope."""
    lower, upper = points.min(axis=0), points.max(axis=0)
    apart = float(np.abs(points.sum(axis=1) - 1).max())  # what the sums of the points leave open
    every, inside = vertices(lower, upper, NOISE + apart, len(points) * points.shape[1])
    distances = np.abs(points[:, None] - every[inside][None])
    same = (distances <= NOISE + apart + _SAME * every[inside]).all(axis=2).any(axis=0)
    return bool(inside.any() and same.all())


def _interval_text(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"[{low:g}, {high:g}]"
