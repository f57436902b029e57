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
from numpy.typing import NDArray
from scipy.special import chdtrc

from quaestor.i18n import say
from quaestor.learn.chance import tail_words
from quaestor.learn.expect import JOINT
from quaestor.learn.fit import Fit
from quaestor.learn.layout import Tables
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
REPLICATED = 1024  # with more combinations of levels there are none
LEAST = 1e-4  # the smallest probability of an answer


@dataclass(frozen=True)
class Goodness:
    """The fit of a whole bank. `srmsr` over `pairs` pairs of questions; `by_chance`: what it is if the bank is right; `chance`: the p-value
    of so large a one, None where no replicates were drawn. `test`: M2, None where no degrees of freedom are left. Where nothing can be
    told, `srmsr` is None and `reason` a sentence.
    """

    srmsr: float | None
    by_chance: float
    chance: float | None
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
        """The p-value of the two tests together: twice the smaller one; that of one where there is no other, 1 without both."""
        found = [one for one in (self.chance, None if self.test is None else self.test.chance) if one is not None]
        return min(len(found) * min(found), 1.0) if found else 1.0

    @property
    def verdict(self) -> str:
        """`fits`, `close` (not exactly right, but the differences are small), `misfit`, or `unknown`."""
        if self.srmsr is None:
            return "unknown"
        is_small = self.beyond <= CLOSE and (self.test is None or self.test.rmsea <= CLOSE)
        if self.chance is None and self.test is None:
            return "close" if is_small else "misfit"
        return "fits" if self.both >= CHANCE else "close" if is_small else "misfit"

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
            " {chance:.3f} ({tail}). As a rule of thumb up to {close:.2f} is called a close fit.",
            srmsr=self.srmsr,
            chance=self.by_chance,
            tail=say("about") if self.chance is None else tail_words(self.chance),
            close=CLOSE,
        )
        return (opening, size, *([] if self.test is None else [self.test.words]))


def goodness(fit: Fit, rng: np.random.Generator) -> Goodness:
    """How well the learnt bank fits the answers on the whole; `rng` draws the replicates."""
    people = len(fit.people)
    if fit.layout.profiles > JOINT:
        return _untold(fit, say("How well the bank fits on the whole is not told for so many combinations of levels."))
    seen = observed(fit.layout, fit.people, np.arange(fit.layout.questions))
    if not (seen.both >= FEWEST)[pairs(fit.layout.questions)].any():
        words = say(
            "How well the bank fits on the whole cannot be told: no two questions were both answered by {fewest} people.", fewest=FEWEST
        )
        return _untold(fit, words)
    if is_chosen(fit, seen):
        words = say(
            "How well the bank fits on the whole cannot be told: which questions people answered depends on how well they do, as in an"
            " adaptive test."
        )
        return _untold(fit, words)
    bank = scores(fit.layout, _inside(fit.tables))
    apart = _differences(bank, seen)
    counted = np.isfinite(apart)
    if not counted.any():
        return _untold(fit, say("How well the bank fits on the whole cannot be told: the answers hardly vary."))
    srmsr, test = float(np.sqrt(_mean_square(apart))), limited(fit, seen, bank)
    by_chance, chance = _by_chance(fit, srmsr, counted, rng) if fit.layout.profiles <= REPLICATED else (None, None)
    if by_chance is None:
        by_chance = _about(bank, seen, counted, test)
    return Goodness(srmsr, by_chance, chance, int(counted.sum()), people, test)


def _by_chance(fit: Fit, srmsr: float, counted: NDArray[np.bool_], rng: np.random.Generator) -> tuple[float | None, float | None]:
    """The SRMSR over replicates, and the p-value of the observed one; None where answers hardly vary in them."""
    questions = np.arange(fit.layout.questions)

    def square(tables: Tables, drawn: People) -> float:
        """The mean square, times people: about the same for few people and many."""
        found = _differences(scores(fit.layout, _inside(tables)), observed(fit.layout, drawn, questions), 2)[counted]
        return len(drawn) * _mean_square(found)

    number = int(np.clip(CELLS // (len(fit.people) * fit.layout.questions * fit.layout.profiles), *REPLICATES))
    squares = repeated(fit, square, number, rng) / len(fit.people)
    squares = squares[np.isfinite(squares)]
    if len(squares) < number / 2:
        return None, None
    mean = float(squares.mean())
    freedom = 2 * mean**2 / max(float(squares.var(ddof=1)), 1e-300)
    return float(np.sqrt(mean)), float(chdtrc(freedom, freedom * srmsr**2 / mean))


def _about(bank: Scores, seen: Observed, counted: NDArray[np.bool_], test: Limited | None) -> float:
    """What chance makes of the SRMSR, about: 1 - r^2 over the root of the people for each pair, less what learning adapts to."""
    noise = ((1 - _correlations(bank) ** 2) ** 2 / np.maximum(seen.both, 1))[pairs(len(seen.both))][counted].mean()
    left = 1.0 if test is None else min(test.df / (test.questions * (test.questions - 1) / 2), 1.0)
    return float(np.sqrt(noise * left))


def _mean_square(apart: Array) -> float:
    """Over the pairs that have a difference; NaN if none has."""
    known = apart[np.isfinite(apart)]
    return float(np.mean(known**2)) if len(known) else float("nan")


def _untold(fit: Fit, reason: str) -> Goodness:
    return Goodness(None, 0.0, None, 0, len(fit.people), None, reason)


def _differences(bank: Scores, seen: Observed, fewest: int = FEWEST) -> Array:
    """Observed minus implied correlations, (pairs,); NaN for pairs with too few people."""
    return np.where(seen.both >= fewest, seen.correlations - _correlations(bank), np.nan)[pairs(len(seen.both))]


def _inside(tables: Tables) -> Tables:
    """Tables without probabilities of 0, so that all moments vary."""
    kept = [np.maximum(table, LEAST) for table in tables.groups]
    return Tables(tables.skills, tuple(table / table.sum(axis=-1, keepdims=True) for table in kept))


def _correlations(bank: Scores) -> Array:
    """Of the scores of two questions, as the bank implies them, (questions, questions)."""
    middle = bank.means @ bank.shares
    spread = np.sqrt(bank.squares @ bank.shares - middle**2)
    return np.asarray(((bank.means * bank.shares) @ bank.means.T - np.outer(middle, middle)) / np.outer(spread, spread))
