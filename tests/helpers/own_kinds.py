"""One of each kind, as somebody else would write it in a module; a new process imports it by name when it is needed there."""

import numpy as np

import quaestor as qs
from quaestor.inference.engines.odds import OddsEngine, applies


def even(ahead, bound, draws):
    """Right is as likely as not."""
    return ahead.spread(lambda group: -np.abs((group.answers[0] + group.answers[1])[..., -1] / 2 - 0.5))


@qs.register.stop
def missed(now, n: int):
    """{n} {n:question was|questions were} missed"""
    return np.asarray(now.questions) - np.asarray(now.right) >= n


@qs.register.rule
def every_other(now):
    """every other question"""
    return np.arange(now.asked.shape[1]) % 2 == 0


@qs.register.behaviour
def careless(p, now, share: float):
    """{share:.0%} of the answers are of the worst class"""
    return (1 - share) * p + share * (np.arange(p.shape[1]) == 0)


for _kind, _name in (("stop", "missed"), ("rule", "every_other"), ("behaviour", "careless")):
    qs.register.remove(_kind, _name)  # other tests look at all that is registered; values of these kinds need it only to be read from files


class SameOdds(OddsEngine):
    """The built-in engine under another name."""


def fits(model):
    return applies(model)


def all_of_them():
    """Rules and a behaviour that need one of each kind; they are known as long as nobody forgets them."""
    qs.register.score(even)
    qs.register.engine(fits=fits, needs="two levels", name="same_odds")(SameOdds)
    return qs.Rules(score="even", stop=qs.any_of(missed(2), qs.max_questions(4)), narrow=[every_other()]), careless(0.2)


def forget():
    """Take those away that are global."""
    qs.register.remove("score", "even")
    qs.register.remove("engine", "same_odds")
