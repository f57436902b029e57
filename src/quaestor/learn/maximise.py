"""The M-step: maximum a posteriori tables, given expected counts.

The bank's own tables are the prior: each row counts as `weight` answers in its own proportions (a Dirichlet prior whose parameters are
one plus these). So a row becomes (counts + weight * own row) / total; a row without any count stays as it was.

Monotone: P(class or better) never falls from a level to a higher one. For two classes the constrained maximum is an isotonic regression of
P(right). For more classes, rows that satisfy the constraint are kept, and the others are solved by `stochastic`. Both steps are exact up to
rounding; a result that rounding makes worse than the current tables is not taken.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quaestor.learn.curves import Curves, curves_of, maximised, nearest_curves
from quaestor.learn.curves import log_prior as log_prior_of_curves
from quaestor.learn.fixed import Fixed
from quaestor.learn.layout import Group, Layout, Tables, answered
from quaestor.learn.order import Order, isotonic, levels_order, tied_order
from quaestor.learn.stochastic import at_least, obeys, ordered
from quaestor.model.table import Array

_NOTHING = 1e-9  # the weight of a row without any count in the isotonic regression: too small to move the others
_TINY = 1e-300  # smaller probabilities count as this one in logarithms


@dataclass(frozen=True)
class Ties:
    """Configurations of one question that share one row: a label for each configuration, and the order of the labels."""

    labels: NDArray[np.intp]
    order: Order


@dataclass(frozen=True)
class Aim:
    """The objective besides the likelihood: `prior` counts in the shape of the tables, and the constraints `monotone` and `ties`.

    `ties[group]` is empty, or has an entry for each question of the group. `curves`: the families of curves of all groups, which then
    have no prior counts; none where each row is learnt by itself. `fixed`: the tables that stay as they are.
    """

    prior: Tables
    monotone: bool
    ties: tuple[tuple[Ties, ...], ...]
    curves: tuple[Curves, ...] = ()
    fixed: Fixed | None = None

    def kept(self, learnt: Tables, now: Tables) -> Tables:
        """The learnt tables, but the current ones where they are fixed."""
        return learnt if self.fixed is None else self.fixed.kept(learnt, now)


def aim_of(layout: Layout, own: Tables, weight: float, monotone: bool, tied: bool, curves: bool = False, fixed: Fixed | None = None) -> Aim:
    """The objective of a fit. With `tied`, rows that are equal in a question's own table stay equal, and share the prior count `weight`."""
    if curves:
        nothing = tuple(np.zeros_like(table) for table in own.groups)
        prior = Tables(tuple(weight * table for table in own.skills), nothing)
        return Aim(prior, monotone, tuple(() for _ in layout.groups), curves_of(layout, own), fixed)
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
    return Aim(Tables(tuple(weight * table for table in own.skills), tuple(groups)), monotone, tuple(ties), (), fixed)


def _ties(table: Array, order: Order) -> Ties:
    _, first, labels = np.unique(table.round(9), axis=0, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))  # labels in order of first occurrence, so that the order of a chain is again a chain
    relabelled = rank[labels.reshape(-1)]
    return Ties(relabelled, tied_order(order, relabelled))


def maximise(layout: Layout, counts: Tables, now: Tables, aim: Aim) -> Tables:
    """The best tables for these expected counts (curves: better ones); `now`: the current tables, from which the counts were computed."""
    skills = tuple(_shares(count + own, table) for count, own, table in zip(counts.skills, aim.prior.skills, now.skills, strict=True))
    if aim.curves:
        solved = zip(counts.groups, now.groups, aim.curves, strict=True)
        return aim.kept(Tables(skills, tuple(maximised(count, table, own, aim.monotone) for count, table, own in solved)), now)
    groups = []
    for group, count, own, table, ties in zip(layout.groups, counts.groups, aim.prior.groups, now.groups, aim.ties, strict=True):
        if ties:
            groups.append(np.stack([_tied(rows, old, one, aim.monotone) for rows, old, one in zip(count + own, table, ties, strict=True)]))
        else:
            groups.append(_solved(count + own, table, levels_order(group.sizes), aim.monotone))
    return aim.kept(Tables(skills, tuple(groups)), now)


def allowed(layout: Layout, tables: Tables, aim: Aim) -> Tables:
    """These tables made feasible by an M-step in which every row counts once; from them on EM never lowers the objective."""
    if aim.curves:
        near = tuple(nearest_curves(table, curves, aim.monotone) for table, curves in zip(tables.groups, aim.curves, strict=True))
        return aim.kept(Tables(tables.skills, near), tables)
    nothing = Tables(tuple(np.zeros_like(table) for table in aim.prior.skills), tuple(np.zeros_like(table) for table in aim.prior.groups))
    made = maximise(layout, tables, tables, Aim(nothing, aim.monotone, aim.ties, (), aim.fixed))
    return Tables(tables.skills, made.groups)


def log_prior(tables: Tables, aim: Aim) -> float:
    """The log prior of these tables up to a constant: the sum of prior counts times log probabilities, and that of the curves."""
    total = sum(log_prior_of_curves(table, curves) for table, curves in zip(tables.groups, aim.curves, strict=False))
    for own, table in zip((*aim.prior.skills, *aim.prior.groups), (*tables.skills, *tables.groups), strict=True):
        counted = own > 0
        total += float(own[counted] @ np.log(np.maximum(table[counted], _TINY)))
    return total


def parameters(layout: Layout, counts: Tables, aim: Aim) -> int:
    """The number of free parameters of skills and of questions with answers; active monotone constraints are not subtracted.

    Tables that are held fixed have none.
    """
    held = aim.fixed or Fixed((False,) * len(counts.skills), tuple(np.zeros(len(group.positions), bool) for group in layout.groups))
    found = sum(int(table.shape[0] * (table.shape[1] - 1)) for table, own in zip(counts.skills, held.skills, strict=True) if not own)
    learnt = [some & ~own for some, own in zip(answered(counts), held.groups, strict=True)]
    for group, ties, some in zip(layout.groups, aim.ties, learnt, strict=True):
        rows = 1 + len(group.scope) if aim.curves else group.configurations
        sizes = np.array([one.order.size for one in ties] if ties else [rows] * len(some))
        found += int(sizes[some].sum()) * (group.classes - 1)
    return found


def raw(layout: Layout, counts: Tables, now: Tables, aim: Aim) -> Tables:
    """The M-step without the monotone constraint, each row of a table by itself."""
    return maximise(layout, counts, now, Aim(aim.prior, False, aim.ties))


def _shares(counts: Array, old: Array) -> Array:
    total = counts.sum(axis=-1, keepdims=True)
    result: Array = np.where(total > 0, counts / np.where(total > 0, total, 1), old)
    return result


def _tied(counts: Array, old: Array, ties: Ties, monotone: bool) -> Array:
    """The rows of one question, (configurations, classes); the counts of tied rows are added up."""
    summed = np.zeros((ties.order.size, counts.shape[1]))
    np.add.at(summed, ties.labels, counts)
    first = np.array([int(np.argmax(ties.labels == label)) for label in range(ties.order.size)])
    solved: Array = _solved(summed[None], old[None, first], ties.order, monotone)[0][ties.labels]
    return solved


def _solved(counts: Array, old: Array, order: Order, monotone: bool) -> Array:
    """The best rows for counts (questions, elements, classes), in the same shape; the elements are configurations or ties."""
    free = _shares(counts, old)
    if not monotone:
        return free
    total = np.maximum(counts.sum(axis=2), _NOTHING)
    if counts.shape[2] == 2:
        right = isotonic(free[..., 1], total, order)
        return np.stack([1 - right, right], axis=2)
    falls = np.flatnonzero(~obeys(free, order))
    if len(falls):
        found = ordered(total[falls, :, None] * free[falls], order)
        worse = obeys(old[falls], order) & (_fit(found, counts[falls]) < _fit(old[falls], counts[falls]))
        free[falls] = np.where(worse[:, None, None], old[falls], found)
    return free


def _fit(table: Array, counts: Array) -> Array:
    """The expected log-likelihood, sum of counts times log probabilities, (questions,)."""
    logs = np.log(np.maximum(table, _TINY), out=np.zeros_like(table), where=counts > 0)
    result: Array = (counts * logs).sum(axis=(1, 2))
    return result


def rights(table: Array, group: Group) -> Array:
    """P(class or better), (questions, classes - 1, configurations), for all classes but the worst, for which it is 1."""
    return at_least(table)[..., 1 : group.classes].transpose(0, 2, 1)
