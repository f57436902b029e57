"""Bounds for credal models: which way is taken, in one place."""

from collections.abc import Callable, Iterable
from math import log10
from time import monotonic

import numpy as np

from quaestor.credal.vectors import TooLargeError, bounds_of
from quaestor.errors import QuaestorError
from quaestor.inference.engines.enumeration import combinations, enumerate_bounds
from quaestor.inference.engines.hulls import HullMessages
from quaestor.inference.engines.odds import OddsMessages, applies
from quaestor.inference.junction import JunctionTree
from quaestor.inference.model import Model, likelihood
from quaestor.inference.search.branch import bracket_bounds
from quaestor.inference.search.reach import reach
from quaestor.model.beliefs import Bounds
from quaestor.model.table import Array

METHODS = ("auto", "odds", "hulls", "enumeration", "branch", "bracket", "exact")
FEW = 64  # combinations of vertices that are simply all tried
MOST = 10_000_000  # combinations that are tried when asked for by name
EXACT = 1e-10  # outer and inner bounds this close are one number
NODES = 20_000
_TINY = -600.0  # log of numbers that products may round to zero


def credal_bounds(
    model: Model, targets: Iterable[int], method: str = "auto", tolerance: float = EXACT, limit: int = NODES, seconds: float | None = None
) -> dict[int, Bounds]:
    """Bounds of P(target | evidence) for each target.

    `auto` takes messages in closed form (`odds`) on singly connected models of two-state variables, message hulls (`hulls`) on other singly
    connected ones, all combinations (`enumeration`) when they are few, else branch and bound (`branch`) until the gap is at most the
    tolerance or the nodes are used up. `bracket` is the root of that alone. `exact` goes on until it is exact, or the seconds are over.
    Evidence that contradicts itself beyond what numbers can hold gives vacuous bounds and says so (not with `odds`: it uses logarithms).
    """
    if method not in METHODS:
        raise QuaestorError(f"method is one of {', '.join(METHODS)}, got {method!r}")
    if not tolerance >= 0 or limit < 0:
        raise QuaestorError(f"tolerance and limit are at least 0, got {tolerance} and {limit}")
    if seconds is not None and (method != "exact" or not seconds >= 0):
        raise QuaestorError(f"seconds are at least 0 and go with method 'exact' only, so that all else repeats, got {seconds}")
    targets = list(targets)
    if method in ("auto", "exact", "odds", "hulls"):
        messages = _messages(model, method)
        if messages is not None:
            if messages[0] != "odds" and drowns(model):
                return _vacuous(model, targets)
            try:
                return {target: _exact(model, target, *messages[1](target), messages[0]) for target in targets}
            except TooLargeError:
                if method == "hulls":
                    raise
        elif method in ("odds", "hulls"):
            raise QuaestorError(f"method {method} needs a singly connected model{' of two-state variables' * (method == 'odds')}")
    if method != "enumeration" and drowns(model):
        return _vacuous(model, targets)
    found = {}
    for target in targets:
        part, number = model.relevant_to([target])
        if method in ("auto", "exact") and len(part.sizes) < len(model.sizes):
            found[target] = credal_bounds(part, [number[target]], method, tolerance, limit, seconds)[number[target]]
        elif method == "enumeration" or (method in ("auto", "exact") and combinations(part) <= FEW):
            tries = combinations(part)
            if tries > MOST:
                raise QuaestorError(f"method enumeration tries at most {MOST} combinations of vertices, got 10^{log10(tries):.0f}")
            found[target] = _exact(part, number[target], *enumerate_bounds(part, number[target]), "enumeration")
        else:
            nodes = 0 if method == "bracket" else limit
            found[target] = _bracket(part, number[target], tolerance, nodes, seconds if method == "exact" else None)
    return found


def _messages(model: Model, method: str) -> tuple[str, Callable[[int], tuple[Array, Array]]] | None:
    """The name and the function of the message passing that fits a model, if one does."""
    if method != "hulls" and applies(model):
        messages = OddsMessages(model)

        def from_odds(target: int) -> tuple[Array, Array]:
            low, high = (float(end[0]) for end in messages.posterior(target))
            return np.array([1 - high, low]), np.array([1 - low, high])

        return "odds", from_odds
    if method != "odds" and model.is_singly_connected:
        return "hulls", HullMessages(model).bounds
    return None


def drowns(model: Model) -> bool:
    """Whether plain numbers may lose likelihoods that matter: some are too small to be held, and in some network the rest may be, too."""
    tops = {scope: high.max() for scope, (_, high) in model.boxes.items()}
    if all(np.where(np.isfinite(low), low, np.inf).min() - tops[scope] > _TINY for scope, (low, _) in model.boxes.items()):
        return False
    least = JunctionTree(model, model.boxes).log_probability({scope: low - tops[scope] for scope, (low, _) in model.boxes.items()})
    return bool(least[0] < _TINY)


def _vacuous(model: Model, targets: Iterable[int]) -> dict[int, Bounds]:
    """Nothing is claimed but that the centre of the set is inside."""
    centre = model.centre()
    tree = JunctionTree(centre, centre.boxes)
    calibrated = tree.calibrate({scope: low for scope, (low, _) in centre.boxes.items()})
    found = {}
    for target in targets:
        inner = tree.marginal(calibrated, (target,))[0]
        found[target] = Bounds(model.states[target], np.zeros_like(inner), np.ones_like(inner), inner, inner, "bracket")
    return found


def _exact(model: Model, target: int, lower: Array, upper: Array, method: str) -> Bounds:
    lower, upper = np.clip(lower, 0, 1), np.clip(upper, 0, 1)
    return Bounds(model.states[target], lower, upper, lower, upper, method)


def _bracket(model: Model, target: int, tolerance: float, limit: int, seconds: float | None) -> Bounds:
    """Branch and bound; with a time limit the nodes are doubled until it is exact or the time is over."""
    start = monotonic()
    while True:
        if model.sizes[target] == 2:
            size = model.sizes[target]
            box = model.boxes.get((target,))
            low, high = likelihood(box) if box is not None else (np.ones(size), np.ones(size))
            reached = reach(model, target, tolerance, limit)
            (lower,), (upper,) = bounds_of(reached.outer, low[None], high[None])
            (inner_lower,), (inner_upper,) = bounds_of(reached.inner, low[None], high[None])
        else:
            lower, upper, inner_lower, inner_upper, _ = bracket_bounds(model, target, tolerance, limit)
        gap = max((inner_lower - lower).max(), (upper - inner_upper).max())
        if gap <= EXACT * 10:
            return _exact(model, target, lower, upper, "branch")
        if seconds is None or monotonic() - start > seconds:
            lower, upper = np.clip(lower, 0, 1), np.clip(upper, 0, 1)
            return Bounds(model.states[target], lower, upper, inner_lower, inner_upper, "branch" if limit else "bracket")
        limit *= 4
