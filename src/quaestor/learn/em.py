"""Expectation-maximisation (EM): E-steps and M-steps in turn, until the objective converges.

The objective is the log-likelihood of the answers plus the logarithm of the prior (see `maximise`); with weight 0 it is the log-likelihood
alone. Each M-step finds the best feasible tables for the expected counts, so the objective never falls from step to step.

EM is slow where much is latent. So after every two steps the tables are extrapolated in their direction (SQUAREM, Varadhan and Roland 2008,
on log probabilities); the extrapolation is kept only if the objective does not fall.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from quaestor.learn.curves import shrunk
from quaestor.learn.expect import Expected
from quaestor.learn.layout import Layout, Tables
from quaestor.learn.maximise import Aim, allowed, log_prior, maximise
from quaestor.learn.work import Step
from quaestor.model.table import Array

_LEAST = 1e-9  # smaller probabilities count as this one in an extrapolation
_ROUNDING = 1e-12  # relative: the objective may fall by this much through rounding
MANY = 10_000
_FARTHEST = 64.0  # the longest extrapolation, in steps of EM
ROUNDS, BETWEEN = 5, 4  # estimates of the means and spreads of curves, and EM steps before each
Progress = Callable[[int, float], None]  # called with the number of steps so far and the objective


@dataclass(frozen=True)
class Run:
    """The result of one run of EM: the tables, the expected counts at these tables, and the objective after every step."""

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
    iterations: int,
    progress: Progress | None = None,
) -> Run:
    """Run EM from the tables `start` until a step gains less than `tolerance` (for every 10,000 people), for at most `iterations` steps.

    `weights`: how often each answer pattern occurs, (patterns,).
    """
    tables = allowed(layout, start, aim)
    expected = step(tables, weights)
    trace = [expected.log_likelihood + log_prior(tables, aim)]
    enough = tolerance * max(1.0, float(weights.sum()) / MANY)
    path = [tables]  # since the last extrapolation
    while len(trace) <= iterations:
        tables = maximise(layout, expected.counts, tables, aim)
        path.append(tables)
        if len(path) == 3:
            further = allowed(layout, _extrapolated(*path), aim)
            found = step(further, weights)
            reached = found.log_likelihood + log_prior(further, aim)
            if reached >= trace[-1]:
                tables, expected = further, found
                trace.append(reached)
            path = [tables]
            if tables is further:
                continue
        expected = step(tables, weights)
        trace.append(expected.log_likelihood + log_prior(tables, aim))
        if progress is not None:
            progress(len(trace) - 1, trace[-1])
        if -_ROUNDING * abs(trace[-1]) <= trace[-1] - trace[-2] < enough:
            return Run(tables, expected, tuple(trace), True)
    return Run(tables, expected, tuple(trace), False)


def solved(
    layout: Layout,
    start: Tables,
    aim: Aim,
    step: Step,
    weights: Array,
    tolerance: float,
    iterations: int,
    progress: Progress | None = None,
) -> tuple[Run, Aim]:
    """As `run`; where curves are learnt, their common means and spreads are estimated in turn with the curves, and are in the aim."""
    for _ in range(ROUNDS if aim.curves else 0):
        found = run(layout, start, aim, step, weights, tolerance, min(iterations, BETWEEN), progress)
        start = found.tables
        aim = replace(aim, curves=shrunk(found.expected.counts.groups, found.tables.groups, aim.curves))
    return run(layout, start, aim, step, weights, tolerance, iterations, progress), aim


def _extrapolated(first: Tables, second: Tables, third: Tables) -> Tables:
    """SQUAREM: with log tables x0, x1, x2, r = x1 - x0 and v = x2 - x1 - r x0 + 2 a r + a^2 v, a = |r| / |v| within [1, 64]; rows
    normalised.
    """
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
    """Random tables: skill rows from Dirichlet(2, ..., 2); for questions the chance to reach each class, given the one below, rises
    with the levels from one random number to a larger one, plus noise.
    """
    skills = tuple(
        rng.dirichlet(np.full(size, 2.0), int(np.prod([layout.sizes[parent] for parent in parents])))
        for size, parents in zip(layout.sizes, layout.parents, strict=True)
    )
    groups = []
    for group in layout.groups:
        shape = (len(group.positions), 1, group.classes - 1)
        low, high = rng.uniform(0.05, 0.5, shape), rng.uniform(0.5, 0.95, shape)
        noise = rng.uniform(-0.1, 0.1, (len(group.positions), group.configurations, group.classes - 1))
        chance = np.clip(low + (high - low) * group.heights[:, None] + noise, 0.02, 0.98)
        reached = np.concatenate([np.ones((*chance.shape[:2], 1)), np.cumprod(chance, axis=2), np.zeros((*chance.shape[:2], 1))], axis=2)
        groups.append(reached[..., :-1] - reached[..., 1:])
    return Tables(skills, tuple(groups))
