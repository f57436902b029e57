"""Looking ahead where only branch and bound can tell: loops, questions on several skills. All answers of a scope are solved together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from quaestor.credal.vectors import TooLargeError, bounds_of, corners, hull
from quaestor.inference.credal import EXACT, NODES, credal_bounds, drowns
from quaestor.inference.groups import Batch
from quaestor.inference.layout import BankModel
from quaestor.inference.model import Box, Model, Scope, likelihood
from quaestor.inference.search.branch import maximise
from quaestor.inference.search.core import Core, core_of
from quaestor.inference.search.reach import Reach, reach
from quaestor.model.table import Array

Ends = tuple[Array, Array]
TOLERANCE = 5e-4  # outer and inner bounds this close are close enough to choose a question

__all__ = ["NODES", "TOLERANCE", "LoopAhead"]


@dataclass(frozen=True)
class _Asked:
    """Bounds of the answers, (tables, classes), and of skills after each, (tables, classes, levels)."""

    answers: Ends
    after: dict[int, Ends]
    gap: float


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
        self._asked: dict[tuple[object, ...], list[_Asked]] = {}
        self._now: dict[int, tuple[Array, Array, float]] = {}
        self._reached: dict[int, list[Reach] | None] = {}

    def applies(self, batch: Batch) -> bool:
        """Always."""
        return True

    def now(self, skill: int) -> tuple[Array, Array, float]:
        """Bounds of P(skill | evidence), (takers, levels), and the gap."""
        if skill not in self._now:
            reached = self._reach(skill)
            found = [self._now_of(model, skill, reached[taker] if reached else None) for taker, model in enumerate(self._models)]
            low, high = np.stack([low for low, _, _ in found]), np.stack([high for _, high, _ in found])
            self._now[skill] = (low, high, max(gap for _, _, gap in found))
        return self._now[skill]

    def _now_of(self, model: Model, skill: int, reached: Reach | None) -> tuple[Array, Array, float]:
        if reached is not None:
            own, other = _own(model, skill)
            (low,), (high,), gap = reached.bounds(own[None], other[None])
            if gap <= self._tolerance:
                return low, high, _visible(gap)
        found = credal_bounds(model, [skill], "auto", self._tolerance, self._limit)[skill]
        return found.lower, found.upper, found.gap

    def posterior(self, skill: int) -> Ends:
        """Bounds of P(skill | evidence), (takers, levels), as `posterior` finds them with this tolerance."""
        found = [credal_bounds(model, [skill], "auto", self._tolerance, self._limit)[skill] for model in self._models]
        return np.stack([bounds.lower for bounds in found]), np.stack([bounds.upper for bounds in found])

    def answers(self, batch: Batch) -> tuple[Ends, float]:
        """Bounds of P(answer | evidence), (takers, tables, classes)."""
        found = self._of_scope(batch)
        return (np.stack([one.answers[0] for one in found]), np.stack([one.answers[1] for one in found])), max(one.gap for one in found)

    def after(self, batch: Batch, skills: Sequence[int]) -> tuple[list[Ends], float]:
        """Bounds of P(skill | evidence, answer), (takers, tables, classes, levels)."""
        results, gap = [], 0.0
        for skill in skills:
            if skill in batch.scope:
                found = [(*one.after[skill], one.gap) for one in self._of_scope(batch)]
            else:
                found = [self._elsewhere(model, batch, skill) for model in self._models]
            results.append((np.stack([low for low, _, _ in found]), np.stack([high for _, high, _ in found])))
            gap = max(gap, *(one_gap for _, _, one_gap in found))
        return results, gap

    def _of_scope(self, batch: Batch) -> list[_Asked]:
        """For each taker the answers to a batch and the skills of its scope after them."""
        key = (batch.scope, batch.low.shape, batch.low.tobytes(), batch.high.tobytes())
        if key not in self._asked:
            reached = self._reach(batch.scope[0]) if len(batch.scope) == 1 else None
            self._asked[key] = [
                self._ask_reached(model, batch, reached[taker]) if reached else self._ask(model, batch)
                for taker, model in enumerate(self._models)
            ]
        return self._asked[key]

    def _reach(self, skill: int) -> list[Reach] | None:
        """For each taker what reaches a skill, finely enough to be multiplied by evidence; None where it is not known."""
        if skill not in self._reached:
            try:
                fine = not any(drowns(model) for model in self._models)
                self._reached[skill] = [reach(model, skill, self._tolerance, self._limit) for model in self._models] if fine else None
            except TooLargeError:
                self._reached[skill] = None
        return self._reached[skill]

    def _ask_reached(self, model: Model, batch: Batch, reached: Reach) -> _Asked:
        """One skill, of which it is known what reaches it; tables for which that is not known well enough are asked for themselves."""
        skill, (low, high) = batch.scope[0], _own(model, batch.scope[0])
        outer, inner = (_from_vectors(vectors, batch, low, high) for vectors in (reached.outer, reached.inner))
        apart = [np.abs(one - other).reshape(len(one), -1).max(axis=1) for one, other in zip(outer, inner, strict=True)]
        gaps = np.max(apart, axis=0)
        wide = np.flatnonzero(gaps > self._tolerance)
        if len(wide):
            closer = self._ask(model, replace(batch, low=batch.low[wide], high=batch.high[wide]))
            for end, bounds in enumerate((*closer.answers, *closer.after[skill])):
                outer[end][wide] = (np.maximum, np.minimum)[end % 2](outer[end][wide], bounds)
            gaps[wide] = np.minimum(gaps[wide], closer.gap)
        return _Asked((outer[0], outer[1]), {skill: (outer[2], outer[3])}, _visible(float(gaps.max())))

    def _ask(self, model: Model, batch: Batch) -> _Asked:
        """The answers to all tables of a batch, and the skills of its scope after each: problems of one branch and bound."""
        if drowns(model):
            return _vacuous(model, batch, batch.scope)
        core, before, after = _open(model, batch)
        scope = tuple(core.number[v] for v in batch.scope)
        tables, classes, *sizes = batch.low.shape
        wanted = [batch.high.reshape(-1, *sizes), -batch.low.reshape(-1, *sizes)]
        ends = [[np.broadcast_to(end, (2 * tables * classes, *sizes))] for end in before]
        for skill in batch.scope:
            goals = _goals(model.sizes[skill])
            shape = (*(size if v == skill else 1 for v, size in zip(batch.scope, sizes, strict=True)),)
            goals = np.broadcast_to(goals.reshape(-1, *shape), (len(goals), *sizes))
            wanted.append(np.tile(goals, (tables * classes, *(1 for _ in sizes))))
            for side, end in enumerate(after):
                ends[side].append(np.repeat(end, len(goals), axis=0))
        low, high = (np.concatenate(parts) for parts in ends)
        found = maximise(core, np.concatenate(wanted), {scope: (low, high)}, self._tolerance, self._limit, scope)
        most, least, *rest = np.split(found.outer, np.cumsum([len(part) for part in wanted])[:-1])
        bounds = {skill: _bounds(part, (tables, classes), model.sizes[skill]) for skill, part in zip(batch.scope, rest, strict=True)}
        answers = (np.clip(-least, 0, 1).reshape(tables, classes), np.clip(most, 0, 1).reshape(tables, classes))
        return _Asked(answers, bounds, _visible(float((found.outer - found.inner).max())))

    def _elsewhere(self, model: Model, batch: Batch, skill: int) -> tuple[Array, Array, float]:
        """A skill outside the scope after all answers to all tables of a batch."""
        if drowns(model):
            return *_vacuous(model, batch, (skill,)).after[skill], 1.0
        core, _, after = _open(model, batch, skill)
        scope, goals = tuple(core.number[v] for v in batch.scope), _goals(model.sizes[skill])
        ends = [np.repeat(end, len(goals), axis=0) for end in after]
        g = np.tile(goals, (len(after[0]), 1))
        found = maximise(core, g, {scope: (ends[0], ends[1])}, self._tolerance, self._limit, (core.number[skill],))
        least, most = _bounds(found.outer, batch.low.shape[:2], model.sizes[skill])
        return least, most, _visible(float((found.outer - found.inner).max()))


def _open(model: Model, batch: Batch, *others: int) -> tuple[Core, Ends, Ends]:
    """A core that keeps the scope of a batch and its evidence; that evidence before, and after each answer, (tables x classes, *levels)."""
    sizes = batch.low.shape[2:]
    before = model.boxes.get(batch.scope, (np.zeros(sizes), np.zeros(sizes)))
    core = core_of(model.with_boxes({**model.boxes, batch.scope: before}), (*batch.scope, *others), batch.scope)
    logs = [end + log.reshape(-1, *sizes) for end, log in zip(before, batch.logs, strict=True)]
    top = logs[1].reshape(len(logs[1]), -1).max(axis=1).reshape(-1, *(1 for _ in sizes))
    top = np.where(np.isfinite(top), top, 0)
    return core, likelihood(before), (np.exp(logs[0] - top), np.exp(logs[1] - top))


def _goals(size: int) -> Array:
    """What is maximised to bound a skill: each level, and for more than two each level's complement."""
    return np.eye(size) if size == 2 else np.concatenate([np.eye(size), 1 - np.eye(size)])


def _bounds(outer: Array, shape: tuple[int, ...], size: int) -> Ends:
    """Lower and upper bounds, (*shape, levels), from the largest values of the goals."""
    outer = outer.reshape(*shape, -1, size)
    most, least = outer[..., 0, :], 1 - (outer[..., 0, ::-1] if size == 2 else outer[..., 1, :])
    return np.clip(least, 0, 1), np.clip(most, 0, 1)


def _visible(gap: float) -> float:
    """A gap, or zero when inner and outer bounds are one number."""
    return gap if gap > EXACT * 10 else 0.0


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


def _vacuous(model: Model, batch: Batch, skills: Scope) -> _Asked:
    """Nothing is claimed: plain numbers may lose likelihoods that matter."""
    shape = batch.low.shape[:2]
    after = {skill: (np.zeros((*shape, model.sizes[skill])), np.ones((*shape, model.sizes[skill]))) for skill in skills}
    return _Asked((np.zeros(shape), np.ones(shape)), after, 1.0)
