"""Pilot questions calibrated as answers come in: P(right) at each level as an interval that shrinks with every answer.

A curve with two numbers, how hard and how steep (see `curves`), with what the bank states as a weak prior; the levels of takers are those
that their other answers say, as probabilities. The posterior of the two numbers is worked out on a grid; intervals are its central 90 %.
"""

from dataclasses import dataclass

import numpy as np

from quaestor.learn.arrivals import Watched
from quaestor.model.table import Array

LEVEL = 0.9
READY = 0.25  # an interval this wide at every level is enough to use the question
GRID, ROUNDS = (25, 17), 3  # the grid is narrowed to where the posterior is
SPREADS = (1.5, 1.0)  # of intercepts and slopes: a pilot may be unlike the other questions
FEWEST = 5


@dataclass(frozen=True)
class Pilot:
    """What `answers` answers say of a pilot question: bounds of P(best class) at each configuration, lowest first, (configurations,)."""

    question: str
    answers: int
    lower: Array
    upper: Array

    @property
    def width(self) -> float:
        """The widest interval among the levels."""
        return float((self.upper - self.lower).max())

    @property
    def is_ready(self) -> bool:
        """Whether the question may be used."""
        return self.width <= READY

    @property
    def more(self) -> int:
        """About how many more answers it needs: widths fall as one over the root of their number."""
        return 0 if self.is_ready else max(1, int(np.ceil(self.answers * ((self.width / READY) ** 2 - 1))))


def calibrated(one: Watched, level: float = LEVEL) -> Pilot:
    """A pilot question from the answers that came in."""
    height = 2 * one.group.heights - 1
    stated = np.clip(one.chance, 1e-3, 1 - 1e-3)
    slope, intercept = np.polyfit(height, np.log(stated / (1 - stated)), 1)
    prior = (float(intercept), float(slope))
    ends = [
        (prior[0] - 4 * SPREADS[0], prior[0] + 4 * SPREADS[0]),
        (max(prior[1] - 4 * SPREADS[1], 0.0), max(prior[1], 0.0) + 4 * SPREADS[1]),
    ]
    for _ in range(ROUNDS):
        found, weights = _posterior(one, height, prior, ends)
        means = weights @ found
        spreads = np.sqrt(weights @ (found - means) ** 2)
        ends = [(mean - 5 * spread, mean + 5 * spread) for mean, spread in zip(means.tolist(), spreads.tolist(), strict=True)]
        ends[1] = (max(ends[1][0], 0.0), ends[1][1])
    chance = _chances(found, height)
    low, high = (_quantiles(chance, weights, share) for share in ((1 - level) / 2, (1 + level) / 2))
    return Pilot(one.question, len(one.best), low, high)


def _posterior(one: Watched, height: Array, prior: tuple[float, float], ends: list[tuple[float, float]]) -> tuple[Array, Array]:
    """Intercepts and slopes on a grid, (numbers, 2), and their posterior weights, (numbers,)."""
    grids = np.meshgrid(*(np.linspace(*end, size) for end, size in zip(ends, GRID, strict=True)), indexing="ij")
    found = np.stack([grid.reshape(-1) for grid in grids], axis=1)
    right = np.clip(one.levels @ _chances(found, height).T, 1e-12, 1 - 1e-12)  # (answers, numbers)
    logs = np.log(right[one.best]).sum(axis=0) + np.log1p(-right[~one.best]).sum(axis=0)
    logs = logs - 0.5 * (((found - np.array(prior)) / np.array(SPREADS)) ** 2).sum(axis=1)
    weights = np.exp(logs - logs.max())
    return found, weights / weights.sum()


def _chances(found: Array, height: Array) -> Array:
    """P(best class), (numbers, configurations)."""
    return np.asarray(1 / (1 + np.exp(-(found[:, :1] + found[:, 1:] * height))))


def _quantiles(chance: Array, weights: Array, share: float) -> Array:
    """The weighted quantile of each column, (configurations,), interpolated between the points of the grid."""
    found = np.empty(chance.shape[1])
    for column in range(chance.shape[1]):
        order = np.argsort(chance[:, column])
        reached = np.cumsum(weights[order]) - 0.5 * weights[order]
        found[column] = np.interp(share, reached, chance[order, column])
    return found
