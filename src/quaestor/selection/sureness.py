"""What *sure* means in a test: one number for all pages, files and programs, set by the test itself."""

from quaestor.credal.decisions import TIED
from quaestor.selection.rules import Rules
from quaestor.selection.stopping.criteria import ProbabilityAbove

USUAL = 0.8  # where the rules do not say


def sure_above(rules: Rules) -> float:
    """The (lower) probability from which a level is sure: that with which the test is content (`probability_above`), else 0.8.

    Of several it is the smallest, so that a test which stopped because it was sure enough is never called unsure.
    """
    stated = [one.threshold for one in rules.stop.simple() if isinstance(one, ProbabilityAbove)] if rules.stop is not None else []
    return min(stated, default=USUAL)


def is_sure(lower: float, above: float) -> bool:
    """Whether a level of this lower probability is sure; as in the stop criterion, rounding does not decide."""
    return bool(lower >= above - TIED)
