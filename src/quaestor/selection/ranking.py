"""The open questions of a bank, best first."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import overload

import numpy as np
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank
from quaestor.draws import Draws
from quaestor.errors import QuaestorError, expect, format_value, got, is_among, nearest
from quaestor.html_tables import html_table
from quaestor.i18n import say
from quaestor.inference.chooser import Chooser
from quaestor.inference.conflict import refuse_conflict
from quaestor.inference.evidence import Evidence, Stated
from quaestor.inference.layout import Answers, Layout, Numbers
from quaestor.inference.lookahead import Lookahead, SpreadError, Targets, look
from quaestor.model.question import Question
from quaestor.model.table import Array
from quaestor.registry import RegisterError
from quaestor.selection.scores.known import BOUNDS, BY_SKILL, SCORES
from quaestor.selection.ties import ordered


@dataclass(frozen=True)
class Candidate:
    """One question, what asking it gains, and how much of that for each of the target skills (empty for scores without targets)."""

    question: Question
    gain: float
    by_skill: dict[str, float]


@dataclass(frozen=True, eq=False)
class Ranking(Sequence[Candidate]):
    """Questions best first: `ids` and `gains` as arrays, and each as a `Candidate` when asked for.

    `numbers` are the questions' numbers in the bank; `ahead` is what the gains were worked out from, `row` the taker's row there.
    """

    ids: NDArray[np.object_]
    gains: Array
    _layout: Layout = field(repr=False)
    ahead: Lookahead = field(repr=False)
    numbers: Numbers = field(repr=False)
    _score: str = field(repr=False)
    _bound: str = field(repr=False)
    _per: str | None = field(default=None, repr=False)
    row: int = field(default=0, repr=False)

    def __repr__(self) -> str:
        best = ", ".join(f"{name} {gain:.4g}" for name, gain in zip(self.ids[:5], self.gains[:5], strict=True))
        return f"<Ranking of {len(self)} questions by {self._score or 'gain'}: {best}{', ...' if len(self) > 5 else ''}>"

    def _repr_html_(self) -> str:
        rows = ((place + 1, one.question.id, one.question.text, one.gain) for place, one in enumerate(self))
        return html_table(f"Questions by {self._score or 'gain'}, best first", ("", "question", "text", "gain"), rows, len(self))

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, place: int) -> Candidate: ...
    @overload
    def __getitem__(self, place: slice) -> list[Candidate]: ...
    def __getitem__(self, place: int | slice) -> Candidate | list[Candidate]:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        expect("a ranking", place, int | np.integer, "a place, counted from 0, is expected")
        question = self._layout.questions[self.numbers[place]]
        minutes = self._layout.minutes[self.numbers[place]] if self._per and self.gains[place] > 0 else 1.0
        parts = {skill: gain / minutes for skill, gain in self._by_skill(int(self.numbers[place])).items()}
        return Candidate(question, float(self.gains[place]), parts)

    def __iter__(self) -> Iterator[Candidate]:
        return (self[place] for place in range(len(self)))

    def _by_skill(self, question: int) -> dict[str, float]:
        """The score again, for the one group of the question and one target at a time."""
        if self._score not in BY_SKILL:
            return {}
        group = next(group for group in self.ahead.groups if question in group.batch.index)
        alone = Lookahead(self.ahead.ids, self.ahead.open, (group,))
        return {t.skill: float(SCORES[self._score](alone.only(t.skill), self._bound, Draws(()))[self.row, question]) for t in group.targets}


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

    `score`: one of those of docs/scores.md; `bound`: upper or lower, for credal banks; `target`: what to know (see
    `Rules`); gains within 1e-9 are tied: `then` is the score that decides (`auto`: entropy for mode, none for the others), and what is
    still tied keeps the order of the bank. `per="minute"` divides positive gains by the question's minutes (one where none are stated).
    """
    check_options(score, bound, then, per)
    evidence = Evidence.of(bank, {} if answers is None else answers, stated)
    refuse_conflict(evidence, stated, answers)
    layout = evidence.layout
    ahead = look(layout, Chooser(evidence.model), evidence.is_open, target)
    draws = Draws([seed])
    gains = gains_of(layout, ahead, score, bound, per, draws)[0]
    second = second_score(score, then)
    again = (lambda: gains_of(layout, ahead, second, bound, per, draws)[0]) if second else None
    index = ordered(gains, again, np.flatnonzero(evidence.is_open[0] & layout.is_scored))
    return Ranking(layout.ids[index], gains[index], layout, ahead, index, score, bound, per)


def check_options(score: str, bound: str, then: str | None, per: str | None) -> None:
    """Refuse what no score knows."""
    for name, value, others in (("score", score, ()), ("then", then, ("auto", None))):
        if not (is_among(value, others) or SCORES.knows(value)):
            words = [*(str(one) for one in others if one is not None), *SCORES.names]
            rule = say("{name} is one of {words}", name=name, words=", ".join(words))
            raise QuaestorError(got(rule, format_value(value), SCORES.hint(value)))
    for name, value, known in (("bound", bound, BOUNDS), ("per", per, ("minute", None))):
        if not is_among(value, known):
            words = [str(one) for one in known if one is not None]
            rule = say("{name} is one of {words}", name=name, words=", ".join(words))
            raise QuaestorError(got(rule, format_value(value), nearest(value, words)))


def second_score(score: str, then: str | None) -> str | None:
    """The score that decides between tied questions."""
    if then == "auto":
        return "entropy" if score == "mode" else None
    return then


def gains_of(layout: Layout, ahead: Lookahead, score: str, bound: str, per: str | None, draws: Draws) -> Array:
    """The gain of every question, (takers, questions)."""
    found = _own(score, ahead, bound, draws) if SCORES.is_own(score) else SCORES[score](ahead, bound, draws)
    return per_minute(found, layout.minutes, per)


def _own(score: str, ahead: Lookahead, bound: str, draws: Draws) -> Array:
    """The gains of a score that somebody else wrote, in the shape that all have; what is wrong with them is said with its name."""
    try:
        gains = np.asarray(SCORES[score](ahead, bound, draws))
    except SpreadError as error:
        raise RegisterError(f"score {score}: {error}") from error
    rule, shape = f"score {score}: one number for each taker and question, shape (takers, questions)", ahead.open.shape
    if gains.shape != shape or gains.dtype.kind not in "bif":
        raise RegisterError(f"{rule} = {shape}, got an array of {gains.dtype} of shape {gains.shape}")
    if not np.isfinite(gains[ahead.open]).all():
        taker, question = np.argwhere(~np.isfinite(gains) & ahead.open)[0]
        raise RegisterError(f"{rule}, got {gains[taker, question]} for {ahead.ids[question]}")
    return gains.astype(float)


def per_minute(gains: Array, minutes: Array, per: str | None) -> Array:
    """Gains, (takers, questions), as they are, or positive ones for each minute that the questions take."""
    if per is None:
        return gains
    shared: Array = np.where(gains > 0, gains / minutes, gains)
    return shared
