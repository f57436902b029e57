"""Exact precise inference on a junction tree, for models whose joint does not fit but whose cliques do.

Variables are eliminated in a min-fill order; the cliques met on the way form a tree. Evidence enters as log-likelihoods over scopes
that lie in one clique; one pass of messages to the root and one back give the marginal of every clique. Tables and messages are kept as
logarithms: thousands of answers on one skill must not drown what those on another say. Evidence may have a leading batch axis.
"""

from collections.abc import Iterable, Mapping

import numpy as np

from quaestor.credal.signed import log_summed
from quaestor.errors import QuaestorError
from quaestor.inference.model import Model, Scope
from quaestor.model.table import Array

LARGEST = 2**22  # states of one clique


class JunctionTree:
    """The tree of cliques of a precise model; `scopes` are further sets of variables that some clique must hold."""

    def __init__(self, model: Model, scopes: Iterable[Scope] = ()) -> None:
        self._sizes = model.sizes
        families = [(*parents, child) for child, parents in enumerate(model.parents)]
        self._cliques, self._above = _cliques(len(model.sizes), [*families, *scopes])
        for clique in self._cliques:
            size = float(np.prod([self._sizes[v] for v in clique], dtype=float))
            if size > LARGEST:
                raise QuaestorError(f"the skills hang together too closely: a clique of {size:.3g} states, at most {LARGEST}")
        self._tables = [np.zeros((1, *(self._sizes[v] for v in clique))) for clique in self._cliques]
        for family, table in zip(families, model.tables, strict=True):
            home = self.home(family)
            with np.errstate(divide="ignore"):
                self._tables[home] = self._tables[home] + self._spread(np.log(table.lower)[None], family, home)

    @property
    def largest(self) -> int:
        """The number of states of the largest clique."""
        return max(table.size for table in self._tables)

    def home(self, scope: Scope) -> int:
        """The first clique that holds a scope."""
        return next(number for number, clique in enumerate(self._cliques) if set(scope) <= set(clique))

    def _spread(self, factor: Array, scope: Scope, home: int) -> Array:
        """A factor (batch, *scope) as an array that goes with a clique's table."""
        clique = self._cliques[home]
        ordered = np.transpose(factor, (0, *(1 + position for position in np.argsort([clique.index(v) for v in scope]))))
        return ordered.reshape(len(factor), *(self._sizes[v] if v in scope else 1 for v in clique))

    def calibrate(self, evidence: Mapping[Scope, Array]) -> list[Array]:
        """P(clique | evidence) for each clique, shape (batch, *clique's sizes); NaN where the evidence is impossible."""
        tables, upward = self._collect(evidence)
        for number in reversed(range(len(tables))):
            parent = self._above[number]
            if parent is not None:
                down = self._towards(tables[parent], parent, number)
                message = down - np.where(np.isfinite(upward[number]), upward[number], 0)  # what is impossible stays so
                tables[number] = tables[number] + self._onto(message, parent, number)
        return [_normalised(table) for table in tables]

    def log_probability(self, evidence: Mapping[Scope, Array]) -> Array:
        """log P(evidence), shape (batch,); -inf where it is impossible. Tables need not be normalised: lower bounds give a lower bound."""
        tables, _ = self._collect(evidence)
        roots = [table for table, above in zip(tables, self._above, strict=True) if above is None]
        return sum((log_summed(table, tuple(range(1, table.ndim))) for table in roots), np.zeros(1))

    def entropy(self, calibrated: list[Array]) -> Array:
        """The entropy of the joint distribution, shape (batch,), in nats: that of each clique given what it shares with the one above."""
        total = np.zeros(1)
        for number, table in enumerate(calibrated):
            above = self._above[number]
            total = total + _entropy(table)
            if above is not None:
                axes = tuple(1 + position for position, v in enumerate(self._cliques[number]) if v not in self._cliques[above])
                total = total - _entropy(table.sum(axis=axes))
        return total

    def _collect(self, evidence: Mapping[Scope, Array]) -> tuple[list[Array], dict[int, Array]]:
        """The tables of the cliques with evidence and what comes from the cliques below, and the messages sent up."""
        tables = list(self._tables)
        for scope, log_likelihood in evidence.items():
            batched = log_likelihood if log_likelihood.ndim > len(scope) else log_likelihood[None]
            home = self.home(scope)
            tables[home] = tables[home] + self._spread(batched, scope, home)
        upward: dict[int, Array] = {}
        for number in range(len(tables)):  # children come before their parents
            parent = self._above[number]
            if parent is not None:
                upward[number] = self._towards(tables[number], number, parent)
                tables[parent] = tables[parent] + self._onto(upward[number], number, parent)
        return tables, upward

    def _towards(self, table: Array, source: int, target: int) -> Array:
        """A clique's table summed to what it shares with another."""
        axes = tuple(1 + position for position, v in enumerate(self._cliques[source]) if v not in self._cliques[target])
        return log_summed(table, axes)

    def _onto(self, message: Array, source: int, target: int) -> Array:
        shared = tuple(v for v in self._cliques[source] if v in self._cliques[target])
        return self._spread(message, shared, target)

    def marginal(self, calibrated: list[Array], scope: Scope) -> Array:
        """P(scope | evidence), shape (batch, *scope's sizes)."""
        home = self.home(scope)
        clique = self._cliques[home]
        table = calibrated[home].sum(axis=tuple(1 + position for position, v in enumerate(clique) if v not in scope))
        kept = [v for v in clique if v in scope]
        return np.transpose(table, (0, *(1 + kept.index(v) for v in scope)))


def _entropy(table: Array) -> Array:
    result: Array = -(table * np.log(table, out=np.zeros_like(table), where=table > 0)).sum(axis=tuple(range(1, table.ndim)))
    return result


def _normalised(table: Array) -> Array:
    """Probabilities from logarithms, shape (batch, *clique's sizes)."""
    axes = tuple(range(1, table.ndim))
    with np.errstate(invalid="ignore"):
        weights = np.exp(table - table.max(axis=axes, keepdims=True))
        result: Array = weights / weights.sum(axis=axes, keepdims=True)
    return result


def _cliques(variables: int, groups: Iterable[Scope]) -> tuple[list[Scope], list[int | None]]:
    """Cliques in an order in which each comes before the one above it, and the number of that one (None for a root)."""
    neighbours: list[set[int]] = [set() for _ in range(variables)]
    for group in groups:
        for variable in group:
            neighbours[variable] |= set(group) - {variable}
    left = set(range(variables))
    met: list[tuple[int, set[int]]] = []  # variable eliminated, its neighbours then
    while left:
        variable = min(left, key=lambda v: (_missing(neighbours, v), len(neighbours[v]), v))
        around = neighbours[variable]
        for one in around:
            neighbours[one] |= around - {one}
            neighbours[one].discard(variable)
        left.discard(variable)
        met.append((variable, set(around)))
    position = {variable: number for number, (variable, _) in enumerate(met)}
    parent: list[int | None] = [min((position[v] for v in around), default=None) for _, around in met]
    groups_met = [tuple(sorted({variable, *around})) for variable, around in met]
    return _absorb(groups_met, parent)


def _missing(neighbours: list[set[int]], variable: int) -> int:
    """How many edges eliminating a variable would add."""
    around = neighbours[variable]
    return sum(len(around - neighbours[one]) - 1 for one in around)


def _absorb(cliques: list[Scope], parent: list[int | None]) -> tuple[list[Scope], list[int | None]]:
    """Merge a clique into the one below it when that one holds all of it."""
    into = list(range(len(cliques)))
    for number, upper in enumerate(parent):
        if upper is not None and set(cliques[upper]) <= set(cliques[number]) and into[upper] == upper:
            into[upper] = number

    def final(number: int) -> int:
        while into[number] != number:
            number = into[number]
        return number

    kept = [number for number in range(len(cliques)) if into[number] == number]
    above = {final(number): final(upper) for number, upper in enumerate(parent) if upper is not None and final(upper) != final(number)}
    order: list[int] = []  # absorbing may have put a parent before its child: order again, leaves first
    while len(order) < len(kept):
        left = [number for number in kept if number not in order]
        order += [number for number in left if all(above.get(other) != number for other in left)]
    place = {number: position for position, number in enumerate(order)}
    return [cliques[number] for number in order], [place[above[number]] if number in above else None for number in order]


def junction_of(model: Model) -> JunctionTree:
    """The junction tree of a precise model whose cliques hold its scopes and the scopes of its evidence, kept with it."""
    scopes = tuple(sorted({*model.scopes, *model.boxes}))
    return model.keep(("junction", scopes), lambda: JunctionTree(model, scopes))
