"""Looking ahead where only branch and bound can tell: loops, questions on several skills. All answers of a scope are solved together."""

from collections.abc import Mapping, Sequence

import numpy as np

from quaestor.inference.banks import BankModel
from quaestor.inference.branch import maximise
from quaestor.inference.core import core_of
from quaestor.inference.credal import EXACT, NODES, credal_bounds
from quaestor.inference.groups import Batch
from quaestor.inference.hulls import TooLargeError, corners, hull
from quaestor.inference.model import Box, Model, Scope, likelihood
from quaestor.inference.reach import Reach, reach
from quaestor.table import Array, Table

Ends = tuple[Array, Array]
TOLERANCE = 5e-4  # outer and inner bounds this close are close enough to choose a question

__all__ = ["NODES", "TOLERANCE", "LoopAhead"]


class LoopAhead:
    """Certified bounds for any bank, taker by taker."""

    name = "branch"

    def __init__(self, compiled: BankModel, boxes: Mapping[Scope, Box], takers: int, tolerance: float, limit: int) -> None:
        self._models = [
            compiled.model.with_boxes(
                {s: (low[t if len(low) > 1 else 0], high[t if len(high) > 1 else 0]) for s, (low, high) in boxes.items()}
            )
            for t in range(takers)
        ]
        self._tolerance, self._limit = tolerance, limit
        self._now: dict[int, tuple[Array, Array, float]] = {}
        self._reached: dict[int, list[Reach] | None] = {}

    def applies(self, batch: Batch) -> bool:
        """Always."""
        return True

    def now(self, skill: int) -> tuple[Array, Array, float]:
        """Bounds of P(skill | evidence), (takers, levels), and the gap."""
        reached = self._reach(skill)
        if skill not in self._now and reached is not None:
            ends = [_own(model, skill) for model in self._models]
            direct = [one.bounds(low[None], high[None]) for one, (low, high) in zip(reached, ends, strict=True)]
            low, high = (np.concatenate([bounds[end] for bounds in direct]) for end in (0, 1))
            self._now[skill] = (low, high, _visible(max(bounds[2] for bounds in direct)))
        elif skill not in self._now:
            found = [credal_bounds(model, [skill], "auto", self._tolerance, self._limit)[skill] for model in self._models]
            low, high = np.stack([bounds.lower for bounds in found]), np.stack([bounds.upper for bounds in found])
            self._now[skill] = (low, high, max(bounds.gap for bounds in found))
        return self._now[skill]

    def answers(self, batch: Batch) -> tuple[Ends, float]:
        """Bounds of P(answer | evidence), (takers, tables, classes): the question as one more variable, asked for itself."""
        reached = self._reach(batch.scope[0]) if len(batch.scope) == 1 else None
        if reached is not None:
            return self._answers_reached(batch, reached)
        lows, highs, gap = [], [], 0.0
        for model in self._models:
            for table in range(len(batch.low)):
                asked = _with_question(model, batch, table)
                goal = len(model.sizes)
                bounds = credal_bounds(asked, [goal], "auto", self._tolerance, self._limit)[goal]
                lows.append(bounds.lower)
                highs.append(bounds.upper)
                gap = max(gap, bounds.gap)
        shape = (len(self._models), *batch.low.shape[:2])
        return (np.stack(lows).reshape(shape), np.stack(highs).reshape(shape)), gap

    def after(self, batch: Batch, skills: Sequence[int]) -> tuple[list[Ends], float]:
        """Bounds of P(skill | evidence, answer), (takers, tables, classes, levels)."""
        results, gap = [], 0.0
        for skill in skills:
            reached = self._reach(skill) if batch.scope == (skill,) else None
            if reached is not None:
                found = [_after_reached(model, batch, one) for model, one in zip(self._models, reached, strict=True)]
            else:
                found = [self._solve(model, batch, skill) for model in self._models]
            results.append((np.stack([low for low, _, _ in found]), np.stack([high for _, high, _ in found])))
            gap = max(gap, *(one_gap for _, _, one_gap in found))
        return results, gap

    def _reach(self, skill: int) -> list[Reach] | None:
        """For each taker what reaches a skill of two or three levels; None for others."""
        if skill not in self._reached:
            try:
                self._reached[skill] = [reach(model, skill, self._tolerance, self._limit) for model in self._models]
            except TooLargeError:
                self._reached[skill] = None
        return self._reached[skill]

    def _answers_reached(self, batch: Batch, reached: list[Reach]) -> tuple[Ends, float]:
        lows, highs, gap = [], [], 0.0
        for model, one in zip(self._models, reached, strict=True):
            low, high = _own(model, batch.scope[0])
            ends = []
            for vectors in (one.outer, one.inner):
                points = hull((vectors[:, None] * corners(low[None], high[None])[None]).reshape(-1, vectors.shape[1]))
                ends.append(((batch.low @ points.T).min(axis=2), (batch.high @ points.T).max(axis=2)))
            lows.append(ends[0][0])
            highs.append(ends[0][1])
            gap = max(gap, float((ends[1][0] - ends[0][0]).max()), float((ends[0][1] - ends[1][1]).max()))
        return (np.stack(lows), np.stack(highs)), _visible(gap)

    def _solve(self, model: Model, batch: Batch, skill: int) -> tuple[Array, Array, float]:
        """All answers to all tables of a batch as problems of one branch and bound."""
        tables, classes = batch.low.shape[:2]
        size = model.sizes[skill]
        blank = np.zeros(batch.low.shape[2:])
        before = model.boxes.get(batch.scope, (blank, blank))
        core = core_of(model.with_boxes({**model.boxes, batch.scope: before}), skill, batch.scope)
        logs = [end + batch.logs[side].reshape(tables * classes, *blank.shape) for side, end in enumerate(before)]
        top = logs[1].reshape(tables * classes, -1).max(axis=1).reshape(-1, *(1,) * blank.ndim)
        top = np.where(np.isfinite(top), top, 0)
        goals = np.eye(size) if size == 2 else np.concatenate([np.eye(size), 1 - np.eye(size)])
        count = len(goals)
        scope = tuple(core.number[v] for v in batch.scope)
        ends = tuple(np.repeat(np.exp(log - top), count, axis=0) for log in logs)
        found = maximise(core, np.tile(goals, (tables * classes, 1)), {scope: (ends[0], ends[1])}, self._tolerance, self._limit)
        outer = found.outer.reshape(tables, classes, -1, size)
        most, least = outer[:, :, 0], 1 - (outer[:, :, 0, ::-1] if size == 2 else outer[:, :, 1])
        gap = float((found.outer - found.inner).max())
        return np.clip(least, 0, 1), np.clip(most, 0, 1), _visible(gap)


def _visible(gap: float) -> float:
    """A gap, or zero when inner and outer bounds are one number."""
    return gap if gap > EXACT * 10 else 0.0


def _own(model: Model, skill: int) -> Ends:
    """The likelihood box of the evidence on a skill alone."""
    box = model.boxes.get((skill,))
    return likelihood(box) if box is not None else (np.ones(model.sizes[skill]), np.ones(model.sizes[skill]))


def _after_reached(model: Model, batch: Batch, reached: Reach) -> tuple[Array, Array, float]:
    low, high = _own(model, batch.scope[0])
    levels = batch.low.shape[-1]
    lower, upper, gap = reached.bounds((batch.low * low).reshape(-1, levels), (batch.high * high).reshape(-1, levels))
    return lower.reshape(batch.low.shape), upper.reshape(batch.low.shape), _visible(gap)


def _with_question(model: Model, batch: Batch, table: int) -> Model:
    """The model with one question as a further hidden variable."""
    low, high = (np.moveaxis(bound[table], 0, -1) for bound in (batch.low, batch.high))
    states = tuple(str(answer) for answer in range(batch.low.shape[1]))
    return Model(
        (*model.names, "?"), (*model.states, states), (*model.parents, batch.scope), (*model.tables, Table(low, high)), model.boxes
    )
