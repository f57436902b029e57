"""Which question is next, for N takers at once: what the rules leave, and the one question of these."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from quaestor.inference.layout import Numbers
from quaestor.lazy import lazy
from quaestor.model.question import Question
from quaestor.model.table import Array
from quaestor.selection.drawing import drawn, elected
from quaestor.selection.narrowing import CLOSING, FORCING, KEEPING, Candidates, Narrowing, Standing, vary
from quaestor.selection.plan import Mask
from quaestor.selection.progressive import weighed
from quaestor.selection.ranking import Ranking
from quaestor.selection.robust import votes
from quaestor.selection.shadow import keep_to_shadow


class Gains(Protocol):
    """What questions would tell N takers, worked out when asked for."""

    @property
    def open(self) -> Mask:
        """Which questions may be asked and count, (takers, questions)."""

    @property
    def gains(self) -> Array:
        """The gain of every question, (takers, questions)."""

    @property
    def second(self) -> Callable[[], Array] | None:
        """What finds the gains by the second score; None where there is none."""

    def best(self, candidates: Mask) -> Numbers:
        """The best of some questions of each taker, (takers,), -1 where there are none."""


@dataclass(frozen=True, eq=False)
class Choice:
    """How the next question of one taker was chosen: all open questions ranked, and what narrowed the choice.

    `question` is None when none is left. `votes`: how many of the sampled networks would ask which question, for robust rules.
    `candidates`: the numbers of the questions that the rules leave, from which the best (or a draw, or a vote) takes one; empty where the
    rules name the question. `best_gain`: the largest gain of the questions that the content rules leave. `tied`: the candidates whose gain
    is the largest; `still_tied`: those of them that the second score leaves.
    """

    question: Question | None
    ranking: Ranking
    narrowed: tuple[Narrowing, ...] = ()
    votes: Mapping[str, int] = field(default_factory=dict)
    best_gain: float | None = None
    candidates: Numbers = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    tied: Numbers = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    still_tied: Numbers = field(default_factory=lambda: np.zeros(0, dtype=np.intp))

    @property
    def gain(self) -> float | None:
        """The gain of the chosen question; None for a pilot, which is asked for its own sake."""
        if self.question is None or self.question.pilot:
            return None
        return float(self.ranking.gains[self.ranking.ids == self.question.id][0])


class Choosing:
    """The choice of all takers, in two stages: what the rules leave, and the one question of these."""

    def __init__(self, gains: Gains, now: Standing) -> None:
        self._gains, self._now = gains, now
        self.left = Candidates(gains.open)
        self.named = np.full(now.takers, -1)
        self.ballots: Numbers | None = None
        for close in CLOSING:
            close(now, self.left)
        for force in FORCING:
            force(now, self.left, self.named)
        self.left.active = self.named < 0
        for keep in () if now.plan.rules.shadow else KEEPING:  # a shadow test keeps them all
            keep(now, self.left)
        self._left_by_content = self.left.mask

    @property
    def can_ask(self) -> Mask:
        """Who has a question left, (takers,)."""
        return np.asarray((self.named >= 0) | self._left_by_content.any(axis=1))

    @lazy
    def best_gain(self) -> Array:
        """The largest gain of the questions left, (takers,); NaN where there is none."""
        found = np.where(self._left_by_content, self._gains.gains, -np.inf).max(axis=1)
        return np.where(np.isfinite(found), found, np.nan)

    @lazy
    def candidates(self) -> Mask:
        """What the rules leave to choose from, (takers, questions); nothing where they name the question."""
        keep_to_shadow(self._now, self.left, lambda: self._gains.gains)
        vary(self._now, self.left, lambda: self._gains.gains)
        return self.left.mask & (self.named < 0)[:, None]

    @lazy
    def question(self) -> Numbers:
        """The question of each taker, (takers,), -1 where none is left."""
        candidates, rules = self.candidates, self._now.plan.rules
        if not candidates.any():
            return self.named
        if rules.robust is not None and not self._now.plan.layout.is_precise:
            self.ballots = votes(self._now, rules.robust, candidates)
            elected(self._now, self.left, self.ballots)
        mask = self.left.mask & (self.named < 0)[:, None]
        if rules.progressive is not None or rules.proportional is not None:
            found = weighed(self._now, self.left, mask, self._gains.gains)
        elif rules.among == rules.first_among == 1 and not rules.exposure.chances:
            found = self._gains.best(mask)
        else:
            found = drawn(self._now, self.left, mask, self._gains.gains, self._gains.second)
        return np.where(self.named >= 0, self.named, found)
