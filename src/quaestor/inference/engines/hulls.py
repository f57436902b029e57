"""Exact credal inference on singly connected models with any number of states, by propagating sets of messages.

A message to a variable is a set of vectors over its states, of which only the direction matters: it is kept as the vertices of the
convex hull of the normalised vectors. Positive projective maps keep hulls, and every posterior is a ratio that is linear in each message,
so its bounds are attained at vertices.

- Down to a child: for weights w over the parents' configurations the message is sum_u w(u) P(. | u). The rows are independent; when they
  are interval rows (2-monotone sets) the extreme points of the sum are among those got by filling every row greedily in the same order
  of the states, one point for each order. Rows given by vertices are combined in every way, or (`mixtures`) only in those ways that are
  the farthest in some direction.
- Up to a parent: for a vector phi over the child's states the value at each state of the parent is an interval of expectations,
  independent of the others: the corners of a box.

Sets with many candidates are pruned a part at a time, so memory stays bounded.
"""

from copy import copy

import numpy as np

from quaestor.credal.rows import expectations, mixtures
from quaestor.credal.vectors import bounds_of, combined, corners, farthest, hull, joined, mixed_boxes, products
from quaestor.inference.engine import Bracket, Ends
from quaestor.inference.layout import Batch
from quaestor.inference.model import Box, Link, Model, Scope, likelihood
from quaestor.model.table import Array

_MANY = 256  # directions that are not sent on
_CHUNK = 4_000_000  # numbers in one array of the look-ahead


class HullEngine:
    """Any number of levels, taker by taker. Questions on one skill: the hull of what reaches the skill, times the new box.

    Raises TooLargeError where a set has more candidates than it looks at.
    """

    def __init__(self, model: Model, takers: int) -> None:
        self._models = [model.of_taker(taker) for taker in range(takers)]
        self._messages = [HullMessages(one) for one in self._models]
        self._around: dict[int, list[Array]] = {}

    def _vectors(self, variable: int) -> list[Array]:
        """For each taker the vertices of what reaches a variable."""
        if variable not in self._around:
            self._around[variable] = [messages.around(variable) for messages in self._messages]
        return self._around[variable]

    def now(self, variable: int) -> Bracket:
        """P(variable | evidence), (takers, states)."""
        return _stacked([messages.bounds(variable) for messages in self._messages])

    def answers(self, batch: Batch) -> Bracket:
        """P(class | evidence), (takers, tables, classes), over the vertices of the exact posterior set."""
        found = []
        for messages, vectors in zip(self._messages, self._vectors(batch.scope[0]), strict=True):
            low, high = messages.own(batch.scope[0])
            points = hull((vectors[:, None] * corners(low[None], high[None])[None]).reshape(-1, vectors.shape[1]))
            found.append(((batch.low @ points.T).min(axis=2), (batch.high @ points.T).max(axis=2)))
        return _stacked(found)

    def after(self, batch: Batch, variable: int) -> Bracket:
        """P(variable | evidence, class), (takers, tables, classes, states)."""
        find = self._own if variable == batch.scope[0] else self._elsewhere
        return _stacked([find(taker, batch, variable) for taker in range(len(self._models))])

    def _own(self, taker: int, batch: Batch, variable: int) -> Ends:
        low, high = self._messages[taker].own(variable)
        shape, levels = batch.low.shape, batch.low.shape[-1]
        lows, highs = (batch.low * low).reshape(-1, levels), (batch.high * high).reshape(-1, levels)
        vectors = self._vectors(variable)[taker]
        step = max(1, _CHUNK // vectors.size)
        parts = [bounds_of(vectors, lows[start : start + step], highs[start : start + step]) for start in range(0, len(lows), step)]
        lower, upper = (np.concatenate([part[end] for part in parts]).reshape(shape) for end in (0, 1))
        return lower, upper

    def _elsewhere(self, taker: int, batch: Batch, variable: int) -> Ends:
        """Only the messages that lead from the question's skill to the other one are worked out anew for each answer."""
        messages, model = self._messages[taker], self._models[taker]
        messages.around(variable)  # what all answers share
        tables, classes = batch.low.shape[:2]
        before = model.boxes.get(batch.scope, (0.0, 0.0))
        possible = self.answers(batch).upper[taker].reshape(-1) > 0
        found = []
        for low, high, can_be in zip(*(logs.reshape(tables * classes, -1) for logs in batch.logs), possible, strict=True):
            if can_be:
                found.append(messages.updated(batch.scope[0], (low + before[0], high + before[1])).bounds(variable))
            else:
                found.append((np.zeros(model.sizes[variable]), np.ones(model.sizes[variable])))
        lower, upper = (np.stack([bounds[end] for bounds in found]).reshape(tables, classes, -1) for end in (0, 1))
        return lower, upper


def _stacked(found: list[Ends]) -> Bracket:
    return Bracket.exact(np.stack([low for low, _ in found]), np.stack([high for _, high in found]), "hulls")


class HullMessages:
    """The sets of messages of a singly connected model, each worked out once."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._children: list[list[Link]] = [[] for _ in model.sizes]
        self._own: list[Box | None] = [None for _ in model.sizes]
        self._leaves: list[tuple[Scope, tuple[Array, Array]]] = []
        self._known: dict[tuple[int, Link], Array] = {}
        self._sent: dict[tuple[Link, int], Array] = {}
        self._above: dict[int, Array] = {}
        for child, parents in enumerate(model.parents):
            for parent in parents:
                self._children[parent].append(("family", child))
        for scope, box in model.boxes.items():
            if len(scope) == 1:
                self._own[scope[0]] = likelihood(box)
                continue
            for variable in scope:
                self._children[variable].append(("leaf", len(self._leaves)))
            self._leaves.append((scope, likelihood(box)))

    def updated(self, variable: int, box: Box) -> "HullMessages":
        """The same with other evidence on one variable alone; messages that do not come from there are shared."""
        made = copy(self)
        made._own = [likelihood(box) if v == variable else own for v, own in enumerate(self._own)]
        known, sent, above = self._from(variable)
        made._known = {key: vectors for key, vectors in self._known.items() if key not in known}
        made._sent = {key: vectors for key, vectors in self._sent.items() if key not in sent}
        made._above = {key: vectors for key, vectors in self._above.items() if key not in above}
        return made

    def _from(self, variable: int) -> tuple[set[tuple[int, Link]], set[tuple[Link, int]], set[int]]:
        """The messages that depend on the evidence on a variable: all that lead away from it."""
        known: set[tuple[int, Link]] = set()
        sent: set[tuple[Link, int]] = set()
        above: set[int] = set()
        reached: list[tuple[int, Link | None]] = [(variable, None)]
        for sender, through in reached:
            for link in (("family", sender), *self._children[sender]):
                if link == through:
                    continue
                known.add((sender, link))
                kind, number = link
                members = (*self._model.parents[number], number) if kind == "family" else self._leaves[number][0]
                for other in members:
                    if other != sender:
                        reached.append((other, link))
                        if link == ("family", other):
                            above.add(other)
                        else:
                            sent.add((link, other))
        return known, sent, above

    def bounds(self, variable: int) -> tuple[Array, Array]:
        """Lower and upper P(variable | evidence), shape (states,)."""
        if self._own[variable] is None and not self._children[variable]:
            return self._marginal(variable)
        low, high = self.own(variable)
        lower, upper = bounds_of(self.around(variable, prune=False), low[None], high[None])
        return lower[0], upper[0]

    def _marginal(self, variable: int) -> tuple[Array, Array]:
        """The bounds of a variable with nothing below it.

        In a direction every row is at its farthest, whatever its weight. So directions, shape (questions, directions, states), are sent up
        to the parent with the most above it, one for each combination of what the other parents say, and meet its set of messages when
        they have become many or it knows something from elsewhere.
        """
        for sender, link in self._model.sendings(variable):
            self._gather(sender, link)
        states = np.eye(self._model.sizes[variable])
        directions = np.concatenate([-states, states])[:, None]
        while self._model.parents[variable]:
            link, parents = ("family", variable), self._model.parents[variable]
            main = max(parents, key=self._above_it)
            others = combined([self._gather(parent, link) for parent in parents if parent != main])
            _, heights = expectations(self._model.tables[variable], directions.reshape(-1, directions.shape[2]))
            axis = parents.index(main) + 1
            heights = np.moveaxis(heights, axis, -1).reshape(*directions.shape[:2], -1, heights.shape[axis])
            variable = main
            if directions.shape[1] * len(others) > _MANY or self._own[main] is not None or self._children[main] != [link]:
                values = farthest(heights, others, self._gather(main, link))
                break
            directions = np.einsum("wo,qdoi->qdwi", others, heights).reshape(len(directions), -1, heights.shape[3])
        else:
            values = expectations(self._model.tables[variable], directions.reshape(-1, directions.shape[2]))[1]
            values = values.reshape(directions.shape[:2]).max(axis=1)
        return -values[: len(states)], values[len(states) :]

    def _above_it(self, variable: int) -> int:
        """How many variables are above a variable."""
        found = {variable}
        for child in range(variable, -1, -1):
            if child in found:
                found.update(self._model.parents[child])
        return len(found)

    def own(self, variable: int) -> tuple[Array, Array]:
        """The likelihood box of the evidence on the variable alone."""
        size = self._model.sizes[variable]
        return self._own[variable] or (np.ones(size), np.ones(size))

    def around(self, variable: int, prune: bool = True) -> Array:
        """The vertices of all that reaches a variable but its own evidence, shape (vertices, states); more points if not pruned."""
        for sender, link in self._model.sendings(variable):
            self._gather(sender, link)
        sets = [self._from_above(variable), *(self._from_below(link, variable) for link in self._children[variable])]
        return products(sets, self._model.sizes[variable], prune)

    def _gather(self, variable: int, link: Link) -> Array:
        """The vertices of what a variable sends to a family or leaf: everything it knows from elsewhere."""
        key = (variable, link)
        if key not in self._known:
            sets = [] if link == ("family", variable) else [self._from_above(variable)]
            sets += [self._from_below(other, variable) for other in self._children[variable] if other != link]
            own = self._own[variable]
            if own is not None:
                sets.append(corners(own[0][None], own[1][None]))
            self._known[key] = products(sets, self._model.sizes[variable])
        return self._known[key]

    def _from_above(self, variable: int) -> Array:
        if variable not in self._above:
            weights = combined([self._gather(parent, ("family", variable)) for parent in self._model.parents[variable]])
            self._above[variable] = mixtures(self._model.tables[variable], weights)
        return self._above[variable]

    def _from_below(self, link: Link, parent: int) -> Array:
        if (link, parent) in self._sent:
            return self._sent[link, parent]
        kind, number = link
        if kind == "family":
            scope, table = self._model.parents[number], self._model.tables[number]
            low, high = expectations(table, self._gather(number, link))
        else:
            scope, (low, high) = self._leaves[number]
            low, high = low[None], high[None]
        axis = scope.index(parent)
        others = combined([self._gather(variable, link) for variable in scope if variable != parent])
        low, high = (np.moveaxis(end, axis + 1, -1).reshape(len(end), -1, end.shape[axis + 1]) for end in (low, high))
        self._sent[link, parent] = joined(mixed_boxes(others, low, high))
        return self._sent[link, parent]
