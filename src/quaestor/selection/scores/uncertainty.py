"""How much uncertainty a question is expected to remove (`entropy`, `mode`, `gini`, `variance`).

The gain is U(S|e) - U(S|Q,e), U(S|Q,e) = sum_q P(q|e) U(S|q,e), as the weighted mean over the targets S. In credal banks both terms are the
upper (lower) ones; such a gain can be negative. The conditional entropy and gini are outer bounds (the bounds of P(q|e) and of U(S|q,e)
combined); the mode's comes from `conditional_mode`. The fall of the variance is the criterion of minimum expected posterior variance
(Owen 1975, Journal of the American Statistical Association 70, 351-356; van der Linden 1998, Psychometrika 63, 201-216).
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from quaestor.credal.indices import INDICES, deviation
from quaestor.credal.intervals import largest, smallest
from quaestor.credal.vectors import parts
from quaestor.draws import Draws
from quaestor.errors import QuaestorError
from quaestor.inference.engine import JointTarget
from quaestor.inference.lookahead import Group, Lookahead, Target
from quaestor.model.table import Array
from quaestor.selection.scores import two_levels
from quaestor.selection.scores.conditional_mode import lower_mode, upper_mode
from quaestor.selection.scores.kernels import BLOCK, TOLD, Tables
from quaestor.selection.scores.two_levels import TwoByTwo, TwoLevels

Score = Callable[[Lookahead, str, Draws], Array]
Remaining = Callable[[Group, Target, str], Array]


def _gain(index: str, remaining: Remaining) -> Score:
    """The score of an index of uncertainty, given what of it remains after a question."""
    now = INDICES[index].bound

    def gain(ahead: Lookahead, bound: str, draws: Draws) -> Array:
        def of_group(group: Group) -> Array:
            if group.joint is not None:
                return joint_gain(index, group, group.joint)
            total, weights = np.zeros((len(ahead.open), len(group.batch.low))), 0.0
            for target in group.targets:
                if target.now[0] is target.now[1] and group.batch.skills == (target.skill,):
                    p = target.now[0]
                    squares = p * p if index == "gini" else None
                    told = joint_gain(index, group, JointTarget(p.shape[1], p, p, squares))  # the skill is the whole joint of its scope
                else:
                    found = _of_two_levels(index, group, target, bound)
                    if found is not None and found[1].all():
                        told = found[0]
                    else:
                        told = now(*target.now, bound)[:, None] - remaining(group, target, bound)
                        told = told if found is None else np.where(found[1][:, None], found[0], told)
                if len(group.targets) == 1:
                    return told
                total += target.weight * told
                weights += target.weight
            return total / weights if weights else total

        return ahead.spread(of_group)

    return gain


def _remaining(index: str) -> Remaining:
    """sum_q P(q|e) U(S|q,e), shape (takers, tables): over the bounds of P(Q|e) the largest of upper or the smallest of lower values."""

    def remaining(group: Group, target: Target, bound: str) -> Array:
        left = np.where(group.answers[1] > 0, INDICES[index].bound(*target.after, bound), 0.0)
        if group.answers[0] is group.answers[1]:
            summed: Array = np.einsum("tqa,tqa->tq", group.answers[0], left)
            return summed
        return (largest if bound == "upper" else smallest)(left, *group.answers)

    return remaining


def _remaining_mode(group: Group, target: Target, bound: str) -> Array:
    """M(S|Q,e), shape (takers, tables): in credal banks by Theorem 1, which needs no bounds of the answers."""
    if target.now[0] is target.now[1]:
        largest_after = np.einsum("tqa,tqa->tq", group.answers[0], target.after[0].max(axis=-1))
        return deviation(largest_after, target.now[0].shape[-1])
    (takers, levels), (tables, classes) = target.now[0].shape, group.batch.low.shape[:2]
    sets = [np.repeat(end, tables, axis=0) for end in target.now]
    rows = [np.reshape(end, (takers * tables, classes, levels)) for end in target.rows]
    return (upper_mode if bound == "upper" else lower_mode)(*sets, *rows).reshape(takers, tables)


def _of_two_levels(index: str, group: Group, target: Target, bound: str) -> tuple[Array, NDArray[np.bool_]] | None:
    """The gain of questions with two classes on a skill of two levels, (takers, tables), and of which takers it is true, (takers,).

    None where it has to be found otherwise.
    """
    tables = TwoByTwo.of(group.batch) if group.batch.skills == (target.skill,) else None
    low, high = target.now
    if tables is None:
        return None
    holds: NDArray[np.bool_] = np.asarray(
        ((low > 0) & (low <= high)).all(axis=1)
    )  # of each taker by their own numbers, whoever else is there
    low, high = np.where(holds[:, None], low, 0.5), np.where(holds[:, None], high, 0.5)
    ends = (np.log(low[:, 1:] / high[:, :1]), np.log(high[:, 1:] / low[:, :1]), low[:, 1:], high[:, 1:])
    gain = np.empty((len(low), len(group.batch.low)))
    for some in parts(len(gain), max(1, BLOCK // gain.shape[1])):
        gain[some] = two_levels.TOLD[index, bound](np, TwoLevels(*(end[some] for end in ends)), tables)
    return gain, holds


def joint_gain(index: str, group: Group, joint: JointTarget) -> Array:
    """The gain on the joint distribution of all skills (precise banks), shape (takers, tables), in units of its own largest uncertainty.

    entropy: H(Q) - E[H(Q|S)]; the others from the largest and the sum of squares of P(s, q) = P(s) P(q | c(s)), c the scope's part.
    """
    if joint.peak is None and index not in ("entropy", "gdi", "mpwkl", "variance"):
        raise QuaestorError(f"score {index} with target 'joint' is for small joints, got {joint.states:.3g} joint states; use entropy")
    tables = Tables.of(group.batch)
    gain = np.empty((len(joint.mass), len(group.batch.low)))
    for some in parts(len(gain), max(1, BLOCK // max(1, gain.shape[1]))):
        gain[some] = TOLD[index](np, joint.of_takers(some), tables)
    return gain


entropy = _gain("entropy", _remaining("entropy"))
mode = _gain("mode", _remaining_mode)
gini = _gain("gini", _remaining("gini"))
variance = _gain("variance", _remaining("variance"))
