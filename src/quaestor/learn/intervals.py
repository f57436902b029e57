"""Interval estimates of learnt tables: a credal bank instead of false precision.

There are two methods, which answer two different questions. The *imprecise Dirichlet model* (Walley 1996) asks how far any prior of a given
strength `s` could move a probability: a row of N expected answers and learnt probability p becomes [N p, N p + s] / (N + s). It ignores
sampling error, and it treats the expected counts as observed although the levels are latent: its intervals are narrow wherever there are
many answers, even if these say little about the levels. The *bootstrap* asks how much the tables vary between samples of people: people
are resampled with replacement, the bank is learnt again, and each number gets the central percentile interval with probability `level`.
docs/learnt-intervals.md has the coverage of both in simulations.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError
from quaestor.learn.calibration import around, percentiles, quantiles
from quaestor.learn.fit import Fit
from quaestor.learn.layout import Tables, answered, as_tables
from quaestor.learn.options import is_count, is_number
from quaestor.learn.resampled import resampled
from quaestor.learn.work import steps

STRENGTH = 2.0
SAMPLES = 200
LEVEL = 0.9


def imprecise(fit: Fit, s: float = STRENGTH) -> Bank:
    """The learnt bank with intervals of the imprecise Dirichlet model, [N p, N p + s] / (N + s); N includes the weight of the prior.

    Questions without answers keep the tables of the given bank.
    """
    if not is_number(s) or not 0 < s < np.inf:
        raise QuaestorError(f"intervals: s is a number above 0, got {s!r}")
    counts, prior = fit.expected.counts, fit.aim.prior
    skills = [(p, (n + own).sum(axis=-1, keepdims=True)) for p, n, own in zip(fit.tables.skills, counts.skills, prior.skills, strict=True)]
    groups = []
    for p, n, own, ties in zip(fit.tables.groups, counts.groups, prior.groups, fit.aim.ties, strict=True):
        total = (n + own).sum(axis=-1, keepdims=True)
        for number, one in enumerate(ties):  # a tied row was learnt from the answers at all rows tied to it
            total[number, :, 0] = np.bincount(one.labels, total[number, :, 0])[one.labels]
        groups.append((p, total))
    ends = [Tables(*(tuple((n * p + add) / (n + s) for p, n in pairs) for pairs in (skills, groups))) for add in (0.0, s)]
    return fit.given.with_tables(as_tables(fit.given, fit.layout, ends[0], ends[1], answered(counts)))


def bootstrap(
    fit: Fit,
    rng: np.random.Generator,
    samples: int = SAMPLES,
    level: float = LEVEL,
    workers: int = 1,
    cluster: Any = None,
    progress: Callable[[int], None] | None = None,
) -> Bank:
    """The learnt bank with bootstrap percentile intervals from `samples` resamples; they are widened to hold the learnt number itself.

    Questions without answers keep the tables of the given bank.
    """
    if not is_count(samples, 2):
        raise QuaestorError(f"intervals: samples are a whole number of at least 2, got {samples!r}")
    if not is_number(level) or not 0 < level < 1:
        raise QuaestorError(f"intervals: level is a share between 0 and 1, got {level!r}")
    with steps(fit.layout, fit.people.patterns, workers, cluster) as step:
        found = resampled(fit.layout, fit.tables, fit.aim, fit.people, step, rng, samples, progress)
    low, high = around(fit.tables, *quantiles(found, level, percentiles))
    return fit.given.with_tables(as_tables(fit.given, fit.layout, low, high, answered(fit.expected.counts)))
