"""Response models of the field as statements: probabilities from the parameters that other software estimates.

Item response theory beyond the graded model (`elicit.by_irt`): the partial credit and the nominal model, for the abilities theta of the
levels of one skill. Cognitive diagnosis beyond `elicit.by_needs`: the G-DINA family, for combinations of skills that one has or has not.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate, product

from quaestor.bankfile.elicit import Interval
from quaestor.errors import StatementError, format_value
from quaestor.i18n import say

LINKS = ("identity", "logit", "log")
_ROUNDING = 1e-9  # by which sums of effects may miss 0 or 1


def by_partial_credit(theta: Sequence[float], a: float, b: Sequence[float]) -> list[list[float]]:
    """The probabilities of the classes at each ability, (abilities, classes): the (generalised) partial credit model.

    P(class k | theta) is proportional to exp(sum over j = 1 ... k of a (theta - b_j)), k = 0 ... K; the thresholds b_j, where classes j - 1
    and j are equally likely, need not rise. With a = 1 the partial credit model (Masters 1982, Psychometrika 47, 149-174), else the
    generalised one (Muraki 1992, Applied Psychological Measurement 16, 159-176).
    """
    if a <= 0:
        raise StatementError(say("the discrimination a is positive"), format_value(a))
    return [_shares([0.0, *accumulate(a * (ability - step) for step in b)]) for ability in theta]


def by_nominal(theta: Sequence[float], a: Sequence[float], c: Sequence[float]) -> list[list[float]]:
    """The probabilities of the classes at each ability, (abilities, classes): the nominal response model (Bock 1972, Psychometrika 37,
    29-51). P(class k | theta) is proportional to exp(a_k theta + c_k); only differences between the classes matter.
    """
    return [_shares([slope * ability + start for slope, start in zip(a, c, strict=True)]) for ability in theta]


def _shares(logs: Sequence[float]) -> list[float]:
    """Weights given by their logarithms, divided by their sum."""
    most = max(logs)
    weights = [math.exp(log - most) for log in logs]
    return [weight / sum(weights) for weight in weights]


def by_gdina(has: Sequence[Sequence[bool]], link: str, intercept: float, effects: Mapping[tuple[int, ...], float]) -> list[float]:
    """P(right) for each combination of levels, the last skill varying fastest: the G-DINA model (de la Torre 2011, Psychometrika 76,
    179-199).

    link(P) = intercept + the effects of all sets of skills that one has, `effects` by the numbers of the skills; `has[i][k]`: whether
    level k of skill i is enough. With effects of single skills alone the link `identity` gives the additive model (ACDM), `logit` the
    linear logistic model (LLM), `log` the reduced RUM; with effects of all sets it is saturated; DINA has an intercept and one effect of
    all skills together.
    """
    found = []
    for enough in product(*has):
        total = intercept + math.fsum(effect for skills, effect in effects.items() if all(enough[skill] for skill in skills))
        if link == "logit":
            found.append(1 / (1 + math.exp(-total)) if total >= 0 else math.exp(total) / (1 + math.exp(total)))
            continue
        p = math.exp(min(total, 1.0)) if link == "log" else total
        if not -_ROUNDING <= p <= 1 + _ROUNDING:
            rule = say("the effects of every combination of skills sum to a probability (link {link})", link=link)
            raise StatementError(rule, format_value(round(total, 12)))
        found.append(min(max(p, 0.0), 1.0))
    return found


def by_reduced_rum(has: Sequence[Sequence[bool]], best: Interval, penalties: Sequence[Interval]) -> list[Interval]:
    """P(right) for each combination of levels: the reduced reparametrised unified model (Hartz 2002; DiBello, Roussos and Stout 2007).

    P = pi times r_k for every skill k that one lacks. Of intervals the ends: P rises with each of them.
    """
    found = []
    for enough in product(*has):
        lacking = [penalty for penalty, is_enough in zip(penalties, enough, strict=True) if not is_enough]
        low, high = (best[end] * math.prod(penalty[end] for penalty in lacking) for end in (0, 1))
        found.append((low, high))
    return found
