"""Settling what need not be branched on: F(t) is linear in each end, row and pull, so its slope decides where its sign is known.

For a threshold t, an end of evidence at which the slope of F(t) is not positive for any network of the set may be taken low, one at which
it is not negative may be taken high; a vertex that no network prefers to another may be dropped. The slope is bounded by the same
relaxation as F itself. What is settled here holds for this t only.
"""

import numpy as np

from quaestor.inference.elimination import ENDS, PULLS, ROWS, Choices, Elimination, Focus, Numbers


def fix(plan: Elimination, choices: Choices, g: Numbers, t: Numbers, votes: tuple[list[Numbers], list[Numbers]]) -> Choices:
    """The choices with everything settled that the slopes settle; `votes` are the rows' and pulls' favourites, (nodes, rows), (nodes,)."""
    fixed = choices.take(np.arange(len(t)))
    for number, scope in enumerate(plan.scopes):
        node, item = np.nonzero(fixed.low[scope] < fixed.high[scope])
        if len(node):
            only = np.eye(fixed.low[scope].shape[1])[item]
            rises = _slope(plan, fixed, g, t, node, Focus(ENDS, number, only))
            falls = _slope(plan, fixed, g, t, node, Focus(ENDS, number, -only))
            down, up = rises <= 0, falls <= 0
            fixed.high[scope][node[down], item[down]] = fixed.low[scope][node[down], item[down]]
            up &= ~down
            fixed.low[scope][node[up], item[up]] = fixed.high[scope][node[up], item[up]]
    for v in range(len(plan.pulls)):
        _fix_pulls(plan, fixed, g, t, v, votes[1][v])
        _fix_rows(plan, fixed, g, t, v, votes[0][v])
    return fixed


def _slope(plan: Elimination, choices: Choices, g: Numbers, t: Numbers, node: Numbers, focus: Focus) -> Numbers:
    return plan.push(choices.take(node), g[node], t[node], focus).value


def _fix_pulls(plan: Elimination, choices: Choices, g: Numbers, t: Numbers, v: int, favourite: Numbers) -> None:
    """Drop vertices of what pulls a variable that the favourite beats in every network."""
    vectors = plan.pulls[v]
    node, vertex = np.nonzero(choices.pulls[v])
    rival = vertex != favourite[node]
    node, vertex = node[rival], vertex[rival]
    if len(node):
        best = vectors[favourite[node]]
        other = vectors[vertex]
        beaten = np.zeros(len(node), dtype=bool)
        for state in range(vectors.shape[1]):  # only directions count: scale both to agree in one state
            with np.errstate(divide="ignore", invalid="ignore"):
                scaled = other * (best[:, state] / other[:, state])[:, None]
            usable = np.isfinite(scaled).all(axis=1) & (best[:, state] > 0)
            difference = np.where(usable[:, None], scaled - best, 0)
            beaten |= usable & (_slope(plan, choices, g, t, node, Focus(PULLS, v, difference)) <= 0)
        choices.pulls[v][node[beaten], vertex[beaten]] = False


def _fix_rows(plan: Elimination, choices: Choices, g: Numbers, t: Numbers, v: int, favourite: Numbers) -> None:
    """Drop vertices of rows that the favourite beats in every network."""
    points = plan.vertices[v][0]
    node, row, vertex = np.nonzero(choices.rows[v])
    rival = vertex != favourite[node, row]
    node, row, vertex = node[rival], row[rival], vertex[rival]
    if len(node):
        weights = np.zeros((len(node), points.shape[0], points.shape[2]))
        weights[np.arange(len(node)), row] = points[row, vertex] - points[row, favourite[node, row]]
        beaten = _slope(plan, choices, g, t, node, Focus(ROWS, v, weights)) <= 0
        choices.rows[v][node[beaten], row[beaten], vertex[beaten]] = False
