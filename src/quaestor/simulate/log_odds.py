"""What is known of many paths through a plain test of a credal bank of two-level skills: intervals of log-odds, on any array library.

The inference is that of `inference.engines.odds`, the gains are those of `selection.scores.two_levels`: the same lines as in a session.
"""

from typing import Any

import numpy as np

from quaestor.credal.vectors import parts
from quaestor.errors import QuaestorError
from quaestor.inference.engine import Ends
from quaestor.inference.engines.odds import Families, OddsMessages, applies, both_levels, expit, ratio
from quaestor.inference.layout import Layout
from quaestor.model.table import Array
from quaestor.selection.scores.two_levels import CERTAIN, TOLD, TwoByTwo, TwoLevels
from quaestor.simulate.library import Library

_TOGETHER = 2_000  # paths whose messages fit into a core's own memory


def fits(layout: Layout) -> bool:
    """Whether a bank is credal, its skills have two levels and no loops, and its questions two classes that some network allows."""
    return not layout.is_precise and applies(layout.model) and all(TwoByTwo.of(batch) is not None for batch in layout.batches)


class LogOdds:
    """A bank as arrays of one library, with its skills in the order of the layout's model.

    `_rises`: what each answer adds to the evidence, (questions x classes, 2 x skills). `_tables`: of each batch, with its skill; `_place`:
    where the table of each question stands among those of all batches, one after another (None: in this order).

    Evidence of a path is the log-likelihood ratio of its answers, for each skill the least one, then for each the most,
    (paths, 2 x skills). Where it stands are the log-odds of the higher levels, in the same order, then their probabilities,
    (paths, 4 x skills).
    """

    def __init__(self, layout: Layout, library: Library) -> None:
        self._layout, self._library, self._xp = layout, library, library.xp
        self._families = Families.of(layout.model, library.xp, library.put)
        self._skills = len(layout.model.sizes)
        self._tables: list[tuple[int, TwoByTwo]] = []
        rises, place, before = np.zeros((len(layout.questions), 2, 2, self._skills)), np.empty(len(layout.questions), dtype=np.int64), 0
        for batch in layout.batches:
            tables, skill = TwoByTwo.of(batch), batch.scope[0]
            assert tables is not None
            rises[batch.index, :, :, skill] = np.moveaxis(ratio(np, *batch.logs), 0, 2)[batch.row]  # (questions, classes, ends)
            place[batch.index] = before + batch.row
            before += len(batch.low)
            self._tables.append((skill, tables.put(library.put)))
        self._rises = library.put(rises.reshape(-1, 2 * self._skills))
        self._place = None if np.array_equal(place, np.arange(before)) else library.put(place)

    @property
    def width(self) -> int:
        """How many numbers the evidence of a path has."""
        return 2 * self._skills

    def told(self, questions: Any, classes: Any) -> Any:
        """What answers add to the evidence, (paths, width)."""
        return self._xp.take(self._rises, 2 * questions + classes, axis=0)

    def standing(self, evidence: Any, asked: int) -> Any:
        """The log-odds and the probabilities of the skills' higher levels given the answers, (paths, 4 x skills)."""
        xp, count = self._xp, evidence.shape[0]
        found = []
        for some in parts(count, _TOGETHER if self._library.is_numpy else count):
            here = xp.reshape(evidence[some, :].T, (2, self._skills, -1))
            messages = OddsMessages(self._layout.model, {skill: here[:, skill, :] for skill in range(self._skills)}, self._families)
            odds = xp.stack([messages.log_odds(skill) for skill in range(self._skills)], axis=1)  # (2, skills, paths)
            odds = xp.clip(xp.reshape(odds, (2 * self._skills, -1)).T, -CERTAIN, CERTAIN)
            found.append(xp.concat([odds, expit(xp, odds)], axis=1))
        return found[0] if len(found) == 1 else xp.concat(found)

    def bounds(self, standing: Any) -> list[Ends]:
        """Lower and upper P(level) of each skill of the bank, (paths, levels) each."""
        return [both_levels(self._xp, standing[:, skill], standing[:, self._skills + skill]) for skill in self._layout.order]

    def gains(self, standing: Any, score: str, bound: str) -> Any:
        """The gains of all questions, (paths, questions)."""
        xp, found = self._xp, []
        for skill, tables in self._tables:
            columns = range(skill, 4 * self._skills, self._skills)
            found.append(TOLD[score, bound](xp, TwoLevels(*(standing[:, place : place + 1] for place in columns)), tables))
        if self._library.is_numpy:
            gains = np.empty((len(standing), len(self._layout.questions)))
            for batch, told in zip(self._layout.batches, found, strict=True):
                gains[:, batch.columns] = told if batch.are_different else told[:, batch.row]
            return gains
        gains = found[0] if len(found) == 1 else xp.concat(found, axis=1)
        return gains if self._place is None else xp.take(gains, self._place, axis=1)

    def uncertainty(self, standing: Any, index: str) -> Array:
        """Of all skills together nothing is known."""
        raise QuaestorError("the joint uncertainty is for precise banks, got a credal one")
