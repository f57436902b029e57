"""Expectation and maximisation in turn, until the objective stands still.

The objective is the log-likelihood of the answers plus the logarithm of the prior (see `maximise`); with weight 0 it is the log-likelihood
alone. Each M-step finds the best tables for the expected counts among those allowed, so the objective never falls from step to step.

EM creeps where much is hidden. So after every two steps their direction is followed further at once (SQUAREM, Varadhan and Roland 2008, on
logarithms); the leap is kept only where the objective is at least what it was, so it still never falls.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from quaestor.learn.expect import Expected
from quaestor.learn.layout import Layout, Tables
from quaestor.learn.maximise import Aim, allowed, maximise, penalty
from quaestor.learn.work import Step
from quaestor.model.table import Array

_LEAST = 1e-9  # smaller probabilities do not move a leap
_ROUNDING = 1e-12  # of the objective: so much less is no fall
MANY = 10_000
_FARTHEST = 64.0  # times the step of EM
Progress = Callable[[int, float], None]  # told the number of steps so far and the objective


@dataclass(frozen=True)
class Run:
    """Where one run of EM ended: the tables, the expected counts at them, and the objective after every step."""

    tables: Tables
    expected: Expected
    trace: tuple[float, ...]
    converged: bool


def run(
    layout: Layout,
    start: Tables,
    aim: Aim,
    step: Step,
    weights: Array,
    tolerance: float,
    most: int,
    progress: Progress | None = None,
) -> Run:
    """Steps from some tables until one of EM gains less than `tolerance` (for every 10,000 people), at most so many.

    `weights`: of the patterns.
    """
    tables = allowed(layout, start, aim)
    expected = step(tables, weights)
    trace = [expected.log_likelihood + penalty(tables, aim)]
    enough = tolerance * max(1.0, float(weights.sum()) / MANY)
    path = [tables]  # since the last leap
    while len(trace) <= most:
        tables = maximise(layout, expected.counts, tables, aim)
        path.append(tables)
        if len(path) == 3:
            leapt = allowed(layout, _leap(*path), aim)
            found = step(leapt, weights)
            reached = found.log_likelihood + penalty(leapt, aim)
            if reached >= trace[-1]:
                tables, expected = leapt, found
                trace.append(reached)
            path = [tables]
            if tables is leapt:
                continue
        expected = step(tables, weights)
        trace.append(expected.log_likelihood + penalty(tables, aim))
        if progress is not None:
            progress(len(trace) - 1, trace[-1])
        if -_ROUNDING * abs(trace[-1]) <= trace[-1] - trace[-2] < enough:
            return Run(tables, expected, tuple(trace), True)
    return Run(tables, expected, tuple(trace), False)


def _leap(first: Tables, second: Tables, third: Tables) -> Tables:
    """From three tables in a row to where their direction leads, the farther the more steadily they moved."""
    logs = [[np.log(np.maximum(table, _LEAST)) for table in (*one.skills, *one.groups)] for one in (first, second, third)]
    moved = [two - one for one, two in zip(logs[0], logs[1], strict=True)]
    turned = [three - two - before for two, three, before in zip(logs[1], logs[2], moved, strict=True)]
    size, bend = (float(np.sqrt(sum(float((part**2).sum()) for part in parts))) for parts in (moved, turned))
    length = min(max(size / bend, 1.0), _FARTHEST) if bend > 0 else 1.0
    made = []
    for start, change, turn in zip(logs[0], moved, turned, strict=True):
        reached = start + 2 * length * change + length**2 * turn
        powers = np.exp(reached - reached.max(axis=-1, keepdims=True))
        made.append(powers / powers.sum(axis=-1, keepdims=True))
    return Tables(tuple(made[: len(first.skills)]), tuple(made[len(first.skills) :]))


def random_start(layout: Layout, rng: np.random.Generator) -> Tables:
    """Tables drawn at random: rows of skills evenly from all distributions; the chance of each class or better rises with the levels,
    between two numbers drawn for each question, with noise.
    """
    skills = tuple(
        rng.dirichlet(np.full(size, 2.0), int(np.prod([layout.sizes[parent] for parent in parents])))
        for size, parents in zip(layout.sizes, layout.parents, strict=True)
    )
    groups = []
    for group in layout.groups:
        shape = (len(group.places), 1, group.classes - 1)
        low, high = rng.uniform(0.05, 0.5, shape), rng.uniform(0.5, 0.95, shape)
        noise = rng.uniform(-0.1, 0.1, (len(group.places), group.configurations, group.classes - 1))
        chance = np.clip(low + (high - low) * group.heights[:, None] + noise, 0.02, 0.98)
        reached = np.concatenate([np.ones((*chance.shape[:2], 1)), np.cumprod(chance, axis=2), np.zeros((*chance.shape[:2], 1))], axis=2)
        groups.append(reached[..., :-1] - reached[..., 1:])
    return Tables(skills, tuple(groups))
