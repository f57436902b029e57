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
        self._sizes, self._takers = model.sizes, takers

    def now(self, variable: int) -> Bracket:
        """P(variable | evidence), (takers, states)."""
        return _around(self._centre.now(variable).lower)

    def answers(self, batch: Batch) -> Bracket:
        """P(class | evidence), (takers, tables, classes): no inner bounds are known, since the rows of the question are open too."""
        return _around(np.full((self._takers, *batch.low.shape[:2]), 0.5))

    def after(self, batch: Batch, variable: int) -> Bracket:
        """P(variable | evidence, class), (takers, tables, classes, states)."""
        return _around(np.full((self._takers, *batch.low.shape[:2], self._sizes[variable]), 1 / self._sizes[variable]))


def _around(inner: Array) -> Bracket:
    return Bracket(np.zeros_like(inner), np.ones_like(inner), inner, inner, METHOD)
