"""The open questions of a bank, best first."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import overload

import numpy as np
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError, got, nearest
from quaestor.i18n import say
from quaestor.inference.chooser import Targets, lookahead
from quaestor.inference.layout import Answers, Stated, bank_model
from quaestor.inference.lookahead import Lookahead
from quaestor.inference.posterior import refuse_conflict
from quaestor.model.question import Question
from quaestor.model.table import Array
from quaestor.selection.scores.uncertainty import BOUNDS, SCORES

TIED = 1e-9  # gains this near are equal: what is left is rounding


@dataclass(frozen=True)
class Candidate:
    """One question, what asking it gains, and how much of that for each of the target skills (empty for scores without targets)."""

    question: Question
    gain: float
    by_skill: dict[str, float]


@dataclass(frozen=True, eq=False)
class Ranking(Sequence[Candidate]):
    """Questions best first: `ids` and `gains` as arrays, and each as a `Candidate` when asked for.

    `places` are the questions' places in the bank; `ahead` is what the gains were worked out from.
    """

    ids: NDArray[np.object_]
    gains: Array
    _bank: Bank = field(repr=False)
    ahead: Lookahead = field(repr=False)
    places: NDArray[np.intp] = field(repr=False)
    _score: str = field(repr=False)
    _bound: str = field(repr=False)
    _per: str | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, place: int) -> Candidate: ...
    @overload
    def __getitem__(self, place: slice) -> list[Candidate]: ...
    def __getitem__(self, place: int | slice) -> Candidate | list[Candidate]:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        question = self._bank.questions[self.ids[place]]
        minutes = bank_model(self._bank).minutes[self.places[place]] if self._per and self.gains[place] > 0 else 1.0
        parts = {skill: gain / minutes for skill, gain in self._by_skill(self.places[place]).items()}
        return Candidate(question, float(self.gains[place]), parts)

    def __iter__(self) -> Iterator[Candidate]:
        return (self[place] for place in range(len(self)))

    def _by_skill(self, place: np.intp) -> dict[str, float]:
        """The score again, for the one group of the question and one target at a time."""
        if self._score not in UNCERTAINTY:
            return {}
        group = next(group for group in self.ahead.groups if place in group.batch.index)
        alone = Lookahead(self.ahead.ids, self.ahead.open, (group,))
        return {t.skill: float(SCORES[self._score](alone.only(t.skill), self._bound, [])[0, place]) for t in group.targets}


UNCERTAINTY = ("entropy", "mode", "gini")


def rank(
    bank: Bank,
    answers: Answers | None = None,
    score: str = "mode",
    bound: str = "upper",
    target: Targets = "scope",
    then: str | None = "auto",
    per: str | None = None,
    seed: int = 0,
    stated: Stated | None = None,
) -> Ranking:
    """The questions not answered yet, pilot questions left out, the most telling first.

    `score`: entropy, mode, gini, right, random or order; `bound`: upper or lower, for credal banks; `target`: what to know (see
    `Rules`); gains within 1e-9 are tied: `then` is the score that decides (`auto`: entropy for mode, none for the others), and what is
    still tied keeps the order of the bank. `per="minute"` divides positive gains by the question's minutes (one where none are stated).
    """
    check_options(score, bound, then, per)
    answers = answers or {}
    refuse_conflict(bank, answers, stated or {})
    ahead = lookahead(bank, answers, target, stated=stated)
    return rank_ahead(bank, ahead, score, bound, then, per, np.random.default_rng(seed))


def rank_ahead(
    bank: Bank, ahead: Lookahead, score: str, bound: str, then: str | None, per: str | None, rng: np.random.Generator
) -> Ranking:
    """The ranking of one taker's open questions, from what each would tell."""
    second = second_score(score, then)
    places = np.flatnonzero(ahead.open[0] & bank_model(bank).is_scored)
    gains = gains_of(bank, ahead, score, bound, per, [rng])[0]
    places = ordered(gains, (lambda: gains_of(bank, ahead, second, bound, per, [rng])[0]) if second else None, places)
    return Ranking(ahead.ids[places], gains[places], bank, ahead, places, score, bound, per)


def check_options(score: str, bound: str, then: str | None, per: str | None) -> None:
    """Refuse what no score knows."""
    for name, value, known in (
        ("score", score, tuple(SCORES)),
        ("bound", bound, BOUNDS),
        ("then", then, ("auto", *SCORES, None)),
        ("per", per, ("minute", None)),
    ):
        if value not in known:
            words = [str(one) for one in known if one is not None]
            rule = say("{name} is one of {words}", name=name, words=", ".join(words))
            raise QuaestorError(got(rule, repr(value), nearest(value, words)))


def second_score(score: str, then: str | None) -> str | None:
    """The score that decides between tied questions."""
    if then == "auto":
        return "entropy" if score == "mode" else None
    return then


def gains_of(bank: Bank, ahead: Lookahead, score: str, bound: str, per: str | None, generators: Sequence[np.random.Generator]) -> Array:
    """The gain of every question, (takers, questions)."""
    gains = SCORES[score](ahead, bound, generators)
    if per is None:
        return gains
    shared: Array = np.where(gains > 0, gains / bank_model(bank).minutes, gains)
    return shared


def ordered(gains: Array, second: Callable[[], Array] | None, places: NDArray[np.intp]) -> NDArray[np.intp]:
    """Places of questions, best first; the tied by the second gain (worked out only when there are any), then as they stand."""
    places = places[np.argsort(-gains[places], kind="stable")]
    tie = _ties(gains[places])
    tied = np.flatnonzero(np.bincount(tie, minlength=1)[tie] > 1)
    if len(tied):
        places[tied] = _settled(places[tied], tie[tied], second() if second is not None else None)
    return places


def _settled(places: NDArray[np.intp], tie: NDArray[np.intp], then: Array | None) -> NDArray[np.intp]:
    """Tied places in their final order; the ties are numbered in rising order and stay where they are."""
    if then is not None:
        places = places[np.lexsort((-then[places], tie))]
        tie = _ties(then[places], tie)
    return places[np.argsort(tie * (places.max() + 1) + places, kind="stable")]


def _ties(gains: Array, within: NDArray[np.intp] | None = None) -> NDArray[np.intp]:
    """The number of the tie that each gain belongs to, for gains in falling order (within the ties of a first score)."""
    if not len(gains):
        return np.zeros(0, dtype=np.intp)
    apart = np.abs(np.diff(gains)) > TIED
    if within is not None:
        apart |= np.diff(within) > 0
    return np.concatenate([[0], np.cumsum(apart)])
