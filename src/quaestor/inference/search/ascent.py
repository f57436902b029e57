"""Coordinate ascent: a local search for networks with a large E[g | evidence], on models whose joint table is small.

For the value t that a network has, any other network exceeds it if the sum over all states of (g - t) times the product of all factors is
positive in it. That sum is linear in each factor (all rows of one variable, the message of one variable, all ends of one scope) when the
others are held. Each factor in turn is chosen at its best, until nothing changes.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from quaestor.inference.model import Scope
from quaestor.inference.search.choices import Choices, Numbers
from quaestor.inference.search.elimination import Elimination

LARGEST_JOINT = 16_384  # joint states
_AT_ONCE = 200_000  # numbers in one joint table of all nodes
_SWEEPS = 30
_ROUNDING = 1e-13


def ascend(plan: Elimination, allowed: Choices, start: Choices, g: Numbers, goal: Sequence[int]) -> Choices:
    """Complete networks that are at least as good as those at the start, all within what is allowed; g: (nodes, *sizes of the goal)."""
    step = max(1, _AT_ONCE // int(plan.model.joint_size))
    parts = [slice(first, first + step) for first in range(0, max(1, len(g)), step)]
    return Choices.join([_Ascent(plan, allowed.take(part), start.take(part)).run(g[part], goal) for part in parts])


class _Ascent:
    """Each factor of the joint table has a scope, numbers, and a function that chooses new ones by their slopes (None: they stay)."""

    def __init__(self, plan: Elimination, allowed: Choices, start: Choices) -> None:
        self._plan, self._allowed = plan, allowed
        self._nodes = len(start.rows[0])
        self._current = start
        self._every = list(range(len(plan.model.sizes)))
        self._factors: list[tuple[Scope, Callable[[Numbers], Numbers | None]]] = []
        self._numbers: list[Numbers] = []
        self._fixed = np.ones((self._nodes, *plan.model.sizes))  # the product of the factors that leave no choice
        for v, (points, _) in enumerate(plan.vertices):
            numbers = points[np.arange(len(points)), start.rows[v].argmax(axis=2)]
            self._add((*plan.model.parents[v], v), partial(self._choose_rows, v), numbers, _is_open(allowed.rows[v]))
        for v, vectors in enumerate(plan.messages):
            self._add((v,), partial(self._choose_message, v), vectors[start.messages[v].argmax(axis=1)], _is_open(allowed.messages[v]))
        for scope in plan.scopes:
            is_open = bool((allowed.high[scope] > allowed.low[scope]).any())
            self._add(scope, partial(self._choose_ends, scope), start.low[scope], is_open)

    def _add(self, scope: Scope, choose: Callable[[Numbers], Numbers | None], numbers: Numbers, is_open: bool) -> None:
        spread = self._spread(scope, numbers)
        if is_open:
            self._factors.append((scope, choose))
            self._numbers.append(spread)
        else:
            self._fixed *= spread

    def _spread(self, scope: Scope, numbers: Numbers) -> Numbers:
        """Numbers of a scope as an array that multiplies the joint table."""
        shape = (self._nodes, *(self._plan.model.sizes[v] for v in scope))
        return self._plan.align(numbers.reshape(shape), scope, self._every)

    def run(self, g: Numbers, goal: Sequence[int]) -> Choices:
        """Sweep over the factors until nothing changes."""
        wanted = self._plan.align(g, goal, self._every)
        for _ in range(_SWEEPS):
            self._plan.keep_time()
            after = [self._fixed]  # products of all factors from one on, the last ones first
            for numbers in reversed(self._numbers):
                after.append(after[-1] * numbers)
            weight, mass = (table.reshape(self._nodes, -1).sum(axis=1) for table in (after[-1] * wanted, after.pop()))
            t = np.divide(weight, mass, out=np.zeros(self._nodes), where=mass > 0)
            before = wanted - t.reshape(-1, *(1 for _ in self._every))
            changed = False
            for number, (scope, choose) in enumerate(self._factors):
                others = (before * after.pop()).sum(axis=tuple(1 + v for v in self._every if v not in scope))  # axes in rising order
                rising = sorted(scope)
                chosen = choose(others.transpose(0, *(1 + rising.index(v) for v in scope)))
                if chosen is not None:
                    self._numbers[number], changed = self._spread(scope, chosen), True
                before = before * self._numbers[number]
            if not changed:
                break
        return self._current

    def _choose_rows(self, v: int, slopes: Numbers) -> Numbers | None:
        points, allowed = self._plan.vertices[v][0], self._allowed.rows[v]
        scores = np.where(allowed, np.einsum("nrs,rvs->nrv", slopes.reshape(self._nodes, *points[:, 0].shape), points), -np.inf)
        vertex = _better(scores, self._current.rows[v])
        if vertex is None:
            return None
        self._current.rows[v] = np.eye(allowed.shape[2], dtype=bool)[vertex]
        chosen: Numbers = points[np.arange(len(points)), vertex]
        return chosen

    def _choose_message(self, v: int, slopes: Numbers) -> Numbers | None:
        vectors = self._plan.messages[v]
        scores = np.where(self._allowed.messages[v], slopes @ vectors.T, -np.inf)
        vertex = _better(scores, self._current.messages[v])
        if vertex is None:
            return None
        self._current.messages[v] = np.eye(len(vectors), dtype=bool)[vertex]
        return vectors[vertex]

    def _choose_ends(self, scope: Scope, slopes: Numbers) -> Numbers | None:
        slopes, held = slopes.reshape(self._nodes, -1), self._current.low[scope]
        ends = np.where(slopes > 0, self._allowed.high[scope], self._allowed.low[scope])
        noise = _ROUNDING * np.abs(slopes * ends).max(axis=1, keepdims=True)
        moved = np.abs(slopes * (ends - held)) > noise
        if not moved.any():
            return None
        self._current.low[scope] = self._current.high[scope] = chosen = np.where(moved, ends, held)
        return chosen


def _is_open(allowed: Numbers) -> bool:
    """Whether several vertices are allowed anywhere, (..., vertices)."""
    return bool((allowed.sum(axis=-1) > 1).any())


def _better(scores: Numbers, current: Numbers) -> Numbers | None:
    """The vertex of the best score, or the current one where none is better by more than rounding: (..., vertices) to (...).

    None where it is the current one everywhere.
    """
    held = np.where(current, scores, -np.inf).max(axis=-1)
    better = scores.max(axis=-1) > held + _ROUNDING * np.abs(held)
    return np.where(better, scores.argmax(axis=-1), current.argmax(axis=-1)) if better.any() else None
