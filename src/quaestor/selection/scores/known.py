"""All scores by their names. A score is a pure function of a `Lookahead`.

It takes a Lookahead, the bound to use in credal banks (`upper`, the cautious one, or `lower`) and what the takers draw, and
returns one number a question, shape (takers, questions), larger is better. To add one, write such a function and put it in `SCORES`; one
that draws belongs into `DRAWN` too, one that reads none of the look-ahead's groups into `BLIND`.
"""

from quaestor.selection.scores import simple, uncertainty
from quaestor.selection.scores.uncertainty import Score

BOUNDS = ("upper", "lower")
SCORES: dict[str, Score] = {
    "entropy": uncertainty.entropy,
    "mode": uncertainty.mode,
    "gini": uncertainty.gini,
    "right": simple.right,
    "random": simple.random,
    "order": simple.order,
}
UNCERTAINTY = ("entropy", "mode", "gini")  # gains that are a mean over target skills
BLIND = {"random", "order"}
DRAWN = {"random"}
