"""Factors behind a table of answers: a first guess which questions belong together, and how many kinds there may be.

Tetrachoric correlations of right answers come from odds ratios (Digby 1983: r = (w^(3/4) - 1) / (w^(3/4) + 1)); with more classes an answer
counts as high or low, cut where the two are most even. Principal axes are turned to simple structure by promax (Hendrickson and White
1964). How many factors there may be is told by parallel analysis (Horn 1965): those whose eigenvalue is above that of answers in which
every column was shuffled.
"""

import numpy as np

from quaestor.learn.answers import Answers
from quaestor.model.table import Array

TURNS = 50  # of principal axes, and of varimax
POWER = 4  # of promax
SHUFFLED = 10
ALMOST = 0.95  # the quantile of shuffled eigenvalues that counts


def high_answers(answers: Answers) -> Array:
    """1 for a high answer, 0 for a low one, NaN for none, (people, questions): cut where the two are most even."""
    cells = answers.class_numbers.astype(float)
    cells[cells < 0] = np.nan
    found = np.full(cells.shape, np.nan)
    for column, classes in enumerate(answers.classes):
        given = np.isfinite(cells[:, column])
        if given.any():
            cuts = [cells[given, column] >= cut for cut in range(1, len(classes))]
            found[given, column] = min(cuts, key=lambda one: abs(one.mean() - 0.5))
    return found


def correlations(high: Array) -> Array:
    """Tetrachoric correlations of all pairs of columns, from those who answered both, (questions, questions)."""
    given = np.isfinite(high).astype(float)
    right = np.where(given > 0, high, 0.0)
    both, one = right.T @ right, right.T @ given
    only, other = one - both, one.T - both
    neither = given.T @ given - both - only - other
    ratio = ((both + 0.5) * (neither + 0.5) / ((only + 0.5) * (other + 0.5))) ** 0.75
    found: Array = (ratio - 1) / (ratio + 1)
    np.fill_diagonal(found, 1.0)
    return found


def loadings(correlation: Array, factors: int) -> Array:
    """How strongly each question goes with each of so many factors, which may be correlated, (questions, factors)."""
    shared = np.clip(1 - 1 / np.diag(np.linalg.pinv(correlation + 0.1 * np.eye(len(correlation)))), 0.1, 0.9)
    reduced, found = correlation.copy(), np.ones((len(correlation), factors))
    for _ in range(TURNS):
        np.fill_diagonal(reduced, shared)
        values, vectors = np.linalg.eigh(reduced)
        found = vectors[:, -factors:] * np.sqrt(np.maximum(values[-factors:], 1e-6))
        shared = np.clip((found**2).sum(axis=1), 0.02, 0.98)
    turned = _promax(found) if factors > 1 else found
    return turned * np.where(turned.sum(axis=0) < 0, -1.0, 1.0)


def _promax(found: Array) -> Array:
    sizes = np.sqrt((found**2).sum(axis=1, keepdims=True))
    plain = _varimax(found / sizes) * sizes
    turn = np.linalg.lstsq(plain, np.sign(plain) * np.abs(plain) ** POWER, rcond=None)[0]
    result: Array = plain @ (turn * np.sqrt(np.diag(np.linalg.inv(turn.T @ turn))))
    return result


def _varimax(found: Array) -> Array:
    turn = np.eye(found.shape[1])
    for _ in range(TURNS):
        turned = found @ turn
        left, _, right = np.linalg.svd(found.T @ (turned**3 - turned * (turned**2).mean(axis=0)))
        turn = left @ right
    result: Array = found @ turn
    return result


def likely_factors(high: Array, rng: np.random.Generator) -> int:
    """The number of factors by parallel analysis, at least one."""
    own = np.linalg.eigvalsh(correlations(high))[::-1]
    chance = np.quantile([np.linalg.eigvalsh(correlations(rng.permuted(high, axis=0)))[::-1] for _ in range(SHUFFLED)], ALMOST, axis=0)
    below = np.flatnonzero(own <= chance)
    return max(int(below[0]) if len(below) else len(own), 1)
