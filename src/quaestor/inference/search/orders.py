"""Orders of elimination. Every order gives a bound; which one is the tightest depends on the numbers, so several are tried."""

from collections.abc import Sequence
from math import prod

from quaestor.inference.model import Model, Scope

_LARGEST_TABLE = 256  # configurations of the largest table on the way; a larger one costs more than a better order brings


def orders(model: Model, goal: Scope) -> list[list[int]]:
    """Children before parents; and from the goal outwards, with each of its neighbours next, where the tables on the way stay small."""
    neighbours = _neighbours(model)
    found = [_children_first(model, goal)]
    allowed = max(_LARGEST_TABLE, _largest(model, neighbours, found[0]))
    next_to = sorted(set().union(*(neighbours[v] for v in goal)) - set(goal))
    for start in [[*goal], *([*goal, v] for v in next_to)]:
        order = _from_goal(model, neighbours, start)
        if order not in found and _largest(model, neighbours, order) <= allowed:
            found.append(order)
    return found


def _neighbours(model: Model) -> list[set[int]]:
    """For each variable those with which it shares a family or evidence."""
    groups = [(*parents, child) for child, parents in enumerate(model.parents)] + list(model.boxes)
    return [{other for group in groups if v in group for other in group} - {v} for v in range(len(model.sizes))]


def _children_first(model: Model, goal: Scope) -> list[int]:
    """Children before parents: the goal as early as that allows, then what is not above it, its ancestors last.

    When the goal goes early, few choices are made once for each of its states.
    """
    count = len(model.sizes)
    children = {v: {child for child, parents in enumerate(model.parents) if v in parents} for v in range(count)}
    lineage = set(goal)
    for v in reversed(range(count)):
        if v in lineage:
            lineage.update(model.parents[v])
    order: list[int] = []
    left = set(range(count))
    while left:
        ready = [v for v in left if not children[v] & left]
        chosen = min(ready, key=lambda v: (v not in goal, v in lineage, -v))
        order.append(chosen)
        left.discard(chosen)
    return order


def _from_goal(model: Model, neighbours: list[set[int]], start: list[int]) -> list[int]:
    """After some first variables always the one that leaves the smallest table behind."""
    order: list[int] = []
    linked = [set(near) for near in neighbours]
    left = set(range(len(model.sizes)))
    while left:
        order.append(start[len(order)] if len(order) < len(start) else min(left, key=lambda v: (_size(model, linked[v]), v)))
        left.discard(order[-1])
        _remove(linked, order[-1])
    return order


def _largest(model: Model, neighbours: list[set[int]], order: Sequence[int]) -> int:
    """The size of the largest table when the variables are eliminated in this order."""
    linked = [set(near) for near in neighbours]
    largest = 0
    for v in order:
        largest = max(largest, model.sizes[v] * _size(model, linked[v]))
        _remove(linked, v)
    return largest


def _remove(linked: list[set[int]], v: int) -> None:
    for other in linked[v]:
        linked[other] |= linked[v]
        linked[other] -= {other, v}


def _size(model: Model, scope: set[int]) -> int:
    return prod(model.sizes[v] for v in scope)
