"""What a bank predicts for new people: the share of each answer to a question, and of people at each level of a skill, before any answer.

P(answer) is the expectation of a row of numbers over the levels. The skills of the scope and those above them are summed out one after
another, children first; in a credal bank each row of a skill's table is then chosen as the best for the expectation so far. These bounds
are exact where a question has one skill, or where its numbers never fall from a level to a higher one; else they are outer bounds.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from quaestor.credal.intervals import largest, smallest
from quaestor.inference.model import Scope
from quaestor.learn.layout import Layout, Tables
from quaestor.model.table import Array

Best = Callable[[Array, Array, Array], Array]  # from values and the lower and upper ends of rows, (..., levels), to expectations, (...)


@dataclass(frozen=True)
class Shares:
    """Shares of people in the shape of a layout: `skills` (levels,) each, `groups` (questions, classes) each."""

    skills: tuple[Array, ...]
    groups: tuple[Array, ...]


def shares(layout: Layout, tables: Tables) -> Shares:
    """The shares that precise tables predict."""

    def weighted(value: Array, low: Array, high: Array) -> Array:
        result: Array = (value * low).sum(axis=-1)
        return result

    return _expectations(layout, tables, tables, tables, weighted)


def share_bounds(layout: Layout, low: Tables, high: Tables) -> tuple[Shares, Shares]:
    """The lower and upper shares that credal tables predict."""
    return _expectations(layout, low, low, high, smallest), _expectations(layout, high, low, high, largest)


def _expectations(layout: Layout, value: Tables, low: Tables, high: Tables, best: Best) -> Shares:
    skills = [_summed_out(layout, (skill,), np.eye(size), low, high, best) for skill, size in enumerate(layout.sizes)]
    groups = []
    for group, table in zip(layout.groups, value.groups, strict=True):
        rows = np.swapaxes(table, 1, 2).reshape(-1, *group.sizes)
        groups.append(_summed_out(layout, group.scope, rows, low, high, best).reshape(len(group.positions), group.classes))
    return Shares(tuple(skills), tuple(groups))


def _summed_out(layout: Layout, scope: Scope, value: Array, low: Tables, high: Tables, best: Best) -> Array:
    """The expectations of values (rows, *levels of the scope), (rows,). A skill's parents have smaller numbers than itself."""
    left = list(scope)
    while left:
        skill = max(left)
        value = np.moveaxis(value, 1 + left.index(skill), -1)
        left.remove(skill)
        parents = layout.parents[skill]
        for parent in parents:
            if parent not in left:
                value = np.expand_dims(value, 1 + len(left))
                left.append(parent)
        sizes = [layout.sizes[one] if one in parents else 1 for one in left]
        order = [parents.index(one) for one in left if one in parents]
        rows = []
        for table in (low.skills[skill], high.skills[skill]):
            shaped = table.reshape(*(layout.sizes[parent] for parent in parents), -1)
            rows.append(np.transpose(shaped, (*order, len(parents))).reshape(1, *sizes, -1))
        value = best(np.broadcast_to(value, np.broadcast_shapes(value.shape, rows[0].shape)), *rows)
    return value
