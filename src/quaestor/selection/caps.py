"""The best question without working out all of them: what a question cannot gain more than is known without a long search.

With the upper bound, a gain is the most that can be uncertain now less the most that can remain after the answer. What remains in some of
the networks is no more than that. So a look-ahead that knows only some of them (`Inside`) gives a cap:

    gain  <=  gain of the look-ahead from inside  +  (uncertain now at most, from outside  -  the same from inside)

From inside, bounds now are those that were attained, and answers are those of the centre of the set, which precise inference tells at once.
From outside, rough bounds now are enough at first. Lower bounds have no such cap: what remains at least in some networks may be more than
what remains at least in all. With inside and outside exchanged it is a floor, where the outside of what remains takes no search: for the
mode after a question on one skill.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from quaestor.credal.decisions import TIED
from quaestor.credal.indices import INDICES
from quaestor.draws import Draws
from quaestor.inference.chooser import Chooser
from quaestor.inference.engine import Bracket
from quaestor.inference.layout import Batch
from quaestor.inference.lookahead import Group, Lookahead, Target
from quaestor.inference.model import Model
from quaestor.model.table import Array
from quaestor.selection.plan import Mask
from quaestor.selection.scores.known import SCORES

Look = Callable[[Group], Array]  # (takers, questions of the group)
_EQUAL = 1e-13  # a floor and a cap this close are one number
_ROUNDING = 1e-9  # by which a gain and its cap may be off


class Caps:
    """What no question of a credal bank gains more than, for a score of uncertainty with the upper bound."""

    def __init__(self, model: Model, chooser: Chooser, ahead: Lookahead, score: str) -> None:
        self._credal, self._ahead, self._score = chooser, ahead, score
        self._inside = Chooser(model.centre(), len(ahead.open))
        self._position = {name: number for number, name in enumerate(model.names)}

    def of(self, group: Group, roughly: bool) -> Array:
        """The caps of the questions of a group, (takers, its questions), from rough or good bounds of what is known now."""
        known = {target.skill: self._known(target, roughly) for target in group.targets}
        batch, targets = group.batch.centre, []
        answers = partial(self._inside.answers, batch)
        for target in group.targets:
            skill, attained = self._position[target.skill], _attained(known[target.skill])
            is_alone, after = _is_alone(group, target), partial(self._inside.after, batch, skill)
            rows = target.find_rows if is_alone else partial(self._inside.rows, batch, skill)
            if is_alone and attained.lower.shape[1] == 2:
                batch = group.batch if len(group.targets) == 1 else batch
                answers, after = partial(_answers, attained, group.batch), partial(_after, attained, group.batch)
            targets.append(Target(target.skill, partial(_attained, known[target.skill]), after, rows, target.weight))
        return self._gains(Group(batch, answers, tuple(targets))) + self._apart(group, known)

    def floors(self, group: Group) -> Array:
        """What the questions of a group gain at least, (takers, its questions), from rough bounds now; no more than all can remain."""
        known = {target.skill: self._known(target, True) for target in group.targets}
        if self._score != "mode" or not all(_is_alone(group, target) for target in group.targets):
            weights = sum(target.weight for target in group.targets)
            upper = [target.weight / weights * INDICES[self._score].upper(*_attained(known[target.skill]).ends) for target in group.targets]
            return np.repeat(np.sum(upper, axis=0)[:, None] - 1, len(group.batch.index), axis=1)
        targets = tuple(replace(target, find_now=partial(known.__getitem__, target.skill)) for target in group.targets)
        return self._gains(replace(group, targets=targets)) - self._apart(group, known)

    def _known(self, target: Target, roughly: bool) -> Bracket:
        return (self._credal.roughly if roughly else self._credal.now)(self._position[target.skill])

    def _gains(self, group: Group) -> Array:
        return SCORES[self._score](replace(self._ahead, groups=(group,)), "upper", Draws(()))[:, group.batch.index]

    def _apart(self, group: Group, known: dict[str, Bracket]) -> Array:
        """By how much more is uncertain now from outside than from inside, at most, (takers, 1)."""
        index, weights = INDICES[self._score], sum(target.weight for target in group.targets)
        found = np.zeros((len(self._ahead.open), 1))
        for target in group.targets:
            now = known[target.skill]
            found[:, 0] += target.weight / weights * (index.upper(*now.ends) - index.upper(*_attained(now).ends))
        return found


def _is_alone(group: Group, target: Target) -> bool:
    """Whether a target is all that questions ask about: then the bounds of the answers at each of its levels are those of the tables."""
    return group.batch.skills == (target.skill,)


def _attained(bracket: Bracket) -> Bracket:
    """The bounds that were attained; where they cross, as one network was found only, what lies between is."""
    low, high = np.minimum(bracket.inner_lower, bracket.inner_upper), np.maximum(bracket.inner_lower, bracket.inner_upper)
    return Bracket.exact(low, high, bracket.method)


def _answers(attained: Bracket, batch: Batch) -> Bracket:
    """P(class) of questions on one skill of two levels in the networks that attain its bounds, (takers, tables, classes)."""
    ends = [np.stack([1 - p, p], axis=1) for p in (attained.lower[:, 1], attained.upper[:, 1])]
    low, high = (np.stack([np.einsum("tl,qcl->tqc", end, table) for end in ends]) for table in (batch.low, batch.high))
    return Bracket.exact(low.min(axis=0), high.max(axis=0), attained.method)


def _after(attained: Bracket, batch: Batch) -> Bracket:
    """P(level | class) in these networks, (takers, tables, classes, levels)."""
    found = []
    for p, mine, other in ((attained.lower[:, 1], batch.low, batch.high), (attained.upper[:, 1], batch.high, batch.low)):
        weight, rest = p[:, None, None] * mine[..., 1], (1 - p)[:, None, None] * other[..., 0]
        found.append(np.divide(weight, weight + rest, out=np.full(weight.shape, np.nan), where=weight + rest > 0))
    least, most = (np.where(np.isnan(one), other, one) for one, other in (found, found[::-1]))  # where it cannot be said in one of them
    least, most = (np.where(np.isnan(one), 1.0, one) for one in (least, most))  # nothing remains to be known
    return Bracket.exact(np.stack([1 - most, least], axis=-1), np.stack([1 - least, most], axis=-1), attained.method)


def leading(candidates: Mask, groups: Sequence[Group], rough: Look, floor: Look, good: Look, gain: Look) -> Array:
    """The gains of all candidates that may be the best or tied with it, (takers, questions); -inf for those that cannot be.

    Where only one can be, its cap stands for its gain. `rough`, `floor`, `good`, `gain`: a first cap, a floor, a better cap and the gains
    of a group's questions, (takers, its questions); the group that may gain most is looked at first, until nothing else comes near.
    """
    low, high = np.full(candidates.shape, -np.inf), np.full(candidates.shape, -np.inf)
    groups = [group for group in groups if candidates[:, group.batch.index].any()]
    for group in groups:
        high[:, group.batch.index] = rough(group)
    low[~candidates] = high[~candidates] = -np.inf
    done = [0] * len(groups)
    while True:
        may = candidates & (high >= low.max(axis=1, keepdims=True) - TIED - _ROUNDING)
        hopes = [np.where(may, high, -np.inf)[:, group.batch.index].max() for group in groups]
        unsure = may & (high > low + _EQUAL)
        waiting = [number for number, group in enumerate(groups) if done[number] < 3 and unsure[:, group.batch.index].any()]
        if not waiting or (may.sum(axis=1) <= 1).all():
            return np.where(may, high, -np.inf)
        first = max(waiting, key=hopes.__getitem__)
        mine, found = groups[first].batch.index, (floor, good, gain)[done[first]](groups[first])
        found = np.where(candidates[:, mine], found, -np.inf)
        if done[first] != 0:
            high[:, mine] = found
        if done[first] != 1:
            low[:, mine] = found
        done[first] += 1
