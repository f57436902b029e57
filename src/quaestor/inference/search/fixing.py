"""Settling what need not be branched on: F(t) is linear in each end, row and pull, so its slope decides where its sign is known.

For a threshold t, an end of evidence at which the slope of F(t) is not positive for any network of the set may be taken low, one at which
it is not negative may be taken high; a vertex that no network prefers to another may be dropped. The slope is bounded by the same
relaxation as F itself, with the end, row or pull taken out and its numbers put at the start. What is settled here holds for this t only.
Where the slope stays in doubt, F may change by as much as its bound: the largest is branched on.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from quaestor.inference.search.elimination import Choices, Elimination, Numbers, Votes

ROWS, ENDS, PULLS = 0, 1, 2  # what can be open: a row's vertex, an end of evidence, a vertex of what pulls a variable
_MERGED = 256  # joint states up to which all slopes start from one table
_AT_ONCE = 4096  # slopes bounded at a time


@dataclass
class Branches:
    """For each node the open thing that matters most: by how much F may change with it (-inf where nothing is open), its kind, the number
    of its variable or scope, and its row or configuration; shapes (nodes,)."""

    gain: Numbers
    kind: Numbers
    place: Numbers
    item: Numbers

    def offer(self, node: Numbers, gain: Numbers, kind: int, place: int, item: Numbers) -> None:
        """Remember things that matter more; one node may be offered several."""
        order = np.argsort(gain, kind="stable")
        order = order[gain[order] > self.gain[node[order]]]
        chosen = node[order]
        self.gain[chosen], self.kind[chosen], self.place[chosen], self.item[chosen] = gain[order], kind, place, item[order]

    def take(self, nodes: Numbers) -> "Branches":
        """The same for some of the nodes."""
        return Branches(self.gain[nodes], self.kind[nodes], self.place[nodes], self.item[nodes])


@dataclass
class _Change:
    """Numbers in the place of one thing in some nodes: weights over the variables of a scope, (changes, *sizes)."""

    kind: int
    place: int
    scope: Sequence[int]
    node: Numbers
    weights: Numbers


def fix(plan: Elimination, choices: Choices, f: Numbers, axes: Sequence[int], votes: Votes) -> tuple[Choices, Branches, Numbers]:
    """The choices with everything settled that the slopes settle, what to branch on, and in which nodes anything was settled.

    f: (nodes, *sizes of the variables in axes).
    """
    nodes = len(f)
    fixed, changed = choices.take(np.arange(nodes)), np.zeros(nodes, dtype=bool)
    best = Branches(np.full(nodes, -np.inf), np.zeros(nodes, int), np.zeros(nodes, int), np.zeros(nodes, int))
    ends = [_end_changes(plan, choices, number) for number in range(len(plan.scopes))]
    pulls = [_pull_changes(plan, choices, v, votes.pulls[v]) for v in range(len(plan.pulls))]
    rows = [_row_changes(plan, choices, v, votes.rows[v]) for v in range(len(plan.vertices))]
    changes = [*(end[0] for end in ends), *(pull[0] for pull in pulls), *(row[0] for row in rows)]
    slopes = iter(_slopes(plan, choices, f, axes, changes))
    for number, (change, item) in enumerate(ends):
        rises, falls = np.split(next(slopes), 2)
        node, scope = np.split(change.node, 2)[0], plan.scopes[number]
        down, up = rises <= 0, (falls <= 0) & (rises > 0)
        fixed.high[scope][node[down], item[down]] = choices.low[scope][node[down], item[down]]
        fixed.low[scope][node[up], item[up]] = choices.high[scope][node[up], item[up]]
        changed[node[down | up]] = True
        both = ~(down | up)
        best.offer(node[both], np.minimum(rises, falls)[both], ENDS, number, item[both])
    for v, (change, vertex) in enumerate(pulls):
        lead = np.full(choices.pulls[v].shape, np.inf)
        np.minimum.at(lead, (change.node, vertex), next(slopes))
        node, vertex = np.nonzero(np.isfinite(lead))
        beaten = lead[node, vertex] <= 0
        fixed.pulls[v][node[beaten], vertex[beaten]] = False
        changed[node[beaten]] = True
        best.offer(node[~beaten], lead[node, vertex][~beaten], PULLS, v, vertex[~beaten])
    for v, (change, row, vertex) in enumerate(rows):
        lead = next(slopes)
        beaten = lead <= 0
        fixed.rows[v][change.node[beaten], row[beaten], vertex[beaten]] = False
        changed[change.node[beaten]] = True
        best.offer(change.node[~beaten], lead[~beaten], ROWS, v, row[~beaten])
    return fixed, best, changed


def _end_changes(plan: Elimination, choices: Choices, number: int) -> tuple[_Change, Numbers]:
    """Each open end alone, by its spread upwards and then downwards; and the configurations."""
    scope = plan.scopes[number]
    spread = choices.high[scope] - choices.low[scope]
    node, item = np.nonzero(spread > 0)
    weights = np.zeros((2, len(node), spread.shape[1]))
    weights[0, np.arange(len(node)), item] = spread[node, item]
    weights[1] = -weights[0]
    sizes = [plan.model.sizes[v] for v in scope]
    return _Change(ENDS, number, scope, np.concatenate([node, node]), weights.reshape(2 * len(node), *sizes)), item


def _pull_changes(plan: Elimination, choices: Choices, v: int, favourite: Numbers) -> tuple[_Change, Numbers]:
    """Each vertex of what pulls a variable against the favourite, scaled to agree in one state, since only directions count."""
    vectors = plan.pulls[v]
    node, vertex = np.nonzero(choices.pulls[v])
    rival = vertex != favourite[node]
    node, vertex = node[rival], vertex[rival]
    best, other = vectors[favourite[node]], vectors[vertex]
    found = []
    for state in range(vectors.shape[1]):
        with np.errstate(divide="ignore", invalid="ignore"):
            scaled = other * (best[:, state] / other[:, state])[:, None]
        usable = np.flatnonzero(np.isfinite(scaled).all(axis=1) & (best[:, state] > 0))
        found.append((usable, scaled[usable] - best[usable]))
    index = np.concatenate([usable for usable, _ in found])
    return _Change(PULLS, v, (v,), node[index], np.concatenate([weights for _, weights in found])), vertex[index]


def _row_changes(plan: Elimination, choices: Choices, v: int, favourite: Numbers) -> tuple[_Change, Numbers, Numbers]:
    """Each vertex of each row against the favourite."""
    points = plan.vertices[v][0]
    node, row, vertex = np.nonzero(choices.rows[v])
    rival = vertex != favourite[node, row]
    node, row, vertex = node[rival], row[rival], vertex[rival]
    weights = np.zeros((len(node), points.shape[0], points.shape[2]))
    weights[np.arange(len(node)), row] = points[row, vertex] - points[row, favourite[node, row]]
    scope = [*plan.model.parents[v], v]
    return _Change(ROWS, v, scope, node, weights.reshape(len(node), *(plan.model.sizes[u] for u in scope))), row, vertex


def _slopes(plan: Elimination, choices: Choices, f: Numbers, axes: Sequence[int], changes: list[_Change]) -> list[Numbers]:
    """How much F rises at most in each of the changes."""
    sizes = plan.model.sizes
    groups = [list(range(len(changes)))] if plan.model.joint_size <= _MERGED else [[number] for number in range(len(changes))]
    found: list[Numbers] = [np.zeros(0)] * len(changes)
    for group in groups:
        used = {v for number in group for v in changes[number].scope} | set(axes)
        wanted = sorted(used)
        start = plan.align(f, list(axes), wanted)
        parts = [start[changes[k].node] * plan.align(changes[k].weights, list(changes[k].scope), wanted) for k in group]
        shape = tuple(sizes[v] for v in wanted)
        every = np.concatenate([np.broadcast_to(part, (len(part), *shape)) for part in parts])
        part = choices.take(np.concatenate([changes[k].node for k in group]))
        stops = np.cumsum([len(changes[k].node) for k in group])
        for k, stop in zip(group, stops, strict=True):
            _take_out(plan, part, changes[k], slice(stop - len(changes[k].node), stop))
        pieces = [slice(first, first + _AT_ONCE) for first in range(0, len(every), _AT_ONCE)]
        values = [plan.push(part.take(piece), every[piece], wanted) for piece in pieces]
        for k, value in zip(group, np.split(np.concatenate([np.zeros(0), *values]), stops[:-1]), strict=True):
            found[k] = value
    return found


def _take_out(plan: Elimination, choices: Choices, change: _Change, nodes: slice) -> None:
    """Replace what is changed by ones."""
    if change.kind == ENDS:
        scope = plan.scopes[change.place]
        choices.low[scope][nodes] = choices.high[scope][nodes] = 1
    else:
        allowed = (choices.rows if change.kind == ROWS else choices.pulls)[change.place]
        allowed[nodes] = False
        allowed[nodes][..., -1] = True


def split(plan: Elimination, nodes: Choices, votes: Votes, branches: Branches) -> tuple[Choices, Choices]:
    """Two children of each node: the row or pull at its voted vertex, or at another; the end at the upper or the lower end."""
    count = np.arange(len(branches.kind))
    one, other = nodes.take(count), nodes.take(count)
    for v in range(len(nodes.rows)):
        mine = np.flatnonzero((branches.kind == ROWS) & (branches.place == v))
        row = branches.item[mine]
        vote = votes.rows[v][mine, row]
        one.rows[v][mine, row] = False
        one.rows[v][mine, row, vote] = True
        other.rows[v][mine, row, vote] = False
        mine = np.flatnonzero((branches.kind == PULLS) & (branches.place == v))
        vote = votes.pulls[v][mine]
        one.pulls[v][mine] = False
        one.pulls[v][mine, vote] = True
        other.pulls[v][mine, vote] = False
    for number, scope in enumerate(plan.scopes):
        mine = np.flatnonzero((branches.kind == ENDS) & (branches.place == number))
        item = branches.item[mine]
        one.low[scope][mine, item] = one.high[scope][mine, item]
        other.high[scope][mine, item] = other.low[scope][mine, item]
    return one, other
