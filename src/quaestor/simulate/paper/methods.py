"""The methods of the paper's experiments, according to its text and the authors' raw results."""

from dataclasses import dataclass

from quaestor.bankfile.bank import Bank
from quaestor.formats.files import load
from quaestor.selection.rules import Rules
from quaestor.selection.stopping.criteria import entropy_below

WIDTH = 0.05
ENOUGH = entropy_below(0.1)  # the stop rule of the credal runs, on the upper entropy


@dataclass(frozen=True)
class Method:
    """A bank and rules. `printed`: whether the paper has a curve of it; the others are for comparison."""

    name: str
    bank: Bank
    rules: Rules
    words: str
    printed: bool = True


def methods(bank: str) -> tuple[Method, ...]:
    """The five printed methods on a bundled bank, and variants of them that the paper does not show."""
    precise = load(bank)
    credal = precise.widen(WIDTH)
    lower = Rules(score="mode", bound="lower", then=None, stop=ENOUGH)
    return (
        Method("credal entropy", credal, Rules(score="entropy", then=None, stop=ENOUGH), "upper entropy"),
        Method("credal mode", credal, lower, "lower M; of tied questions the first"),
        Method("random", precise, Rules(score="random"), "any open question"),
        Method("Bayesian entropy", precise, Rules(score="entropy", then=None), "entropy"),
        Method("Bayesian mode", precise, Rules(score="mode", then=None), "M; of tied questions the first"),
        Method("credal entropy, all asked", credal, Rules(score="entropy", then=None), "upper entropy, without an early stop", False),
        Method("credal mode, upper", credal, Rules(score="mode", then=None, stop=ENOUGH), "upper M; of tied questions the first", False),
        Method("credal mode, ties by entropy", credal, Rules(score="mode", stop=ENOUGH), "upper M, ties by upper entropy", False),
        Method("Bayesian mode, ties by entropy", precise, Rules(score="mode"), "M, ties by entropy", False),
    )
