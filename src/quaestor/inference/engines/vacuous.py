"""Where plain numbers cannot hold the evidence: nothing is claimed but that the centre of the set is inside."""

import numpy as np

from quaestor.inference.engine import Bracket
from quaestor.inference.engines.precise import PreciseEngine
from quaestor.inference.joint import LARGEST
from quaestor.inference.layout import Batch
from quaestor.inference.model import Model
from quaestor.model.table import Array

METHOD = "bracket"


class VacuousEngine:
    """Bounds of 0 and 1 around what the centre of the set says."""

    def __init__(self, model: Model, takers: int) -> None:
        centre = model.centre()
        self._centre = PreciseEngine(centre, takers, "joint" if centre.joint_size <= LARGEST else "junction")

    def now(self, variable: int) -> Bracket:
        """P(variable | evidence), (takers, states)."""
        return _around(self._centre.now(variable).lower)

    def answers(self, batch: Batch) -> Bracket:
        """P(class | evidence), (takers, tables, classes)."""
        return _around(self._centre.answers(_middle(batch)).lower)

    def after(self, batch: Batch, variable: int) -> Bracket:
        """P(variable | evidence, class), (takers, tables, classes, states)."""
        return _around(self._centre.after(_middle(batch), variable).lower)


def _middle(batch: Batch) -> Batch:
    """The questions with every class in the middle of its interval: each class by itself can be so likely."""
    if "middle" not in batch.kept:
        middle = (batch.low + batch.high) / 2
        batch.kept["middle"] = Batch(batch.scope, batch.skills, batch.index, batch.row, middle, middle)
    found: Batch = batch.kept["middle"]
    return found


def _around(inner: Array) -> Bracket:
    return Bracket(np.zeros_like(inner), np.ones_like(inner), inner, inner, METHOD)
