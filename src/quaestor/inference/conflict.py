"""Answers that cannot all be given: no network of the set allows them. The error names a smallest set of them."""

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

import numpy as np

from quaestor.inference.joint import LARGEST, Joint
from quaestor.inference.junction import JunctionTree
from quaestor.inference.model import Box, Model, Scope

_TRIES = 20_000


def is_possible(model: Model) -> bool:
    """Whether some network of the set gives the evidence a positive probability."""
    if all(np.isfinite(high).all() for _, high in model.boxes.values()):
        return True
    centre = model.centre()
    evidence = {scope: low for scope, (low, _) in centre.boxes.items()}
    if centre.joint_size <= LARGEST:
        return bool(np.isfinite(Joint(centre).posterior(evidence)).all())
    return all(np.isfinite(table).all() for table in JunctionTree(centre, model.boxes).calibrate(evidence))


def smallest_conflict(items: Sequence[str], possible: Callable[[Iterable[str]], bool]) -> tuple[str, ...]:
    """A smallest subset that is not possible; when there are too many to try, one of which no member can be left out."""
    tried = 0
    for size in range(1, len(items) + 1):
        for subset in combinations(items, size):
            tried += 1
            if tried > _TRIES:
                return _irreducible(items, possible)
            if not possible(subset):
                return subset
    return tuple(items)


def _irreducible(items: Sequence[str], possible: Callable[[Iterable[str]], bool]) -> tuple[str, ...]:
    kept = list(items)
    for item in items:
        without = [other for other in kept if other != item]
        if not possible(without):
            kept = without
    return tuple(kept)


def excludes(box: Box) -> bool:
    """Whether a piece of evidence rules anything out."""
    return not bool(np.isfinite(box[1]).all())


Boxes = dict[Scope, Box]
