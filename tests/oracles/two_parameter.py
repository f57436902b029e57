"""A two-parameter model of item response theory with a weak prior, as a peer: slow, obvious, independent of Quaestor's own learning.

P(right | theta) = logistic(a * (theta - b)) with theta standard normal (41 points from -4 to 4), log a ~ N(0, 0.5^2) and a * b ~ N(0, 2^2);
marginal maximum a posteriori by EM, each question's M-step by a general optimiser.
"""

import numpy as np
from scipy.optimize import minimize

POINTS = np.linspace(-4, 4, 41)
MASS = np.exp(-(POINTS**2) / 2) / np.exp(-(POINTS**2) / 2).sum()


def fitted(answers, steps=60, tolerance=1e-4):
    """log a and the intercept -a b of each question, (questions, 2), from answers (people, questions) of 0, 1 and NaN."""
    known, right = ~np.isnan(answers), np.nan_to_num(answers)
    numbers = np.zeros((answers.shape[1], 2))
    before = -np.inf
    for _ in range(steps):
        chance = chances(numbers)
        joint = right @ np.log(chance) + (known - right) @ np.log(1 - chance) + np.log(MASS)
        top = joint.max(axis=1, keepdims=True)
        weights = np.exp(joint - top)
        total = float((np.log(weights.sum(axis=1)) + top[:, 0]).sum())
        weights /= weights.sum(axis=1, keepdims=True)
        met, got = known.T.astype(float) @ weights, right.T @ weights
        for question in range(len(numbers)):
            numbers[question] = minimize(lost, numbers[question], (met[question], got[question]), jac=True, method="BFGS").x
        if total - before < tolerance * len(answers):
            break
        before = total
    return numbers


def lost(numbers, met, got):
    """Minus the log posterior of one question, and its gradient."""
    slope = np.exp(np.clip(numbers[0], -4, 3))
    logits = slope * POINTS + numbers[1]
    chance = 1 / (1 + np.exp(-logits))
    value = -(got @ logits - met @ np.logaddexp(0, logits)) + numbers[0] ** 2 / (2 * 0.5**2) + numbers[1] ** 2 / (2 * 2**2)
    rest = got - met * chance
    return value, np.array([-(rest * POINTS).sum() * slope + numbers[0] / 0.5**2, -rest.sum() + numbers[1] / 2**2])


def chances(numbers):
    """P(right) at every point, (questions, points)."""
    logits = np.exp(np.clip(numbers[:, :1], -4, 3)) * POINTS + numbers[:, 1:]
    return np.clip(1 / (1 + np.exp(-logits)), 1e-9, 1 - 1e-9)


def log_likelihoods(numbers, answers):
    """log P(answers) of each person, (people,)."""
    known, right, chance = ~np.isnan(answers), np.nan_to_num(answers), chances(numbers)
    joint = right @ np.log(chance) + (known - right) @ np.log(1 - chance) + np.log(MASS)
    return np.logaddexp.reduce(joint, axis=1)
