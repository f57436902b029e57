"""One bank learnt from several groups of people: the questions have common tables, each group has its own distribution of skills.

A skill's distribution in group g is the common one, tilted by two numbers for each group: for each row of its table

    P_g(level) is proportional to P(level) * exp(a_g h + b_g (h - 1/2)^2),        h: the relative level, from 0 to 1,

as the field gives each group a mean and a spread (multiple-group estimation, Bock and Zimowski 1997). Shares of levels that were free in
each group would turn a level into "people of this group": it would explain the very differences that are looked for.

The skills' tables of all groups are stacked, (groups * rows, levels) each.
"""

from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from quaestor.learn.expect import Expected, batch, beliefs, expect
from quaestor.learn.fit import Fit
from quaestor.learn.layout import Layout, Tables
from quaestor.learn.maximise import log_prior, maximise
from quaestor.learn.people import Patterns
from quaestor.model.table import Array

WEIGHT = 1.0  # people that each row of the learnt skills' tables counts
DAMPING = 0.01  # of the steps of tilts: the square of a distance is constant where there are two levels
LEAST = 1e-9  # smaller shares of levels count as this one
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
    """The tables of all groups, stacked, learnt from `start` by EM."""
    layout, count = fit.layout, len(people)
    tables, before = start, -np.inf
    for _ in range(ITERATIONS):
        found = [_expected(layout, of_group(tables, number, count), one) for number, one in enumerate(people)]
        reached = sum(one.log_likelihood for one in found) + log_prior(Tables(fit.tables.skills, tables.groups), fit.aim)
        if reached - before < TOLERANCE:
            break
        before = reached
        together = reduce(add, found).counts
        groups = maximise(layout, together, Tables(fit.tables.skills, tables.groups), fit.aim).groups
        counts = [np.stack(parts) for parts in zip(*(one.counts.skills for one in found), strict=True)]
        skills = [tilted(own, now, common) for own, now, common in zip(counts, tables.skills, fit.tables.skills, strict=True)]
        tables = Tables(tuple(skills), groups)
    return tables


def levels_tilts(levels: int) -> Array:
    """What tilts a distribution of levels, (levels, 2): the relative level, and the square of its distance from the middle."""
    height = np.linspace(0, 1, levels)
    return np.stack([height, (height - 0.5) ** 2], axis=1)


def tilted(counts: Array, now: Array, common: Array) -> Array:
    """Better tables of a skill, stacked, (groups * rows, levels), for expected counts, (groups, rows, levels), than those of `now`.

    One step for the common table (iterative proportional fitting), and one of Newton for the tilts of each group. `common`: the learnt
    table, (rows, levels), each row of which counts `WEIGHT` people.
    """
    groups, rows, levels = counts.shape
    tilts = levels_tilts(levels)
    shares = np.maximum(now.reshape(counts.shape), LEAST)
    counts = counts + WEIGHT / groups * common
    people = counts.sum(axis=2, keepdims=True)
    shares = shares * (counts.sum(axis=0) / (people * shares).sum(axis=0))
    shares /= shares.sum(axis=2, keepdims=True)
    logs = np.log(np.maximum(shares, LEAST))
    for group in range(groups):
        expected = people[group] * shares[group]
        mean = shares[group] @ tilts
        slope = (counts[group] - expected).sum(axis=0) @ tilts
        curve = tilts.T @ (expected.sum(axis=0)[:, None] * tilts) - mean.T @ (people[group] * mean)
        step = np.linalg.solve(curve + DAMPING * np.eye(2), slope)
        logs[group] += tilts @ np.clip(step, -1, 1)
    found = np.exp(logs - logs.max(axis=2, keepdims=True))
    return np.asarray(found / found.sum(axis=2, keepdims=True)).reshape(groups * rows, levels)


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
