"""Fixing what need not be branched on, and choosing what to branch on.

With everything else held, the sum over all states of (g - t) times the product of all factors is linear in each number of a factor: an end
of evidence, a row, a message. So the sign of its slope decides. For a threshold t, an end at which the slope is not positive for any
network of the node may be taken low, one at which it is not negative may be taken high; a vertex that is no better than another one in any
network may be dropped. Slopes are bounded by the relaxation of `elimination`, with the factor taken out of the product and the change of
its numbers put into f at the start. What is fixed here is fixed for this t only.

Where the sign stays unknown, the bound of the slope says by how much the choice may matter: the largest is branched on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from quaestor.inference.search.choices import Choices, Numbers, Preferred
from quaestor.inference.search.elimination import Elimination

ROWS, ENDS, MESSAGES = 0, 1, 2  # what can be open: the vertex of a row, an end of evidence, the vertex of a message set
_MERGED = 256  # joint states up to which all slopes start from one table
_UNKNOWN = 1e300  # the rise of what cannot be compared: it is branched on first
_AT_ONCE = 200_000  # numbers in one array of slopes


@dataclass
class Branching:
    """For each node the open choice that matters most, shapes (nodes,).

    `gain`: by how much F may change with it, -inf where nothing is open; `kind`: rows, ends or messages; `factor`: the number of its
    variable or scope; `item`: its row or configuration.
    """

    gain: Numbers
    kind: Numbers
    factor: Numbers
    item: Numbers

    def propose(self, node: Numbers, gain: Numbers, kind: int, factor: int, item: Numbers) -> None:
        """Keep the choices that matter more than those known so far; several may be for one node."""
        order = np.argsort(gain, kind="stable")
        order = order[gain[order] > self.gain[node[order]]]
        chosen = node[order]
        self.gain[chosen], self.kind[chosen], self.factor[chosen], self.item[chosen] = gain[order], kind, factor, item[order]

    def take(self, nodes: Numbers) -> "Branching":
        """Those of some of the nodes."""
        return Branching(self.gain[nodes], self.kind[nodes], self.factor[nodes], self.item[nodes])


@dataclass
class _Change:
    """How the numbers of one factor would change in some nodes: `weights` over the variables of its scope, (changes, *sizes)."""

    kind: int
    factor: int
    scope: Sequence[int]
    node: Numbers
    weights: Numbers


def fix(plan: Elimination, choices: Choices, f: Numbers, axes: Sequence[int], preferred: Preferred) -> tuple[Choices, Branching, Numbers]:
    """The choices with everything fixed that slopes can fix, what to branch on, and in which nodes anything was fixed, (nodes,).

    f: (nodes, *sizes of the variables in axes). Vertices are compared with the preferred one, which is never dropped.
    """
    nodes = len(f)
    fixed, changed = choices.take(np.arange(nodes)), np.zeros(nodes, dtype=bool)
    branching = Branching(np.full(nodes, -np.inf), np.zeros(nodes, int), np.zeros(nodes, int), np.zeros(nodes, int))
    ends = [_end_changes(plan, choices, number) for number in range(len(plan.scopes))]
    messages = [_message_changes(plan, choices, v, preferred.messages[v]) for v in range(len(plan.messages))]
    rows = [_row_changes(plan, choices, v, preferred.rows[v]) for v in range(len(plan.vertices))]
    changes = [*(end[0] for end in ends), *(message[0] for message in messages), *(row[0] for row in rows)]
    slopes = iter(_slopes(plan, choices, f, axes, changes))
    for number, (change, item) in enumerate(ends):
        rises, falls = np.split(next(slopes), 2)
        node, scope = np.split(change.node, 2)[0], plan.scopes[number]
        down, up = rises <= 0, (falls <= 0) & (rises > 0)
        fixed.high[scope][node[down], item[down]] = choices.low[scope][node[down], item[down]]
        fixed.low[scope][node[up], item[up]] = choices.high[scope][node[up], item[up]]
        changed[node[down | up]] = True
        unknown = ~(down | up)
        branching.propose(node[unknown], np.minimum(rises, falls)[unknown], ENDS, number, item[unknown])
    for v, (change, vertex) in enumerate(messages):
        rise = np.full(choices.messages[v].shape, np.inf)
        np.minimum.at(rise, (change.node, vertex), next(slopes))  # of the scalings of one message the one that says most
        node, vertex = np.nonzero(np.isfinite(rise))
        dominated = rise[node, vertex] <= 0
        fixed.messages[v][node[dominated], vertex[dominated]] = False
        changed[node[dominated]] = True
        branching.propose(node[~dominated], rise[node, vertex][~dominated], MESSAGES, v, vertex[~dominated])
        node, vertex = np.nonzero(choices.messages[v] & ~np.isfinite(rise))  # no state in common with the preferred one: no slope is known
        open_ended = vertex != preferred.messages[v][node]
        branching.propose(node[open_ended], np.full(int(open_ended.sum()), _UNKNOWN), MESSAGES, v, vertex[open_ended])
    for v, (change, row, vertex) in enumerate(rows):
        rise = next(slopes)
        dominated = rise <= 0
        fixed.rows[v][change.node[dominated], row[dominated], vertex[dominated]] = False
        changed[change.node[dominated]] = True
        branching.propose(change.node[~dominated], rise[~dominated], ROWS, v, row[~dominated])
    return fixed, branching, changed


def _end_changes(plan: Elimination, choices: Choices, number: int) -> tuple[_Change, Numbers]:
    """Each open end alone, all moved upwards by their width and then all downwards; and their configurations."""
    scope = plan.scopes[number]
    width = choices.high[scope] - choices.low[scope]
    node, item = np.nonzero(width > 0)
    weights = np.zeros((2, len(node), width.shape[1]))
    weights[0, np.arange(len(node)), item] = width[node, item]
    weights[1] = -weights[0]
    sizes = [plan.model.sizes[v] for v in scope]
    return _Change(ENDS, number, scope, np.concatenate([node, node]), weights.reshape(2 * len(node), *sizes)), item


def _message_changes(plan: Elimination, choices: Choices, v: int, preferred: Numbers) -> tuple[_Change, Numbers]:
    """From the preferred vertex of a message set to each other one, scaled to agree in one state, since only directions count.

    Each state that both allow gives a change. Vertices that share no possible state give none, so they are neither fixed nor branched on.
    """
    vectors = plan.messages[v]
    node, vertex = np.nonzero(choices.messages[v])
    differs = vertex != preferred[node]
    node, vertex = node[differs], vertex[differs]
    best, other = vectors[preferred[node]], vectors[vertex]
    found = []
    for state in range(vectors.shape[1]):
        with np.errstate(divide="ignore", invalid="ignore"):
            scaled = other * (best[:, state] / other[:, state])[:, None]
        usable = np.flatnonzero(np.isfinite(scaled).all(axis=1) & (best[:, state] > 0))
        found.append((usable, scaled[usable] - best[usable]))
    index = np.concatenate([usable for usable, _ in found])
    return _Change(MESSAGES, v, (v,), node[index], np.concatenate([weights for _, weights in found])), vertex[index]


def _row_changes(plan: Elimination, choices: Choices, v: int, preferred: Numbers) -> tuple[_Change, Numbers, Numbers]:
    """From the preferred vertex of each row to each other one; with their rows and vertices."""
    points = plan.vertices[v][0]
    node, row, vertex = np.nonzero(choices.rows[v])
    differs = vertex != preferred[node, row]
    node, row, vertex = node[differs], row[differs], vertex[differs]
    weights = np.zeros((len(node), points.shape[0], points.shape[2]))
    weights[np.arange(len(node)), row] = points[row, vertex] - points[row, preferred[node, row]]
    scope = [*plan.model.parents[v], v]
    return _Change(ROWS, v, scope, node, weights.reshape(len(node), *(plan.model.sizes[u] for u in scope))), row, vertex


def _slopes(plan: Elimination, choices: Choices, f: Numbers, axes: Sequence[int], changes: list[_Change]) -> list[Numbers]:
    """By how much F rises at most in each of the changes: the relaxation with the changed factor out and its change in f."""
    sizes = plan.model.sizes
    groups = [list(range(len(changes)))] if plan.model.joint_size <= _MERGED else [[number] for number in range(len(changes))]
    found: list[Numbers] = [np.zeros(0)] * len(changes)
    choices = plan.with_spans(choices, axes)  # without shares: f starts elsewhere
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
            _set_to_ones(plan, part, changes[k], slice(stop - len(changes[k].node), stop))
        step = max(16, _AT_ONCE // prod(shape))
        pieces = [slice(first, first + step) for first in range(0, len(every), step)]
        values = [plan.eliminate(part.take(piece), every[piece], wanted) for piece in pieces]
        for k, value in zip(group, np.split(np.concatenate([np.zeros(0), *values]), stops[:-1]), strict=True):
            found[k] = value
    return found


def _set_to_ones(plan: Elimination, choices: Choices, change: _Change, nodes: slice) -> None:
    """Take the changed factor out of the product in some of the nodes."""
    if change.kind == ENDS:
        scope = plan.scopes[change.factor]
        choices.low[scope][nodes] = choices.high[scope][nodes] = 1
    else:
        allowed = (choices.rows if change.kind == ROWS else choices.messages)[change.factor]
        allowed[nodes] = False
        allowed[nodes][..., -1] = True
        for end in choices.spans.get(change.factor, ()) if change.kind == ROWS else ():
            end[nodes] = 1


def split(plan: Elimination, nodes: Choices, preferred: Preferred, branching: Branching) -> tuple[Choices, Choices]:
    """Two children of each node: the row or message at its preferred vertex, or not there; the evidence at its upper or its lower end."""
    count = np.arange(len(branching.kind))
    one, other = nodes.take(count), nodes.take(count)
    for v in range(len(nodes.rows)):
        mine = np.flatnonzero((branching.kind == ROWS) & (branching.factor == v))
        row = branching.item[mine]
        vertex = preferred.rows[v][mine, row]
        one.rows[v][mine, row] = False
        one.rows[v][mine, row, vertex] = True
        other.rows[v][mine, row, vertex] = False
        mine = np.flatnonzero((branching.kind == MESSAGES) & (branching.factor == v))
        vertex = preferred.messages[v][mine]
        one.messages[v][mine] = False
        one.messages[v][mine, vertex] = True
        other.messages[v][mine, vertex] = False
    for number, scope in enumerate(plan.scopes):
        mine = np.flatnonzero((branching.kind == ENDS) & (branching.factor == number))
        item = branching.item[mine]
        one.low[scope][mine, item] = one.high[scope][mine, item]
        other.high[scope][mine, item] = other.low[scope][mine, item]
    return one, other
