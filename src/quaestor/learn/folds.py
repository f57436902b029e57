"""Held-out people: each part of them is foretold by a bank that was learnt from the others."""

import numpy as np

from quaestor.learn.em import Progress, run
from quaestor.learn.expect import log_likelihoods
from quaestor.learn.fit import HeldOut
from quaestor.learn.layout import Layout, Tables
from quaestor.learn.maximise import Aim
from quaestor.learn.people import People
from quaestor.learn.work import Step
from quaestor.model.table import Array


def fold_of(people: int, folds: int, rng: np.random.Generator) -> Array:
    """The number of each person's part, (people,): parts of equal size but for one, drawn at random."""
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
    most: int,
    progress: Progress | None = None,
) -> HeldOut:
    """log P(answers) of everybody under the bank learnt from the other parts, always from the same start."""
    part = fold_of(len(people), folds, rng)
    found = np.empty(len(people))
    for number in range(folds):
        learnt = run(layout, start, aim, step, people.weights(part != number), tolerance, most, progress)
        own = part == number
        found[own] = log_likelihoods(layout, learnt.tables, people.patterns)[people.pattern_of[own]]
    return HeldOut(found, folds)
