"""What reaches a variable: the set of messages from everything but its own evidence, bracketed from inside and from outside.

With that set in hand, bounds after any evidence on the variable itself have a closed form (`credal.vectors.bounds_of`). Where only trees
hang on the variable the set is exact (`core`); on loops, for two states, its two ends are found by branch and bound.
"""

from dataclasses import dataclass

import numpy as np

from quaestor.credal.rows import extreme_rows, row_choices
from quaestor.credal.vectors import LARGEST, TooLargeError, bounds_of, corners, hull
from quaestor.inference.junction import JunctionTree
from quaestor.inference.model import Model, likelihood
from quaestor.inference.search.branch import maximise
from quaestor.inference.search.core import core_of
from quaestor.model.table import Array

_LEAST = 1e-30  # weights in the centre below this are not scaled
FINEST = 1e-9  # a tolerance so fine that evidence hardly matters
_FINER = 1 / 128  # of the tolerance: so near at most are probabilities looked at


@dataclass(frozen=True)
class Reach:
    """Vectors over a variable's states, shapes (vectors, states), of which only the directions matter.

    Those in `inner` are attained by networks of the set; what any network of the set sends lies in the hull of those in `outer`. `nodes`:
    the work of branch and bound, 0 where none was needed; if it is not above the limit, the search ended by itself.
    """

    inner: Array
    outer: Array
    nodes: int = 0

    def bounds(self, low: Array, high: Array) -> tuple[Array, Array, float]:
        """Bounds after evidence on the variable itself, boxes of shape (boxes, states): lower, upper (boxes, states), and the gap."""
        lower, upper = bounds_of(self.outer, low, high)
        inner_lower, inner_upper = bounds_of(self.inner, low, high)
        gap = max(float((inner_lower - lower).max()), float((upper - inner_upper).max()))
        return lower, upper, gap


Known = dict[tuple[tuple[str, ...], str], Reach]  # by the names of the variables that matter, and of the one that is reached


def reach(model: Model, variable: int, tolerance: float, limit: int, end: float | None = None, known: Known | None = None) -> Reach:
    """What reaches a variable, its own evidence left out; TooLargeError for three states and more on a loop.

    On a loop the states are scaled so that both weigh the same in the centre of the set: near one half an error in the probability is the
    least error in the odds, and it is the odds that later evidence multiplies. The tolerance is meant for bounds after any such evidence.
    After `end` nothing more is asked, see `branch.maximise`. `known`: what has been found with the same evidence, which grows.
    """
    known = {} if known is None else known
    without_own = model.with_boxes({scope: box for scope, box in model.boxes.items() if scope != (variable,)})
    part, number = without_own.relevant_to([variable])
    key = part.names, model.names[variable]
    if key not in known:
        known[key] = _reach(part, number[variable], tolerance, limit, end, known)
    return known[key]


def _reach(part: Model, variable: int, tolerance: float, limit: int, end: float | None, known: Known) -> Reach:
    """What reaches a variable without evidence of its own, in the part of a model that matters for it."""
    core = core_of(part, (variable,))
    goal = core.number[variable]
    if len(core.model.sizes) == 1:
        vectors = hull((core.model.tables[0].row_vertices(0)[:, None] * core.messages[0][None]).reshape(-1, core.model.sizes[0]))
        return Reach(vectors, vectors)
    if _is_over_bridge(core.model, goal):
        try:
            return _over_bridge(part, variable, core.messages[goal], tolerance, limit, end, known)
        except TooLargeError:
            pass  # two states can be bounded without the bridge
    if core.model.sizes[goal] > 2:
        raise TooLargeError(f"{part.names[variable]}: more than two states on a loop")
    centre = _centre(part, variable)
    scale = 1 / np.where(centre > _LEAST, centre, 1)
    core.messages[goal] = core.messages[goal] * scale
    found = maximise(core, np.array([[0.0, 1.0], [1.0, 0.0]]), {}, lambda attained: _finer(tolerance, attained), limit, (goal,), end)
    ends = np.array([found.outer[0], 1 - found.outer[1]])
    inner = found.points[np.isfinite(found.points).all(axis=1)] / scale
    return Reach(hull(inner) if len(inner) else centre[None], np.stack([1 - ends, ends], axis=1) / scale, found.nodes)


def _is_over_bridge(model: Model, variable: int) -> bool:
    """Whether a variable of a core hangs on the rest by its one parent only."""
    is_leaf = all(variable not in scope for scope in (*model.boxes, *model.parents))
    return is_leaf and len(model.parents[variable]) == 1


def is_on_loop(model: Model, variable: int) -> bool:
    """Whether what reaches a variable, its own evidence left out, takes a search of its own."""
    core = core_of(model.with_boxes({scope: box for scope, box in model.boxes.items() if scope != (variable,)}), (variable,))
    return len(core.model.sizes) > 1 and not _is_over_bridge(core.model, core.number[variable])


def _finer(tolerance: float, attained: Array) -> Array:
    """How near probabilities must be known for bounds after any further evidence to be near enough.

    Evidence drives a probability by at most a quarter of what the log-odds are off: d / (4 p (1 - p)) for p that is off by d. Half of that
    leaves room for what p itself is off.
    """
    if tolerance <= FINEST:
        return np.full(attained.shape, tolerance)
    return tolerance * np.clip(2 * attained * (1 - attained), _FINER, 0.5)


def _centre(model: Model, variable: int) -> Array:
    """What reaches the variable in the centre of the set, (states,)."""
    middle = model.centre()
    tree = JunctionTree(middle, middle.boxes)
    marginal: Array = tree.marginal(tree.calibrate({scope: low for scope, (low, _) in middle.boxes.items()}), (variable,))[0]
    return marginal


def _over_bridge(model: Model, variable: int, messages: Array, tolerance: float, limit: int, end: float | None, known: Known) -> Reach:
    """A variable that hangs on the loops by its one parent only: what reaches the parent, sent down, times its own message set."""
    parent = model.parents[variable][0]
    below = {variable}
    for child, parents in enumerate(model.parents):
        if below & set(parents):
            below.add(child)
    kept = [v for v in range(len(model.sizes)) if v not in below]
    number = {old: new for new, old in enumerate(kept)}
    rest = Model(
        tuple(model.names[v] for v in kept),
        tuple(model.states[v] for v in kept),
        tuple(tuple(number[p] for p in model.parents[v]) for v in kept),
        tuple(model.tables[v] for v in kept),
        {tuple(number[v] for v in scope): box for scope, box in model.boxes.items() if not below & set(scope)},
    )
    table = model.tables[variable]
    found = reach(rest, number[parent], tolerance, limit, end, known)
    own = rest.boxes.get((number[parent],))
    low, high = likelihood(own) if own is not None else (np.ones(model.sizes[parent]),) * 2
    sent = []
    for vectors in (found.inner, found.outer):
        weights = hull((vectors[:, None] * corners(low[None], high[None])[None]).reshape(-1, vectors.shape[1]))
        if len(weights) * row_choices(table) > LARGEST:
            raise TooLargeError(f"more than {LARGEST} candidate messages")
        down = hull(np.concatenate([weights @ rows for rows in extreme_rows(table)]))
        sent.append(hull((down[:, None] * messages[None]).reshape(-1, down.shape[1])))
    return Reach(sent[0], sent[1], found.nodes)
