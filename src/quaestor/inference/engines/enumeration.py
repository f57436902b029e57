"""The oracle: bounds by trying every combination of vertices. Slow and obvious; used by tests and when the combinations are few.

Every precise network whose rows are vertices of the rows' credal sets, and whose likelihoods are ends of their intervals, is worked out
through the logarithms of its full joint table. Lower and upper probabilities of the strong extension are the smallest and largest found;
networks that exclude the evidence are left out.
"""

from collections.abc import Iterator
from itertools import product
from math import prod

import numpy as np

from quaestor.credal.signed import log_summed
from quaestor.inference.engine import Bracket, Ends
from quaestor.inference.layout import Batch
from quaestor.inference.model import Model, Scope
from quaestor.model.table import Array


def combinations(model: Model) -> int:
    """How many precise networks there are to try; boxes may have a leading axis over takers, of whom the one with the most counts."""
    rows = model.keep("row combinations", lambda: prod(len(table.row_vertices(row)) for table in model.tables for row in range(table.rows)))
    ends = 1
    for scope, (low, high) in model.boxes.items():
        axes = tuple(range(low.ndim - len(scope), low.ndim))
        ends *= 2 ** int((low != high).sum(axis=axes).max(initial=0))
    return int(rows) * ends


class EnumerationEngine:
    """All networks of vertices, taker by taker."""

    def __init__(self, model: Model, takers: int) -> None:
        self._models = [model.of_taker(taker) for taker in range(takers)]

    def now(self, variable: int) -> Bracket:
        """P(variable | evidence), (takers, states)."""
        return _stacked([enumerate_bounds(model, variable) for model in self._models])

    def answers(self, batch: Batch) -> Bracket:
        """P(class | evidence), (takers, tables, classes): in each network every class by itself at the ends of its rows."""
        return _stacked([self._answers(model, batch) for model in self._models])

    @staticmethod
    def _answers(model: Model, batch: Batch) -> Ends:
        low, high = (end.reshape(*end.shape[:2], -1) for end in (batch.low, batch.high))
        lower, upper = np.full(low.shape[:2], np.inf), np.full(low.shape[:2], -np.inf)
        for logs in _joints(model):
            p = _normalised(_summed(logs, batch.scope).reshape(-1))
            if p is not None:
                lower, upper = np.minimum(lower, low @ p), np.maximum(upper, high @ p)
        return lower, upper

    def after(self, batch: Batch, variable: int) -> Bracket:
        """P(variable | evidence, class), (takers, tables, classes, states): in each network with every corner of the class's rows."""
        return _stacked([self._after(model, batch, variable) for model in self._models])

    @staticmethod
    def _after(model: Model, batch: Batch, variable: int) -> Ends:
        tables, classes, *sizes = batch.low.shape
        states = model.sizes[variable]
        lower, upper = np.full((tables, classes, states), np.inf), np.full((tables, classes, states), -np.inf)
        kept = (variable, *batch.scope) if variable not in batch.scope else batch.scope
        for logs in _joints(model):
            pairs = _summed(logs, tuple(sorted(kept)))
            for table, answer in np.ndindex(tables, classes):
                for corner in _corners(batch.logs[0][table, answer].reshape(-1), batch.logs[1][table, answer].reshape(-1)):
                    likelihood = _spread(sorted(kept), pairs.shape, batch.scope, corner.reshape(sizes))
                    p = _normalised(log_summed(pairs + likelihood, tuple(axis for axis, v in enumerate(sorted(kept)) if v != variable)))
                    if p is not None:
                        lower[table, answer] = np.minimum(lower[table, answer], p)
                        upper[table, answer] = np.maximum(upper[table, answer], p)
        return lower, upper


def enumerate_bounds(model: Model, target: int) -> Ends:
    """Lower and upper P(target | evidence), shape (states,)."""
    lower, upper = np.full(model.sizes[target], np.inf), np.full(model.sizes[target], -np.inf)
    for logs in _joints(model):
        posterior = _normalised(_summed(logs, (target,)))
        if posterior is not None:
            lower, upper = np.minimum(lower, posterior), np.maximum(upper, posterior)
    return lower, upper


def joints(model: Model) -> Iterator[Array]:
    """P(joint state, evidence), up to a factor, of every precise network of vertices, shape (sizes,); zeros where it is impossible."""
    for logs in _joints(model):
        top = logs.max()
        yield np.exp(logs - top) if np.isfinite(top) else np.zeros(model.sizes)


def _joints(model: Model) -> Iterator[Array]:
    """log P(joint state, evidence) of every precise network of vertices, shape (sizes,)."""
    tables = [_table_choices(model, variable) for variable in range(len(model.sizes))]
    boxes = [_box_choices(model, scope) for scope in model.boxes]
    for choice in product(*tables, *boxes):
        logs = np.zeros(model.sizes)
        for factor in choice:
            logs = logs + factor
        yield logs


def _table_choices(model: Model, variable: int) -> list[Array]:
    table = model.tables[variable]
    rows = [table.row_vertices(row) for row in range(table.rows)]
    scope = (*model.parents[variable], variable)
    with np.errstate(divide="ignore"):
        return [_spread_over(model, scope, np.log(choice).reshape(table.shape)) for choice in product(*rows)]


def _box_choices(model: Model, scope: Scope) -> list[Array]:
    low, high = model.boxes[scope]
    return [_spread_over(model, scope, corner.reshape(low.shape)) for corner in _corners(low.reshape(-1), high.reshape(-1))]


def _corners(low: Array, high: Array) -> Iterator[Array]:
    """All corners of a box of logarithms, shape (configurations,); one where nothing is open."""
    for choice in product(*(sorted({one, other}) for one, other in zip(low.tolist(), high.tolist(), strict=True))):
        yield np.array(choice)


def _spread_over(model: Model, scope: Scope, factor: Array) -> Array:
    return _spread(range(len(model.sizes)), model.sizes, scope, factor)


def _spread(variables: "range | list[int]", sizes: tuple[int, ...], scope: Scope, factor: Array) -> Array:
    """A factor as an array that goes with a table over variables in rising order: length one where it does not depend."""
    ordered = np.transpose(factor, np.argsort(scope))
    return ordered.reshape([size if variable in scope else 1 for variable, size in zip(variables, sizes, strict=True)])


def _summed(logs: Array, scope: Scope) -> Array:
    """The logarithms of a joint table summed to a scope in rising order."""
    return log_summed(logs, tuple(axis for axis in range(logs.ndim) if axis not in scope))


def _normalised(logs: Array) -> Array | None:
    """Probabilities from logarithms; None where all are impossible."""
    top = logs.max()
    if not np.isfinite(top):
        return None
    weights = np.exp(logs - top)
    result: Array = weights / weights.sum()
    return result


def _stacked(found: list[Ends]) -> Bracket:
    return Bracket.exact(np.stack([low for low, _ in found]), np.stack([high for _, high in found]), "enumeration")
