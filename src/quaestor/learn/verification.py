"""Intervals checked on people held out: the bank is learnt from one half of the people and predicts the answers of the other half."""

from dataclasses import dataclass, replace

import numpy as np

from quaestor.learn.augmentation import plausible
from quaestor.learn.em import run
from quaestor.learn.fit import Fit
from quaestor.learn.folds import fold_of
from quaestor.learn.predictions import class_share, region_of
from quaestor.learn.shares import shares
from quaestor.learn.work import steps

_HALVES = 2
_TOLERANCE, _ITERATIONS = 1e-3, 1000


@dataclass(frozen=True)
class Verified:
    """Of `shares` of answers among people held out, so many were `inside` what had been predicted at this `level`."""

    inside: int
    shares: int
    level: float


def verify(fit: Fit, rng: np.random.Generator) -> Verified:
    """The share of every answer but the lowest to every question, in each half of the people, predicted from the other half.

    What is predicted is the share among just so many people, chance included. Counts are whole numbers, so somewhat more than the level
    are expected inside.
    """
    _, level = region_of(fit)
    layout, people = fit.layout, fit.people
    half = fold_of(len(people), _HALVES, rng)
    found = []
    with steps(layout, people.patterns) as step:
        for number in range(_HALVES):
            rest = replace(people, pattern_of=people.pattern_of[half != number])
            tables = run(layout, fit.tables, fit.aim, step, rest.weights(), _TOLERANCE, _ITERATIONS).tables
            own = step(tables, people.weights(half == number)).counts.groups
            predicted = [shares(layout, one).groups for one in plausible(layout, tables, fit.aim, rest, step, rng)]
            for counts, *drawn in zip(own, *predicted, strict=True):
                answers = np.rint(counts.sum(axis=1)).astype(np.intp)  # (questions, classes)
                asked = answers.sum(axis=1) > 0
                some = answers[asked, 1:]
                total = np.broadcast_to(answers[asked].sum(axis=1, keepdims=True), some.shape)
                share = class_share(np.stack(drawn)[:, asked, 1:], level, total, rng)
                observed = some / total
                found.append((share.lower - 1e-9 <= observed) & (observed <= share.upper + 1e-9))
    return Verified(int(sum(one.sum() for one in found)), int(sum(one.size for one in found)), level)
