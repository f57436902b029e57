"""What each question would tell: bounds on its target skills now, on its answers, and on the skills after each answer.

Scores see only this. Questions of one scope and number of classes form a `Group` of arrays; questions with equal tables are worked out
once. A leading axis runs over takers, one unless many are looked at together. Bounds after a hypothetical answer are exact wherever the
posterior is: they come from the messages that reach the skill and its new likelihood box, never from the box of its posteriors.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quaestor.bank import Bank
from quaestor.errors import QuaestorError, nearest
from quaestor.inference.banks import Answers, BankModel, bank_model
from quaestor.inference.groups import Batch, bank_batches
from quaestor.inference.loops import NODES, TOLERANCE, LoopAhead
from quaestor.inference.model import Box, Scope
from quaestor.inference.precise_ahead import PreciseAhead
from quaestor.inference.tree_ahead import HullAhead, OddsAhead
from quaestor.table import Array

Ahead = PreciseAhead | OddsAhead | HullAhead | LoopAhead


@dataclass(frozen=True)
class Target:
    """One skill that questions may tell about: bounds now, (takers, levels), and after, (takers, tables, classes, levels)."""

    skill: str
    now: tuple[Array, Array]
    after: tuple[Array, Array]


@dataclass(frozen=True)
class Group:
    """Questions of one scope and class count; see `Batch` for which questions and tables. `answers`: (takers, tables, classes) bounds."""

    batch: Batch
    answers: tuple[Array, Array]
    targets: tuple[Target, ...]
    method: str
    gap: float


@dataclass(frozen=True)
class Lookahead:
    """All groups of a bank's questions; `open` tells which questions each taker has not answered, (takers, questions)."""

    ids: NDArray[np.object_]
    open: NDArray[np.bool_]
    groups: tuple[Group, ...]

    @property
    def gap(self) -> float:
        """The largest distance between an outer and an inner bound; 0.0 when exact."""
        return max(group.gap for group in self.groups)

    @property
    def exact(self) -> bool:
        """Whether all bounds are exact."""
        return self.gap == 0.0


def lookahead(
    bank: Bank,
    answers: Answers | None = None,
    targets: str | Sequence[str] = "scope",
    tolerance: float = TOLERANCE,
    limit: int = NODES,
) -> Lookahead:
    """Look one question ahead for one taker. `targets`: `scope` (each question's own skills), `all`, or skills by id.

    Where only branch and bound can tell (loops), it stops when outer and inner bounds are within the tolerance, or at the limit of
    nodes.
    """
    compiled = bank_model(bank)
    answers = answers or {}
    boxes = {scope: (low[None], high[None]) for scope, (low, high) in compiled.boxes(answers).items()}
    is_open = np.ones((1, len(bank.questions)), dtype=bool)
    is_open[0, [compiled.place[question] for question in answers]] = False
    return look(compiled, boxes, is_open, targets, tolerance, limit)


def look(
    compiled: BankModel,
    boxes: Mapping[Scope, Box],
    is_open: NDArray[np.bool_],
    targets: str | Sequence[str] = "scope",
    tolerance: float = TOLERANCE,
    limit: int = NODES,
) -> Lookahead:
    """The same for many takers: boxes of shape (takers, *levels of the scope), `is_open` of shape (takers, questions)."""
    wanted = _wanted(compiled, targets)
    takers = len(is_open)
    kinds: tuple[type[Ahead], ...] = (PreciseAhead,) if compiled.is_precise else (OddsAhead, HullAhead, LoopAhead)
    made: dict[type, Ahead] = {}  # a slower way is made ready only when a batch needs it

    def way_for(batch: Batch) -> Ahead:
        for kind in kinds:
            if kind not in made:
                made[kind] = kind(compiled, boxes, takers, tolerance, limit)
            if made[kind].applies(batch):
                return made[kind]
        raise AssertionError("the last way always applies")

    groups = []
    for batch in bank_batches(compiled.bank):
        skills = list(batch.scope) if wanted is None else wanted
        way = way_for(batch)
        after, gap = way.after(batch, skills)
        answers, answers_gap = way.answers(batch)
        now = [way.now(skill) for skill in skills]
        found = [Target(compiled.model.names[s], n[:2], a) for s, n, a in zip(skills, now, after, strict=True)]
        groups.append(Group(batch, answers, tuple(found), way.name, max(gap, answers_gap, *(n[2] for n in now))))
    return Lookahead(compiled.ids, is_open, tuple(groups))


def _wanted(compiled: BankModel, targets: str | Sequence[str]) -> list[int] | None:
    """The targets' numbers; None for each question's own skills."""
    if targets == "scope":
        return None
    if targets == "all":
        return [compiled.position[skill] for skill in compiled.bank.skills]
    if isinstance(targets, str):
        raise QuaestorError(f"targets is 'scope', 'all' or a list of skills, got {targets!r}")
    for name in targets:
        if name not in compiled.position:
            hint = nearest(name, compiled.position)
            raise QuaestorError(f"unknown skill, got '{name}'" + (f" ({hint})" if hint else ""))
    return [compiled.position[name] for name in targets]
