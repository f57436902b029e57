"""How well a whole bank fits the answers: the correlations between questions, and a test.

SRMSR (Maydeu-Olivares 2013): the root mean square of the differences between the observed correlation of the scores of two questions and
that which the bank implies, over all pairs that enough people answered. It is a size that the field calls a close fit up to .05. Few people
alone make it larger, so it stands beside what chance makes: the mean over replicates of the fit in which the bank is right (see
`replicates`). The squares over replicates are matched by a multiple of chi-squared (Satterthwaite 1946), which gives a p-value. Beside it
stands M2 (see `limited`), whose p-value needs no replicates. The two see different misfits: where a skill has many levels, M2 allows for
changes of the tables that the likelihood or the monotone rule forbids. A bank is said to fit unless twice the smaller of the two p-values
is below .05.

Those who answered are compared with everybody. So nothing is said where it depends on how well people do which questions they answered, as
in an adaptive test.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc

from quaestor.i18n import say
from quaestor.learn.expect import JOINT
from quaestor.learn.fit import Fit
from quaestor.learn.layout import Layout, Tables
from quaestor.learn.limited import FEWEST, Limited, limited
from quaestor.learn.missing import is_chosen
from quaestor.learn.moments import Observed, Scores, observed, pairs, scores
from quaestor.learn.people import People
from quaestor.learn.replicates import repeated
from quaestor.model.table import Array

CHANCE = 0.05  # a smaller p-value tells a misfit
CLOSE = 0.05  # the field's rule of thumb for SRMSR and RMSEA2: up to this a close fit
CELLS = 2 * 10**7  # people times questions times profiles in all replicates
REPLICATES = (30, 50)  # at least and at most
LEAST = 1e-4  # the smallest probability of an answer


@dataclass(frozen=True)
class Goodness:
    """The fit of a whole bank. `srmsr` over `pairs` pairs of questions; `by_chance`: what it is if the bank is right; `chance`: the p-value
    of so large a one. `test`: M2, None where no degrees of freedom are left. Where nothing can be told, `srmsr` is None and `reason` a
    sentence.
    """

    srmsr: float | None
    by_chance: float
    chance: float
    pairs: int
    people: int
    test: Limited | None
    reason: str = ""

    @property
    def beyond(self) -> float:
        """The SRMSR without what chance makes, 0 at least."""
        return float(np.sqrt(max((self.srmsr or 0.0) ** 2 - self.by_chance**2, 0.0)))

    @property
    def both(self) -> float:
        """The p-value of the two tests together: twice the smaller one."""
        return self.chance if self.test is None else min(2 * min(self.chance, self.test.chance), 1.0)

    @property
    def verdict(self) -> str:
        """`fits`, `close` (not exactly right, but the differences are small), `misfit`, or `unknown`."""
        if self.srmsr is None:
            return "unknown"
        if self.both >= CHANCE:
            return "fits"
        return "close" if self.beyond <= CLOSE and (self.test is None or self.test.rmsea <= CLOSE) else "misfit"

    @property
    def words(self) -> tuple[str, ...]:
        """Sentences for a teacher, the verdict first."""
        if self.srmsr is None:
            return (self.reason,)
        opening = {
            "fits": say("On the whole the bank fits."),
            "close": say("On the whole the bank nearly fits: more is off than by chance, but little."),
            "misfit": say("On the whole the bank does not fit: answers hang together in a way that its skills do not explain."),
        }[self.verdict]
        size = say(
            "Correlations between questions are off by {srmsr:.3f} on average (SRMSR); if the bank were right, chance would make"
            " {chance:.3f} (p = {tail:.3f}). As a rule of thumb up to {close:.2f} is called a close fit.",
            srmsr=self.srmsr,
            chance=self.by_chance,
            tail=self.chance,
            close=CLOSE,
        )
        return (opening, size, *([] if self.test is None else [self.test.words]))


def goodness(fit: Fit, rng: np.random.Generator) -> Goodness:
    """How well the learnt bank fits the answers on the whole; `rng` draws the replicates."""
    people, questions = len(fit.people), np.arange(fit.layout.questions)
    if fit.layout.profiles > JOINT:
        return _untold(fit, 0, say("How well the bank fits on the whole is not told for so many combinations of levels."))
    seen = observed(fit.layout, fit.people, questions)
    apart = _differences(fit.layout, fit.tables, seen)
    if not np.isfinite(apart).any():
        words = say(
            "How well the bank fits on the whole cannot be told: no two questions were both answered by {fewest} people.", fewest=FEWEST
        )
        return _untold(fit, 0, words)
    count = int(np.isfinite(apart).sum())
    if is_chosen(fit, seen):
        words = say(
            "How well the bank fits on the whole cannot be told: which questions people answered depends on how well they do, as in an"
            " adaptive test."
        )
        return _untold(fit, count, words)

    def square(tables: Tables, drawn: People) -> float:
        return float(
            np.nanmean(_differences(fit.layout, tables, observed(fit.layout, drawn, questions), 2)[np.isfinite(apart)] ** 2)
        ) * len(drawn)

    srmsr = float(np.sqrt(np.nanmean(apart**2)))
    number = int(np.clip(CELLS // (people * fit.layout.questions * fit.layout.profiles), *REPLICATES))
    squares = repeated(fit, square, number, rng) / people
    mean, variance = float(squares.mean()), float(squares.var(ddof=1))
    freedom = 2 * mean**2 / variance
    chance = float(chdtrc(freedom, freedom * srmsr**2 / mean))
    return Goodness(srmsr, float(np.sqrt(mean)), chance, count, people, limited(fit, seen, scores(fit.layout, _inside(fit.tables))))


def _untold(fit: Fit, count: int, reason: str) -> Goodness:
    return Goodness(None, 0.0, 1.0, count, len(fit.people), None, reason)


def _differences(layout: Layout, tables: Tables, seen: Observed, fewest: int = FEWEST) -> Array:
    """Observed minus implied correlations, (pairs,); NaN for pairs with too few people."""
    return np.where(seen.both >= fewest, seen.correlations - _correlations(scores(layout, _inside(tables))), np.nan)[
        pairs(layout.questions)
    ]


def _inside(tables: Tables) -> Tables:
    """Tables without probabilities of 0, so that all moments vary."""
    kept = [np.maximum(table, LEAST) for table in tables.groups]
    return Tables(tables.skills, tuple(table / table.sum(axis=-1, keepdims=True) for table in kept))


def _correlations(bank: Scores) -> Array:
    """Of the scores of two questions, as the bank implies them, (questions, questions)."""
    middle = bank.means @ bank.shares
    spread = np.sqrt(bank.squares @ bank.shares - middle**2)
    return np.asarray(((bank.means * bank.shares) @ bank.means.T - np.outer(middle, middle)) / np.outer(spread, spread))
