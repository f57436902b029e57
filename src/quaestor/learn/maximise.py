"""The M-step: the tables of the largest penalised likelihood, given expected counts.

The bank's own tables are the prior: each row counts as `weight` answers in its own proportions (a Dirichlet prior whose parameters are
one plus these). So a row becomes (counts + weight * own row) / total; where nothing at all is counted it stays as it was.

Monotone: for each class but the worst the chance to reach it, given that the one below is reached, never falls from a level to a higher
one. For two classes that is the chance of a right answer; for more it makes the chance of "this class or better" monotone for every class.
The likelihood is a product of binomial ones over these chances, so each is an isotonic regression of its own, and the step is exact.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quaestor.learn.layout import Group, Layout, Tables
from quaestor.learn.order import Order, isotonic, levels_order, tied_order
from quaestor.table import Array

_NOTHING = 1e-9  # the weight of what stays as it was where nothing is counted: it only decides there


@dataclass(frozen=True)
class Ties:
    """Configurations of one question that share one row: a label for each configuration, and the order of the labels."""

    labels: NDArray[np.intp]
    order: Order


@dataclass(frozen=True)
class Aim:
    """What is to be maximised besides the likelihood: `prior` counts in the shape of the tables, `monotone`, and ties by group.

    `ties[group]` is empty, or has an entry for each question of the group.
    """

    prior: Tables
    monotone: bool
    ties: tuple[tuple[Ties, ...], ...]


def aim_of(layout: Layout, own: Tables, weight: float, monotone: bool, tied: bool) -> Aim:
    """With `tied`, rows that are equal in a question's own table stay equal, and count `weight` only once."""
    ties: list[tuple[Ties, ...]] = []
    groups = []
    for group, tables in zip(layout.groups, own.groups, strict=True):
        order = levels_order(group.sizes)
        made = tuple(_ties(table, order) for table in tables) if tied else ()
        if all(len(one.labels) == one.order.size for one in made):
            made = ()  # no two rows are equal
        ties.append(made)
        counts = weight * tables
        if made:
            counts = np.stack([rows / np.bincount(one.labels)[one.labels][:, None] for one, rows in zip(made, counts, strict=True)])
        groups.append(counts)
    return Aim(Tables(tuple(weight * table for table in own.skills), tuple(groups)), monotone, tuple(ties))


def _ties(table: Array, order: Order) -> Ties:
    _, first, labels = np.unique(table.round(9), axis=0, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))  # labels in the order in which they are met, so that a chain stays one
    relabelled = rank[labels.reshape(-1)]
    return Ties(relabelled, tied_order(order, relabelled))


def maximise(layout: Layout, counts: Tables, now: Tables, aim: Aim) -> Tables:
    """The best tables for these expected counts; `now` are the tables they came from."""
    skills = tuple(_shares(count + own, table) for count, own, table in zip(counts.skills, aim.prior.skills, now.skills, strict=True))
    groups = []
    for group, count, own, table, ties in zip(layout.groups, counts.groups, aim.prior.groups, now.groups, aim.ties, strict=True):
        if ties:
            groups.append(np.stack([_tied(rows, old, one, aim.monotone) for rows, old, one in zip(count + own, table, ties, strict=True)]))
        else:
            groups.append(_solved(count + own, table, levels_order(group.sizes), aim.monotone))
    return Tables(skills, tuple(groups))


def monotone_start(layout: Layout, tables: Tables, aim: Aim) -> Tables:
    """The monotone tables nearest to these, every row counted once: from them on the objective cannot fall."""
    if not aim.monotone:
        return tables
    nothing = Tables(tuple(np.zeros_like(table) for table in aim.prior.skills), tuple(np.zeros_like(table) for table in aim.prior.groups))
    made = maximise(layout, tables, tables, Aim(nothing, True, aim.ties))
    return Tables(tables.skills, made.groups)


def penalty(tables: Tables, aim: Aim) -> float:
    """The logarithm of the prior of these tables, but for a constant: the sum of prior counts times log probabilities."""
    total = 0.0
    for own, table in zip((*aim.prior.skills, *aim.prior.groups), (*tables.skills, *tables.groups), strict=True):
        counted = own > 0
        total += float(own[counted] @ np.log(np.maximum(table[counted], 1e-300)))
    return total


def parameters(layout: Layout, tables: Tables, aim: Aim) -> int:
    """How many numbers are free; the monotone rule takes none away, so where it binds this is too many."""
    count = sum(table.shape[0] * (table.shape[1] - 1) for table in tables.skills)
    for group, ties in zip(layout.groups, aim.ties, strict=True):
        rows = sum(one.order.size for one in ties) if ties else len(group.places) * group.configurations
        count += rows * (group.classes - 1)
    return int(count)


def raw(layout: Layout, counts: Tables, now: Tables, aim: Aim) -> Tables:
    """The same step without the monotone rule: what the answers alone would say."""
    return maximise(layout, counts, now, Aim(aim.prior, False, aim.ties))


def _shares(counts: Array, old: Array) -> Array:
    total = counts.sum(axis=-1, keepdims=True)
    result: Array = np.where(total > 0, counts / np.where(total > 0, total, 1), old)
    return result


def _tied(counts: Array, old: Array, ties: Ties, monotone: bool) -> Array:
    """One question, (configurations, classes): counts of tied rows together."""
    summed = np.zeros((ties.order.size, counts.shape[1]))
    np.add.at(summed, ties.labels, counts)
    first = np.array([int(np.argmax(ties.labels == label)) for label in range(ties.order.size)])
    solved: Array = _solved(summed[None], old[None, first], ties.order, monotone)[0][ties.labels]
    return solved


def _solved(counts: Array, old: Array, order: Order, monotone: bool) -> Array:
    """Tables (questions, places, classes) for counts of that shape."""
    if not monotone:
        return _shares(counts, old)
    reached, before = _at_least(counts), _at_least(old)
    found = np.ones_like(reached)
    for answer in range(1, counts.shape[2]):
        stayed = np.divide(
            before[..., answer], before[..., answer - 1], out=np.zeros_like(before[..., 0]), where=before[..., answer - 1] > 0
        )
        weights = reached[..., answer - 1]
        share = np.divide(reached[..., answer], weights, out=stayed.copy(), where=weights > 0)
        found[..., answer] = found[..., answer - 1] * isotonic(np.minimum(share, 1), np.maximum(weights, _NOTHING), order)
    below = np.concatenate([found[..., 1:], np.zeros_like(found[..., :1])], axis=-1)
    result: Array = found - below
    return result


def _at_least(table: Array) -> Array:
    """Sums over a class and all better ones, along the last axis."""
    return np.cumsum(table[..., ::-1], axis=-1)[..., ::-1]


def rights(table: Array, group: Group) -> Array:
    """The chance of each class or a better one, (questions, classes - 1, configurations), worst class left out."""
    return _at_least(table)[..., 1 : group.classes].transpose(0, 2, 1)
