"""One bank learnt from several groups of people: the questions have common tables, each group has its own distribution of skills.

The skills' tables of all groups are stacked, (groups * rows, levels) each, so that one run of EM learns everything: the E-step takes them
apart, and the M-step does not mind. In the field: multiple-group estimation (Bock and Zimowski 1997).
"""

from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from quaestor.learn.em import run
from quaestor.learn.expect import Expected, batch, beliefs, expect
from quaestor.learn.fit import Fit
from quaestor.learn.layout import Layout, Tables
from quaestor.learn.maximise import Aim
from quaestor.learn.people import Patterns
from quaestor.model.table import Array

WEIGHT = 1.0  # people that each row of the learnt skills' tables counts in every group
TOLERANCE, ITERATIONS = 0.01, 300


@dataclass(frozen=True)
class Rows:
    """People of one group: their patterns of answers, and how many people have each, (patterns,)."""

    patterns: Patterns
    weights: Array

    def without(self, layout: Layout, positions: list[int]) -> "Rows":
        """The same people without answers to these questions."""
        return replace(self, patterns=self.patterns.without(layout, positions)) if positions else self


def rows_of(fit: Fit, chosen: NDArray[np.intp]) -> Rows:
    """The patterns of the chosen people, each once."""
    weights = fit.people.weights(chosen)
    some = np.flatnonzero(weights)
    return Rows(Patterns(tuple(answers[some] for answers in fit.people.patterns.answers)), weights[some])


def stacked(tables: Tables, groups: int) -> Tables:
    """The same tables of skills for every group."""
    return Tables(tuple(np.tile(table, (groups, 1)) for table in tables.skills), tables.groups)


def of_group(tables: Tables, group: int, groups: int) -> Tables:
    """The tables of one group."""
    return Tables(tuple(table.reshape(groups, -1, table.shape[1])[group] for table in tables.skills), tables.groups)


def learnt(fit: Fit, people: list[Rows], start: Tables) -> Tables:
    """The tables of all groups, stacked, learnt from `start`."""
    layout, count = fit.layout, len(people)
    prior = Tables(stacked(Tables(tuple(WEIGHT * table for table in fit.tables.skills), ()), count).skills, fit.aim.prior.groups)
    fixed = None if fit.aim.fixed is None else replace(fit.aim.fixed, skills=(False,) * len(layout.names))
    aim = Aim(prior, fit.aim.monotone, fit.aim.ties, fit.aim.curves, fixed)

    def step(tables: Tables, _: Array) -> Expected:
        found = [_expected(layout, of_group(tables, number, count), one) for number, one in enumerate(people)]
        skills = tuple(np.concatenate(parts) for parts in zip(*(one.counts.skills for one in found), strict=True))
        groups = reduce(add, found).counts.groups
        return Expected(sum(one.log_likelihood for one in found), Tables(skills, groups), None)

    weights = np.concatenate([one.weights for one in people])
    return run(layout, start, aim, step, weights, TOLERANCE, ITERATIONS).tables


def _expected(layout: Layout, tables: Tables, one: Rows) -> Expected:
    size = batch(layout)
    starts = range(0, len(one.weights), size)
    return reduce(
        add, [expect(layout, tables, one.patterns.part(start, start + size), one.weights[start : start + size]) for start in starts]
    )


def posteriors(layout: Layout, tables: Tables, one: Rows) -> Array:
    """P(configuration | answers) for every scope, (patterns, width)."""
    size = batch(layout)
    parts = [beliefs(layout, tables, one.patterns.part(start, start + size))[1] for start in range(0, len(one.weights), size)]
    return np.concatenate(parts)
