"""Takers in parts that one engine can serve: by the structure of their evidence, and by whether plain numbers can hold it."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from quaestor.inference.engine import Bracket, joined_methods
from quaestor.inference.junction import junction_of
from quaestor.inference.model import Model, Scope

_TINY = -600.0  # log of numbers that products may round to zero
Takers = NDArray[np.intp]


def partition(model: Model, takers: int) -> Iterable[tuple[Takers | None, Model, int]]:
    """The takers in parts: those who have evidence on the same several-skill scopes, and those whose evidence plain numbers cannot hold.

    On loops also those who have evidence on the same skills: it decides which part of the model matters, and nobody's bounds may depend
    on who else is there.
    """
    for some, part, count in _split(model, takers, [s for s in model.boxes if len(s) > 1], underflows(model, takers)):
        if part.is_singly_connected:
            yield some, _levelled(part, count), count
            continue
        for fewer, smaller, number in _split(part, count, [s for s in part.boxes if len(s) == 1], np.zeros(count, dtype=bool)):
            yield (fewer if some is None else some if fewer is None else some[fewer]), _levelled(smaller, number), number


def _split(model: Model, takers: int, scopes: list[Scope], apart: NDArray[np.bool_]) -> Iterable[tuple[Takers | None, Model, int]]:
    """The takers in parts that have evidence on the same of these scopes; those `apart` are in parts of their own. None: all of them."""
    told = np.stack([_says_something(model, scope) for scope in scopes], axis=1) if scopes else np.zeros((takers, 0), dtype=bool)
    keys = np.column_stack([told, apart])
    if (keys == keys[0]).all() and (takers == 1 or keys[0, :-1].all()):
        yield None, _only(model, {s for s, tells in zip(scopes, told[0], strict=True) if not tells}), takers
        return
    for pattern in np.unique(keys, axis=0):
        some = np.flatnonzero((keys == pattern).all(axis=1))
        silent = {scope for scope, tells in zip(scopes, pattern[:-1], strict=True) if not tells}
        yield some, _only(model, silent).of_takers(some), len(some)


def _says_something(model: Model, scope: Scope) -> NDArray[np.bool_]:
    low, high = model.boxes[scope]
    axes = tuple(range(1, low.ndim))
    return np.asarray((low != 0).any(axis=axes) | (high != 0).any(axis=axes))


def _only(model: Model, silent: set[Scope]) -> Model:
    return model.with_boxes({scope: box for scope, box in model.boxes.items() if scope not in silent}) if silent else model


def joined(parts: list[tuple[Takers | None, Bracket]], takers: int) -> Bracket:
    """The brackets of the parts in the order of the takers."""
    if len(parts) == 1:
        return parts[0][1]
    ends = [np.empty((takers, *parts[0][1].lower.shape[1:])) for _ in range(4)]
    for some, bracket in parts:
        for end, found in zip(ends, bracket, strict=False):  # the method is no end
            end[some] = found
    return Bracket(ends[0], ends[1], ends[2], ends[3], joined_methods(bracket.method for _, bracket in parts))


def underflows(model: Model, takers: int) -> NDArray[np.bool_]:
    """Of which takers plain numbers may lose likelihoods that matter, (takers,).

    Some likelihoods are too small to be held beside others, and in some network of the set the evidence may have nothing else.
    """
    found = np.zeros(takers, dtype=bool)
    ends = [np.where(np.isfinite(low), low, high) for low, high in model.boxes.values()]
    if sum(np.where(np.isfinite(end), end, 0.0).min(initial=0.0) for end in ends) > _TINY:
        return found
    depth = np.zeros(takers)  # of all boxes together
    scaled = {}
    for scope, (low, high) in model.boxes.items():
        axes = tuple(range(1, low.ndim))
        top = high.max(axis=axes, keepdims=True)
        top = np.where(np.isfinite(top), top, 0.0)
        least = np.where(np.isfinite(low), low, high)  # where it may be nothing at all, what is left of it may be all that there is
        scaled[scope] = least - top
        depth = depth + np.where(np.isfinite(least), least - top, 0.0).min(axis=axes)
    some = np.flatnonzero(depth <= _TINY)
    if len(some):
        least = junction_of(model).log_probability({scope: low[some] for scope, low in scaled.items()})
        found[some] = least < _TINY
    return found


def _levelled(model: Model, takers: int) -> Model:
    """The same model, with boxes levelled where plain numbers would lose likelihoods."""
    return model.levelled() if underflows(model, takers).any() else model
