"""The contract of inference: what an engine answers, for N takers at once.

An engine is made from a `Model` whose boxes have a leading axis over takers. It says what is known of a variable *now*, how probable the
*answers* to questions are, and what will be known of a variable *after* each of these answers. Every reply is a `Bracket`: bounds that no
network of the set exceeds, bounds that some network attains, and the method that found them. The chooser (`chooser.py`) decides which
engine replies; nobody else makes one.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from quaestor.inference.layout import Batch
from quaestor.model.table import Array
from quaestor.registry import RegisterError

Ends = tuple[Array, Array]
EXACT = 1e-10  # outer and inner bounds this close are one number


class Bracket(NamedTuple):
    """Outer bounds (`lower`, `upper`) and attained ones (`inner_lower`, `inner_upper`), all of one shape with a leading axis over takers.

    In precise models `lower` and `upper` are one array.
    """

    lower: Array
    upper: Array
    inner_lower: Array
    inner_upper: Array
    method: str

    @staticmethod
    def exact(lower: Array, upper: Array, method: str) -> "Bracket":
        """Bounds that are attained."""
        return Bracket(lower, upper, lower, upper, method)

    @staticmethod
    def stacked(parts: "list[Bracket]") -> "Bracket":
        """The brackets of several takers, each without the leading axis, as one."""
        lower, upper = np.stack([part.lower for part in parts]), np.stack([part.upper for part in parts])
        inner = np.stack([part.inner_lower for part in parts]), np.stack([part.inner_upper for part in parts])
        return Bracket(lower, upper, *inner, joined_methods(part.method for part in parts))

    def take(self, rows: NDArray[np.intp]) -> "Bracket":
        """The brackets of some takers, in this order."""
        lower = self.lower[rows]
        upper = lower if self.upper is self.lower else self.upper[rows]
        if self.inner_lower is self.lower and self.inner_upper is self.upper:
            return Bracket.exact(lower, upper, self.method)
        return Bracket(lower, upper, self.inner_lower[rows], self.inner_upper[rows], self.method)

    @property
    def ends(self) -> Ends:
        """The outer bounds."""
        return self.lower, self.upper

    @property
    def gap(self) -> float:
        """The largest distance between an outer and an attained bound; 0.0 where they are one number but for rounding."""
        if self.lower is self.inner_lower and self.upper is self.inner_upper:
            return 0.0
        found = float(max((self.inner_lower - self.lower).max(), (self.upper - self.inner_upper).max()))
        return found if found > EXACT * 10 else 0.0


@dataclass(frozen=True)
class JointTarget:
    """All skills of a precise bank together, summed up for each configuration c of a scope: arrays of shape (takers, configurations).

    `mass`: P(c); `peak`: the largest P(s) of the joint states s with this configuration; `squares`: the sum of their P(s)^2. The last two
    are None where the joint does not fit. `states`: the number of joint states.
    """

    states: float
    mass: Array
    peak: Array | None
    squares: Array | None

    def of_takers(self, some: slice) -> "JointTarget":
        """Some of the takers."""
        peak, squares = (None if part is None else part[some] for part in (self.peak, self.squares))
        return JointTarget(self.states, self.mass[some], peak, squares)


def joined_methods(methods: Iterable[str]) -> str:
    """The methods that served several takers, each once."""
    return ", ".join(dict.fromkeys(methods))


def mended(found: Bracket, now: Bracket | None, silent: NDArray[np.bool_]) -> Bracket:
    """Bounds after answers, where an answer cannot be given: nothing is known; where it tells nothing: what is known now."""
    crossed = found.lower > found.upper
    if not crossed.any() and now is None:
        return found
    impossible = (found.lower > found.upper + 10 * EXACT).any(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):  # infinite ends where no network allows the answer
        middle = (found.lower + found.upper) / 2
    ends = []
    for end, bound in enumerate(found.ends):
        mended = np.where(impossible, float(end), np.where(crossed, middle, bound))
        if now is not None:
            mended[:, silent] = now.ends[end][:, None, None]
        ends.append(mended)
    inner = [np.where(impossible | crossed, ends[end], attained) for end, attained in enumerate((found.inner_lower, found.inner_upper))]
    if now is not None:
        inner[0][:, silent], inner[1][:, silent] = now.inner_lower[:, None, None], now.inner_upper[:, None, None]
    if found.lower is found.inner_lower and (now is None or not now.gap):
        return Bracket.exact(ends[0], ends[1], found.method)
    return Bracket(ends[0], ends[1], inner[0], inner[1], found.method)


class Engine(Protocol):
    """One way of inference on one model with the evidence of N takers."""

    def now(self, variable: int) -> Bracket:
        """P(variable | evidence), (takers, states)."""

    def answers(self, batch: Batch) -> Bracket:
        """P(class | evidence) of questions, (takers, tables, classes)."""

    def after(self, batch: Batch, variable: int) -> Bracket:
        """P(variable | evidence, class), (takers, tables, classes, states); where no network allows the answer, lower is above upper."""


@dataclass(frozen=True)
class CheckedEngine:
    """An engine that somebody else wrote: a reply that is no `Bracket`, or has another shape, is an error that says so."""

    name: str
    engine: Engine
    sizes: tuple[int, ...]
    takers: int

    def now(self, variable: int) -> Bracket:
        """P(variable | evidence), (takers, states)."""
        return self._checked("now", "(takers, states)", self.engine.now(variable), (self.takers, self.sizes[variable]))

    def answers(self, batch: Batch) -> Bracket:
        """P(class | evidence), (takers, tables, classes)."""
        return self._checked("answers", "(takers, tables, classes)", self.engine.answers(batch), (self.takers, *batch.low.shape[:2]))

    def after(self, batch: Batch, variable: int) -> Bracket:
        """P(variable | evidence, class), (takers, tables, classes, states)."""
        shape = (self.takers, *batch.low.shape[:2], self.sizes[variable])
        return self._checked("after", "(takers, tables, classes, states)", self.engine.after(batch, variable), shape)

    def _checked(self, asked: str, words: str, found: object, shape: tuple[int, ...]) -> Bracket:
        rule = f"engine {self.name}: `{asked}` gives a Bracket of arrays of shape {words} = {shape}"
        if not isinstance(found, Bracket):
            raise RegisterError(f"{rule}, got {type(found).__name__}")
        for end in found[:4]:
            if np.shape(end) != shape or np.isnan(end).any():
                raise RegisterError(f"{rule}, got {'NaN' if np.shape(end) == shape else f'shape {np.shape(end)}'}")
        return found
