"""What every way of inference works on: the hidden variables of a question, their tables, and the evidence as likelihood boxes.

A bank and a general network reduce to the same thing. Observed variables vanish: their children's tables are sliced, and the rows of an
observed variable itself become a *box*: for each configuration of its hidden parents (its *scope*) an interval for the likelihood of what
was seen, independent between configurations. Boxes of the same scope multiply end by end, so what the answers say never grows. They are
kept as logarithms, so that thousands of answers do not vanish. Boxes may have a leading axis over takers, (takers, *scope's sizes).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from quaestor.lazy import lazy
from quaestor.model.network import Network
from quaestor.model.table import Array, Table

Scope = tuple[int, ...]
Link = tuple[str, int]  # `family` of a child, or `leaf`: a box over several variables, counted among these
Box = tuple[Array, Array]  # logarithms of the lower and upper likelihood, each of the scope's shape; only differences matter

_DEEP = 100  # variables
_LEVELLINGS = 30
_MOST_KEPT = 1000
Value = TypeVar("Value")


@dataclass(frozen=True)
class Model:
    """Hidden variables with tables, and `boxes` by scope. Variables are numbered in a topological order.

    `scopes`: sets of variables that questions may be about; `is_asked_credally`: whether some of these questions have interval rows, so
    that the model counts as credal even where its own numbers are exact. `kept`: what follows from all but the boxes, shared by all models
    that differ in nothing else.
    """

    names: tuple[str, ...]
    states: tuple[tuple[str, ...], ...]
    parents: tuple[Scope, ...]
    tables: tuple[Table, ...]
    boxes: Mapping[Scope, Box] = field(default_factory=dict)
    scopes: tuple[Scope, ...] = ()
    is_asked_credally: bool = False
    kept: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    def keep(self, key: object, make: Callable[[], Value]) -> Value:
        """What `make` works out of all but the boxes, worked out once."""
        found: Value | None = self.kept.get(key)
        if found is None:
            found = make()
            if len(self.kept) >= _MOST_KEPT:  # structures that came up once are forgotten
                self.kept.clear()
            self.kept[key] = found
        return found

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of states of each variable."""
        return self.keep("sizes", lambda: tuple(len(states) for states in self.states))

    @lazy
    def is_precise(self) -> bool:
        """Whether tables, boxes and the questions about it hold exact numbers only."""
        if self.is_asked_credally:
            return False
        exact = self.keep("exact tables", lambda: all(table.is_precise for table in self.tables))
        return exact and all(low is high or np.array_equal(low, high) for low, high in self.boxes.values())

    @property
    def joint_size(self) -> float:
        """The number of joint states, as a float since it may be huge."""
        return self.keep("joint size", lambda: float(np.prod(self.sizes, dtype=float)))

    def with_boxes(self, boxes: Mapping[Scope, Box]) -> "Model":
        """The same variables with other evidence."""
        return Model(self.names, self.states, self.parents, self.tables, boxes, self.scopes, self.is_asked_credally, self.kept)

    @property
    def batched(self) -> "Model":
        """The model with the evidence of one taker, with an axis over takers."""
        return self.with_boxes({scope: (low[None], high[None]) for scope, (low, high) in self.boxes.items()})

    def of_takers(self, takers: NDArray[np.intp]) -> "Model":
        """The model with the evidence of some of its takers."""
        return self.with_boxes({scope: (low[takers], high[takers]) for scope, (low, high) in self.boxes.items()})

    def of_taker(self, taker: int) -> "Model":
        """The model with the evidence of one of its takers, without the axis over takers."""
        return self.with_boxes({scope: (low[taker], high[taker]) for scope, (low, high) in self.boxes.items()})

    def centre(self) -> "Model":
        """A precise model inside, with the widest support that any model of the set has."""
        bare = self.keep(
            "centre", lambda: Model(self.names, self.states, self.parents, tuple(t.centre() for t in self.tables), {}, self.scopes)
        )
        return bare.with_boxes({scope: _middle(box) for scope, box in self.boxes.items()})

    def levelled(self) -> "Model":
        """The same model with likelihoods moved between boxes that share a variable, so that what one box rules out another does not.

        Boxes that contradict each other are tiny everywhere once they are multiplied. But a function of a variable may be taken out of one
        box and put into another: each box of a variable gets the mean of what all of them say of its states, at best and in the middle,
        in turn until little changes. Every product stays as it was. Boxes have a leading axis over takers.
        """
        boxes = {scope: (low.copy(), high.copy()) for scope, (low, high) in self.boxes.items()}
        shared = [v for v in range(len(self.names)) if sum(v in scope for scope in boxes) > 1]
        for _ in range(_LEVELLINGS if shared else 0):
            for v in shared:
                mine = [scope for scope in boxes if v in scope]
                said = []
                for scope in mine:
                    low, high = _middle(boxes[scope])[0], boxes[scope][1]
                    others = tuple(1 + axis for axis, u in enumerate(scope) if u != v)
                    best = np.where(np.isfinite(low), low, high).max(axis=others)
                    said.append(np.where(np.isfinite(best), best, 0.0))  # what cannot be stays so in its own box
                mean = np.mean(said, axis=0)
                for scope, best in zip(mine, said, strict=True):
                    shape = (len(mean), *(self.sizes[v] if u == v else 1 for u in scope))
                    shift = (mean - best).reshape(shape)
                    boxes[scope] = boxes[scope][0] + shift, boxes[scope][1] + shift
        return self.with_boxes(boxes)

    @lazy
    def is_singly_connected(self) -> bool:
        """Whether variables, families and boxes hang together as a tree (or several)."""
        return self.keep(("tree", self._wide), self._is_tree)

    @property
    def is_tied(self) -> bool:
        """Whether it has loops, or questions on several variables: what is known of these may take a search."""
        return not self.is_singly_connected or any(len(scope) > 1 for scope in self.scopes)

    @property
    def _wide(self) -> tuple[Scope, ...]:
        return tuple(scope for scope in self.boxes if len(scope) > 1)

    def _is_tree(self) -> bool:
        leader = list(range(len(self.names)))

        def find(variable: int) -> int:
            while leader[variable] != variable:
                variable = leader[variable]
            return variable

        for group in self._links():
            roots = {find(variable) for variable in group}
            if len(roots) < len(group):
                return False
            for root in roots:
                leader[root] = min(roots)
        return True

    def _links(self) -> list[Scope]:
        families = [(*parents, child) for child, parents in enumerate(self.parents) if parents]
        return [*families, *self._wide]

    def sendings(self, target: int) -> list[tuple[int, Link]]:
        """Who sends a message through which link on the way to the target, the farthest first: in this order none waits for another.

        Only long models need it: messages that ask for one another recursively would ask too deep.
        """
        if len(self.names) < _DEEP:
            return []
        leaves = self._wide
        members: dict[Link, Scope] = {("family", child): (*parents, child) for child, parents in enumerate(self.parents)}
        members |= {("leaf", number): scope for number, scope in enumerate(leaves)}
        links: list[list[Link]] = [[] for _ in self.names]
        for link, scope in members.items():
            for variable in scope:
                links[variable].append(link)
        reached: list[tuple[int, Link | None]] = [(target, None)]
        for variable, through in reached:
            reached += [(other, link) for link in links[variable] if link != through for other in members[link] if other != variable]
        return [(variable, link) for variable, link in reversed(reached) if link is not None]

    def relevant_to(self, targets: Iterable[int]) -> tuple["Model", dict[int, int]]:
        """The part of the model that matters for the targets: no barren variables, nothing unconnected; and the new numbers."""
        targets = list(targets)
        wanted = set(targets) | {variable for scope in self.boxes for variable in scope}
        for child in reversed(range(len(self.names))):
            if child in wanted:
                wanted.update(self.parents[child])
        linked, frontier = set(targets), list(targets)
        groups = [group for group in self._links() if set(group) <= wanted]
        while frontier:
            variable = frontier.pop()
            reached = {other for group in groups if variable in group for other in group} - linked
            linked |= reached
            frontier += reached
        kept = sorted(linked)
        number = {old: new for new, old in enumerate(kept)}
        boxes = {tuple(number[v] for v in scope): box for scope, box in self.boxes.items() if scope[0] in linked}
        return self.keep(("part", tuple(kept)), lambda: self._part(kept)).with_boxes(boxes), number

    def given(self, variable: int, state: int, takers: int) -> tuple["Model", dict[int, int]]:
        """The model of all other variables once one of them is known, and their new numbers. Boxes have a leading axis over takers.

        It is observed as `reduce` observes: its children's tables are sliced, and its own row becomes a box over its parents.
        """
        number = {old: new for new, old in enumerate(v for v in range(len(self.names)) if v != variable)}
        boxes: dict[Scope, Box] = {}
        for scope, box in self.boxes.items():
            if scope != (variable,):
                low, high = box if variable not in scope else (np.take(end, state, axis=1 + scope.index(variable)) for end in box)
                add_box(boxes, tuple(number[v] for v in scope if v != variable), (low, high))
        above, table = self.parents[variable], self.tables[variable]
        if above:
            low, high = (np.broadcast_to(_log(end[..., state]), (takers, *end.shape[:-1])) for end in (table.lower, table.upper))
            add_box(boxes, tuple(number[parent] for parent in above), (low, high))
        return self.keep(("given", variable, state), lambda: self._given(variable, state, number)).with_boxes(boxes), number

    def _given(self, variable: int, state: int, number: dict[int, int]) -> "Model":
        """The other variables once one of them is known, without evidence."""
        tables = [_slice(self.tables[v], [state if parent == variable else None for parent in self.parents[v]]) for v in number]
        scopes = dict.fromkeys(tuple(number[v] for v in scope if v != variable) for scope in self.scopes)
        return Model(
            tuple(self.names[v] for v in number),
            tuple(self.states[v] for v in number),
            tuple(tuple(number[parent] for parent in self.parents[v] if parent != variable) for v in number),
            tuple(tables),
            {},
            tuple(scope for scope in scopes if scope),
            self.is_asked_credally,
        )

    def _part(self, kept: list[int]) -> "Model":
        """Some of the variables, with all that is above them, without evidence."""
        number = {old: new for new, old in enumerate(kept)}
        names, states = tuple(self.names[v] for v in kept), tuple(self.states[v] for v in kept)
        parents = tuple(tuple(number[parent] for parent in self.parents[old]) for old in kept)
        return Model(names, states, parents, tuple(self.tables[v] for v in kept))


def likelihood(box: Box) -> tuple[Array, Array]:
    """A box as plain numbers, scaled so that its largest upper end is one (or zero, when nothing is possible)."""
    low, high = box
    top = high.max()
    top = top if np.isfinite(top) else 0.0
    return np.exp(low - top), np.exp(high - top)


def _middle(box: Box) -> Box:
    """A log-likelihood inside a box that is possible wherever the upper end is."""
    low, high = box
    middle = np.where(np.isfinite(low), (low + high) / 2, high - np.log(2))
    return middle, middle


def reduce(network: Network, evidence: Mapping[int, int]) -> tuple[Model, dict[int, int]]:
    """A network with observed states (by index) as a model of its other variables, and the new number of each."""
    kept = [index for index in network.order if index not in evidence]
    number = {old: new for new, old in enumerate(kept)}
    parents, tables = [], []
    boxes: dict[Scope, Box] = {}
    impossible = False
    for old in network.order:
        above = network.parents[old]
        table = _slice(network.variables[old].table, [evidence.get(parent) for parent in above])
        hidden = tuple(number[parent] for parent in above if parent not in evidence)
        if old in number:
            parents.append(hidden)
            tables.append(table)
        elif hidden:
            state = evidence[old]
            add_box(boxes, hidden, (_log(table.lower[..., state]), _log(table.upper[..., state])))
        elif table.upper[evidence[old]] == 0:
            impossible = True
    variables = [network.variables[old] for old in kept]
    if impossible:
        boxes = {(variable,): (np.full(len(v.states), -np.inf),) * 2 for variable, v in enumerate(variables)}
    model = Model(tuple(v.name for v in variables), tuple(v.states for v in variables), tuple(parents), tuple(tables), boxes)
    return model, number


def _slice(table: Table, fixed: list[int | None]) -> Table:
    """A table whose observed parents are fixed; the others stay, in order."""
    if all(state is None for state in fixed):
        return table
    index = tuple(slice(None) if state is None else state for state in fixed)
    rows = np.arange(table.rows).reshape(table.shape[:-1])[index].reshape(-1)
    vertices = {new: table.vertices[old] for new, old in enumerate(rows.tolist()) if old in table.vertices}
    return Table(table.lower[index], table.upper[index], vertices)


def _log(array: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.log(array)


def add_box(boxes: dict[Scope, Box], scope: Scope, box: Box) -> None:
    """Multiply a box into the one of its scope; a scope is kept in rising order. Boxes may have a leading axis over takers."""
    order = np.argsort(scope)
    scope = tuple(scope[position] for position in order)
    leading = range(box[0].ndim - len(scope))
    low, high = (np.transpose(end, (*leading, *(len(leading) + order))) for end in box)
    boxes[scope] = (low + boxes[scope][0], high + boxes[scope][1]) if scope in boxes else (low, high)
