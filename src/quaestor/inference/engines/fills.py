"""Credal inference on trees and polytrees of variables with many states: rows are filled greedily (`inference.filling`).

The bounds of every question are largest expectations of goals. In a polytree what other parents say to a child is replaced by its bounds, a
set that may be larger, and chosen anew for each state of the parent on the way: an upper bound. With one distribution that they do say, the
rest attains a lower one.
"""

from math import prod

import numpy as np

from quaestor.credal.vectors import parts
from quaestor.inference.engine import Bracket
from quaestor.inference.filling import CHUNK, NEAR, Asked, Boxes, Tree, beyond, maximise
from quaestor.inference.junction import junction_of
from quaestor.inference.layout import Batch
from quaestor.inference.model import Model
from quaestor.model.table import Array

WORK = 40_000_000  # numbers that a search may look at, about; a few seconds


def fits(model: Model) -> bool:
    """Whether a model is singly connected and all its evidence is on single variables."""
    return model.is_singly_connected and all(len(scope) == 1 for scope in model.boxes)


def is_forest(model: Model) -> bool:
    """Whether every variable has at most one parent."""
    return model.keep("forest", lambda: all(len(parents) <= 1 for parents in model.parents))


class FillEngine:
    """Trees with any number of levels, many takers and questions at once: exact, or a bracket after much work.

    After `end`, a moment of `time.monotonic`, nothing more is searched.
    """

    def __init__(self, model: Model, takers: int, work: int = WORK, end: float | None = None) -> None:
        self._model, self._takers, self._work, self._end = model, takers, work, end
        self._told: Boxes = {scope[0]: box for scope, box in model.boxes.items()}
        self._now: dict[int, Bracket] = {}

    def now(self, variable: int) -> Bracket:
        """P(variable | evidence), (takers, states)."""
        if variable not in self._now:
            states = np.eye(self._model.sizes[variable])
            self._now[variable] = self._bounds(variable, states, states, self._told, (self._takers, len(states)))
        return self._now[variable]

    def answers(self, batch: Batch) -> Bracket:
        """P(class | evidence), (takers, tables, classes)."""
        low, high = (end.reshape(-1, end.shape[-1]) for end in (batch.low, batch.high))
        return self._bounds(batch.scope[0], low, high, self._told, (self._takers, *batch.low.shape[:2]))

    def after(self, batch: Batch, variable: int) -> Bracket:
        """P(variable | evidence, class), (takers, tables, classes, states)."""
        tables, classes, levels = batch.low.shape
        skill, states = batch.scope[0], np.eye(self._model.sizes[variable])
        each = tables * classes
        boxes = {v: (np.repeat(low, each, axis=0), np.repeat(high, each, axis=0)) for v, (low, high) in self._told.items()}
        before = self._told.get(skill, (np.zeros((self._takers, levels)),) * 2)
        low, high = ((end[:, None] + new.reshape(-1, levels)).reshape(-1, levels) for end, new in zip(before, batch.logs, strict=True))
        return self._bounds(variable, states, states, {**boxes, skill: (low, high)}, (self._takers, tables, classes, len(states)))

    def _bounds(self, target: int, low: Array, high: Array, boxes: Boxes, shape: tuple[int, ...]) -> Bracket:
        """The smallest expectations of goals `low` and the largest of `high`, (goals, states), for the evidence of each case."""
        goals = np.concatenate([1 - low, high])  # never below 0: near 0, unlike near -1, tiny differences count
        told = {v: _scaled(*box) for v, box in boxes.items()}
        inner, outer = self._largest(target, goals, told, None)
        count = len(low)
        ends = [np.clip(end, 0, 1) for end in (1 - outer[:, :count], outer[:, count:], 1 - inner[:, :count], inner[:, count:])]
        lower, upper, *attained = (np.broadcast_to(end, (prod(shape) // count, count)).reshape(shape) for end in ends)
        found = Bracket(lower, upper, attained[0], attained[1], "fills")
        return found if found.gap else Bracket.exact(found.inner_lower, found.inner_upper, "fills")

    def _largest(self, target: int, goals: Array, told: Boxes, without: int | None) -> tuple[Array, Array]:
        """The largest expectations, (cases, goals): attained ones, and such as no network exceeds; one family may be left out."""
        tree = Tree(self._model, target, told, without)
        sides = {(v, parent): self._side(parent, told, v) for v in tree.kids for parent in tree.others[v]}
        boxes: Boxes = {v: told[v] for v in tree.kids if v in told} | {key: side[:2] for key, side in sides.items()}
        cases = max([1, *(len(low) for low, _ in boxes.values())])
        pinned: Boxes = {**boxes, **{key: (side[2], side[2]) for key, side in sides.items()}}
        is_shared = any((low < high).any() for low, high, _ in sides.values())  # each state chooses a side by itself: a bound
        alone = cases // self._takers if tree.width and cases > 1 else cases  # nobody's bounds depend on the work for others
        step = min(alone, max(1, CHUNK // (len(goals) * tree.numbers)))
        budget = self._work // (tree.numbers * max(1, tree.width)) * step // alone
        inner, outer = np.empty((2, cases, len(goals)))
        for one in parts(cases, alone):
            for some in parts(alone, step):
                number = np.arange(cases)[one][some]
                found = maximise(tree, Asked.of(goals, boxes, number), budget, self._end)
                if is_shared:
                    found = maximise(tree, Asked.of(goals, pinned, number), budget, self._end)[0], found[1]
                inner[number], outer[number] = (end.reshape(-1, len(goals)) for end in found)
        return inner, outer

    def _side(self, parent: int, told: Boxes, child: int) -> tuple[Array, Array, Array]:
        """What a parent says to a child, as a distribution, (cases, states): its bounds, and one that some network has."""
        there = beyond(self._model, parent, child)
        boxes: Boxes = {v: box for v, box in told.items() if v in there}
        size = self._model.sizes[parent]
        _, outer = self._largest(parent, np.concatenate([1 - np.eye(size), np.eye(size)]), boxes, child)
        low, high = np.clip(1 - outer[:, :size], 0, 1), np.clip(outer[:, size:], 0, 1)
        middle = self._model.with_boxes({(v,): boxes[v] for v in there if v in boxes}).centre()
        junction = junction_of(middle)
        centre = junction.marginal(junction.calibrate({scope: low for scope, (low, _) in middle.boxes.items()}), (parent,))
        possible = (low <= high + NEAR).all(axis=1, keepdims=True)
        low = np.minimum(low, high)  # of exact numbers rounding may turn the ends round
        return np.where(possible, low, 0), np.where(possible, high, 0), np.where(possible, np.nan_to_num(centre).reshape(-1, size), 0)


def _scaled(low: Array, high: Array) -> tuple[Array, Array]:
    """A box scaled so that its largest upper end is one."""
    top = high.max(axis=1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    return low - top, high - top
