"""What is known when the time for a step is up: bounds as near as they were reached, and for all else the centre of the set.

The bounds of skills stay certified, so what is told of them is true. Which question comes next needs no certificate: what questions would
tell is looked up in one network, the centre, which takes no search.
"""

from collections.abc import Mapping

from quaestor.inference.chooser import Chooser
from quaestor.inference.engine import Bracket, Ends
from quaestor.inference.layout import Batch
from quaestor.inference.model import Model


class Reached(Chooser):
    """The centre of a model with the evidence of one taker, where the bounds of every variable are those that are `known`."""

    def __init__(self, model: Model, known: Mapping[int, Bracket]) -> None:
        super().__init__(model.centre())
        self._bounds, self._centre = known, Chooser(model.centre())

    def now(self, variable: int) -> Bracket:
        """P(variable | evidence), (1, states)."""
        return self._bounds[variable]

    def answers(self, batch: Batch) -> Bracket:
        """P(class | evidence) in the centre, (1, tables, classes)."""
        return super().answers(batch.centre)

    def after(self, batch: Batch, variable: int) -> Bracket:
        """P(variable | evidence, class) in the centre, (1, tables, classes, states)."""
        return super().after(batch.centre, variable)

    def rows(self, batch: Batch, variable: int) -> Ends:
        """P(class | state of the variable, evidence) in the centre, (1, tables, classes, states)."""
        return super().rows(batch.centre, variable)
