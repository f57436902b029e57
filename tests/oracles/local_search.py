"""Attained values of P(target = state | evidence) by a local search that shares no inference with the package: einsum and vertices."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from quaestor.model.network import Network


class Climber:
    """A query to a network; `climb` gives the probability in some network of the set, as far to one side as the search gets."""

    def __init__(self, network: Network, target: int, evidence: Mapping[int, int]) -> None:
        needed = {target, *evidence}
        frontier = list(needed)
        while frontier:
            above = set(network.parents[frontier.pop()]) - needed
            needed |= above
            frontier += above
        self._target = target
        self._sizes = [len(variable.states) for variable in network.variables]
        self._scopes = [[*network.parents[v], v] for v in sorted(needed)]
        self._tables = [network.variables[v].table for v in sorted(needed)]
        self._vertices = [[table.row_vertices(row) for row in range(table.rows)] for table in self._tables]
        self._seen = [(np.eye(self._sizes[v])[state], [v]) for v, state in evidence.items()]
        self._paths: dict[int, Any] = {}

    def climb(self, rng: np.random.Generator, state: int, sign: int, sweeps: int = 20) -> float:
        """A large (sign 1) or small (sign -1) attained value, from a random start.

        With all other tables fixed the probability is a ratio that is linear in the rows of one: they are set to their best vertices, one
        table after another, until nothing moves.
        """
        chosen = [[points[int(rng.integers(len(points)))] for points in rows] for rows in self._vertices]
        factors = [np.reshape(rows, table.shape) for rows, table in zip(chosen, self._tables, strict=True)]
        best = before = -np.inf
        for _ in range(sweeps):
            for place in range(len(factors)):
                wanted, every = self._weights(factors, place, state)
                best = max(best, self._improve(factors, place, sign * wanted, every))
            if best < before + 1e-12:
                break
            before = best
        return sign * best

    def _improve(self, factors: list[np.ndarray], place: int, wanted: np.ndarray, every: np.ndarray) -> float:
        """Set one table to its best vertices: Dinkelbach's steps on sum(table * wanted) / sum(table * every)."""
        value = -np.inf
        for _ in range(20):
            mass = (factors[place] * every).sum()
            reached = (factors[place] * wanted).sum() / mass if mass > 0 else -1.0
            if reached <= value + 1e-14:
                break
            value = reached
            slopes = (wanted - value * every).reshape(-1, every.shape[-1])
            rows = [points[(points @ slope).argmax()] for points, slope in zip(self._vertices[place], slopes, strict=True)]
            factors[place] = np.reshape(rows, every.shape)
        return value

    def _weights(self, factors: list[np.ndarray], place: int, state: int) -> tuple[np.ndarray, np.ndarray]:
        """What the entries of one table are multiplied with in P(target = state, evidence) and in P(evidence): shapes of the table."""
        scope = self._scopes[place]
        output = scope if self._target in scope else [*scope, self._target]
        operands: list[Any] = [np.ones([self._sizes[v] for v in output]), output]
        for other, factor in enumerate(factors):
            if other != place:
                operands += [factor, self._scopes[other]]
        for seen, where in self._seen:
            operands += [seen, where]
        if place not in self._paths:
            self._paths[place] = np.einsum_path(*operands, output, optimize="greedy")[0]
        every = np.einsum(*operands, output, optimize=self._paths[place])
        axis = output.index(self._target)
        shape = [-1 if position == axis else 1 for position in range(len(output))]
        wanted = every * (np.arange(every.shape[axis]) == state).reshape(shape)
        return (wanted, every) if output is scope else (wanted.sum(axis=axis), every.sum(axis=axis))
