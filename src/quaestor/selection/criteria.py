"""When to stop: criteria that look at where a test stands, of one taker or of many, and give their reason in words.

A criterion is a frozen value; in a file it is written by its name: `max_questions: 20`, or with several settings
`max_questions: {n: 5, skill: each}`. `stopping` combines them.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from sys import float_info
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quaestor.credal.decisions import TIED, best, survivors
from quaestor.credal.indices import INDICES
from quaestor.errors import QuaestorError, got, placed
from quaestor.i18n import Said, say
from quaestor.model.beliefs import Bounds
from quaestor.model.table import Array

_OVER = ("mean", "largest", "joint")
OF_SKILL = ("entropy_below", "mode_below", "gini_below", "probability_above", "dominant")  # criteria that can decide on one skill
Truth = NDArray[np.bool_]
Count = int | NDArray[np.intp]
Number = float | Array


class ManyBounds(NamedTuple):
    """The bounds of one skill for many takers, (takers, levels)."""

    states: tuple[str, ...]
    lower: Array
    upper: Array


@dataclass(frozen=True)
class Situation:
    """Where a test stands. `questions`: how many scored ones were asked, `of_skill` for each skill; `right`: best answers given.

    `best_gain` gives the gain of the question that would be asked next (None or NaN when none is left), `joint` an uncertainty of all
    skills together by the name of its index; both are worked out only when a criterion wants them. Numbers stand for one taker, arrays of
    shape (takers,) for many.
    """

    beliefs: Mapping[str, Bounds] | Mapping[str, ManyBounds]
    questions: Count
    of_skill: Mapping[str, Count]
    right: Count
    minutes: Number
    find_gain: Callable[[], Number | None]
    joint: Callable[[str], Number]

    @cached_property
    def best_gain(self) -> Number:
        """The largest gain of the questions that may be asked; NaN where there is none."""
        found = self.find_gain()
        return float("nan") if found is None else found


class CriterionError(QuaestorError):
    """A setting that a criterion cannot have: `rule` and `value`."""

    def __init__(self, name: str, rule: str, value: object) -> None:
        self.rule, self.value = rule, repr(value)
        super().__init__(placed(name, got(rule, self.value)))


class Criterion:
    """What all criteria share: they are written by their name and settings."""

    name = ""

    def holds(self, now: Situation) -> Truth:
        """Whether it says stop: for one taker, or for each of many."""
        raise NotImplementedError

    def reason(self, now: Situation) -> Said:
        """Why, in words, for one taker of whom it holds."""
        raise NotImplementedError

    def met(self, now: Situation) -> str:
        """The reason to stop, in words; empty when there is none."""
        return self.reason(now) if self.holds(now) else ""

    def rule(self, now: Situation) -> NDArray[np.object_]:
        """The name of the criterion that says stop, for each taker; empty where none does."""
        return np.where(self.holds(now), self.name, "").astype(object)

    @property
    def words(self) -> Said:
        """The criterion in words, to go after "stops when"."""
        raise NotImplementedError

    def decides(self, bounds: Bounds | ManyBounds) -> Truth:
        """Whether enough is known of one skill; only for criteria on what is known."""
        words = say("says nothing of a single skill; use one of {criteria}", criteria=", ".join(OF_SKILL))
        raise QuaestorError(placed(self.name, words))

    @property
    def document(self) -> Any:
        """As it stands in a file: its name, with its one setting or a map of those that differ from the default."""
        stated = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}  # type: ignore[arg-type]
        return {self.name: stated if len(stated) > 1 else next(iter(stated.values()))} if stated else self.name

    def _refuse(self, rule: str, value: object) -> None:
        raise CriterionError(self.name, rule, value)


def where_all(found: Iterable[Any]) -> Truth:
    """Where all of them hold."""
    return np.asarray(np.logical_and.reduce(np.stack([np.asarray(one) for one in found])))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= float_info.max


@dataclass(frozen=True)
class MaxQuestions(Criterion):
    """So many questions were asked: in all, on one skill, or on `each` skill."""

    n: int
    skill: str = ""
    name = "max_questions"

    def __post_init__(self) -> None:
        if isinstance(self.n, bool) or not isinstance(self.n, int) or self.n < 1:
            self._refuse(say("a whole number of at least {least}", least=1), self.n)

    @property
    def words(self) -> Said:
        """The criterion in words."""
        if not self.skill:
            return say("{n:g} {n:question was|questions were} asked", n=self.n)
        if self.skill == "each":
            return say("{n:g} {n:question on each skill was|questions on each skill were} asked", n=self.n)
        return say("{n:g} {n:question|questions} on {skill} {n:was|were} asked", n=self.n, skill=self.skill)

    def holds(self, now: Situation) -> Truth:
        """Whether so many were asked."""
        if not self.skill:
            return np.asarray(now.questions) >= self.n
        skills = list(now.of_skill) if self.skill == "each" else [self.skill]
        return where_all(np.asarray(now.of_skill[skill]) >= self.n for skill in skills)

    def reason(self, now: Situation) -> Said:
        """Why, in words."""
        if not self.skill:
            return say("{n:g} {n:question was|questions were} asked; the limit is {limit}.", n=now.questions, limit=self.n)
        if self.skill == "each":
            return say("At least {n:g} {n:question was|questions were} asked on each skill.", n=self.n)
        return say("At least {n:g} {n:question was|questions were} asked on {skill}.", n=self.n, skill=self.skill)


@dataclass(frozen=True)
class MinQuestions(MaxQuestions):
    """The same count, read as a minimum: for use in `all_of`."""

    name = "min_questions"

    @property
    def words(self) -> Said:
        """The criterion in words."""
        return say("at least {words}", words=super().words)

    def reason(self, now: Situation) -> Said:
        """Why, in words."""
        if self.skill:
            return super().reason(now)
        return say("{n:g} {n:question was|questions were} asked, at least {least}.", n=now.questions, least=self.n)


@dataclass(frozen=True)
class UncertaintyBelow(Criterion):
    """An index of uncertainty (from 0 to 1) is below a threshold: its mean over the skills, its largest, or that of the joint (precise).

    In credal banks it is the upper one: below the threshold for every network of the set.
    """

    threshold: float
    over: str = "mean"
    name = "entropy_below"
    index = "entropy"

    def __post_init__(self) -> None:
        if isinstance(self.threshold, bool) or not isinstance(self.threshold, (int, float)) or not 0 < self.threshold <= 1:
            self._refuse(say("a threshold above 0 and at most 1"), self.threshold)
        if self.over not in _OVER:
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
        each = np.stack([self._of(bounds) for bounds in now.beliefs.values()])
        result: Array = each.mean(axis=0) if self.over == "mean" else each.max(axis=0)
        return result

    def _is_below(self, value: Array) -> Truth:
        """Below by more than rounding: the order of the answers must not decide."""
        return value < self.threshold - TIED

    def _of(self, bounds: Bounds | ManyBounds) -> Array:
        return INDICES[self.index].upper(bounds.lower, bounds.upper)


@dataclass(frozen=True)
class ModeBelow(UncertaintyBelow):
    """The same with the deviation from the mode."""

    name = "mode_below"
    index = "mode"


@dataclass(frozen=True)
class GiniBelow(UncertaintyBelow):
    """The same with the Gini index."""

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
        if isinstance(self.n, bool) or not isinstance(self.n, int) or self.n < 1:
            self._refuse(say("a whole number of at least {least}", least=1), self.n)

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
        return np.asarray(now.minutes) >= self.minutes

    def reason(self, now: Situation) -> Said:
        """Why, in words."""
        return say("{n:g} {n:minute was|minutes were} spent; the limit is {limit:g}.", n=now.minutes, limit=self.minutes)
