"""What is known of many paths through a plain test of exact numbers: P(joint state of the skills | answers), on any array library."""

from collections.abc import Callable
from math import e
from typing import Any

import numpy as np

from quaestor.credal.indices import INDICES
from quaestor.inference.engine import Ends, JointTarget
from quaestor.inference.joint import LARGEST, joint_of
from quaestor.inference.layout import Layout
from quaestor.model.table import Array
from quaestor.selection.scores.kernels import TOLD, Tables, entropy_told
from quaestor.simulate.library import Library, fetched

_DEEP = 500.0  # minus the logarithm of numbers that products may round to zero


def fits(layout: Layout) -> bool:
    """Whether a bank has exact numbers, and few joint states, and no answers contradict each other."""
    return layout.is_precise and layout.model.joint_size <= LARGEST and all(bool((batch.low > 0).all()) for batch in layout.batches)


class JointStates:
    """A bank as arrays of one library, with its skills in the order of the layout's model.

    `_prior`: P(joint state); `_ones`: a column of as many; `_skills`: for each the matrix that sums joint states to its levels; `_tables`:
    of each batch, with its skill; `_order`: where each question stands among the batches (None: in their order). `_together`: the tables of
    all questions as of one scope, the levels of all skills one after another; `_every`: the matrix that sums joint states to these;
    `_scale`: 1 / log(levels) of each question. `_logs`: log P(class | level) of all questions, one after another; `_level_at`: the level of
    each skill in each joint state, (skills, states). Of each question: `_first`, its first row in `_logs`, and `_skill_of`, its skill.

    Evidence of a path is log P(answers | joint state), (paths, states); where it stands is P(joint state | answers), (paths, states).
    """

    def __init__(self, layout: Layout, library: Library) -> None:
        self._xp, self._in_bank = library.xp, layout.order
        model, put = layout.model, library.put
        joint = joint_of(model)
        classes, levels = int(layout.classes.max()), model.sizes
        skill_of = np.empty(len(layout.questions), dtype=np.int64)
        first = np.empty(len(layout.questions), dtype=np.int64)
        rows, place = [], 0
        self._tables: list[tuple[int, Tables]] = []
        starts = np.cumsum([0, *levels]).tolist()
        together, noise = np.zeros((classes, starts[-1], len(first))), np.zeros((starts[-1], len(first)))
        for batch in layout.batches:
            skill, of = batch.scope[0], Tables.of(batch)
            logs = np.moveaxis(batch.logs[0], 1, 2).reshape(-1, batch.low.shape[1])  # (tables x levels, classes)
            rows.append(np.pad(logs, ((0, 0), (0, classes - logs.shape[1]))))
            skill_of[batch.index], first[batch.index] = skill, place + batch.row * levels[skill]
            place += len(logs)
            own = slice(starts[skill], starts[skill + 1])
            for number, one in enumerate(of.classes):
                together[number, own, batch.index] = one[:, batch.row].T
            noise[own, batch.index] = of.noise[:, batch.row]
            each = [put(np.ascontiguousarray(one[:, batch.row])) for one in (*of.classes, of.noise)]
            self._tables.append((skill, Tables(tuple(each[:-1]), each[-1])))
        listed = np.concatenate([batch.index for batch in layout.batches])
        indices = [joint.index((skill,)) for skill in range(len(levels))]
        indicators = [joint.indicator((skill,)) for skill in range(len(levels))]
        self._prior, self._ones = put(joint.prior), put(np.ones((len(joint.prior), 1)))
        self._skills, self._every = [put(one) for one in indicators], put(np.concatenate(indicators, axis=1))
        self._together = Tables(tuple(put(one) for one in together), put(noise))
        self._scale = put(1 / np.log(np.array(levels, dtype=float)[skill_of]))
        self._order = None if (np.diff(listed) > 0).all() else put(np.argsort(listed))
        self._logs, self._first, self._skill_of = put(np.concatenate(rows)), put(first), put(skill_of)
        self._level_at = put(np.stack(indices).astype(np.int64))
        self._deepest = max(-float(batch.logs[0].min()) for batch in layout.batches)  # of one answer

    @property
    def width(self) -> int:
        """How many numbers the evidence of a path has."""
        return int(self._prior.shape[0])

    def told(self, questions: Any, classes: Any) -> Any:
        """What answers add to the evidence, (paths, width)."""
        xp = self._xp
        row = xp.take(self._first, questions, axis=0)[:, None] + xp.take(self._level_at, xp.take(self._skill_of, questions, axis=0), axis=0)
        place = row * self._logs.shape[1] + classes[:, None]
        return xp.reshape(xp.take(xp.reshape(self._logs, (-1,)), xp.reshape(place, (-1,)), axis=0), place.shape)

    def standing(self, evidence: Any, asked: int) -> Any:
        """P(joint state | answers) after so many questions, (paths, states)."""
        xp = self._xp
        if asked * self._deepest > _DEEP:
            evidence = evidence - xp.max(xp.where(self._prior > 0, evidence, -xp.inf), axis=1, keepdims=True)
        weights = xp.exp(evidence) * self._prior
        return weights / (weights @ self._ones)  # quicker than a sum over so short an axis

    def bounds(self, standing: Any) -> list[Ends]:
        """P(level) of each skill of the bank, (paths, levels), as both ends."""
        found = [standing @ self._skills[skill] for skill in self._in_bank]
        return [(one, one) for one in found]

    def gains(self, standing: Any, score: str, bound: str) -> Any:
        """The gains of all questions, (paths, questions); there is but one bound."""
        told: Callable[..., Any] = TOLD[score]
        if told is entropy_told:  # of all skills at once: the configurations of other skills have no part in a question
            gains = told(self._xp, JointTarget(e, standing @ self._every, None, None), self._together)
            gains *= self._scale
            return gains
        found = []
        for skill, tables in self._tables:
            mass = standing @ self._skills[skill]
            found.append(told(self._xp, JointTarget(mass.shape[1], mass, mass, mass * mass), tables))
        gains = found[0] if len(found) == 1 else self._xp.concat(found, axis=1)
        return gains if self._order is None else self._xp.take(gains, self._order, axis=1)

    def uncertainty(self, standing: Any, index: str) -> Array:
        """An index of uncertainty of all skills together, (paths,)."""
        return np.asarray(INDICES[index].value(fetched(standing)))
