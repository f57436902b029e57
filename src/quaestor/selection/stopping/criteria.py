"""The criteria: on how many questions were asked, on what is known, on what could still be gained, on time."""

from collections.abc import Iterator
from dataclasses import dataclass
from sys import float_info

import numpy as np

from quaestor.credal.decisions import TIED, best, survivors
from quaestor.credal.indices import INDICES
from quaestor.errors import is_among
from quaestor.i18n import Said, say
from quaestor.model.beliefs import Bounds
from quaestor.model.table import Array
from quaestor.selection.stopping.classification import LossBelow, SameDecisionAbove, Sprt
from quaestor.selection.stopping.criterion import CRITERIA, Criterion, CriterionError, ManyBounds, Situation, Truth, where_all

_OVER = ("mean", "largest", "joint")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= float_info.max


def _check_count(criterion: Criterion, n: object) -> None:
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise CriterionError(criterion.name, say("a whole number of at least {least}", least=1), n)


def _reached(now: Situation, n: int, skill: str) -> Truth:
    """Whether so many questions were asked: in all, on one skill, or on `each` skill."""
    if not skill:
        return np.asarray(now.questions) >= n
    skills = list(now.of_skill) if skill == "each" else [skill]
    return where_all(np.asarray(now.of_skill[name]) >= n for name in skills)


def _asked_words(n: int, skill: str) -> Said:
    if not skill:
        return say("{n:g} {n:question was|questions were} asked", n=n)
    if skill == "each":
        return say("{n:g} {n:question on each skill was|questions on each skill were} asked", n=n)
    return say("{n:g} {n:question|questions} on {skill} {n:was|were} asked", n=n, skill=skill)


def _asked_reason(n: int, skill: str) -> Said:
    if skill == "each":
        return say("At least {n:g} {n:question was|questions were} asked on each skill.", n=n)
    return say("At least {n:g} {n:question was|questions were} asked on {skill}.", n=n, skill=skill)


@dataclass(frozen=True)
class MaxQuestions(Criterion):
    """So many questions were asked: in all, on one skill, or on `each` skill."""

    n: int
    skill: str = ""
    name = "max_questions"

    def __post_init__(self) -> None:
        _check_count(self, self.n)

    @property
    def words(self) -> Said:
        """The criterion in words."""
        return _asked_words(self.n, self.skill)

    def holds(self, now: Situation) -> Truth:
        """Whether so many were asked."""
        return _reached(now, self.n, self.skill)

    def reason(self, now: Situation) -> Said:
        """Why, in words."""
        if self.skill:
            return _asked_reason(self.n, self.skill)
        return say("{n:g} {n:question was|questions were} asked; the limit is {limit}.", n=now.questions, limit=self.n)

    def limits(self) -> Iterator[Criterion]:
        """Itself, where it counts all questions."""
        return iter(() if self.skill else (self,))

    def most_questions(self) -> int | None:
        """The limit, where it counts all questions."""
        return None if self.skill else self.n


@dataclass(frozen=True)
class MinQuestions(Criterion):
    """At least so many questions were asked: for use in `all_of`, where it holds the others back."""

    n: int
    skill: str = ""
    name = "min_questions"

    def __post_init__(self) -> None:
        _check_count(self, self.n)

    @property
    def words(self) -> Said:
        """The criterion in words."""
        return say("at least {words}", words=_asked_words(self.n, self.skill))

    def holds(self, now: Situation) -> Truth:
        """Whether so many were asked."""
        return _reached(now, self.n, self.skill)

    def reason(self, now: Situation) -> Said:
        """Why, in words."""
        if self.skill:
            return _asked_reason(self.n, self.skill)
        return say("{n:g} {n:question was|questions were} asked, at least {least}.", n=now.questions, least=self.n)


@dataclass(frozen=True)
class UncertaintyBelow(Criterion):
    """An index of uncertainty (from 0 to 1) is below a threshold: its mean over the skills, its largest, or that of the joint (precise).

    In credal banks it is the upper one: below the threshold for every network of the set.
    """

    threshold: float
    over: str = "mean"
    index = ""  # of the three classes below

    def __post_init__(self) -> None:
        if isinstance(self.threshold, bool) or not isinstance(self.threshold, (int, float)) or not 0 < self.threshold <= 1:
            self._refuse(say("a threshold above 0 and at most 1"), self.threshold)
        if not is_among(self.over, _OVER):
            self._refuse(say("over is one of {words}", words=", ".join(_OVER)), self.over)

    @property
    def words(self) -> Said:
        """The criterion in words."""
        stated = {"index": self.index, "threshold": self.threshold}
        if self.over == "mean":
            return say("the mean uncertainty over the skills ({index}) is below {threshold:g}", **stated)
        if self.over == "largest":
            return say("the largest uncertainty of a skill ({index}) is below {threshold:g}", **stated)
        return say("the joint uncertainty ({index}) is below {threshold:g}", **stated)

    def holds(self, now: Situation) -> Truth:
        """Whether the uncertainty is below the threshold."""
        return self._is_below(self._value(now))

    def reason(self, now: Situation) -> Said:
        """Why, in words."""
        found = {"index": self.index, "value": float(self._value(now)), "threshold": self.threshold}
        if self.over == "mean":
            return say("The mean uncertainty over the skills ({index}) is {value:.3f}, below {threshold:g}.", **found)
        if self.over == "largest":
            return say("The largest uncertainty of a skill ({index}) is {value:.3f}, below {threshold:g}.", **found)
        return say("The joint uncertainty ({index}) is {value:.3f}, below {threshold:g}.", **found)

    def decides(self, bounds: Bounds | ManyBounds) -> Truth:
        """Whether the uncertainty of one skill is below the threshold."""
        return self._is_below(self._of(bounds))

    def _value(self, now: Situation) -> Array:
        if self.over == "joint":
            return np.asarray(now.joint(self.index))
        sizes: dict[int, list[Bounds | ManyBounds]] = {}
        for bounds in now.beliefs.values():
            sizes.setdefault(len(bounds.states), []).append(bounds)
        each = np.concatenate([self._of_several(alike) for alike in sizes.values()])
        result: Array = each.mean(axis=0) if self.over == "mean" else each.max(axis=0)
        return result

    def _is_below(self, value: Array) -> Truth:
        """Below by more than rounding: the order of the answers must not decide."""
        return value < self.threshold - TIED

    def _of_several(self, alike: "list[Bounds | ManyBounds]") -> Array:
        """The uncertainty of several skills with as many levels, (skills, ...)."""
        lower = np.stack([bounds.lower for bounds in alike])
        upper = lower if all(bounds.lower is bounds.upper for bounds in alike) else np.stack([bounds.upper for bounds in alike])
        return INDICES[self.index].bound(lower, upper, "upper")

    def _of(self, bounds: Bounds | ManyBounds) -> Array:
        return INDICES[self.index].bound(bounds.lower, bounds.upper, "upper")


@dataclass(frozen=True)
class EntropyBelow(UncertaintyBelow):
    """The entropy is below a threshold."""

    name = "entropy_below"
    index = "entropy"


@dataclass(frozen=True)
class ModeBelow(UncertaintyBelow):
    """The deviation from the mode is below a threshold."""

    name = "mode_below"
    index = "mode"


@dataclass(frozen=True)
class GiniBelow(UncertaintyBelow):
    """The Gini index is below a threshold."""

    name = "gini_below"
    index = "gini"


@dataclass(frozen=True)
class ProbabilityAbove(Criterion):
    """The most probable level of every skill has at least this probability; in credal banks its lower probability."""

    threshold: float
    name = "probability_above"

    def __post_init__(self) -> None:
        if isinstance(self.threshold, bool) or not isinstance(self.threshold, (int, float)) or not 0 < self.threshold <= 1:
            self._refuse(say("a threshold above 0 and at most 1"), self.threshold)

    @property
    def words(self) -> Said:
        """The criterion in words."""
        return say("each skill has a level with a probability of at least {threshold:g}", threshold=self.threshold)

    def holds(self, now: Situation) -> Truth:
        """Whether all skills are decided."""
        return where_all(self.decides(bounds) for bounds in now.beliefs.values())

    def reason(self, now: Situation) -> Said:
        """Why, in words."""
        return say("Each skill has a level whose probability is at least {threshold:g}.", threshold=self.threshold)

    def decides(self, bounds: Bounds | ManyBounds) -> Truth:
        """Whether the most probable level of one skill reaches the threshold."""
        at = best(bounds.lower, bounds.upper)[..., None]
        return np.asarray(np.take_along_axis(bounds.lower, at, axis=-1)[..., 0] >= self.threshold - TIED)


@dataclass(frozen=True)
class Dominant(Criterion):
    """Every skill is decided for every network of the set: the lower probability of one level exceeds the upper ones of the others."""

    name = "dominant"

    @property
    def words(self) -> Said:
        """The criterion in words."""
        return say("each skill has one level that is the most probable for every network of the set")

    def holds(self, now: Situation) -> Truth:
        """Whether all skills are decided."""
        return where_all(self.decides(bounds) for bounds in now.beliefs.values())

    def reason(self, now: Situation) -> Said:
        """Why, in words."""
        return say("Each skill has one level that is the most probable for every network of the set.")

    def decides(self, bounds: Bounds | ManyBounds) -> Truth:
        """Whether one level dominates."""
        return np.asarray(survivors(bounds.lower, bounds.upper).sum(axis=-1) == 1)


@dataclass(frozen=True)
class GainBelow(Criterion):
    """No question that may be asked is expected to tell as much as this."""

    threshold: float
    name = "gain_below"

    def __post_init__(self) -> None:
        if not _is_number(self.threshold):
            self._refuse(say("a threshold"), self.threshold)

    @property
    def words(self) -> Said:
        """The criterion in words."""
        return say("no question would gain as much as {threshold:g}", threshold=self.threshold)

    def holds(self, now: Situation) -> Truth:
        """Whether the best gain is below; not where no question is left."""
        return np.asarray(now.best_gain) < self.threshold - TIED

    def reason(self, now: Situation) -> Said:
        """Why, in words."""
        found = {"gain": now.best_gain, "threshold": self.threshold}
        return say("The best question left would gain {gain:.4f}, less than {threshold:g}.", **found)


@dataclass(frozen=True)
class RightAnswers(Criterion):
    """So many questions were answered in the best way."""

    n: int
    name = "right_answers"

    def __post_init__(self) -> None:
        _check_count(self, self.n)

    @property
    def words(self) -> Said:
        """The criterion in words."""
        return say("{n:g} {n:question was|questions were} answered right", n=self.n)

    def holds(self, now: Situation) -> Truth:
        """Whether so many were right."""
        return np.asarray(now.right) >= self.n

    def reason(self, now: Situation) -> Said:
        """Why, in words."""
        words = {"n": now.right, "enough": self.n}
        return say("{n:g} {n:question was|questions were} answered right; {enough} {enough:is|are} enough.", **words)


@dataclass(frozen=True)
class Minutes(Criterion):
    """So many minutes were spent: those recorded with the answers, or the questions' own."""

    minutes: float
    name = "minutes"

    def __post_init__(self) -> None:
        if not _is_number(self.minutes) or not self.minutes > 0:
            self._refuse(say("minutes above 0"), self.minutes)

    @property
    def words(self) -> Said:
        """The criterion in words."""
        return say("{n:g} {n:minute was|minutes were} spent", n=self.minutes)

    def holds(self, now: Situation) -> Truth:
        """Whether so many were spent."""
        return np.asarray(now.minutes) >= self.minutes - TIED  # the order of the questions must not decide

    def reason(self, now: Situation) -> Said:
        """Why, in words."""
        return say("{n:g} {n:minute was|minutes were} spent; the limit is {limit:g}.", n=now.minutes, limit=self.minutes)

    def limits(self) -> Iterator[Criterion]:
        """Itself."""
        return iter((self,))


max_questions, min_questions, right_answers, minutes = MaxQuestions, MinQuestions, RightAnswers, Minutes
entropy_below, mode_below, gini_below = EntropyBelow, ModeBelow, GiniBelow
probability_above, dominant, gain_below = ProbabilityAbove, Dominant, GainBelow

SIMPLE = CRITERIA
SIMPLE.build_in(
    {
        kind.name: kind
        for kind in (
            *(MaxQuestions, MinQuestions, EntropyBelow, ModeBelow, GiniBelow),
            *(ProbabilityAbove, Dominant, GainBelow, RightAnswers, Minutes),
            *(Sprt, LossBelow, SameDecisionAbove),
        )
    }
)
