"""The core of a model: what is left when everything that hangs on it like a tree has been summed out exactly.

Evidence on one variable, subtrees below and single chains above are replaced by the *message set* that they send to the variable they hang
on: the vertices of the convex hull of the messages of all networks, of which only the directions matter (see `engines.hulls`). Only
loops, and what lies between them and the target, stay.
"""

from dataclasses import dataclass

import numpy as np

from quaestor.credal.rows import expectations, extreme_rows, row_choices
from quaestor.credal.vectors import LARGEST, TooLargeError, box_directions, corners, hull
from quaestor.inference.model import Box, Model, Scope, likelihood
from quaestor.model.table import Array, Table

_MANY_STATES = 5  # hulls over more states take long
_MOST_VERTICES = 64  # of a message set; a larger one would cost more in the search than the variable that it replaces


@dataclass
class Core:
    """A model without evidence on single variables (but one, see `core_of`), and the message set of each variable.

    `messages[v]`: the vertices of the set, shape (vertices, states); ones for a variable on which nothing hung.
    """

    model: Model
    messages: list[Array]
    number: dict[int, int]  # from the variables of the whole model to those of the core


def core_of(model: Model, needed: Scope, scope: Scope = ()) -> Core:
    """Reduce a model to its loops and some needed variables; the evidence of one scope stays a box even if it could be summed up."""
    reduction = _Reduction(model, {*needed, *scope}, scope)
    while reduction.sum_out_one():
        pass
    return reduction.core()


class _Reduction:
    """The model while variables are summed out: tables, parents and message sets by variable, boxes by scope."""

    def __init__(self, model: Model, needed: set[int], open_scope: Scope) -> None:
        self._model, self._needed = model, needed
        self._left = set(range(len(model.sizes)))
        self._parents = list(model.parents)
        self._tables = list(model.tables)
        is_kept = {scope: len(scope) > 1 or scope == open_scope or _is_wide(box) for scope, box in model.boxes.items()}
        self._boxes = {scope: box for scope, box in model.boxes.items() if is_kept[scope]}
        self._messages = [np.ones((1, size)) for size in model.sizes]
        self._kept: set[tuple[str, int]] = set()  # what was tried and is too large
        for scope, box in model.boxes.items():
            if not is_kept[scope]:
                self._messages[scope[0]] = box_directions(*likelihood(box))

    def sum_out_one(self) -> bool:
        """Sum out one variable; False when none is left that can be."""
        for v in sorted(self._left - self._needed, reverse=True):
            for sum_out in (self._sum_out_leaf, self._sum_out_root):
                if (sum_out.__name__, v) in self._kept:
                    continue
                try:
                    if sum_out(v):
                        return True
                except TooLargeError:
                    self._kept.add((sum_out.__name__, v))
        return False

    def _children(self, v: int) -> list[int]:
        return [child for child in self._left if v in self._parents[child]]

    def _sum_out_leaf(self, v: int) -> bool:
        """A child of one parent with nothing below it sends its messages up; a box that it shares with the parent goes with them."""
        scopes = [scope for scope in self._boxes if v in scope]
        if len(self._parents[v]) != 1 or self._children(v) or any(set(scope) != {v, self._parents[v][0]} for scope in scopes):
            return False
        parent = self._parents[v][0]
        low, high = self._expectations(v, parent, self._boxes.get(_scope(parent, v)))
        self._receive(parent, corners(low, high))
        self._remove(v)
        return True

    def _expectations(self, v: int, parent: int, box: Box | None) -> tuple[Array, Array]:
        """The message of v as an interval at each state of the parent, for each vertex of v's message set: (vertices, parent's states)."""
        if box is None:
            return expectations(self._tables[v], self._messages[v])
        low, high = likelihood(box)
        if parent > v:
            low, high = low.T, high.T
        table, ends = self._tables[v], []
        for end, weight in enumerate((low, high)):
            rows = [expectations(_row(table, row), self._messages[v] * weight[row])[end] for row in range(table.rows)]
            ends.append(np.stack(rows, axis=1))
        return ends[0], ends[1]

    def _sum_out_root(self, v: int) -> bool:
        """A root in one family or one box besides its own sends its messages down (its only child becomes a root), or through the box."""
        children, scopes = self._children(v), [scope for scope in self._boxes if v in scope]
        if self._parents[v] or len(children) + len(scopes) != 1:
            return False
        vertices = self._tables[v].row_vertices(0)
        if self._model.sizes[v] > _MANY_STATES and len(vertices) * len(self._messages[v]) > _MOST_VERTICES:
            return False
        weights = hull((vertices[:, None] * self._messages[v][None]).reshape(-1, self._model.sizes[v]))
        if children:
            child = children[0]
            if self._parents[child] != (v,) or len(weights) * row_choices(self._tables[child]) > LARGEST:
                return False
            messages = hull(np.concatenate([weights @ rows for rows in extreme_rows(self._tables[child])]))
            self._parents[child] = ()
            self._tables[child] = Table.of_checked(messages.min(axis=0), messages.max(axis=0), {0: messages})  # tiny weights may matter
        else:
            scope = scopes[0]
            if len(scope) != 2:
                return False
            low, high = likelihood(self._boxes[scope])
            if scope[0] != v:
                low, high = low.T, high.T
            other = scope[0] if scope[1] == v else scope[1]
            self._receive(other, corners(weights @ low, weights @ high))
        self._remove(v)
        return True

    def _receive(self, v: int, vectors: Array) -> None:
        """Multiply messages into the message set of a variable."""
        if vectors.shape[1] > _MANY_STATES and len(vectors) > _MOST_VERTICES:
            raise TooLargeError(f"{self._model.names[v]}: more than {_MOST_VERTICES} messages over {vectors.shape[1]} states")
        added = hull(vectors)
        if len(added) * len(self._messages[v]) > LARGEST:
            raise TooLargeError(f"{self._model.names[v]}: more than {LARGEST} messages")
        together = hull((self._messages[v][:, None] * added[None]).reshape(-1, added.shape[1]))
        if len(together) > _MOST_VERTICES and len(added) > 1:
            raise TooLargeError(f"{self._model.names[v]}: more than {_MOST_VERTICES} vertices")
        self._messages[v] = together

    def _remove(self, v: int) -> None:
        self._left.discard(v)
        self._boxes = {scope: box for scope, box in self._boxes.items() if v not in scope}

    def core(self) -> Core:
        """The model of the variables that are left."""
        kept = sorted(self._left)
        number = {old: new for new, old in enumerate(kept)}
        model = Model(
            tuple(self._model.names[old] for old in kept),
            tuple(self._model.states[old] for old in kept),
            tuple(tuple(number[parent] for parent in self._parents[old]) for old in kept),
            tuple(self._tables[old] for old in kept),
            {tuple(number[v] for v in scope): box for scope, box in self._boxes.items()},
        )
        return Core(model, [self._messages[old] for old in kept], number)


def _is_wide(box: Box) -> bool:
    """Whether the evidence on one variable has too many corners to be a message set: then it stays a box."""
    return len(box[0]) > _MANY_STATES and int((box[0] < box[1]).sum()) > _MANY_STATES


def _scope(one: int, other: int) -> Scope:
    return (one, other) if one < other else (other, one)


def _row(table: Table, row: int) -> Table:
    states = table.shape[-1]
    vertices = {0: table.vertices[row]} if row in table.vertices else {}
    return Table.of_checked(table.lower.reshape(-1, states)[row], table.upper.reshape(-1, states)[row], vertices)
