"""A fit repeated in a world where the bank is right: people drawn from the learnt tables, and the bank learnt again from their answers.

How a statistic of a fit spreads over such replicates is what chance makes of it (a parametric bootstrap, Efron and Tibshirani 1993): the
prior, the monotone rule and curves then need no theory of their own. The people drawn answer the questions that people of the data
answered. Differences shrink with the square root of the number of people, so that of many people fewer are drawn, the prior counts as much
less, and the statistic is scaled by whoever knows how.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from quaestor.learn.drawing import drawn
from quaestor.learn.em import run
from quaestor.learn.fit import Fit
from quaestor.learn.layout import Tables
from quaestor.learn.maximise import Aim
from quaestor.learn.people import Patterns, People
from quaestor.learn.work import steps
from quaestor.model.table import Array

MOST, FEWEST = 1000, 250  # people in a replicate, at most, and at least if there are so many
CELLS = 2**18  # people times profiles in a replicate
TOLERANCE, ITERATIONS = 0.05, 30  # of learning from them, which starts at the tables they were drawn from


def replicates(fit: Fit, count: int, rng: np.random.Generator) -> Iterator[tuple[Tables, People]]:
    """Tables learnt from drawn people, and these people; `count` times."""
    some = min(len(fit.people), int(np.clip(CELLS // fit.layout.profiles, FEWEST, MOST)))
    aim = _lighter(fit.aim, some / len(fit.people))
    for child in rng.spawn(count):
        chosen = fit.people.pattern_of[np.sort(child.permutation(len(fit.people))[:some])]
        given = Patterns(tuple(answers[chosen] for answers in fit.people.patterns.answers)).classes(fit.layout) >= 0
        classes = np.where(given, drawn(fit.layout, fit.tables, some, child), np.int16(-1))
        patterns = Patterns(tuple(np.ascontiguousarray(classes[:, group.positions]) for group in fit.layout.groups))
        people = People(patterns, np.arange(some), np.arange(some), np.arange(some), int((classes >= 0).sum()))
        with steps(fit.layout, patterns) as step:
            yield run(fit.layout, fit.tables, aim, step, people.weights(), TOLERANCE, ITERATIONS).tables, people


def repeated(fit: Fit, statistic: Callable[[Tables, People], float], count: int, rng: np.random.Generator) -> Array:
    """The statistic of each replicate, (count,)."""
    return np.array([statistic(tables, people) for tables, people in replicates(fit, count, rng)])


def _lighter(aim: Aim, share: float) -> Aim:
    """The aim with a prior that counts as so much less."""
    prior = Tables(tuple(share * one for one in aim.prior.skills), tuple(share * one for one in aim.prior.groups))
    return replace(aim, prior=prior, curves=tuple(replace(one, spread=one.spread / np.sqrt(share)) for one in aim.curves))
