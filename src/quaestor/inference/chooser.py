"""Look one question ahead: fill in what scores see (`quaestor.ahead`) for all questions of a bank at once.

Bounds after a hypothetical answer are exact wherever the posterior is: they come from the messages that reach the skill and its new
likelihood box, never from the box of its posteriors.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial

import numpy as np
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank
from quaestor.credal.vectors import TooLargeError
from quaestor.errors import StatementError, Words, nearest, placed
from quaestor.i18n import say
from quaestor.inference.engines.loops import NODES, TOLERANCE, LoopAhead
from quaestor.inference.engines.precise import PreciseAhead
from quaestor.inference.engines.tree_ahead import HullAhead, OddsAhead
from quaestor.inference.groups import Batch, bank_batches
from quaestor.inference.layout import Answers, BankModel, Stated, bank_model
from quaestor.inference.lookahead import Ends, Group, JointTarget, Lookahead, Target
from quaestor.inference.model import Box, Scope

Ahead = PreciseAhead | OddsAhead | HullAhead | LoopAhead
Targets = str | Sequence[str] | Mapping[str, float]


class TargetError(StatementError):
    """A target that is none, or that a bank does not have."""


def lookahead(
    bank: Bank,
    answers: Answers | None = None,
    targets: Targets = "scope",
    tolerance: float = TOLERANCE,
    limit: int = NODES,
    stated: Stated | None = None,
    asked: Iterable[str] = (),
) -> Lookahead:
    """Look one question ahead for one taker.

    `targets`: `scope` (each question's own skills), `all`, `joint` (all skills together, precise banks), skills by id, or weights by
    skill. `stated`: what is known of skills otherwise, see `posterior`; `asked`: questions that are closed though not answered.
    Where only branch and bound can tell (loops), it stops when outer and inner bounds are within the tolerance, or at the limit of nodes.
    """
    compiled = bank_model(bank)
    answers = answers or {}
    boxes = {scope: (low[None], high[None]) for scope, (low, high) in compiled.boxes(answers, stated).items()}
    is_open = np.ones((1, len(bank.questions)), dtype=bool)
    is_open[0, [compiled.place[question] for question in (*answers, *asked)]] = False
    return look(compiled, boxes, is_open, targets, tolerance, limit)


def look(
    compiled: BankModel,
    boxes: Mapping[Scope, Box],
    is_open: NDArray[np.bool_],
    targets: Targets = "scope",
    tolerance: float = TOLERANCE,
    limit: int = NODES,
) -> Lookahead:
    """The same for many takers: boxes of shape (takers, *levels of the scope), `is_open` of shape (takers, questions)."""
    return Ways(compiled, boxes, len(is_open), tolerance, limit).look(is_open, targets)


class Ways:
    """The ways of inference for one set of evidence of many takers; a slower one is made ready only when something needs it."""

    def __init__(
        self, compiled: BankModel, boxes: Mapping[Scope, Box], takers: int, tolerance: float = TOLERANCE, limit: int = NODES
    ) -> None:
        self._compiled, self._boxes, self._takers, self._tolerance, self._limit = compiled, boxes, takers, tolerance, limit
        self._kinds: tuple[type[Ahead], ...] = (PreciseAhead,) if compiled.is_precise else (OddsAhead, HullAhead, LoopAhead)
        self._made: dict[type, Ahead] = {}
        self._pinned: dict[tuple[int, int], Ways] = {}

    def look(self, is_open: NDArray[np.bool_], targets: Targets = "scope") -> Lookahead:
        """What every open question would tell; `is_open`: (takers, questions). Groups in which none is open are left out."""
        batches = [batch for batch in bank_batches(self._compiled.bank) if is_open[:, batch.index].any()]
        return self._look(is_open, batches, wanted(self._compiled, targets), targets == "joint")

    def foretell(self, is_open: NDArray[np.bool_]) -> Lookahead:
        """Nothing but the probabilities of the answers, to all questions."""
        return self._look(is_open, bank_batches(self._compiled.bank), {}, False)

    def _look(self, is_open: NDArray[np.bool_], batches: list[Batch], weights: dict[int, float] | None, with_joint: bool) -> Lookahead:
        compiled, groups = self._compiled, []
        for batch in batches:
            skills = list(batch.scope) if weights is None else list(weights)
            way = self.of(batch)
            after, gap = _after(way, batch, skills)
            answers, answers_gap = way.answers(batch)
            now = [way.now(skill) for skill in skills]
            found = tuple(
                Target(compiled.model.names[s], n[:2], a, self.rows(batch, s, n[1]), 1.0 if weights is None else weights[s])
                for s, n, a in zip(skills, now, after, strict=True)
            )
            joint = self.joint(batch) if with_joint else None
            groups.append(Group(batch, answers, found, way.name, max(gap, answers_gap, *(n[2] for n in now), 0.0), joint))
        return Lookahead(compiled.ids, is_open, tuple(groups))

    def now(self, skill: int) -> Ends:
        """Bounds of P(skill | evidence), (takers, levels), by the fastest way that fits; in loops the very numbers of `posterior`."""
        for kind in self._kinds:
            way = self._make(kind)
            if isinstance(way, LoopAhead):
                return way.posterior(skill)
            if way.fits:
                with suppress(TooLargeError):
                    return way.now(skill)[:2]
        raise AssertionError("the last way always fits")

    def _make(self, kind: type[Ahead]) -> Ahead:
        if kind not in self._made:
            self._made[kind] = kind(self._compiled, self._boxes, self._takers, self._tolerance, self._limit)
        return self._made[kind]

    def of(self, batch: Batch) -> Ahead:
        """The fastest way that a batch allows."""
        for kind in self._kinds:
            way = self._make(kind)
            if way.applies(batch):
                return way
        raise AssertionError("the last way always applies")

    def joint(self, batch: Batch) -> JointTarget:
        """The joint of all skills as a batch sees it."""
        way = self.of(batch)
        assert isinstance(way, PreciseAhead)  # `wanted` lets only precise banks through
        return way.joint_of(batch)

    def rows(self, batch: Batch, skill: int, upper: NDArray[np.float64]) -> "_Rows":
        """Bounds of P(class | level of the skill, evidence), to be worked out if a score needs them; `upper`: of the levels now."""
        return _Rows(self, batch, skill, upper)

    def given(self, batch: Batch, skill: int, level: int) -> Ends:
        """Bounds of P(class | skill = level, evidence), (takers, tables, classes): the answers when the skill is pinned to the level."""
        if (skill, level) not in self._pinned:
            size = self._compiled.model.sizes[skill]
            pin = np.where(np.arange(size) == level, 0.0, -np.inf)[None]
            low, high = self._boxes.get((skill,), (np.zeros((1, size)),) * 2)
            boxes = {**self._boxes, (skill,): (low + pin, high + pin)}
            self._pinned[skill, level] = Ways(self._compiled, boxes, self._takers, self._tolerance, self._limit)
        ways = self._pinned[skill, level]
        rest = batch.without(skill, level)
        return ways.of(rest).answers(rest)[0]


def _after(way: Ahead, batch: Batch, skills: list[int]) -> tuple[list[Callable[[], Ends]], float]:
    """For each skill its bounds after each answer, and the gap; in precise banks they are left to be worked out when a score needs them."""
    if isinstance(way, PreciseAhead):
        return [partial(way.one_after, batch, skill) for skill in skills], 0.0
    found, gap = way.after(batch, skills)
    return [partial(_same, ends) for ends in found], gap


def _same(ends: Ends) -> Ends:
    return ends


class _Rows:
    """What a target's rows are worked out from."""

    def __init__(self, ways: Ways, batch: Batch, skill: int, upper: NDArray[np.float64]) -> None:
        self._ways, self._batch, self._skill, self._upper = ways, batch, skill, upper

    def __call__(self) -> Ends:
        batch = self._batch
        takers, levels = self._upper.shape
        if batch.scope == (self._skill,):
            shape = (takers, *batch.low.shape)
            return np.broadcast_to(batch.low, shape), np.broadcast_to(batch.high, shape)
        low, high = np.zeros((takers, *batch.low.shape[:2], levels)), np.ones((takers, *batch.low.shape[:2], levels))
        for level in range(levels):
            possible = self._upper[:, level] > 0  # of a level that nobody can have nothing is known
            if possible.any():
                ends = self._ways.given(batch, self._skill, level)
                low[possible, ..., level], high[possible, ..., level] = ends[0][possible], ends[1][possible]
        return low, high


def wanted(compiled: BankModel, targets: Targets) -> dict[int, float] | None:
    """The targets' numbers and weights; None for each question's own skills."""
    if targets == "scope":
        return None
    if targets == "joint":
        if not compiled.is_precise:
            raise TargetError(say("target 'joint' is for precise banks"), say("a credal one; use 'scope', 'all' or skills"))
        return {}
    if targets == "all":
        return {compiled.position[skill]: 1.0 for skill in compiled.bank.skills}
    if isinstance(targets, str):
        hint = nearest(targets, ["scope", "all", "joint"]) or say("a list of skills is written ['a', 'b']")
        raise TargetError(say("a target is 'scope', 'all', 'joint', a list of skills or weights by skill"), Words(f"'{targets}'"), hint)
    if not isinstance(targets, Mapping | Sequence):
        raise TargetError(say("a target is 'scope', 'all', 'joint', a list of skills or weights by skill"), Words(repr(targets)))
    weights = dict(targets) if isinstance(targets, Mapping) else dict.fromkeys(targets, 1.0)
    if not weights:
        raise TargetError(say("a target names at least one skill"), say("none"))
    for name, weight in weights.items():
        if name not in compiled.position:
            raise TargetError(say("unknown skill"), Words(f"'{name}'"), nearest(name, compiled.position))
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight < float("inf"):
            raise TargetError(placed(name, say("the weight of a target is a number above 0")), Words(repr(weight)))
    return {compiled.position[name]: float(weight) for name, weight in weights.items()}
