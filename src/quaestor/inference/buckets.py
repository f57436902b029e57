"""A tree of buckets: the order in which the variables of a model are eliminated, and what is left between one and the next.

The bucket of a variable holds it with all that it is linked to when its turn comes; without the variable that is its separator from the
bucket above.
"""

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from quaestor.inference.model import Model, Scope
from quaestor.lazy import lazy
from quaestor.model.table import Array


@dataclass(frozen=True)
class Buckets:
    """For each variable what its bucket holds, the bucket above (None for a root), and which are idle: there is no evidence below them."""

    sizes: tuple[int, ...]
    order: tuple[int, ...]
    cliques: tuple[Scope, ...]
    above: tuple[int | None, ...]
    idle: frozenset[int]

    def separator(self, one: int, other: int) -> Scope:
        """What two neighbours share."""
        below = one if self.above[one] == other else other
        return tuple(v for v in self.cliques[below] if v != below)

    @lazy
    def edges(self) -> list[tuple[int, int]]:
        """Every bucket that has one above it, with that one."""
        return [(below, above) for below, above in enumerate(self.above) if above is not None]

    @lazy
    def near(self) -> list[list[int]]:
        """The neighbours of each bucket."""
        found: list[list[int]] = [[] for _ in self.cliques]
        for below, above in self.edges:
            found[below].append(above)
            found[above].append(below)
        return found

    @lazy
    def widest(self) -> int:
        """The most configurations of a separator."""
        return max((cells_of(self.separator(*edge), self.sizes) for edge in self.edges), default=1)

    def home(self, scope: Scope) -> int:
        """The bucket of a table or of evidence: that of its first variable."""
        return min(scope, key=self.order.index)

    def holds(self, scope: Scope) -> bool:
        """Whether some bucket holds all of a scope."""
        return any(set(scope) <= set(clique) for clique in self.cliques)


def cells_of(scope: Scope, sizes: tuple[int, ...]) -> int:
    """The number of configurations of a scope."""
    return prod(sizes[v] for v in scope)


def idle_of(model: Model) -> frozenset[int]:
    """The variables that have no evidence on them or below them."""
    above_evidence = {v for scope in model.boxes for v in scope}
    for child in reversed(range(len(model.sizes))):
        if child in above_evidence:
            above_evidence.update(model.parents[child])
    return frozenset(range(len(model.sizes))) - above_evidence


def buckets_of(model: Model, goal: Scope, idle: frozenset[int]) -> Buckets:
    """The buckets of a model, one of which holds a goal."""
    told = tuple(sorted(model.boxes))
    found = model.keep(("buckets", told, (), idle), lambda: _buckets(model, (), idle))
    return found if found.holds(goal) else model.keep(("buckets", told, goal, idle), lambda: _buckets(model, goal, idle))


def _buckets(model: Model, goal: Scope, idle: frozenset[int]) -> Buckets:
    """The idle ones go first, children before parents, so that they send ones; then what leaves the fewest new links."""
    linked: list[set[int]] = [set() for _ in model.sizes]
    for group in (*((*parents, child) for child, parents in enumerate(model.parents)), *model.boxes, goal):
        for v in group:
            linked[v] |= set(group) - {v}

    def cost(v: int) -> tuple[int, int, int]:
        return sum(len(linked[v] - linked[other]) - 1 for other in linked[v]), prod(model.sizes[other] for other in linked[v]), -v

    left, order, held = set(range(len(model.sizes))), [], {}
    while left:
        v = max(left & idle) if left & idle else min(left, key=cost)
        order.append(v)
        left.discard(v)
        held[v] = set(linked[v])
        for other in held[v]:
            linked[other] = (linked[other] | held[v]) - {other, v}
    place = {v: number for number, v in enumerate(order)}
    cliques = tuple(tuple(sorted({v, *held[v]})) for v in range(len(order)))
    above = tuple(min(held[v], key=place.__getitem__, default=None) for v in range(len(order)))
    return Buckets(model.sizes, tuple(order), cliques, above, idle)


def places(clique: Scope, scope: Scope, sizes: tuple[int, ...]) -> NDArray[np.intp]:
    """For each configuration of a bucket the number of that of a scope inside it, the last variable running fastest."""
    grid = np.indices([sizes[v] for v in clique]).reshape(len(clique), -1)
    found = np.zeros(grid.shape[1], dtype=np.intp)
    for v in scope:
        found = found * sizes[v] + grid[clique.index(v)]
    return found


def members(clique: Scope, goal: Scope, sizes: tuple[int, ...]) -> Array:
    """Which configurations of a bucket belong to which of a goal, (bucket's, goal's): 1 or 0."""
    found: Array = np.eye(cells_of(goal, sizes))[places(clique, goal, sizes)]
    return found
