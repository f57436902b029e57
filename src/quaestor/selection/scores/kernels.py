"""What questions of exact numbers tell, as plain array operations on any library that speaks the array API: written once for simulations
of any size. Those of interval tables are in `two_levels`.

`xp` is the library. Everything is about a skill (or all skills together) with few configurations, of which a question is asked:
P(class | configuration).
"""

from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np

from quaestor.credal.decisions import TIED
from quaestor.errors import QuaestorError
from quaestor.inference.engine import JointTarget
from quaestor.inference.layout import Batch

BLOCK = 32_000  # numbers of one array: what fits into a core's own memory
TINY = 1e-300  # added to what a logarithm is taken of: 0 log 0 is 0


@dataclass(frozen=True, eq=False)
class Tables:
    """The tables of questions, class by class: each (configurations, tables). `noise`: the entropies of the answers, likewise."""

    classes: tuple[Any, ...]
    noise: Any

    @staticmethod
    def of(batch: Batch) -> "Tables":
        """The tables of a batch of exact numbers, kept with it."""
        if "tables" not in batch.kept:
            flat = batch.low.reshape(*batch.low.shape[:2], -1)
            classes = tuple(np.ascontiguousarray(flat[:, number].T) for number in range(flat.shape[1]))
            batch.kept["tables"] = Tables(classes, np.ascontiguousarray(-sum(one * np.log(one + TINY) for one in classes)))
        found: Tables = batch.kept["tables"]
        return found


def answer_chances(known: JointTarget, tables: Tables) -> list[Any]:
    """P(class), (takers, tables) each."""
    return [known.mass @ one for one in tables.classes]


def entropy_told(xp: Any, known: JointTarget, tables: Tables) -> Any:
    """H(Q) - sum_c P(c) H(Q | c), (takers, tables), in units of the largest entropy."""
    total = known.mass @ tables.noise
    for chance in answer_chances(known, tables):
        part = xp.log(chance + TINY)
        part *= chance
        total += part
    total *= -1 / log(known.states)
    return total


def mode_told(xp: Any, known: JointTarget, tables: Tables) -> Any:
    """How much the deviation from the mode is expected to fall, (takers, tables)."""
    peak = known.peak
    assert peak is not None
    after = 0.0
    for one in tables.classes:
        most = peak[:, :1] * one[0, :]
        for configuration in range(1, one.shape[0]):
            most = xp.maximum(most, peak[:, configuration : configuration + 1] * one[configuration, :])
        after = after + most
    after -= xp.max(peak, axis=1, keepdims=True)
    after *= known.states / (known.states - 1)
    return after


def gini_told(xp: Any, known: JointTarget, tables: Tables) -> Any:
    """How much the Gini index is expected to fall, (takers, tables)."""
    total = -xp.sum(known.squares, axis=1, keepdims=True)
    for one, chance in zip(tables.classes, answer_chances(known, tables), strict=True):
        total = total + (known.squares @ (one * one)) / (chance + TINY)
    total *= known.states / (known.states - 1)
    return total


def variance_told(xp: Any, known: JointTarget, tables: Tables) -> Any:
    """How much the variance of the level's number is expected to fall, (takers, tables), in units of the largest, (m - 1)^2 / 4."""
    levels = known.mass.shape[1]
    if known.states != levels:
        raise QuaestorError("the score variance is for skills, whose levels have numbers, got the target 'joint'")
    heights = [(2 * level / (levels - 1), known.mass[:, level : level + 1]) for level in range(levels)]
    total = -(sum(number * p for number, p in heights) ** 2)
    for one, chance in zip(tables.classes, answer_chances(known, tables), strict=True):
        mean = sum(number * p * one[level, :] for level, (number, p) in enumerate(heights))
        total = total + mean**2 / (chance + TINY)
    return total


def gdi_told(xp: Any, known: JointTarget, tables: Tables) -> Any:
    """Half the sum over the classes of the variance of P(class | configuration), (takers, tables): of two classes that of P(right)."""
    total = 0.0
    for one, mean in zip(tables.classes, answer_chances(known, tables), strict=True):
        total = total + known.mass @ (one * one) - mean * mean
    return total / 2


def mpwkl_told(xp: Any, known: JointTarget, tables: Tables) -> Any:
    """sum_d sum_c P(d) P(c) KL(Q | d || Q | c), (takers, tables)."""
    total = 0.0
    for one in tables.classes:
        logs = xp.log(one + TINY)
        total = total + known.mass @ (one * logs) - (known.mass @ one) * (known.mass @ logs)
    return total


def pwkl_told(xp: Any, known: JointTarget, tables: Tables) -> Any:
    """sum_c P(c) KL(Q | estimate || Q | c), (takers, tables)."""
    return _from_estimate(xp, known, tables, known.mass)


def kl_told(xp: Any, known: JointTarget, tables: Tables) -> Any:
    """sum_c KL(Q | estimate || Q | c) over all joint states, (takers, tables)."""
    configurations = known.mass.shape[1]
    return _from_estimate(xp, known, tables, xp.full_like(known.mass, known.states / configurations))


def _from_estimate(xp: Any, known: JointTarget, tables: Tables, weights: Any) -> Any:
    peak = known.peak
    assert peak is not None
    is_best = peak >= xp.max(peak, axis=1, keepdims=True) - TIED  # of tied ones the first
    best = xp.argmax(xp.where(is_best, xp.ones_like(peak), xp.zeros_like(peak)), axis=1)
    total, weight = 0.0, xp.sum(weights, axis=1, keepdims=True)
    for one in tables.classes:
        logs = xp.log(one + TINY)
        total = total + xp.take(one, best, axis=0) * (xp.take(logs, best, axis=0) * weight - weights @ logs)
    return total


TOLD = {
    "entropy": entropy_told,
    "mode": mode_told,
    "gini": gini_told,
    "variance": variance_told,
    "mutual_information": entropy_told,  # the same number under the field's two names
    "jensen_shannon": entropy_told,
    "gdi": gdi_told,
    "mpwkl": mpwkl_told,
    "pwkl": pwkl_told,
    "kl": kl_told,
}
