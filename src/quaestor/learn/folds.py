"""Cross-validation: the log-likelihood of each fold of the people under a bank that was learnt from the other folds."""

import numpy as np

from quaestor.learn.em import Progress, solved
from quaestor.learn.expect import log_likelihoods
from quaestor.learn.fit import HeldOut
from quaestor.learn.layout import Layout, Tables
from quaestor.learn.maximise import Aim
from quaestor.learn.people import People
from quaestor.learn.work import Step
from quaestor.model.table import Array


def fold_of(people: int, folds: int, rng: np.random.Generator) -> Array:
    """The number of each person's fold, (people,), drawn at random; the sizes of the folds differ by at most one."""
    return rng.permutation(np.arange(people) % folds)


def held_out(
    layout: Layout,
    start: Tables,
    aim: Aim,
    step: Step,
    people: People,
    folds: int,
    rng: np.random.Generator,
    tolerance: float,
    iterations: int,
    progress: Progress | None = None,
) -> HeldOut:
    """The held-out log P(answers) of each person; every fold is learnt from the same start."""
    fold = fold_of(len(people), folds, rng)
    found = np.empty(len(people))
    for number in range(folds):
        learnt, _ = solved(layout, start, aim, step, people.weights(fold != number), tolerance, iterations, progress)
        own = fold == number
        found[own] = log_likelihoods(layout, learnt.tables, people.patterns)[people.pattern_of[own]]
    return HeldOut(found, folds)
