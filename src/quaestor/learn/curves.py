"""Tables with few numbers: curves over the levels, as in item response theory, shrunk towards one another.

The chance to reach a class, given that the one below is reached, is logistic in the heights of the levels, which are equally spaced from -1
(lowest) to 1 (highest): logit P = b + sum over the question's skills of a_s * height_s. For two classes and one skill this is the
two-parameter model of item response theory with few levels in place of a continuous ability. A question so has 1 + skills numbers for each
class but the worst, however many levels there are.

The numbers of all questions come from common normal distributions, whose means and spreads are estimated from all questions together
(empirical Bayes): the mean is what the bank states plus a common shift, and the spread is the mean of squared distances plus posterior
variances (an EM step with Laplace's approximation), with a weak prior on it. So the fewer the answers, the more alike the curves are; with
very few all slopes are nearly equal, as in Rasch's model. With the monotone rule slopes are at least 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from quaestor.learn.layout import Group, Layout, Tables
from quaestor.model.table import Array

SPREADS = (1.5, 0.5)  # of intercepts and of slopes, before anything is known
TRUST = 4.0  # the prior of a spread counts as so many questions
_NEWTON = 4  # steps of Newton's method in an M-step, which starts at the numbers before
_HALVINGS = 8
_LEAST = 1e-9  # smaller chances count as this one in logits


@dataclass(frozen=True)
class Curves:
    """The family of curves of one group. `design`: 1 and the heights of the levels, (configurations, 1 + skills).

    `stated`: the numbers that are nearest to the bank's own tables; `centre`: the prior means, both (questions, classes - 1, 1 + skills);
    `spread`: the prior standard deviations, (classes - 1, 1 + skills).
    """

    design: Array
    stated: Array
    centre: Array
    spread: Array


def curves_of(layout: Layout, own: Tables) -> tuple[Curves, ...]:
    """The families of all groups before the answers are seen: centred at what the bank states."""
    found = []
    for group, table in zip(layout.groups, own.groups, strict=True):
        made = _design(group)
        stated = numbers(table, made)
        spread = np.full(stated.shape[1:], SPREADS[1])
        spread[:, 0] = SPREADS[0]
        found.append(Curves(made, stated, stated, spread))
    return tuple(found)


def _design(group: Group) -> Array:
    grids = np.meshgrid(*(np.linspace(-1, 1, size) for size in group.sizes), indexing="ij")
    return np.stack([np.ones(group.configurations), *(grid.reshape(-1) for grid in grids)], axis=1)


def numbers(table: Array, design: Array) -> Array:
    """The numbers (questions, classes - 1, 1 + skills) of tables (questions, configurations, classes), by least squares on the logits."""
    reached = np.cumsum(table[..., ::-1], axis=-1)[..., ::-1]
    chance = np.clip(reached[..., 1:] / np.maximum(reached[..., :-1], _LEAST), _LEAST, 1 - _LEAST)
    logits = np.log(chance / (1 - chance)).transpose(0, 2, 1)
    found: Array = logits @ np.linalg.pinv(design).T
    return found


def tables(found: Array, design: Array) -> Array:
    """The tables (questions, configurations, classes) of numbers (questions, classes - 1, 1 + skills)."""
    chance = _logistic(found @ design.T).transpose(0, 2, 1)
    ones, none = np.ones((*chance.shape[:2], 1)), np.zeros((*chance.shape[:2], 1))
    reached = np.concatenate([ones, np.cumprod(chance, axis=2), none], axis=2)
    result: Array = reached[..., :-1] - reached[..., 1:]
    return result


def nearest_curves(table: Array, curves: Curves, monotone: bool) -> Array:
    """Tables of the family near to these."""
    return tables(_rising(numbers(table, curves.design), monotone), curves.design)


def log_prior(table: Array, curves: Curves) -> float:
    """The log prior of tables of the family, up to a constant."""
    distances = (numbers(table, curves.design) - curves.centre) / curves.spread
    return float(-0.5 * (distances**2).sum() - len(table) * np.log(curves.spread).sum())


def maximised(counts: Array, now: Array, curves: Curves, monotone: bool) -> Array:
    """Tables that are better for these expected counts (questions, configurations, classes) than `now`: a generalised M-step."""
    start = numbers(now, curves.design)
    reached, met = _counted(counts)
    found = start.reshape(-1, start.shape[-1])
    centre = curves.centre.reshape(found.shape)
    precision = np.broadcast_to(curves.spread**-2.0, curves.centre.shape).reshape(found.shape)
    value = _objective(found, reached, met, curves.design, centre, precision)
    for _ in range(_NEWTON):
        slope, bend = _derivatives(found, reached, met, curves.design, centre, precision)
        held = np.zeros(found.shape, bool)
        if monotone:
            held[:, 1:] = (found[:, 1:] <= 0) & (slope[:, 1:] < 0)
        slope = np.where(held, 0.0, slope)
        bend = np.where(held[:, :, None] | held[:, None, :], np.eye(found.shape[1]) * bend, bend)
        step = np.linalg.solve(bend, slope[..., None])[..., 0]
        for _ in range(_HALVINGS):
            further = _rising(found + step, monotone)
            reaches = _objective(further, reached, met, curves.design, centre, precision)
            better = reaches >= value
            found, value = np.where(better[:, None], further, found), np.where(better, reaches, value)
            step = np.where(better[:, None], 0.0, step / 2)
            if better.all():
                break
    return tables(found.reshape(start.shape), curves.design)


def drawn_curves(counts: Array, now: Array, curves: Curves, monotone: bool, rng: np.random.Generator) -> Array:
    """Tables of the family drawn given counts (questions, configurations, classes): normal numbers around the best, by their curvature."""
    best = numbers(maximised(counts, now, curves, monotone), curves.design)
    reached, met = _counted(counts)
    flat = best.reshape(-1, best.shape[-1])
    centre = curves.centre.reshape(flat.shape)
    precision = np.broadcast_to(curves.spread**-2.0, curves.centre.shape).reshape(flat.shape)
    _, bend = _derivatives(flat, reached, met, curves.design, centre, precision)
    roots = np.linalg.cholesky(bend).transpose(0, 2, 1)
    moved = np.linalg.solve(roots, rng.standard_normal((*flat.shape, 1)))[..., 0]
    return tables(_rising(flat + moved, monotone).reshape(best.shape), curves.design)


def shrunk(counts: Sequence[Array], learnt: Sequence[Array], families: Sequence[Curves]) -> tuple[Curves, ...]:
    """The families with means and spreads estimated from all questions with answers.

    `counts`, `learnt`: expected counts and tables of each group, (questions, configurations, classes). Groups with as many skills and
    classes share their means and spreads, and so do the slopes of the skills of a question.
    """
    pools: dict[tuple[int, int], list[int]] = {}
    for number, curves in enumerate(families):
        pools.setdefault(curves.stated.shape[1:], []).append(number)
    found = list(families)
    for members in pools.values():
        parts = [_distances(counts[number], learnt[number], families[number]) for number in members]
        away, variance = (np.concatenate(part) for part in zip(*parts, strict=True))
        if not len(away):
            continue
        shift, spread = np.empty(away.shape[1:]), np.empty(away.shape[1:])
        for columns, prior in ((slice(0, 1), SPREADS[0]), (slice(1, None), SPREADS[1])):
            own = away[:, :, columns]
            middle = own.mean(axis=(0, 2), keepdims=True)
            squares = ((own - middle) ** 2 + variance[:, :, columns]).mean(axis=2).sum(axis=0)
            shift[:, columns] = middle[0]
            spread[:, columns] = np.sqrt((squares + TRUST * prior**2) / (len(own) + TRUST))[:, None]
        for number in members:
            found[number] = replace(families[number], centre=families[number].stated + shift, spread=spread)
    return tuple(found)


def _distances(counts: Array, learnt: Array, curves: Curves) -> tuple[Array, Array]:
    """How far the numbers of the questions with answers are from what is stated, and their posterior variances."""
    some = counts.sum(axis=(1, 2)) > 0
    found = numbers(learnt[some], curves.design)
    reached, met = _counted(counts[some])
    flat = found.reshape(-1, found.shape[-1])
    precision = np.broadcast_to(curves.spread**-2.0, found.shape).reshape(flat.shape)
    _, bend = _derivatives(flat, reached, met, curves.design, flat, precision)
    variance = np.diagonal(np.linalg.inv(bend), axis1=1, axis2=2).reshape(found.shape)
    return found - curves.stated[some], variance


def _counted(counts: Array) -> tuple[Array, Array]:
    """How many met each class, and how many of them reached the next, (questions * (classes - 1), configurations) both."""
    reached = np.cumsum(counts[..., ::-1], axis=-1)[..., ::-1].transpose(0, 2, 1)
    return reached[:, 1:].reshape(-1, counts.shape[1]), reached[:, :-1].reshape(-1, counts.shape[1])


def _objective(found: Array, reached: Array, met: Array, design: Array, centre: Array, precision: Array) -> Array:
    logits = found @ design.T
    fit = (reached * logits - met * np.logaddexp(0, logits)).sum(axis=1)
    return np.asarray(fit - 0.5 * (precision * (found - centre) ** 2).sum(axis=1))


def _derivatives(found: Array, reached: Array, met: Array, design: Array, centre: Array, precision: Array) -> tuple[Array, Array]:
    """The gradient, (rows, numbers), and the negative Hessian, (rows, numbers, numbers)."""
    chance = _logistic(found @ design.T)
    slope = (reached - met * chance) @ design - precision * (found - centre)
    weight = met * chance * (1 - chance)
    pairs = (design[:, :, None] * design[:, None, :]).reshape(len(design), -1)
    bend = (weight @ pairs).reshape(len(found), design.shape[1], design.shape[1])
    return slope, bend + precision[:, :, None] * np.eye(design.shape[1])


def _rising(found: Array, monotone: bool) -> Array:
    if not monotone:
        return found
    return np.concatenate([found[..., :1], np.maximum(found[..., 1:], 0)], axis=-1)


def _logistic(logits: Array) -> Array:
    result: Array = 0.5 * (1 + np.tanh(0.5 * np.clip(logits, -20, 20)))
    return result
