"""Chance at the beginning of a test, the best question at its end: progressive and proportional selection.

Both weigh what questions tell against chance by how far the test has come. With Q the number of questions of the test, q the place of the
one to be chosen and k the acceleration,

    W_q = sum over f = 1 ... q of (f - 1)^k / sum over f = 1 ... Q of (f - 1)^k,    from W_1 = 0 to W_Q = 1

- progressive (Revuelta and Ponsoda 1998, Journal of Educational Measurement 35, 311-327): the question with the largest (1 - W) R + W I is
  asked, R a draw between 0 and the largest I of the candidates;
- proportional (Barrada, Olea, Ponsoda and Abad 2008, British Journal of Mathematical and Statistical Psychology 61, 493-513, whose W this
  is): a question is drawn with a probability proportional to I to the power Q W.

There I is Fisher's information at the ability estimate. Levels of a skill have no density between them and so no Fisher information; what
the methods need of I is that it is not negative and larger for a question that tells more, and only ratios of I to the largest one matter.
So I is the gain by the rules' score, 0 where that is negative. Where no candidate tells anything, all are equally likely.
"""

import numpy as np

from quaestor.i18n import say
from quaestor.inference.layout import Numbers
from quaestor.model.table import Array
from quaestor.selection.narrowing import Candidates, Standing
from quaestor.selection.plan import Mask
from quaestor.selection.ties import best

_PURPOSE = 4  # of the draws
_TINY = 1e-300


def progress(asked: Numbers, length: int, acceleration: float) -> Array:
    """W of the next question after so many were asked, (takers,)."""
    steps = np.cumsum(np.arange(length, dtype=float) ** acceleration * (np.arange(length) > 0))
    shares = steps / steps[-1] if steps[-1] > 0 else steps
    found: Array = shares[np.minimum(asked, length - 1)]
    return found


def weighed(now: Standing, left: Candidates, mask: Mask, gains: Array) -> Numbers:
    """The question of each taker, (takers,), -1 where none is left; `mask`, `gains`: (takers, questions)."""
    rules, length = now.plan.rules, now.plan.most
    assert length is not None
    is_progressive = rules.progressive is not None
    acceleration = rules.progressive if rules.progressive is not None else rules.proportional
    assert acceleration is not None
    share = progress(now.scored_count, length, acceleration)[:, None]
    told = np.where(mask, np.maximum(gains, 0), 0.0)
    most = told.max(axis=1, keepdims=True)
    worth = np.where(most > 0, told / np.where(most > 0, most, 1), 1.0)  # as shares of the largest
    luck = now.draws(np.arange(now.takers), _PURPOSE).random(mask)
    if is_progressive:
        weights = (1 - share) * luck + share * worth
        name, text = "progressive", say("what questions tell was weighed against chance, the more the further the test has come")
    else:  # the largest of log weight + Gumbel noise falls on a question with a probability proportional to its weight
        noise = -np.log(-np.log(np.clip(luck, _TINY, 1 - 1e-16)))
        weights = np.where(share > 0, length * share * np.log(np.maximum(worth, _TINY)), 0.0) + noise
        name, text = "proportional", say("drawn with chances that follow what questions tell, the more the further the test has come")
    left.note(name, lambda taker: text, np.asarray(mask.any(axis=1)))
    return best(np.where(mask, weights, -np.inf))
