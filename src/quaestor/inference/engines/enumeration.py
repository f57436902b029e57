"""The oracle: bounds by trying every combination of vertices. Slow and obvious; used by tests and when the combinations are few.

Every precise network whose rows are vertices of the rows' credal sets, and whose likelihoods are ends of their intervals, is worked out
through the logarithms of its full joint table. Lower and upper probabilities of the strong extension are the smallest and largest found.
"""

from collections.abc import Iterator
from itertools import product
from math import prod

import numpy as np

from quaestor.inference.model import Model
from quaestor.model.table import Array


def combinations(model: Model) -> int:
    """How many precise networks there are to try."""
    rows = prod(len(table.row_vertices(row)) for table in model.tables for row in range(table.rows))
    ends: int = prod(2 ** int((low != high).sum()) for low, high in model.boxes.values())
    return int(rows) * ends


def enumerate_bounds(model: Model, target: int) -> tuple[Array, Array]:
    """Lower and upper P(target | evidence), shape (states,); networks that exclude the evidence are left out."""
    lower, upper = np.full(model.sizes[target], np.inf), np.full(model.sizes[target], -np.inf)
    others = tuple(variable for variable in range(len(model.sizes)) if variable != target)
    for joint in joints(model):
        weights = joint.sum(axis=others)
        if weights.sum() > 0:
            posterior = weights / weights.sum()
            lower, upper = np.minimum(lower, posterior), np.maximum(upper, posterior)
    return lower, upper


def joints(model: Model) -> Iterator[Array]:
    """P(joint state, evidence), up to a factor, of every precise network of vertices, shape (sizes,); zeros where it is impossible."""
    tables = [_table_choices(model, variable) for variable in range(len(model.sizes))]
    boxes = [_box_choices(model, scope) for scope in model.boxes]
    for choice in product(*tables, *boxes):
        logs = np.zeros(model.sizes)
        for factor in choice:
            logs = logs + factor
        top = logs.max()
        yield np.exp(logs - top) if np.isfinite(top) else np.zeros(model.sizes)


def _table_choices(model: Model, variable: int) -> list[Array]:
    table = model.tables[variable]
    rows = [table.row_vertices(row) for row in range(table.rows)]
    scope = (*model.parents[variable], variable)
    with np.errstate(divide="ignore"):
        return [_spread(model, scope, np.log(choice).reshape(table.shape)) for choice in product(*rows)]


def _box_choices(model: Model, scope: tuple[int, ...]) -> list[Array]:
    low, high = model.boxes[scope]
    ends = [sorted({one, other}) for one, other in zip(low.reshape(-1).tolist(), high.reshape(-1).tolist(), strict=True)]
    return [_spread(model, scope, np.array(choice).reshape(low.shape)) for choice in product(*ends)]


def _spread(model: Model, scope: tuple[int, ...], factor: Array) -> Array:
    """A factor as an array that goes with the joint: axes in the order of the variables, length one where it does not depend."""
    ordered = np.transpose(factor, np.argsort(scope))
    return ordered.reshape([size if variable in scope else 1 for variable, size in enumerate(model.sizes)])
