"""Credal networks: discrete variables with named states, a directed acyclic graph, and one table for each variable."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from quaestor.errors import NetworkError, expect, several
from quaestor.lazy import lazy
from quaestor.model.table import Table

A_NETWORK = "a network is expected, as qs.read_network or bank.network gives it"


@dataclass(frozen=True)
class Variable:
    """A variable, its states, the names of its parents and P(variable | parents), shape (*parent sizes, states)."""

    name: str
    states: tuple[str, ...]
    parents: tuple[str, ...]
    table: Table


@dataclass(frozen=True)
class Network:
    """A credal network: the set of all Bayesian networks that pick one distribution from every row (its strong extension)."""

    variables: tuple[Variable, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "variables", tuple(several("variables", self.variables, "a list of variables is expected")))
        for number, variable in enumerate(self.variables):
            expect(f"variables[{number}]", variable, Variable, "a Variable is expected")
        if not self.variables:
            raise NetworkError("a network has at least one variable, got none")
        sizes = {variable.name: len(variable.states) for variable in self.variables}
        if len(sizes) < len(self.variables):
            raise NetworkError(f"{_repeated([v.name for v in self.variables])}: names differ, got this one twice")
        for variable in self.variables:
            _check_variable(variable, sizes)
        cycle = find_cycle({variable.name: variable.parents for variable in self.variables})
        if cycle:
            raise NetworkError(f"{cycle[0]}: the graph has no cycle, got {' -> '.join(reversed(cycle))}")

    @lazy
    def _positions(self) -> dict[str, int]:
        return {variable.name: position for position, variable in enumerate(self.variables)}

    @property
    def names(self) -> tuple[str, ...]:
        """The variables' names, in order."""
        return tuple(variable.name for variable in self.variables)

    @property
    def is_precise(self) -> bool:
        """Whether this is a single Bayesian network."""
        return all(variable.table.is_precise for variable in self.variables)

    @lazy
    def order(self) -> tuple[int, ...]:
        """Indices of the variables, parents before children."""
        order = topological_order({variable.name: variable.parents for variable in self.variables})
        return tuple(self._positions[name] for name in order)

    @lazy
    def parents(self) -> tuple[tuple[int, ...], ...]:
        """For each variable the indices of its parents, in the order of its table's axes."""
        return tuple(tuple(self._positions[name] for name in variable.parents) for variable in self.variables)

    def index(self, variable: str | int) -> int:
        """The index of a variable, given its name or its index."""
        if isinstance(variable, str):
            if variable in self._positions:
                return self._positions[variable]
        elif isinstance(variable, (int, np.integer)) and 0 <= variable < len(self.variables):
            return int(variable)
        raise NetworkError(f"unknown variable, got {variable!r} (the network has {len(self.variables)} variables)")

    def state(self, variable: str | int, state: str | int) -> int:
        """The index of a variable's state, given its name or its index."""
        states = self.variables[self.index(variable)].states
        if isinstance(state, str):
            if state in states:
                return states.index(state)
        elif isinstance(state, (int, np.integer)) and 0 <= state < len(states):
            return int(state)
        raise NetworkError(f"unknown state of {variable}, got {state!r} (it has {', '.join(states)})")

    def widen(self, epsilon: float) -> "Network":
        """The network with every bound moved outwards by epsilon."""
        return Network(tuple(_with_table(variable, variable.table.widen(epsilon)) for variable in self.variables))

    def centre(self) -> "Network":
        """One Bayesian network inside, made of the centres of the rows."""
        return Network(tuple(_with_table(variable, variable.table.centre()) for variable in self.variables))


def _with_table(variable: Variable, table: Table) -> Variable:
    return Variable(variable.name, variable.states, variable.parents, table)


def _check_variable(variable: Variable, sizes: Mapping[str, int]) -> None:
    name = variable.name
    if len(set(variable.states)) < len(variable.states):
        raise NetworkError(f"{name}.states: states differ, got {_repeated(variable.states)} twice")
    if len(set(variable.parents)) < len(variable.parents):
        raise NetworkError(f"{name}.parents: parents differ, got {_repeated(variable.parents)} twice")
    for parent in variable.parents:
        if parent not in sizes:
            raise NetworkError(f"{name}.parents: unknown variable, got {parent!r}")
    shape = (*(sizes[parent] for parent in variable.parents), len(variable.states))
    if variable.table.shape != shape:
        raise NetworkError(f"{name}.table: its shape is (parents' sizes, states) = {shape}, got {variable.table.shape}")


def _repeated(names: Sequence[str]) -> str:
    return next(name for position, name in enumerate(names) if name in names[:position])


def find_cycle(parents: Mapping[str, Sequence[str]]) -> list[str]:
    """A cycle of the graph as names, first and last equal, each the parent of the one before; empty when there is none."""
    done: set[str] = set()
    for start in parents:
        path: list[str] = []
        stack = [(start, False)]
        while stack:
            name, left = stack.pop()
            if left:
                done.add(path.pop())
            elif name in path:
                return [*path[path.index(name) :], name]
            elif name not in done:
                path.append(name)
                stack.append((name, True))
                stack.extend((parent, False) for parent in parents.get(name, ()))
    return []


def topological_order(parents: Mapping[str, Sequence[str]]) -> list[str]:
    """The names with parents before children, otherwise in the order given; the graph has no cycle."""
    order: dict[str, None] = {}
    stack = list(parents)[::-1]
    while stack:
        name = stack[-1]
        waiting = [parent for parent in parents[name] if parent not in order]
        if waiting:
            stack.extend(reversed(waiting))
        else:
            order.setdefault(stack.pop())
    return list(order)
