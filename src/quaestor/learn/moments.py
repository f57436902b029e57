"""Moments of the scores of one and of two questions: what a bank implies, how they vary from person to person, and what was observed.

A score is 0 for the worst class of a question and 1 for the best, equally spaced between. The moments are the means E[x_i] of all
questions, and the means E[x_i x_j] of the products of all pairs i < j, in this order. For two classes they are the shares of right answers
to one and to two questions; for more, the collapsed moments of Cai and Hansen (2013).

Given the profile (the levels of all skills) the answers are independent, so that with shares w of the profiles, means m and mean squares s
of the scores at each profile, E[x_i x_j] = sum w m_i m_j, and the covariance of two moments needs m and s only. Moments depend on a
question's table through its mean scores alone, one for each row.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quaestor.learn.curves import numbers
from quaestor.learn.expect import batch, members, prior
from quaestor.learn.fit import Fit
from quaestor.learn.layout import Layout, Tables, answered
from quaestor.learn.people import People
from quaestor.model.table import Array


@dataclass(frozen=True)
class Scores:
    """What a bank says of scores: `shares` of the profiles, (profiles,); means and mean squares there, (questions, profiles) each."""

    shares: Array
    means: Array
    squares: Array

    def chosen(self, questions: NDArray[np.intp]) -> "Scores":
        """Those of some questions."""
        return Scores(self.shares, self.means[questions], self.squares[questions])


def scores(layout: Layout, tables: Tables) -> Scores:
    """The scores of all questions, for layouts with at most `JOINT` profiles."""
    member, size = members(layout), int(layout.profiles)
    means, squares = np.empty((layout.questions, size)), np.empty((layout.questions, size))
    for group, table in zip(layout.groups, tables.groups, strict=True):
        points = np.linspace(0, 1, group.classes)
        means[group.positions] = (table @ points) @ member[group.block]
        squares[group.positions] = (table @ points**2) @ member[group.block]
    return Scores(prior(layout, tables), means, squares)


def pairs(questions: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first and the second question of each moment of two, (pairs,) each."""
    first, second = np.triu_indices(questions, 1)
    return first, second


def at_profiles(means: Array) -> Array:
    """The moments at each profile, (moments, profiles), from means (questions, profiles)."""
    first, second = pairs(len(means))
    return np.concatenate([means, means[first] * means[second]])


def implied(bank: Scores) -> Array:
    """The moments of the bank, (moments,)."""
    return np.asarray(at_profiles(bank.means) @ bank.shares)


def covariance(bank: Scores) -> Array:
    """The covariance of the moments of one person, (moments, moments)."""
    given = at_profiles(bank.means)
    middle = given @ bank.shares
    found = np.asarray((given * bank.shares) @ given.T - np.outer(middle, middle))
    count = len(bank.means)
    spread = bank.squares - bank.means**2
    first, second = pairs(count)
    number = np.zeros((count, count), dtype=np.intp)  # of the moment of a pair
    number[first, second] = number[second, first] = count + np.arange(len(first))
    number[np.diag_indices(count)] = np.arange(count)
    for one in range(count):  # moments that share a question: its mean square stands in place of its squared mean
        partner = bank.means.copy()
        partner[one] = 1
        found[np.ix_(number[one], number[one])] += (partner * (bank.shares * spread[one])) @ partner.T
    both = count + np.arange(len(first))
    found[both, both] += (spread[first] * spread[second]) @ bank.shares
    return found


@dataclass(frozen=True)
class Observed:
    """Moments of people: for pairs (q, r) the numbers who answered both, (questions, questions), and `values`, (moments,), each from those
    with all its answers; sums of scores, of their squares and of their products over those who answered both, (questions, questions).
    """

    both: Array
    values: Array
    sums: Array
    squares: Array
    products: Array

    @property
    def people(self) -> Array:
        """The number of people of each moment, (moments,)."""
        return np.concatenate([np.diag(self.both), self.both[pairs(len(self.both))]])

    @property
    def correlations(self) -> Array:
        """Of the scores of two questions, over those who answered both, (questions, questions); NaN where a score does not vary."""
        n, x, xx, xy = self.both, self.sums, self.squares, self.products
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((n * xy - x * x.T) / np.sqrt((n * xx - x**2) * (n * xx.T - x.T**2)))


def observed(layout: Layout, people: People, questions: NDArray[np.intp]) -> Observed:
    """The moments of some questions."""
    tops = np.empty(layout.questions)
    for group in layout.groups:
        tops[group.positions] = group.classes - 1
    n, x, xx, xy = (np.zeros((len(questions), len(questions))) for _ in range(4))
    weights, step = people.weights(), batch(layout)
    for start in range(0, len(people.patterns), step):
        classes = people.patterns.part(start, start + step).classes(layout)[:, questions]
        given = (classes >= 0).astype(float)
        score, own = np.maximum(classes, 0) / tops[questions], weights[start : start + step, None]
        n += (own * given).T @ given
        x += (own * score).T @ given
        xx += (own * score**2).T @ given
        xy += (own * score).T @ score
    with np.errstate(divide="ignore", invalid="ignore"):
        both = (xy / n)[pairs(len(questions))]
        values = np.concatenate([np.diag(x) / np.diag(n), both])
    return Observed(n, values, x, xx, xy)


def jacobian(fit: Fit, bank: Scores, questions: NDArray[np.intp]) -> Array:
    """The derivatives of the moments of some questions by all free numbers of the bank, (moments, numbers); they span all directions in
    which these moments can be moved by learning. `bank`: the scores of these questions.

    Where the monotone rule holds rows together, fewer numbers are free; all are counted, since a direction too many makes no test wrong.
    """
    layout, count = fit.layout, len(questions)
    member = members(layout)
    at, columns = {position: number for number, position in enumerate(questions.tolist())}, []
    weighted = member * bank.shares
    alone, beside = weighted.sum(axis=1), weighted @ bank.means.T  # (width,), (width, questions)
    first, second = pairs(count)
    held = fit.aim.fixed
    some = answered(fit.expected.counts)
    for number, (group, table, ties) in enumerate(zip(layout.groups, fit.tables.groups, fit.aim.ties, strict=True)):
        for within, position in enumerate(group.positions.tolist()):
            if position not in at or not some[number][within] or (held is not None and held.groups[number][within]):
                continue
            one = at[position]
            rows = np.zeros((count + len(first), group.configurations))
            rows[one] = alone[group.block]
            for part, other in ((first, second), (second, first)):
                chosen = np.flatnonzero(part == one)
                rows[count + chosen] = beside[group.block][:, other[chosen]].T
            if fit.aim.curves:
                rows = rows @ _slopes(table[within], fit.aim.curves[number].design)
            elif ties:
                rows = rows @ np.eye(ties[within].order.size)[ties[within].labels]
            columns.append(rows)
    columns.append(at_profiles(bank.means) @ _share_slopes(layout, fit.tables, held.skills if held is not None else ()))
    return np.concatenate(columns, axis=1)


def _slopes(table: Array, design: Array) -> Array:
    """The derivatives of a question's mean scores by the numbers of its curves, (configurations, numbers)."""
    fitted = numbers(table[None], design)[0]  # (classes - 1, 1 + skills)
    chance = 1 / (1 + np.exp(-(design @ fitted.T)))
    reached = np.cumprod(chance, axis=1)
    further = np.cumsum(reached[:, ::-1], axis=1)[:, ::-1]  # the sum over this class and all better ones
    by_logit = further * (1 - chance) / chance.shape[1]
    return np.asarray((by_logit[:, :, None] * design[:, None]).reshape(len(design), -1))


def _share_slopes(layout: Layout, tables: Tables, held: tuple[bool, ...]) -> Array:
    """The derivatives of the profiles' shares by the numbers of the skills' tables, (profiles, numbers), against the lowest level."""
    states = np.unravel_index(np.arange(int(layout.profiles)), layout.sizes)
    columns = [np.zeros((int(layout.profiles), 0))]
    for skill, table in enumerate(tables.skills):
        if held and held[skill]:
            continue
        flat = Tables(tuple(np.ones_like(one) if other == skill else one for other, one in enumerate(tables.skills)), tables.groups)
        rest = prior(layout, flat)
        above = layout.parents[skill]
        sizes = tuple(layout.sizes[parent] for parent in above)
        row = np.ravel_multi_index(tuple(states[parent] for parent in above), sizes) if above else np.zeros(len(rest), dtype=np.intp)
        at = (np.arange(len(table)) == row[:, None]) * rest[:, None]  # (profiles, rows)
        level = (np.arange(table.shape[1]) == states[skill][:, None]).astype(float)
        columns.append((at[:, :, None] * (level[:, None, 1:] - level[:, None, :1])).reshape(len(rest), -1))
    return np.concatenate(columns, axis=1)
