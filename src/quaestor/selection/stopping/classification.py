"""Criteria that decide between two sides of a cut: Wald's sequential probability ratio test, the expected loss of a decision; and whether
more questions would change the result at all.
"""

from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from quaestor.credal.decisions import TIED
from quaestor.i18n import Said, say
from quaestor.model.table import Array
from quaestor.selection.same_decision import SameDecision
from quaestor.selection.stopping.criterion import Criterion, Situation, Truth, where_all

_TINY = 1e-300


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1


def _log(p: Array) -> Array:
    return np.log(np.maximum(p, _TINY))


class _AtCut(Criterion):
    """What criteria on a cut share: of which skills they are, and which level is the first that passes."""

    skill: str
    level: str

    def _skills(self, now: Situation) -> list[str]:
        return list(now.beliefs) if self.skill in ("", "each") else [self.skill]

    def _cut(self, states: tuple[str, ...]) -> int:
        """The place of the lowest level that passes; the highest where none is named."""
        return states.index(self.level) if self.level else len(states) - 1


@dataclass(frozen=True)
class Sprt(_AtCut):
    """The sequential probability ratio test of whether a skill has reached a level (Wald 1947, Sequential Analysis; for mastery tests
    Reckase 1983).

    Two simple hypotheses: that the skill is at `level` (the highest, unless another is named), and that it is at the level below. With L
    the ratio of the probabilities of the answers under them, the test stops when L >= (1 - beta) / alpha or L <= beta / (1 - alpha): then
    whoever is just below the cut passes with a probability of about alpha at most, whoever has just reached it fails with about beta. L is
    the odds of the two levels now divided by those before the test. In credal banks all of the bounds of L must lie beyond a limit.
    """

    alpha: float = 0.05
    beta: float = 0.05
    skill: str = "each"
    level: str = ""
    name = "sprt"

    def __post_init__(self) -> None:
        for value in (self.alpha, self.beta):
            if not _is_share(value):
                self._refuse(say("error rates above 0 that sum to less than 1"), value)
        if self.alpha + self.beta >= 1:
            self._refuse(say("error rates above 0 that sum to less than 1"), self.alpha)

    @property
    def words(self) -> Said:
        """The criterion in words."""
        stated = {"alpha": self.alpha, "beta": self.beta}
        return say("the answers decide by likelihood ratio, with error rates {alpha:g} and {beta:g}", **stated)

    def holds(self, now: Situation) -> Truth:
        """Whether the ratio is beyond one of the limits, for every skill that is looked at."""
        found = []
        for skill in self._skills(now):
            low, high = self.ratio(now, skill)
            found.append((low >= np.log((1 - self.beta) / self.alpha) - TIED) | (high <= np.log(self.beta / (1 - self.alpha)) + TIED))
        return where_all(found)

    def ratio(self, now: Situation, skill: str) -> tuple[Array, Array]:
        """Bounds of log L of one skill."""
        bounds, before = now.beliefs[skill], now.prior[skill]
        cut = self._cut(bounds.states)
        ends = []
        for (at, below), (was_at, was_below) in (
            ((bounds.lower, bounds.upper), (before[1], before[0])),
            ((bounds.upper, bounds.lower), (before[0], before[1])),
        ):
            odds, prior = _log(at[..., cut]) - _log(below[..., cut - 1]), _log(was_at[..., cut]) - _log(was_below[..., cut - 1])
            ends.append(np.asarray(odds - prior))
        return ends[0], ends[1]

    def reason(self, now: Situation) -> Said:
        """Why, in words."""
        return say("The answers are far more probable on one side of the cut than on the other (likelihood ratio), for each skill.")


@dataclass(frozen=True)
class LossBelow(_AtCut):
    """The expected loss of deciding now whether a skill has reached a level is below a threshold: sequential Bayes classification.

    Sources: Lewis and Sheehan 1990, Applied Psychological Measurement 14, 367-386; Vos 1999, Journal of Educational and Behavioral
    Statistics 24, 271-292.

    To pass who is below the cut costs `false_pass`, to fail who is not `false_fail`; the decision is the one with the smaller expected
    loss, min(false_pass P(below), false_fail P(not below)), and the threshold is what one more question costs. In credal banks it is the
    upper expected loss of the decision for which that is the smaller.
    """

    threshold: float
    skill: str = "each"
    level: str = ""
    false_pass: float = 1.0
    false_fail: float = 1.0
    name = "loss_below"

    def __post_init__(self) -> None:
        for value in (self.threshold, self.false_pass, self.false_fail):
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0 or not isfinite(value):
                self._refuse(say("losses above 0"), value)

    @property
    def words(self) -> Said:
        """The criterion in words."""
        return say("to decide at the cut now has an expected loss below {threshold:g}", threshold=self.threshold)

    def holds(self, now: Situation) -> Truth:
        """Whether the expected loss of every skill that is looked at is below the threshold."""
        return where_all(self.loss(now, skill) < self.threshold - TIED for skill in self._skills(now))

    def loss(self, now: Situation, skill: str) -> Array:
        """The (upper) expected loss of the better decision on one skill."""
        bounds = now.beliefs[skill]
        cut = self._cut(bounds.states)
        below, above = (slice(None, cut), slice(cut, None))
        chances = [
            np.minimum(bounds.upper[..., side].sum(axis=-1), 1 - bounds.lower[..., other].sum(axis=-1))
            for side, other in ((below, above), (above, below))
        ]
        return np.asarray(np.minimum(self.false_pass * chances[0], self.false_fail * chances[1]))

    def reason(self, now: Situation) -> Said:
        """Why, in words."""
        most = max(float(self.loss(now, skill)) for skill in self._skills(now))
        return say(
            "To decide at the cut now has an expected loss of at most {loss:.4f}, below {threshold:g}.", loss=most, threshold=self.threshold
        )


@dataclass(frozen=True)
class SameDecisionAbove(Criterion):
    """Further questions would leave the result as it is with at least this probability: stochastic curtailment (see
    `quaestor.selection.same_decision`). Further questions are all that may still be asked or, where the rules allow fewer, as many as they
    allow, those that tell most now. For precise banks; `seed`: of the answers that are drawn where there are too many to look at all.
    """

    threshold: float = 0.95
    seed: int = 0
    name = "same_decision"
    looks_far = True

    def __post_init__(self) -> None:
        if not _is_share(self.threshold):
            self._refuse(say("a probability above 0 and below 1"), self.threshold)
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            self._refuse(say("a whole number of at least {least}", least=0), self.seed)

    @property
    def words(self) -> Said:
        """The criterion in words."""
        return say("more questions would leave the result as it is with a probability of at least {threshold:g}", threshold=self.threshold)

    def holds(self, now: Situation) -> Truth:
        """Whether the result is as good as fixed."""
        if np.ndim(now.questions) == 0:
            return np.asarray(self._found(now, 0).probability >= self.threshold - TIED)
        takers: Any = range(len(np.asarray(now.questions)))
        return np.array([self._found(now, taker).probability >= self.threshold - TIED for taker in takers], dtype=bool)

    def _found(self, now: Situation, taker: int) -> SameDecision:
        return now.future(taker, self.seed)

    def reason(self, now: Situation) -> Said:
        """Why, in words."""
        return sentence(self._found(now, 0))


def sentence(found: SameDecision) -> Said:
    """What more questions would do to the result, in words; for precise banks."""
    if not found.questions:
        return say("No question is left that could change the result.")
    told = {"count": found.questions, "share": 100 * (1 - found.probability)}
    if not found.draws:
        return say("{count} more {count:question|questions} would change the result with a probability of {share:.1f} %.", **told)
    return say(
        "{count} more {count:question|questions} would change the result with a probability of {share:.1f} % (standard error"
        " {error:.1f}, from {draws:,} drawn sets of answers).",
        error=100 * found.error,
        draws=found.draws,
        **told,
    )


sprt, loss_below, same_decision = Sprt, LossBelow, SameDecisionAbove
