"""Where only branch and bound can tell: loops, questions on several skills. All answers of a scope are solved together."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from quaestor.credal.vectors import TooLargeError, bounds_of, corners, hull
from quaestor.inference.engine import EXACT, Bracket, Ends
from quaestor.inference.layout import Batch
from quaestor.inference.model import Model, likelihood
from quaestor.inference.search.branch import Search, maximise, search_of, state_bounds, state_goals
from quaestor.inference.search.core import Core, core_of
from quaestor.inference.search.reach import FINEST, Known, Reach, is_on_loop, reach
from quaestor.model.table import Array

_UNLIMITED = 10**15  # nodes
ROUGH = 0.05  # near enough to tell which questions need not be looked at


@dataclass(frozen=True)
class _Asked:
    """One taker: the answers, (tables, classes), and the skills of the scope after each, (tables, classes, levels)."""

    answers: Bracket
    after: dict[int, Bracket]


class LoopEngine:
    """Certified bounds for any model, taker by taker: within the tolerance, or as near as the limit of nodes allows.

    After `end`, a moment of `time.monotonic`, every reply is what was found until then. `known`: what has been found to reach variables of
    each taker, shared with engines for other parts of the same evidence.
    """

    def __init__(
        self, model: Model, takers: int, tolerance: float, limit: int, end: float | None = None, known: list[Known] | None = None
    ) -> None:
        self._models = [model.of_taker(taker) for taker in range(takers)]
        self._tolerance, self._limit, self._end = tolerance, limit, end
        self._method = "branch" if limit else "bracket"
        self._known = known or [{} for _ in range(takers)]
        self.nodes = 0  # of the longest search: where it is not above the limit, all searches ended by themselves
        self._now: dict[int, Bracket] = {}
        self._searches: dict[tuple[int, int], Search | None] = {}
        self._asked: dict[int, tuple[Batch, list[_Asked]]] = {}
        self._reached: dict[int, list[Reach] | None] = {}

    def now(self, variable: int) -> Bracket:
        """P(variable | evidence), (takers, states)."""
        if variable not in self._now:
            found = [self._now_of(taker, variable) for taker in range(len(self._models))]
            self._now[variable] = Bracket.stacked(found)
        return self._now[variable]

    def roughly(self, variable: int) -> Bracket:
        """P(variable | evidence), (takers, states), from where the search for `now` begins: these bounds lie around those."""
        return Bracket.stacked([self._roughly_of(taker, variable) for taker in range(len(self._models))])

    def _roughly_of(self, taker: int, variable: int) -> Bracket:
        search, size = self._search(taker, variable), self._models[taker].sizes[variable]
        return self._now_of(taker, variable) if search is None else self._found(search, size, max(ROUGH, self._tolerance))

    def _now_of(self, taker: int, variable: int) -> Bracket:
        """From what reaches the variable, where that can be shared; else from a search for these bounds alone, which may be coarser."""
        model, search = self._models[taker], self._search(taker, variable)
        size = model.sizes[variable]
        if search is not None:
            self._roughly_of(taker, variable)  # always first, so that nothing depends on who asked before
            return self._found(search, size, self._tolerance)
        every = self._reach(variable)
        if every is not None:
            own = [end[None] for end in _own(model, variable)]
            (lower,), (upper,) = bounds_of(every[taker].outer, *own)
            (inner_lower,), (inner_upper,) = bounds_of(every[taker].inner, *own)
            found = self._bracket(lower, upper, inner_lower, inner_upper)
            if found.gap <= self._tolerance or size == 2:
                return found
        return self._found(search_of(model, variable), size, self._tolerance)

    def _search(self, taker: int, variable: int) -> Search | None:
        """The search for the bounds of one variable alone; None where what reaches it can be shared, or is asked for as finely anyway."""
        if (taker, variable) not in self._searches:
            model = self._models[taker]
            is_alone = self._tolerance > FINEST and is_on_loop(model, variable)
            self._searches[taker, variable] = search_of(model, variable) if is_alone else None
        return self._searches[taker, variable]

    def _found(self, search: Search, size: int, tolerance: float) -> Bracket:
        """What a search for the bounds of a variable of so many states finds."""
        search.run(tolerance, self._limit, self._end)
        found = search.optimum
        self.nodes = max(self.nodes, found.nodes)
        return self._bracket(*state_bounds(found.outer, size), *state_bounds(found.inner, size))

    def _bracket(self, lower: Array, upper: Array, inner_lower: Array, inner_upper: Array) -> Bracket:
        """Bounds; where outer and inner ones are one number but for rounding, they are exact."""
        lower, upper = np.clip(lower, 0, 1), np.clip(upper, 0, 1)
        found = Bracket(lower, upper, inner_lower, inner_upper, self._method)
        return found if found.gap else Bracket.exact(lower, upper, self._method)

    def answers(self, batch: Batch) -> Bracket:
        """P(class | evidence), (takers, tables, classes)."""
        return Bracket.stacked([one.answers for one in self._of_scope(batch)])

    def after(self, batch: Batch, variable: int) -> Bracket:
        """P(variable | evidence, class), (takers, tables, classes, states)."""
        if variable in batch.scope:
            return Bracket.stacked([one.after[variable] for one in self._of_scope(batch)])
        return Bracket.stacked([self._elsewhere(model, batch, variable) for model in self._models])

    def _of_scope(self, batch: Batch) -> list[_Asked]:
        """For each taker the answers to a batch and the skills of its scope after them."""
        if id(batch) not in self._asked:
            reached = self._reach(batch.scope[0]) if len(batch.scope) == 1 else None
            found = [
                self._ask_reached(model, batch, reached[taker]) if reached else self._ask(model, batch)
                for taker, model in enumerate(self._models)
            ]
            self._asked[id(batch)] = batch, found
        return self._asked[id(batch)][1]

    def _reach(self, variable: int) -> list[Reach] | None:
        """For each taker what reaches a variable, finely enough to be multiplied by evidence; None where it is not known."""
        if variable not in self._reached:
            try:
                self._reached[variable] = [
                    reach(model, variable, self._tolerance, self._limit, self._end, known)
                    for model, known in zip(self._models, self._known, strict=True)
                ]
            except TooLargeError:
                self._reached[variable] = None
            else:
                self.nodes = max([self.nodes, *(one.nodes for one in self._reached[variable] or ())])
        return self._reached[variable]

    def _ask_reached(self, model: Model, batch: Batch, reached: Reach) -> _Asked:
        """One skill, of which it is known what reaches it; tables for which that is not known well enough are asked for themselves."""
        skill, (low, high) = batch.scope[0], _own(model, batch.scope[0])
        outer, inner = (_from_vectors(vectors, batch, low, high) for vectors in (reached.outer, reached.inner))
        apart = [np.abs(one - other).reshape(len(one), -1).max(axis=1) for one, other in zip(outer, inner, strict=True)]
        wide = np.flatnonzero(np.max(apart, axis=0) > self._tolerance)
        if len(wide):
            closer = self._ask(model, batch.some(wide))
            for found, first in ((closer.answers, 0), (closer.after[skill], 2)):
                outer[first][wide] = np.maximum(outer[first][wide], found.lower)
                outer[first + 1][wide] = np.minimum(outer[first + 1][wide], found.upper)
                inner[first][wide], inner[first + 1][wide] = found.inner_lower, found.inner_upper
        return _Asked(self._bracket(*outer[:2], *inner[:2]), {skill: self._bracket(*outer[2:], *inner[2:])})

    def _ask(self, model: Model, batch: Batch) -> _Asked:
        """The answers to all tables of a batch, and the skills of its scope after each: problems of one branch and bound."""
        core, before, after = _open(model, batch)
        scope = tuple(core.number[v] for v in batch.scope)
        tables, classes, *sizes = batch.low.shape
        wanted = [batch.high.reshape(-1, *sizes), -batch.low.reshape(-1, *sizes)]
        ends = [[np.broadcast_to(end, (2 * tables * classes, *sizes))] for end in before]
        for skill in batch.scope:
            goals = state_goals(model.sizes[skill])
            shape = (*(size if v == skill else 1 for v, size in zip(batch.scope, sizes, strict=True)),)
            goals = np.broadcast_to(goals.reshape(-1, *shape), (len(goals), *sizes))
            wanted.append(np.tile(goals, (tables * classes, *(1 for _ in sizes))))
            for side, end in enumerate(after):
                ends[side].append(np.repeat(end, len(goals), axis=0))
        low, high = (np.concatenate(parts) for parts in ends)
        found = maximise(core, np.concatenate(wanted), {scope: (low, high)}, self._tolerance, self._limit, scope, self._end)
        self.nodes = max(self.nodes, found.nodes)
        cuts = np.cumsum([len(part) for part in wanted])[:-1]
        outer, inner = (np.split(values, cuts) for values in (found.outer, found.inner))
        shaped = [(-values[1].reshape(tables, classes), values[0].reshape(tables, classes)) for values in (outer, inner)]
        answers = self._bracket(*shaped[0], *shaped[1])
        skills = zip(batch.scope, outer[2:], inner[2:], strict=True)
        return _Asked(answers, {skill: self._of_goals(most, attained, batch, model.sizes[skill]) for skill, most, attained in skills})

    def _elsewhere(self, model: Model, batch: Batch, variable: int) -> Bracket:
        """A variable outside the scope after all answers to all tables of a batch."""
        core, _, after = _open(model, batch, variable)
        scope, goals = tuple(core.number[v] for v in batch.scope), state_goals(model.sizes[variable])
        ends = [np.repeat(end, len(goals), axis=0) for end in after]
        g = np.tile(goals, (len(after[0]), 1))
        found = maximise(core, g, {scope: (ends[0], ends[1])}, self._tolerance, self._limit, (core.number[variable],), self._end)
        self.nodes = max(self.nodes, found.nodes)
        return self._of_goals(found.outer, found.inner, batch, model.sizes[variable])

    def _of_goals(self, outer: Array, inner: Array, batch: Batch, size: int) -> Bracket:
        """Bounds, (tables, classes, levels), from the largest values of the goals."""
        shape = batch.low.shape[:2]
        return self._bracket(*state_bounds(outer.reshape(*shape, -1), size), *state_bounds(inner.reshape(*shape, -1), size))


class ExactEngine:
    """Branch and bound until it is exact, the time is over, or more nodes would not help.

    `end` is a moment of `time.monotonic`. Without one, `limit` is the number of nodes of the first pass, and further ones follow with more
    and more nodes: each starts anew, and what all of them know counts.
    """

    def __init__(self, model: Model, takers: int, limit: int, end: float | None) -> None:
        self._model, self._takers, self._end = model, takers, end
        self._limit = max(limit, 1) if end is None else _UNLIMITED

    def now(self, variable: int) -> Bracket:
        """P(variable | evidence), (takers, states)."""
        return self._ask(lambda engine: engine.now(variable))

    def answers(self, batch: Batch) -> Bracket:
        """P(class | evidence), (takers, tables, classes)."""
        return self._ask(lambda engine: engine.answers(batch))

    def after(self, batch: Batch, variable: int) -> Bracket:
        """P(variable | evidence, class), (takers, tables, classes, states)."""
        return self._ask(lambda engine: engine.after(batch, variable))

    def _ask(self, ask: Callable[[LoopEngine], Bracket]) -> Bracket:
        limit = self._limit
        engine = LoopEngine(self._model, self._takers, EXACT, limit, self._end)
        known = ask(engine)
        while known.gap and engine.nodes > limit:
            limit *= 4
            engine = LoopEngine(self._model, self._takers, EXACT, limit)
            known = both(known, ask(engine))
        return known


def both(one: Bracket, other: Bracket) -> Bracket:
    """What two brackets of the same bounds say together."""
    lower, upper = np.maximum(one.lower, other.lower), np.minimum(one.upper, other.upper)
    return Bracket(lower, upper, np.minimum(one.inner_lower, other.inner_lower), np.maximum(one.inner_upper, other.inner_upper), one.method)


def _open(model: Model, batch: Batch, *others: int) -> tuple[Core, Ends, Ends]:
    """A core that keeps the scope of a batch and its evidence; that evidence before, and after each answer, (tables x classes, *levels)."""
    sizes = batch.low.shape[2:]
    before = model.boxes.get(batch.scope, (np.zeros(sizes), np.zeros(sizes)))
    core = core_of(model.with_boxes({**model.boxes, batch.scope: before}), (*batch.scope, *others), batch.scope)
    logs = [end + log.reshape(-1, *sizes) for end, log in zip(before, batch.logs, strict=True)]
    top = logs[1].reshape(len(logs[1]), -1).max(axis=1).reshape(-1, *(1 for _ in sizes))
    top = np.where(np.isfinite(top), top, 0)
    return core, likelihood(before), (np.exp(logs[0] - top), np.exp(logs[1] - top))


def _own(model: Model, skill: int) -> Ends:
    """The likelihood box of the evidence on a skill alone."""
    box = model.boxes.get((skill,))
    return likelihood(box) if box is not None else (np.ones(model.sizes[skill]), np.ones(model.sizes[skill]))


def _from_vectors(vectors: Array, batch: Batch, low: Array, high: Array) -> tuple[Array, Array, Array, Array]:
    """From what reaches a skill and its own evidence: lower and upper bounds of the answers and of the skill after each."""
    levels = batch.low.shape[-1]
    points = hull((vectors[:, None] * corners(low[None], high[None])[None]).reshape(-1, levels))
    if not len(points):  # networks met on the way that exclude the evidence: nothing is known from them
        shape = batch.low.shape
        return np.zeros(shape[:2]), np.ones(shape[:2]), np.zeros(shape), np.ones(shape)
    least, most = bounds_of(vectors, (batch.low * low).reshape(-1, levels), (batch.high * high).reshape(-1, levels))
    answers = (batch.low @ points.T).min(axis=2), (batch.high @ points.T).max(axis=2)
    return *answers, least.reshape(batch.low.shape), most.reshape(batch.low.shape)
