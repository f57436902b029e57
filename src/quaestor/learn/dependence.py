"""Pairs of questions that are answered alike more often than the skills explain: copies, and questions that hang together.

For two questions i and j let m_i and m_j be the mean scores, and c the covariance of the scores, that the bank foretells from the person's
*other* answers, without those to i and j. If the bank is right, (x_i - m_i) (x_j - m_j) - c has mean 0 for every person, whatever the
answers: unlike the correlation of residuals from all answers (Yen's Q3), whose mean is about -1 / (questions - 1), nothing has to be
corrected. Its variance follows from the bank too, so that the sum over people, divided by its standard deviation, is close to a standard
normal number z. The `size` of a dependence is the sum divided by those of the two variances: a correlation of residuals.

P(levels | others) is proportional to P(levels | all) / (P(x_i | levels) P(x_j | levels)), so that all pairs come from matrix products.
Tables are kept away from 0 by `LEAST`, which makes the division exact.

A copy draws the levels towards itself, and the other questions then seem not to fit: `relearnt` learns without one of each pair.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from quaestor.i18n import say
from quaestor.learn.chance import discoveries
from quaestor.learn.em import solved
from quaestor.learn.expect import batch, beliefs, profile_beliefs
from quaestor.learn.fit import Fit
from quaestor.learn.layout import Tables, answered, as_tables, tables_of
from quaestor.learn.people import Patterns
from quaestor.learn.work import steps
from quaestor.model.table import Array

CHANCE = 0.05  # false discovery rate over all pairs
SIZE = 0.25  # smaller dependences are not told
FEWEST = 30  # people who answered both
CLOSE = 0.7  # a pair whose scores correlate by as much is looked at in a bank learnt without one of them
MOST = 0.25  # of the questions are left out to see whether the others fit without their copies
TOLERANCE, ITERATIONS = 0.01, 500  # of learning without them
LEAST = 1e-6  # the smallest probability of an answer
PATTERNS = 2000  # of more patterns of answers so many are looked at, evenly spread: they show a dependence of this size
WHOLE = 512  # profiles; with more of them only pairs on the same skills are looked at
CELLS = 2**22  # numbers in one batch


@dataclass(frozen=True)
class Dependence:
    """Two questions, how many people answered both, the `size` of their dependence, from -1 to 1, and the p-value of none (`chance`)."""

    first: str
    second: str
    people: int
    size: float
    chance: float

    @property
    def words(self) -> str:
        """What was found, and what can be done."""
        return say(
            "{first} and {second} are answered alike far more often than the skills explain (residual correlation {size:.2f})."
            " Drop one of them, or let them exclude one another.",
            first=self.first,
            second=self.second,
            size=self.size,
        )


def dependences(fit: Fit) -> tuple[Dependence, ...]:
    """The pairs that depend on one another beyond the skills, the largest first: at a false discovery rate of `CHANCE`, and at least
    `SIZE`.
    """
    found = all_pairs(fit)
    close = _close(fit)
    found = [_apart(fit, one) if (one.first, one.second) in close and one.size < SIZE else one for one in found]
    told = discoveries(np.array([one.chance for one in found]), CHANCE)
    return tuple(sorted((one for one, is_told in zip(found, told, strict=True) if is_told and one.size >= SIZE), key=lambda one: -one.size))


def _close(fit: Fit) -> set[tuple[str, str]]:
    """Pairs whose scores correlate by at least `CLOSE`. If other questions tell little, the levels may have become those of such a pair,
    which then explain it.
    """
    some, names = _some(fit), list(fit.bank.questions)
    classes = Patterns(tuple(answers[some] for answers in fit.people.patterns.answers)).classes(fit.layout)
    weights, given = fit.people.weights()[some][:, None], (classes >= 0).astype(float)
    score = np.where(classes >= 0, classes, 0.0)
    n, x, xx, xy = ((weights * one).T @ other for one, other in ((given, given), (score, given), (score**2, given), (score, score)))
    with np.errstate(divide="ignore", invalid="ignore"):
        raw = (n * xy - x * x.T) / np.sqrt((n * xx - x**2) * (n * xx.T - x.T**2))
    order = np.concatenate([group.positions for group in fit.layout.groups]).argsort()  # the order of a pair is that of `all_pairs`
    return {
        (names[one], names[other])
        for one, other in zip(*np.nonzero(raw >= CLOSE), strict=True)
        if one != other and order[one] < order[other]
    }


def _apart(fit: Fit, pair: Dependence) -> Dependence:
    """The pair in a bank learnt without its second question, whose table is then that at the levels of the others."""
    without, names, weights = relearnt(fit, [pair.second]), list(fit.bank.questions), fit.people.weights()
    position = names.index(pair.second)
    number = next(number for number, group in enumerate(fit.layout.groups) if position in group.positions)
    group, within = fit.layout.groups[number], int(np.flatnonzero(fit.layout.groups[number].positions == position)[0])
    counts = fit.aim.prior.groups[number][within].copy()
    for start in range(0, len(weights), batch(fit.layout)):
        part = slice(start, start + batch(fit.layout))
        at = beliefs(fit.layout, without.tables, without.people.patterns.part(part.start, part.stop))[1][:, group.block]
        answers = fit.people.patterns.part(part.start, part.stop).classes(fit.layout)[:, position]
        counts += (weights[part, None] * at).T @ (answers[:, None] == np.arange(group.classes))
    tables = [table.copy() for table in without.tables.groups]
    tables[number][within] = (counts + LEAST) / (counts + LEAST).sum(axis=1, keepdims=True)
    found = all_pairs(replace(fit, tables=Tables(without.tables.skills, tuple(tables))))
    return next(one for one in found if (one.first, one.second) == (pair.first, pair.second))


def _some(fit: Fit) -> NDArray[np.intp]:
    """The patterns that are looked at."""
    count = len(fit.people.patterns)
    return np.arange(count) if count <= PATTERNS else np.linspace(0, count - 1, PATTERNS).astype(np.intp)


def all_pairs(fit: Fit) -> list[Dependence]:
    """All pairs of questions that at least `FEWEST` people answered, in the order of the bank."""
    names, found = list(fit.bank.questions), []
    for positions, sums in _sums(fit):
        for one, other in zip(*np.triu_indices(len(positions), 1), strict=True):
            people, excess, variance, own, others = sums[:, one, other]
            if people >= FEWEST and variance > 0:
                first, second = names[positions[one]], names[positions[other]]
                size = float(np.clip(excess / np.sqrt(own * others), -1, 1))
                found.append(Dependence(first, second, round(float(people)), size, float(ndtr(-excess / np.sqrt(variance)))))
    return found


def spare(fit: Fit, found: Sequence[Dependence]) -> tuple[str, ...]:
    """Questions without which no pair is left: those with most partners first, else the second of a pair. None if they were more than a
    `MOST` of all: so many pairs are no copies but another skill.
    """
    left, taken = [(one.first, one.second) for one in found], []
    while left:
        counts = Counter(name for pair in left for name in pair)
        taken.append(max(reversed(list(fit.bank.questions)), key=lambda name: counts[name]))
        left = [pair for pair in left if taken[-1] not in pair]
    return tuple(taken) if len(taken) <= MOST * fit.layout.questions else ()


def relearnt(fit: Fit, left_out: Collection[str]) -> Fit:
    """The fit learnt anew without the answers to these questions, from the bank as it was given."""
    positions = [number for number, name in enumerate(fit.bank.questions) if name in left_out]
    patterns = fit.people.patterns.without(fit.layout, positions)
    with steps(fit.layout, patterns) as step:
        run, aim = solved(fit.layout, tables_of(fit.given, fit.layout), fit.aim, step, fit.people.weights(), TOLERANCE, ITERATIONS)
    made = as_tables(fit.given, fit.layout, run.tables, chosen=answered(run.expected.counts))
    people = replace(fit.people, patterns=patterns)
    return replace(fit, people=people, bank=fit.given.with_tables(made), tables=run.tables, expected=run.expected, aim=aim)


def _sums(fit: Fit) -> Iterator[tuple[NDArray[np.intp], Array]]:
    """For all questions, or for those of each scope, their positions and, (5, questions, questions): people, sums of excess products and
    of their variances, and of the variances of either score.
    """
    layout = fit.layout
    tables = Tables(fit.tables.skills, tuple(_inside(table) for table in fit.tables.groups))
    weights, some = fit.people.weights(), _some(fit)
    whole = layout.profiles <= WHOLE
    scopes: Sequence[Sequence[int]] = [range(len(layout.groups))]
    if not whole:
        scopes = [[number for number, group in enumerate(layout.groups) if group.scope == scope] for scope in layout.blocks]
    for chosen in scopes:
        positions = np.concatenate([layout.groups[number].positions for number in chosen])
        rows = [_spread(fit, tables, number, whole) for number in chosen]
        count, states = len(positions), rows[0][0].shape[1]
        sums = np.zeros((5, count, count))
        step = max(min(batch(layout), CELLS // (9 * count * (count + states))), 1)
        for start in range(0, len(some), step):
            part = Patterns(tuple(answers[some[start : start + step]] for answers in fit.people.patterns.answers))
            posterior = (
                profile_beliefs(layout, tables, part) if whole else beliefs(layout, tables, part)[1][:, layout.groups[chosen[0]].block]
            )
            sums += _added(part.classes(layout)[:, positions], rows, posterior, weights[some[start : start + step]])
        yield positions, sums


def _inside(table: Array) -> Array:
    kept = np.maximum(table, LEAST)
    return np.asarray(kept / kept.sum(axis=-1, keepdims=True))


def _spread(fit: Fit, tables: Tables, number: int, whole: bool) -> Array:
    """A group's tables over the states of the posterior, (questions, states, classes)."""
    table, group = tables.groups[number], fit.layout.groups[number]
    if not whole:
        return table
    states = np.unravel_index(np.arange(int(fit.layout.profiles)), fit.layout.sizes)
    return table[:, np.ravel_multi_index(tuple(states[skill] for skill in group.scope), group.sizes)]


def _added(classes: NDArray[np.int16], groups: Sequence[Array], posterior: Array, weights: Array) -> Array:
    """The sums of some patterns, (5, questions, questions). `classes`: (patterns, questions); `posterior`: (patterns, states)."""
    given = classes >= 0
    shape = (*classes.shape, posterior.shape[1])
    inverse, mean, score, at = np.ones(shape), np.zeros(shape), np.zeros(classes.shape), 0
    is_binary = all(table.shape[2] == 2 for table in groups)
    square = mean if is_binary else np.zeros(shape)
    for table in groups:
        own = slice(at, at + len(table))
        at += len(table)
        points = np.arange(table.shape[2]) / (table.shape[2] - 1)
        picked = np.maximum(classes[:, own], 0)
        inverse[:, own] = 1 / table[np.arange(len(table)), :, picked]
        mean[:, own], square[:, own] = inverse[:, own] * (table @ points), inverse[:, own] * (table @ points**2)
        score[:, own] = points[picked]

    def both(one: Array, other: Array) -> Array:
        return np.asarray((one * posterior[:, None]) @ other.swapaxes(1, 2))

    total = both(inverse, inverse)
    m, e11 = both(mean, inverse) / total, both(mean, mean) / total
    q, e12, e22 = (m, e11, e11) if is_binary else (both(square, inverse) / total, both(mean, square) / total, both(square, square) / total)
    n, p, e21 = (table.swapaxes(1, 2) for table in (m, q, e12))
    c = e11 - m * n
    excess = (score[:, :, None] - m) * (score[:, None] - n) - c
    variance = e22 - 2 * n * e21 - 2 * m * e12 + n**2 * q + m**2 * p + 4 * m * n * e11 - 3 * (m * n) ** 2 - c**2
    weight = weights[:, None, None] * (given[:, :, None] & given[:, None])
    parts = (np.ones_like(c), excess, np.maximum(variance, 0), np.maximum(q - m**2, 0), np.maximum(p - n**2, 0))
    return np.array([(weight * part).sum(axis=0) for part in parts])
