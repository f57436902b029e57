"""Banks as engines see them: the model of one taker's answers, and bounds by any method."""

from quaestor.inference.chooser import Chooser
from quaestor.inference.evidence import Evidence
from quaestor.inference.layout import layout_of
from quaestor.inference.posterior import bounds_of


def model_of(bank, answers):
    """The skills of a bank with the evidence of one taker, without an axis over takers."""
    return Evidence.of(bank, answers).model.of_taker(0)


def position(bank, skill):
    """The number of a skill in the model of its bank."""
    return layout_of(bank).position[skill]


def credal_bounds(model, target, method="auto"):
    """The bounds of one variable of a model."""
    return bounds_of(model.states[target], Chooser(model.batched, 1, method, 1e-10).now(target))
