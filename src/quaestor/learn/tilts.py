"""One question in several groups of people: by how much its answers are shifted in each, at the same levels of its skills.

With scores s from 0 (the worst class) to 1 (the best), configurations c of the question's skills, and groups g of people,

    P(class k | c, g) is proportional to P(k | c) * exp(t_gc * s_k),        t_gc = shift of the group (uniform).

For two classes the shift is a difference of log-odds; for more, that of the best class against the worst. Which configuration a person has
is known from the person's *other* answers only, as P(c | others, g), where the group has its own distribution of skills: so groups that
differ in skill need not differ in shifts. P(k | c) and the shifts are fitted together to the answers (Fisher scoring; each row of the table
counts `RIDGE` answers towards the learnt one), and "no shifts" is tested by the efficient score: chi-squared with groups - 1 degrees of
freedom. The groups' distributions of skills were estimated, too: a tilt of each along its skills is a nuisance parameter of that test,
with the information that the other answers have of it. A shift that rises or falls with the level (non-uniform) is tested beyond the
uniform one in the same way: t_gc = shift + slope of the group * (mean relative level - its mean).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from quaestor.model.table import Array

RIDGE = 2.0  # answers that each row of the learnt table counts
SPREAD = 3.0  # of the prior of shifts: it keeps those of constant answers finite
STEPS, LONGEST, ENOUGH = 50, 1.0, 1e-6  # of Fisher scoring
DOUBT = 0.05  # slopes with larger p-values are not worked out
LEAST = 1e-6  # the smallest probability of an answer


@dataclass(frozen=True)
class Answered:
    """The answers to one question. For each row (people of one group with equal answers): P(configuration | other answers, group),
    (rows, configurations), the number of the group, the class and the number of people, (rows,) each.

    `table`: (configurations, classes); `heights`: the relative levels, from 0 to 1, of its skills, (configurations, skills).
    """

    posterior: Array
    group: NDArray[np.intp]
    answer: NDArray[np.intp]
    weight: Array
    table: Array
    heights: Array

    @property
    def people(self) -> Array:
        """The number of people of each group, (groups,)."""
        return np.bincount(self.group, self.weight).astype(float)


@dataclass(frozen=True)
class Shifts:
    """Each group against all the others: difference of log-odds, its standard error, and difference of mean scores at the same levels (the
    group's), (groups,) each; `chance`: p-value of no difference at all; `spread`: the standard deviation of all scores.

    With slopes: `uneven`, the p-value of none; `unsigned`, the mean size of the difference of mean scores, whatever its sign, `lowest` and
    `highest`, that difference at the lowest and the highest levels, (groups,) each; where slopes are not beyond `DOUBT`, those without.
    """

    log_odds: Array
    errors: Array
    points: Array
    chance: float
    spread: float
    uneven: float
    unsigned: Array
    lowest: Array
    highest: Array


@dataclass(frozen=True)
class _At:
    """At some parameters (of the table, of tilts, of the groups' skills): log-likelihood, score and information."""

    value: float
    score: Array
    information: Array


def shifts(one: Answered) -> Shifts:
    """The shifts of all groups."""
    people = one.people
    groups, (configurations, classes) = len(people), one.table.shape
    basis = np.vstack([np.eye(groups - 1), -people[:-1] / people[-1]])  # (groups, groups - 1): weighted by people, shifts sum to 0
    even = np.broadcast_to(basis[:, None], (groups, configurations, groups - 1))
    height = one.heights.mean(axis=1)
    middle = height - (one.weight @ one.posterior @ height) / one.weight.sum()
    both = np.concatenate([even, even * middle[:, None]], axis=2)
    start = np.log(np.maximum(one.table, LEAST))
    logits, nothing = start[:, 1:] - start[:, :1], np.zeros(groups - 1)
    null = _fitted(one, logits, nothing, even, free=False)
    chance = _tested(one, null[0], nothing, even, groups - 1)
    logits, found = _fitted(one, null[0], nothing, even, free=True)
    at = _at(one, logits, found, even)
    covariance = np.linalg.inv(at.information + 1e-9 * np.eye(len(at.score)))[_tilts(one, even), _tilts(one, even)]
    against = basis * (people.sum() / (people.sum() - people))[:, None]
    errors = np.sqrt(np.einsum("gi,ij,gj->g", against, covariance, against))
    uneven = _tested(one, logits, np.concatenate([found, nothing]), both, groups - 1)
    apart = _apart(one, logits, even @ found)
    sloped = apart if uneven > DOUBT else _apart(one, *_sloped(one, logits, found, both))
    levels = np.stack([one.weight[one.group == group] @ one.posterior[one.group == group] for group in range(groups)]) / people[:, None]
    return Shifts(
        log_odds=against @ found,
        errors=errors,
        points=(levels * apart).sum(axis=1),
        chance=chance,
        spread=float(np.sqrt(np.cov(_scores(classes)[one.answer], aweights=one.weight, ddof=0))),
        uneven=uneven,
        unsigned=(levels * np.abs(sloped)).sum(axis=1),
        lowest=sloped[:, height.argmin()],
        highest=sloped[:, height.argmax()],
    )


def _sloped(one: Answered, logits: Array, found: Array, both: Array) -> tuple[Array, Array]:
    """Logits of the table and tilts with slopes, (groups, configurations)."""
    logits, tilt = _fitted(one, logits, np.concatenate([found, np.zeros_like(found)]), both, free=True)
    return logits, both @ tilt


def _scores(classes: int) -> Array:
    return np.arange(classes) / (classes - 1)


def _tilts(one: Answered, directions: Array) -> slice:
    first = one.table.shape[0] * (one.table.shape[1] - 1)
    return slice(first, first + directions.shape[2])


def _chances(logits: Array, tilts: Array) -> Array:
    """P(class | configuration, group), (groups, configurations, classes); `tilts`: (groups, configurations)."""
    logs = np.concatenate([np.zeros((len(logits), 1)), logits], axis=1)
    logs = logs + tilts[:, :, None] * _scores(logs.shape[1])
    logs -= logs.max(axis=2, keepdims=True)
    found = np.exp(logs)
    return np.asarray(found / found.sum(axis=2, keepdims=True))


def _apart(one: Answered, logits: Array, tilts: Array) -> Array:
    """The mean score of each group minus that of all the others at each configuration, (groups, configurations)."""
    means = _chances(logits, tilts) @ _scores(one.table.shape[1])
    people = one.people[:, None]
    others = ((people * means).sum(axis=0) - people * means) / (people.sum() - people)
    return np.asarray(means - others)


def _at(one: Answered, logits: Array, tilt: Array, directions: Array) -> _At:
    """`logits`: of the table, (configurations, classes - 1); tilts of groups at configurations are `directions` @ `tilt`, `directions`:
    (groups, configurations, tilts).
    """
    classes = one.table.shape[1]
    groups, skills, scores = len(directions), one.heights.shape[1], _scores(classes)
    chances = _chances(logits, directions @ tilt)
    size = logits.size + len(tilt) + groups * skills
    score, information, value = np.zeros(size), np.zeros((size, size)), 0.0
    for group in range(groups):
        own = one.group == group
        weight, posterior, answer, chance = one.weight[own], one.posterior[own], one.answer[own], chances[group]
        predicted = posterior @ chance  # (rows, classes)
        expected = posterior @ one.heights
        nuisance = logits.size + len(tilt) + group * skills
        for number in range(classes):
            at = posterior * chance[:, number] / predicted[:, [number]]
            slope = np.zeros((len(at), size))
            for other in range(1, classes):
                slope[:, other - 1 : logits.size : classes - 1] = at * ((number == other) - chance[:, other])
            slope[:, logits.size : logits.size + len(tilt)] = at @ ((scores[number] - chance @ scores)[:, None] * directions[group])
            slope[:, nuisance : nuisance + skills] = at @ one.heights - expected
            information += slope.T @ (slope * (weight * predicted[:, number])[:, None])
            given = answer == number
            score += weight[given] @ slope[given]
            value += float(weight[given] @ np.log(predicted[given, number]))
        apart = expected - weight @ expected / weight.sum()
        information[nuisance : nuisance + skills, nuisance : nuisance + skills] += apart.T @ (apart * weight[:, None]) + np.eye(skills)
    return _with_priors(one, logits, tilt, directions, _At(value, score, information))


def _with_priors(one: Answered, logits: Array, tilt: Array, directions: Array, at: _At) -> _At:
    """With the prior counts of the table, and a normal prior of tilts; the score of the groups' skills is 0, where they were estimated."""
    configurations, classes = one.table.shape
    table = _chances(logits, np.zeros((1, configurations)))[0]
    value = at.value + RIDGE * float((one.table * np.log(np.maximum(table, LEAST))).sum())
    score, information = at.score.copy(), at.information.copy()
    score[: logits.size] += RIDGE * (one.table - table)[:, 1:].reshape(-1)
    for row in range(configurations):
        block = slice(row * (classes - 1), (row + 1) * (classes - 1))
        information[block, block] += RIDGE * (np.diag(table[row, 1:]) - np.outer(table[row, 1:], table[row, 1:]))
    own = _tilts(one, directions)
    precision = directions[:, 0].T @ directions[:, 0] / SPREAD**2 + np.eye(len(tilt)) * 1e-9
    value -= 0.5 * float(tilt @ precision @ tilt)
    score[own] -= precision @ tilt
    information[own, own] += precision
    score[own.stop :] = 0.0
    return _At(value, score, information)


def _fitted(one: Answered, logits: Array, tilt: Array, directions: Array, free: bool) -> tuple[Array, Array]:
    """The best logits, and tilts if they are `free`, by Fisher scoring; a step is halved while the objective falls."""
    count = logits.size + (len(tilt) if free else 0)
    at = _at(one, logits, tilt, directions)
    for _ in range(STEPS):
        step = np.linalg.solve(at.information[:count, :count] + 1e-9 * np.eye(count), at.score[:count])
        step *= min(1.0, LONGEST / max(float(np.abs(step).max()), 1e-12))
        for _ in range(STEPS):
            moved = logits + step[: logits.size].reshape(logits.shape), tilt + (step[logits.size :] if free else 0.0)
            further = _at(one, *moved, directions)
            if further.value >= at.value - 1e-9:
                break
            step /= 2
        (logits, tilt), at = moved, further
        if np.abs(step).max() < ENOUGH:
            break
    return logits, tilt


def _tested(one: Answered, logits: Array, tilt: Array, directions: Array, count: int) -> float:
    """The p-value of the last `count` tilts being 0, by the efficient score."""
    at = _at(one, logits, tilt, directions)
    stop = _tilts(one, directions).stop
    tested = np.arange(stop - count, stop)
    others = np.setdiff1d(np.arange(len(at.score)), tested)
    projected = np.linalg.solve(at.information[np.ix_(others, others)] + 1e-9 * np.eye(len(others)), at.information[np.ix_(others, tested)])
    score = at.score[tested] - projected.T @ at.score[others]
    variance = at.information[np.ix_(tested, tested)] - at.information[np.ix_(tested, others)] @ projected
    return float(chdtrc(count, max(float(score @ np.linalg.solve(variance, score)), 0.0)))
