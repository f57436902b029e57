"""All scores by their names. A score is a pure function of a `Lookahead`.

It takes a Lookahead, the bound to use in credal banks (`upper`, the cautious one, or `lower`) and what the takers draw, and
returns one number a question, shape (takers, questions), larger is better. Here stand those that are built in; one that draws belongs into
`DRAWN` too, one that reads none of the look-ahead's groups into `BLIND`. Others are added by `quaestor.register.score`.
"""

from quaestor.registry import Registry
from quaestor.selection.scores import divergence, simple, uncertainty
from quaestor.selection.scores.uncertainty import Score

BOUNDS = ("upper", "lower")
UNCERTAINTY = ("entropy", "mode", "gini", "variance")  # gains that are a fall of an index of uncertainty
BY_SKILL = (*UNCERTAINTY, "mutual_information", "jensen_shannon", "gdi", "kl", "pwkl", "mpwkl")  # gains that are a mean over target skills
BLIND = {"random", "order"}
DRAWN = {"random"}
SCORES: Registry[Score] = Registry(
    "score",
    {
        "entropy": uncertainty.entropy,
        "mode": uncertainty.mode,
        "gini": uncertainty.gini,
        "variance": uncertainty.variance,
        "mutual_information": divergence.mutual_information,
        "jensen_shannon": divergence.mutual_information,  # its other name
        "gdi": divergence.gdi,
        "kl": divergence.kl,
        "pwkl": divergence.pwkl,
        "mpwkl": divergence.mpwkl,
        "right": simple.right,
        "random": simple.random,
        "order": simple.order,
    },
    blind=BLIND,
    draws=DRAWN,
)
