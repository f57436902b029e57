"""A test of a whole bank from the shares of right answers to one and to two questions.

M2 (Maydeu-Olivares and Joe 2006; for more than two classes the collapsed one of Cai and Hansen 2013): with the differences e between
observed and implied moments of one and two questions (see `moments`), their covariance V, and their derivatives D by the free numbers of
the bank,

    M2 = e' (V^-1 - V^-1 D (D' V^-1 D)^- D' V^-1) e,

what no change of these numbers explains. It is compared with chi-squared, with as many degrees of freedom as moments minus the rank of D.
Since all directions of D are taken out, it does not matter how the numbers were estimated, as long as the estimates are near: by maximum
likelihood or with a weak prior, with rows held together by the monotone rule or not. The price: a misfit along these directions is not
seen, and a skill of many levels has many of them.

RMSEA2 (Maydeu-Olivares and Joe 2014), sqrt((M2 - df) / (people * df)), is the size of the misfit, with a 90 % interval from the noncentral
chi-squared distribution.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import chdtrc, chndtrinc

from quaestor.i18n import say
from quaestor.learn.chance import tail_words
from quaestor.learn.fit import Fit
from quaestor.learn.moments import Observed, Scores, covariance, implied, jacobian, observed, pairs
from quaestor.learn.people import Patterns
from quaestor.model.table import Array

FEWEST = 30  # people who answered both questions of a pair
QUESTIONS = 60  # the test looks at so many, evenly spread over the bank, of more
SOME = 40  # and at so many where not everybody answered everything
PATTERNS = 20_000  # of answers, by which empty cells are counted
PROFILES = 4096  # the test is for banks with at most so many combinations of levels
_RANK = 1e-10  # directions with a smaller share of the largest squared length are none
_TAILS = (0.95, 0.05)


@dataclass(frozen=True)
class Limited:
    """The test from moments of one and two questions: `statistic` (M2), `df`, the p-value (`chance`), `rmsea` with its 90 % interval,
    and the number of `questions` looked at.
    """

    statistic: float
    df: int
    chance: float
    rmsea: float
    interval: tuple[float, float]
    questions: int

    @property
    def words(self) -> str:
        """The test in a sentence."""
        return say(
            "Test from the shares of right answers to one and to two of {questions} questions: M2 = {statistic:.1f} with {df} degrees of"
            " freedom, {tail}; size RMSEA2 = {rmsea:.3f}, between {low:.3f} and {high:.3f}.",
            questions=self.questions,
            statistic=self.statistic,
            df=self.df,
            tail=tail_words(self.chance),
            rmsea=self.rmsea,
            low=self.interval[0],
            high=self.interval[1],
        )


def limited(fit: Fit, seen: Observed, bank: Scores) -> Limited | None:
    """The test on the questions that enough people answered, each together with all others; None if no degrees of freedom are left."""
    if fit.layout.profiles > PROFILES:
        return None
    is_whole = bool((seen.both == len(fit.people)).all())
    some = _together(seen.both)
    most = QUESTIONS if is_whole else SOME
    if len(some) > most:
        some = some[np.linspace(0, len(some) - 1, most).astype(np.intp)]
    if len(some) < 3:
        return None
    own = bank.chosen(some)
    apart = observed(fit.layout, fit.people, some)
    spread = covariance(own)
    people = np.full(len(spread), float(len(fit.people))) if is_whole else apart.people
    spread *= 1 / len(fit.people) if is_whole else _in_common(fit, some) / np.outer(people, people)
    statistic, df = left_over(apart.values - implied(own), spread, jacobian(fit, own, some))
    if df < 1:
        return None
    count = float(people.mean())
    size = float(np.sqrt(max(statistic - df, 0.0) / (df * count)))
    low, high = (float(np.sqrt(max(_noncentrality(statistic, df, tail), 0.0) / (df * count))) for tail in _TAILS)
    return Limited(statistic, df, float(chdtrc(df, statistic)), size, (low, high), len(some))


def left_over(apart: Array, spread: Array, slopes: Array) -> tuple[float, int]:
    """The squared length of differences `apart`, (moments,), of covariance `spread`, (moments, moments), less all that moves along
    `slopes`, (moments, numbers), can explain; and the degrees of freedom that are left.
    """
    scale = np.sqrt(np.diag(spread))
    root = np.linalg.cholesky(spread / np.outer(scale, scale) + 1e-12 * np.eye(len(scale)))
    white = solve_triangular(root, np.column_stack([slopes, apart]) / scale[:, None], lower=True)
    moved, rest = white[:, :-1], white[:, -1]
    length = np.sqrt((moved**2).sum(axis=0))
    moved = moved[:, length > 0] / length[length > 0]
    squares, turned = np.linalg.eigh(moved.T @ moved)
    kept = squares > _RANK * max(float(squares[-1]), 1e-300) if len(squares) else np.zeros(0, bool)
    along = (turned[:, kept].T @ (moved.T @ rest)) / np.sqrt(squares[kept])
    return float(rest @ rest - along @ along), len(apart) - int(kept.sum())


def _together(both: Array) -> NDArray[np.intp]:
    """Questions of which every two were answered by enough people: those with most missing partners are left out one by one."""
    kept = np.flatnonzero(np.diag(both) >= FEWEST)
    while len(kept):
        missing = (both[np.ix_(kept, kept)] < FEWEST).sum(axis=0)
        if not missing.any():
            break
        kept = np.delete(kept, int(np.argmax(missing)))
    return kept


def _in_common(fit: Fit, questions: NDArray[np.intp]) -> Array:
    """The number of people with all answers of two moments, (moments, moments); of many patterns of answers, by a part of them."""
    count, own = len(fit.people.patterns), fit.people.weights()
    some = np.arange(count) if count <= PATTERNS else np.linspace(0, count - 1, PATTERNS).astype(np.intp)
    part = Patterns(tuple(answers[some] for answers in fit.people.patterns.answers))
    given, at = np.unique(part.classes(fit.layout)[:, questions] >= 0, axis=0, return_inverse=True)
    weights = np.bincount(at.reshape(-1), own[some], len(given)) * (own.sum() / own[some].sum())
    first, second = pairs(len(questions))
    all_of = np.concatenate([given, given[:, first] & given[:, second]], axis=1).astype(float)
    return np.asarray((all_of * weights[:, None]).T @ all_of)


def _noncentrality(statistic: float, df: int, tail: float) -> float:
    """The noncentrality for which so small a statistic has the chance `tail`; 0 where already a central one has less."""
    return float(chndtrinc(statistic, df, tail)) if 1 - chdtrc(df, statistic) > tail else 0.0
