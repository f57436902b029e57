"""Looking ahead in credal banks that are singly connected: the messages that reach a skill do not depend on what is asked of it."""

from collections.abc import Mapping, Sequence

import numpy as np

from quaestor.credal.vectors import TooLargeError, bounds_of, corners, hull
from quaestor.inference.conflict import is_possible
from quaestor.inference.engines.hulls import HullMessages
from quaestor.inference.engines.odds import Interval, OddsMessages, add, applies, expit
from quaestor.inference.groups import Batch
from quaestor.inference.layout import BankModel
from quaestor.inference.model import Box, Scope
from quaestor.model.table import Array

Ends = tuple[Array, Array]
_CHUNK = 4_000_000  # numbers in one array of the hull look-ahead


class OddsAhead:
    """Two-level skills and questions on one skill: closed form, for many takers at once; other targets by batched messages."""

    name = "odds"

    def __init__(self, compiled: BankModel, boxes: Mapping[Scope, Box], takers: int, tolerance: float, limit: int) -> None:
        self._model, self._takers = compiled.model.with_boxes(boxes), takers
        self.fits = applies(self._model)
        self._messages = OddsMessages(self._model) if self.fits else None

    def applies(self, batch: Batch) -> bool:
        """Whether everything asked for has a closed form."""
        return self.fits and len(batch.scope) == 1

    def _known(self) -> OddsMessages:
        assert self._messages is not None
        return self._messages

    def now(self, skill: int) -> tuple[Array, Array, float]:
        """Bounds of P(skill | evidence), (takers, 2), and the gap."""
        low, high = (_wide(end, self._takers) for end in self._known().posterior(skill))
        return *_two(low, high), 0.0

    def answers(self, batch: Batch) -> tuple[Ends, float]:
        """Bounds of P(answer | evidence), (takers, tables, classes): linear in P(skill), so attained at its ends."""
        ends = [_wide(end, self._takers)[:, None, None] for end in self._known().posterior(batch.scope[0])]
        low, high = ([bound[..., 0] * (1 - p) + bound[..., 1] * p for p in ends] for bound in (batch.low, batch.high))
        return (np.minimum(*low), np.maximum(*high)), 0.0

    def after(self, batch: Batch, skills: Sequence[int]) -> tuple[list[Ends], float]:
        """Bounds of P(skill | evidence, answer), (takers, tables, classes, 2)."""
        asked, messages = batch.scope[0], self._known()
        reached = add(messages.around(asked), messages.own(asked))
        column: Interval = (
            _wide(reached[0], self._takers)[:, None, None],
            _wide(reached[1], self._takers)[:, None, None],
        )
        low, high = add(column, batch.ratios)
        results = [_two(expit(low), expit(high)) if skill == asked else None for skill in skills]
        if any(result is None for result in results):
            elsewhere = self._elsewhere(batch, [skill for skill in skills if skill != asked])
            results = [result if result is not None else elsewhere[skill] for result, skill in zip(results, skills, strict=True)]
        return [result for result in results if result is not None], 0.0

    def _elsewhere(self, batch: Batch, skills: Sequence[int]) -> dict[int, Ends]:
        """Other skills: every hypothetical answer of every taker is one more evidence set in the batch."""
        shape = (self._takers, *batch.low.shape[:2])
        boxes: dict[Scope, Box] = {}
        for scope, (low, high) in self._model.boxes.items():
            each = shape[1] * shape[2]
            low, high = (np.repeat(np.broadcast_to(end, (self._takers, *end.shape[1:])), each, axis=0) for end in (low, high))
            boxes[scope] = (low, high)
        asked = [np.tile(logs.reshape(-1, 2), (self._takers, 1)) for logs in batch.logs]
        before = boxes.get(batch.scope, (np.zeros((1, 2)), np.zeros((1, 2))))
        boxes[batch.scope] = (before[0] + asked[0], before[1] + asked[1])
        messages = OddsMessages(self._model.with_boxes(boxes))
        count = shape[0] * shape[1] * shape[2]
        found = {}
        for skill in skills:
            low, high = (np.broadcast_to(end, count).reshape(shape) for end in messages.posterior(skill))
            found[skill] = _two(low, high)
        return found


def _wide(end: Array, takers: int) -> Array:
    """One number a taker; numpy's own broadcasting costs more than many of the sums here."""
    return end if end.shape == (takers,) else np.broadcast_to(end, takers)


def _two(low: Array, high: Array) -> Ends:
    """Bounds of both levels from those of the higher one."""
    return np.stack([1 - high, low], axis=-1), np.stack([1 - low, high], axis=-1)


class HullAhead:
    """Any number of levels, questions on one skill: the hull of what reaches the skill, and the new box in closed form."""

    name = "hulls"

    def __init__(self, compiled: BankModel, boxes: Mapping[Scope, Box], takers: int, tolerance: float, limit: int) -> None:
        self._models = [
            compiled.model.with_boxes({s: (_of(low, taker), _of(high, taker)) for s, (low, high) in boxes.items()})
            for taker in range(takers)
        ]
        self._messages = [HullMessages(model) if model.is_singly_connected else None for model in self._models]
        self.fits = all(self._messages)
        self._around: dict[int, list[Array]] = {}

    def applies(self, batch: Batch) -> bool:
        """Whether the hulls of the asked skill can be had."""
        return len(batch.scope) == 1 and self.fits and self._vectors(batch.scope[0]) is not None

    def _vectors(self, skill: int) -> list[Array] | None:
        """For each taker the vertices of what reaches the skill; None when there are too many to list."""
        if skill not in self._around:
            try:
                self._around[skill] = [messages.around(skill) for messages in self._messages if messages is not None]
            except TooLargeError:
                self._around[skill] = []
        return self._around[skill] or None

    def now(self, skill: int) -> tuple[Array, Array, float]:
        """Bounds of P(skill | evidence), (takers, levels), and the gap."""
        found = [messages.bounds(skill) for messages in self._messages if messages is not None]
        return np.stack([low for low, _ in found]), np.stack([high for _, high in found]), 0.0

    def answers(self, batch: Batch) -> tuple[Ends, float]:
        """Bounds of P(answer | evidence), (takers, tables, classes), over the vertices of the exact posterior set."""
        lows, highs = [], []
        for messages, vectors in zip(self._messages, self._vectors(batch.scope[0]) or [], strict=True):
            assert messages is not None
            low, high = messages.own(batch.scope[0])
            points = hull((vectors[:, None] * corners(low[None], high[None])[None]).reshape(-1, vectors.shape[1]))
            lows.append((batch.low @ points.T).min(axis=2))
            highs.append((batch.high @ points.T).max(axis=2))
        return (np.stack(lows), np.stack(highs)), 0.0

    def after(self, batch: Batch, skills: Sequence[int]) -> tuple[list[Ends], float]:
        """Bounds of P(skill | evidence, answer), (takers, tables, classes, levels)."""
        asked = batch.scope[0]
        results = []
        for skill in skills:
            found = [
                self._own(taker, batch) if skill == asked else self._elsewhere(taker, batch, skill) for taker in range(len(self._models))
            ]
            results.append((np.stack([low for low, _ in found]), np.stack([high for _, high in found])))
        return results, 0.0

    def _own(self, taker: int, batch: Batch) -> Ends:
        messages = self._messages[taker]
        assert messages is not None
        low, high = messages.own(batch.scope[0])
        shape, levels = batch.low.shape, batch.low.shape[-1]
        lows, highs = (batch.low * low).reshape(-1, levels), (batch.high * high).reshape(-1, levels)
        vectors = (self._vectors(batch.scope[0]) or [])[taker]
        step = max(1, _CHUNK // vectors.size)
        parts = [bounds_of(vectors, lows[start : start + step], highs[start : start + step]) for start in range(0, len(lows), step)]
        lower, upper = (np.concatenate([part[end] for part in parts]).reshape(shape) for end in (0, 1))
        return lower, upper

    def _elsewhere(self, taker: int, batch: Batch, skill: int) -> Ends:
        """Another skill: only the messages that lead from the question's skill to it are worked out anew for each answer.

        An answer that cannot be given tells nothing.
        """
        messages, model = self._messages[taker], self._models[taker]
        assert messages is not None
        messages.around(skill)  # what all answers share
        tables, classes = batch.low.shape[:2]
        before = model.boxes.get(batch.scope, (0.0, 0.0))
        found = []
        for table in range(tables):
            for answer in range(classes):
                box = (batch.logs[0][table, answer] + before[0], batch.logs[1][table, answer] + before[1])
                if is_possible(model.with_boxes({**model.boxes, batch.scope: box})):
                    found.append(messages.updated(batch.scope[0], box).bounds(skill))
                else:
                    found.append((np.zeros(model.sizes[skill]), np.ones(model.sizes[skill])))
        lower, upper = (np.stack([bounds[end] for bounds in found]).reshape(tables, classes, -1) for end in (0, 1))
        return lower, upper


def _of(ends: Array, taker: int) -> Array:
    found: Array = ends[taker if len(ends) > 1 else 0]
    return found
