"""The largest expectations on trees of variables with many states: rows are filled greedily, and no vertices or hulls are listed.

The largest E(g(T) | evidence) is the m at which the largest sum_t (g(t) - m) P(t, evidence) over all networks is zero. For a given m that
sum is worked out from the target T upwards, variable by variable to the root. The function of the states that is pushed up has a sign at
every state: the likelihood of what was seen there is at its upper end where the sign is positive and at its lower end elsewhere, and each
row of a table is filled in the order of the function. Nothing is chosen twice, so this is exact, and the next m is the ratio at the
networks chosen (Dinkelbach's method: a few steps).

What hangs on this way up, subtrees with evidence, is chosen once and used at all states of the variable it hangs on. A vector over the
states of such a variable (what is known below it and of it) has at each state one of two ends. As long as it is open which, states with a
positive sign may use the upper and others the lower: an upper bound. Branching settles ends, one after another, where both uses weigh the
most, until no bound exceeds what some network attains, or so many nodes have been looked at that a bracket has to do.

All numbers are signs and logarithms, so that no evidence is too much.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from quaestor.credal.signed import farthest, farthest_rows, log_summed, summed
from quaestor.credal.vectors import parts
from quaestor.inference.model import Model
from quaestor.model.table import Array, Table, left

NEAR = 1e-12  # a bound this near to one that is attained is attained
CHUNK = 1_000_000  # numbers in one array
_BELOW = -2.0  # less than any goal
_DOUBLINGS = 40  # steps past rounding, each twice the last; a few are enough
_STEPS = 60  # of an ascent; a few are enough
OPEN, LOW, HIGH = 0, 1, 2  # which of its ends a vector aside has at a state
Numbers = NDArray[np.intp]
Probe = tuple[Numbers, Array] | None  # for each node the end whose vector is one there and zero elsewhere, and whether signs are turned
Key = int | tuple[int, int]  # a variable, or a variable and one of its parents
Boxes = Mapping[Key, tuple[Array, Array]]


def beyond(model: Model, start: int, family: int) -> set[int]:
    """What hangs together with a variable when a family is left out."""
    links = [{child, *parents} for child, parents in enumerate(model.parents) if child != family]
    found, reached = {start}, [start]
    for v in reached:
        new = {other for link in links if v in link for other in link} - found
        found |= new
        reached += new
    return found


class Tree:
    """What matters for a target: the way up from it to a root, and what hangs on that way or on each other and has evidence.

    `kids`: for each of these variables those that hang on it; `others`: its parents on neither the way nor what it hangs on; `tables`: its
    rows with the parent that counts first. `aside`: those that hang, the lowest first; `bits`: the places of their states.
    """

    def __init__(self, model: Model, target: int, told: Boxes, without: int | None) -> None:
        self.way, main = [target], {}
        while model.parents[self.way[-1]]:
            v = self.way[-1]
            main[v] = max(model.parents[v], key=lambda parent: len(beyond(model, parent, v)))
            self.way.append(main[v])
        reached = list(self.way)
        for v in reached:
            for child, parents in enumerate(model.parents):
                if v in parents and child != without and child not in main:
                    main[child] = v
                    reached.append(child)
        tells = set(self.way)
        for v in reversed(reached):
            if v in told or v in tells:
                tells |= {v, main.get(v, v)}
        self.aside = [v for v in reversed(reached) if v in tells and v not in self.way]
        self.kids: dict[int, list[int]] = {v: [kid for kid in self.aside if main[kid] == v] for v in (*self.way, *self.aside)}
        self.others = {v: [parent for parent in model.parents[v] if parent != main[v]] for v in self.kids}
        self.tables = {v: _turned(model.tables[v], model.parents[v].index(main[v]) if v in main else 0) for v in self.kids}
        ends = np.cumsum([0, *(model.sizes[v] for v in self.aside)]).tolist()
        self.bits = {v: slice(start, end) for v, start, end in zip(self.aside, ends, ends[1:], strict=False)}
        self.width = ends[-1]
        self.below = {v: np.zeros(self.width, dtype=bool) for v in self.aside}  # the places of all that hangs on it, and its own
        for v in self.aside:
            self.below[v][self.bits[v]] = True
            for kid in self.kids[v]:
                self.below[v] |= self.below[kid]
        self.numbers = max(self.tables[v].lower.size for v in self.kids)


def _turned(table: Table, axis: int) -> Table:
    """A table with one of its parents first."""
    if not axis:
        return table
    rows = np.moveaxis(np.arange(table.rows).reshape(table.shape[:-1]), axis, 0).reshape(-1).tolist()
    vertices = {new: table.vertices[old] for new, old in enumerate(rows) if old in table.vertices}
    return Table.of_checked(np.moveaxis(table.lower, axis, 0), np.moveaxis(table.upper, axis, 0), vertices)


@dataclass(frozen=True)
class Asked:
    """Problems: goals, (problems, states), whose expectation is to be largest, and boxes, (problems, states).

    A box is the likelihood of what was seen of a variable, in logarithms, or what one of its parents says, as a distribution.
    """

    goals: Array
    boxes: Boxes

    @staticmethod
    def of(goals: Array, boxes: Boxes, cases: Numbers) -> "Asked":
        """Every goal in some of the cases; boxes that are the same in all have one."""
        spread = {}
        for key, box in boxes.items():
            low, high = (np.repeat(end[cases if len(end) > 1 else cases * 0], len(goals), axis=0) for end in box)
            spread[key] = low, high
        return Asked(np.tile(goals, (len(cases), 1)), spread)

    def box(self, v: int, of: Numbers) -> tuple[Array, Array] | None:
        """What was seen of a variable, for some problems, (len(of), states)."""
        return None if v not in self.boxes else (self.boxes[v][0][of], self.boxes[v][1][of])


def maximise(tree: Tree, asked: Asked, budget: int, end: float | None) -> tuple[Array, Array]:
    """The largest expectation of each problem: one that is attained, and one that is not exceeded; -inf where evidence is impossible."""
    found = np.full(len(asked.goals), _BELOW)
    of, ends = np.arange(len(found)), np.zeros((len(found), tree.width), dtype=np.int8)
    for _ in range(_STEPS):  # networks that are better and better; a little above what was found, where rounding does not hide a better one
        tried = _Push(tree, asked, of, ends, found[of] + NEAR)
        if tree.width:
            ends = tried.settled(anew=True)
            tried = _Push(tree, asked, of, ends, found[of] + NEAR)
        better = tried.ratio > found[of] + 1e-15 * np.abs(found[of] + NEAR)
        of, ends = of[better], ends[better]
        if not len(of):
            break
        found[of] = tried.ratio[better]
    outer, of = found.copy(), np.flatnonzero(found > _BELOW)
    if tree.width:
        outer[of] = _branch(tree, asked, of, found, budget, end)
    else:
        outer[of] = _bound(tree, asked, of, np.zeros((len(of), 0), dtype=np.int8), found[of] + NEAR)
    impossible = found == _BELOW
    return np.where(impossible, -np.inf, found), np.where(impossible, -np.inf, np.maximum(outer, found))


def _branch(tree: Tree, asked: Asked, problems: Numbers, found: Array, budget: int, end: float | None) -> Array:
    """Bounds that no network exceeds, (problems,); what was found is raised where some network attains more.

    Problems take turns, so that the nodes that the easy ones do not need are left for the hard ones.
    """
    of, ends = problems, np.zeros((len(problems), tree.width), dtype=np.int8)
    looked, step = np.zeros(len(found), dtype=int), max(1, CHUNK // (tree.numbers * 2 * tree.width))
    m = found + NEAR  # one for the whole search: what is ruled out is ruled out for it
    while len(of) and looked.sum() < budget and (end is None or monotonic() < end):
        order = np.argsort(looked[of], kind="stable")
        now, at = of[order[:step]], ends[order[:step]]
        of, ends = of[order[step:]], ends[order[step:]]
        np.add.at(looked, now, 1)
        tried = _looked_at(tree, asked, now, at, m[now])
        open_ = tried.is_open
        np.maximum.at(found, now, tried.best)
        risen = found > m
        if risen.any():  # what was ruled out, was for less: these begin again
            m = np.where(risen, found + NEAR, m)
            again, kept = np.flatnonzero(risen), ~risen[of]
            of = np.concatenate([of[kept], again])
            ends = np.concatenate([ends[kept], np.zeros((len(again), tree.width), dtype=np.int8)])
            open_ = open_ & ~risen[now]
        now, at, bit = now[open_], tried.ends[open_], tried.bit[open_]
        new = np.concatenate([at, at])
        new[np.arange(len(new)), np.concatenate([bit, bit])] = np.repeat([LOW, HIGH], len(at)).astype(np.int8)
        of, ends = np.concatenate([of, now, now]), np.concatenate([ends, new])
    outer = m.copy()
    for some in parts(len(of), max(1, CHUNK // tree.numbers)):
        np.maximum.at(outer, of[some], _bound(tree, asked, of[some], ends[some], m[of[some]]))
    return outer[problems]


@dataclass(frozen=True)
class _Looked:
    """What nodes show, (nodes,): the goal in the best network met, the ends, the one to settle next, and whether m may be exceeded."""

    best: Array
    ends: NDArray[np.int8]
    bit: Numbers
    is_open: NDArray[np.bool_]


def _looked_at(tree: Tree, asked: Asked, of: Numbers, ends: NDArray[np.int8], m: Array) -> _Looked:
    """What is left of nodes, with their ends settled where one is never better than the other.

    The sum is linear in each vector v that hangs aside: sum_s v(s) G(s), where G depends on all other choices. Its bounds are the sums with
    v = 1 at one state and 0 elsewhere. Where G has one sign, the end is settled. Elsewhere a network of the node exceeds the one with all
    ends settled at its better sides by no more than the width of each open end times the bound of G on its worse side.
    """
    ends = ends.copy()
    open_ = np.flatnonzero(_Push(tree, asked, of, ends, m).is_above)
    node, bit = np.nonzero(ends[open_] == OPEN)
    node = open_[node]
    both, flip = np.concatenate([node, node]), np.repeat([1.0, -1.0], len(node))
    probes = _Push(tree, asked, of[both], ends[both], m[both], (np.concatenate([bit, bit]), flip))
    can = probes.is_above.reshape(2, -1)
    ends[node, bit] = np.where(~can[0], LOW, np.where(~can[1], HIGH, OPEN))
    worse = np.full((2, *ends.shape), -np.inf)  # log of the largest G and -G
    worse[:, node, bit] = np.where(can, probes.value.reshape(2, -1), -np.inf)
    tried = _Push(tree, asked, of, ends, m)
    settled = tried.settled()
    pure = _Push(tree, asked, of, settled, m)
    side = np.where(settled == HIGH, worse[1], worse[0])
    extra = log_summed(np.where(ends == OPEN, tried.widths() + side, -np.inf)) if tree.width else pure.value
    within = ~pure.is_above & ((extra == -np.inf) | (extra <= pure.value))
    bit = tried.undecided()
    still = np.zeros(len(of), dtype=bool)
    still[open_] = True
    return _Looked(np.nan_to_num(pure.ratio, nan=_BELOW), ends, bit, still & tried.is_above & ~within & (bit >= 0))


def _bound(tree: Tree, asked: Asked, of: Numbers, ends: NDArray[np.int8], m: Array) -> Array:
    """What no network with these ends exceeds, (nodes,)."""
    m = m.copy()
    some = np.arange(len(of))
    for doubled in range(_DOUBLINGS):
        tried = _Push(tree, asked, of[some], ends[some], m[some])
        some = some[tried.is_above]
        if not len(some):
            return m
        m[some] = np.maximum(tried.ratio[tried.is_above], m[some]) + NEAR * 2**doubled  # past what rounding blurs
    m[some] = 1.0
    return m


class _Push:
    """One walk from the target up to the root for each node, with m: the networks that make sum_t (g(t) - m) P(t, evidence) largest.

    `of`: the problems of the nodes; `ends`, (nodes, bits): which ends of what hangs aside are settled. `is_above`: whether the sum can be
    positive; `ratio`: the expectation of the goal in the networks that were chosen.
    """

    def __init__(self, tree: Tree, asked: Asked, of: Numbers, ends: NDArray[np.int8], m: Array, probe: Probe = None) -> None:
        self._tree, self._ends, self._asked, self._of = tree, ends, asked, of
        self._up: dict[int, Array] = {}  # what is known of a variable aside and below it, at the ends that positive states use
        self._down: dict[int, Array] = {}  # and the others
        self._rows: dict[int, tuple[Array, Array]] = {}
        self._factors: dict[int, tuple[list[Array], list[Array]]] = {}
        for v in tree.aside:
            high, low = ends[:, tree.bits[v]] != LOW, ends[:, tree.bits[v]] == HIGH
            self._up[v] = self._gathered(v, high, asked.box(v, of), 0, probe)
            self._down[v] = self._gathered(v, low, asked.box(v, of), 1, probe)
            if probe is not None:
                at = probe[0] - tree.bits[v].start
                inside = (at >= 0) & (at < high.shape[1])
                self._up[v][inside] = self._down[v][inside] = np.where(at[inside, None] == np.arange(high.shape[1]), 0.0, -np.inf)
        self._walk(asked, of, m, probe)

    def _gathered(self, v: int, high: NDArray[np.bool_], box: tuple[Array, Array] | None, use: int, probe: Probe) -> Array:
        """What is known of a variable aside, (nodes, states), at its upper ends where `high`."""
        factors = [np.where(high, box[1], box[0]) if box else np.zeros(high.shape)]
        for kid in self._tree.kids[v]:
            logs = (self._up, self._down)[use][kid][:, None]
            way = high if probe is None else np.where(self._tree.below[kid][probe[0]][:, None], use == 0, high)
            signs = np.where(way, 1.0, -1.0)[..., None]
            rows = self._farthest(kid, signs, logs)
            self._rows.setdefault(kid, (rows, rows))
            if use:
                self._rows[kid] = self._rows[kid][0], rows
            factors.append(summed(rows, np.ones(1), logs)[1])
        self._factors.setdefault(v, (factors, factors))
        if use:
            self._factors[v] = self._factors[v][0], factors
        found: Array = sum(factors[1:], factors[0])
        return found

    def _farthest(self, v: int, signs: Array, logs: Array) -> Array:
        """The rows, (nodes, states of the parent that counts, states), that are the farthest; each state has its own of the others."""
        table, others = self._tree.tables[v], self._tree.others[v]
        if not others:
            return farthest_rows(table, signs, logs)
        shape = (len(logs), *table.shape[:1], *(1 for _ in others), table.shape[-1])
        signs, logs = (np.broadcast_to(end, (*shape[:2], shape[-1])).reshape(shape) for end in (signs, logs))
        full = (len(logs), *table.shape)
        flat = (len(logs), table.rows, shape[-1])
        rows = farthest_rows(table, np.broadcast_to(signs, full).reshape(flat), np.broadcast_to(logs, full).reshape(flat)).reshape(full)
        for parent in reversed(others):
            sign, log = summed(rows, signs, logs)
            sizes = (len(logs), *(1 for _ in sign.shape[2:]), sign.shape[-1])
            low, high = (end[self._of].reshape(sizes) for end in self._asked.boxes[v, parent])
            rows = (farthest(low, high, left(low), sign, log)[..., None] * rows).sum(axis=-2)
            signs, logs = signs[..., 0, :], logs[..., 0, :]
        return rows

    def _walk(self, asked: Asked, of: Numbers, m: Array, probe: Probe) -> None:
        tree, goals = self._tree, asked.goals[of]
        with np.errstate(divide="ignore"):
            signs, logs, gain = np.sign(goals - m[:, None]), np.log(np.abs(goals - m[:, None])), np.log(goals)
        if probe is not None:
            signs = signs * probe[1][:, None]
        weight = np.zeros(goals.shape)
        self._signs: dict[int, Array] = {}
        self._walked: dict[int, Array] = {}  # the rows of the variables on the way
        for v in tree.way:
            high = signs >= 0
            box = asked.box(v, of)
            factors = [logs]
            if box:
                factors.append(np.where(high, box[1], box[0]))
            for kid in tree.kids[v]:
                sent = np.where(high[..., None], self._up[kid][:, None], self._down[kid][:, None])
                rows = self._farthest(kid, np.where(high, 1.0, -1.0)[..., None], sent)
                self._rows[kid] = rows, rows
                factors.append(summed(rows, np.ones(1), sent)[1])
            added = sum(factors[1:], np.zeros(1))
            logs, gain, weight = logs + added, gain + added, weight + added
            self._signs[v], self._factors[v] = signs, (factors, factors)
            rows = self._farthest(v, signs[:, None], logs[:, None])
            self._walked[v] = rows
            ones = np.ones(1)
            gain, weight = summed(rows, ones, gain[:, None])[1], summed(rows, ones, weight[:, None])[1]
            signs, logs = summed(rows, signs[:, None], logs[:, None])
        self.is_above, self.value = signs[:, 0] > 0, logs[:, 0]
        with np.errstate(invalid="ignore"):
            self.ratio = np.exp(gain[:, 0] - weight[:, 0])

    def _uses(self) -> Iterator[tuple[int, Array, Array]]:
        """For each variable aside the logarithms of the weights with which its upper and its lower ends are used, (nodes, states)."""
        tree = self._tree
        uses: dict[int, tuple[Array, Array]] = {}
        weight: Array | None = None
        with np.errstate(divide="ignore"):
            for v in reversed(tree.way):
                rows = np.log(self._walked[v])
                weight = rows[:, 0] if weight is None else log_summed(weight[..., None] + rows, axis=1)
                factors = self._factors[v][0]
                for kid, others in zip(tree.kids[v], _but_one(factors, len(tree.kids[v])), strict=True):
                    rows, a = np.log(self._rows[kid][0]), weight + others
                    more, less = (np.where(self._signs[v] * sign > 0, a, -np.inf) for sign in (1, -1))
                    uses[kid] = log_summed(more[..., None] + rows, axis=1), log_summed(less[..., None] + rows, axis=1)
                weight = weight + sum(factors[1:], np.zeros(1))
            for v in reversed(tree.aside):
                yield v, *uses[v]
                both = zip(*(_but_one(factors, len(tree.kids[v])) for factors in self._factors[v]), strict=True)
                for kid, rest in zip(tree.kids[v], both, strict=True):
                    more, less = (
                        log_summed((use + other)[..., None] + np.log(rows), axis=1)
                        for use, other, rows in zip(uses[v], rest, self._rows[kid], strict=True)
                    )
                    uses[kid] = more, less

    def settled(self, anew: bool = False) -> NDArray[np.int8]:
        """Every end that is open, or all anew, at the side that weighs more."""
        ends = self._ends.copy()
        for v, more, less in self._uses():
            bits = self._tree.bits[v]
            ends[:, bits] = np.where(anew | (ends[:, bits] == OPEN), np.where(more >= less, HIGH, LOW), ends[:, bits])
        return ends

    def widths(self) -> Array:
        """The logarithms of the distances between the ends, (nodes, bits)."""
        found = np.full(self._ends.shape, -np.inf)
        for v in self._tree.aside:
            with np.errstate(invalid="ignore", divide="ignore"):
                apart = self._up[v] + np.log1p(-np.exp(self._down[v] - self._up[v]))
            found[:, self._tree.bits[v]] = np.where(self._up[v] > self._down[v], apart, -np.inf)
        return found

    def undecided(self) -> Numbers:
        """Of each node the end that is worth settling next; -1 where all that matter are."""
        worth = np.full(self._ends.shape, -np.inf)
        for v, more, less in self._uses():
            worth[:, self._tree.bits[v]] = np.minimum(more, less)
        apart = self.widths()
        worth = np.where((apart > -np.inf) & (self._ends == OPEN), np.maximum(worth + apart, -1e300), -np.inf)
        best = worth.argmax(axis=1)
        return np.where(np.isfinite(worth[np.arange(len(worth)), best]), best, -1)


def _but_one(factors: list[Array], kids: int) -> Iterator[Array]:
    """For each of the last factors, those of the kids, the product of all the others (in logarithms)."""
    first = len(factors) - kids
    for left_out in range(first, len(factors)):
        yield sum((factor for place, factor in enumerate(factors) if place != left_out), np.zeros(1))
