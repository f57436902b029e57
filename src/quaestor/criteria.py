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

from quaestor.beliefs import Bounds
from quaestor.decisions import TIED, best, survivors
from quaestor.errors import QuaestorError
from quaestor.indices import INDICES
from quaestor.table import Array

_OVER = {"mean": "The mean uncertainty over the skills", "largest": "The largest uncertainty of a skill", "joint": "The joint uncertainty"}


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


class Criterion:
    """What all criteria share: they are written by their name and settings."""

    name = ""

    def holds(self, now: Situation) -> Truth:
        """Whether it says stop: for one taker, or for each of many."""
        raise NotImplementedError

    def reason(self, now: Situation) -> str:
        """Why, in words, for one taker of whom it holds."""
        raise NotImplementedError

    def met(self, now: Situation) -> str:
        """The reason to stop, in words; empty when there is none."""
        return self.reason(now) if self.holds(now) else ""

    def rule(self, now: Situation) -> NDArray[np.object_]:
        """The name of the criterion that says stop, for each taker; empty where none does."""
        return np.where(self.holds(now), self.name, "").astype(object)

    @property
    def words(self) -> str:
        """The criterion in words, to go after "stops when"."""
        raise NotImplementedError

    def decides(self, bounds: Bounds | ManyBounds) -> Truth:
        """Whether enough is known of one skill; only for criteria on what is known."""
        raise QuaestorError(f"{self.name}: says nothing of a single skill; use one of {', '.join(OF_SKILL)}")

    @property
    def document(self) -> Any:
        """As it stands in a file: its name, with its one setting or a map of those that differ from the default."""
        stated = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}  # type: ignore[arg-type]
        return {self.name: stated if len(stated) > 1 else next(iter(stated.values()))} if stated else self.name

    def _refuse(self, rule: str, value: object) -> None:
        raise QuaestorError(f"{self.name}: {rule}, got {value!r}")


def where_all(found: Iterable[Any]) -> Truth:
    """Where all of them hold."""
    return np.asarray(np.logical_and.reduce(np.stack([np.asarray(one) for one in found])))


def _counted(n: Count | Number, noun: str) -> str:
    """`1 question was`, `2 questions were`."""
    return f"{n:g} {noun} was" if n == 1 else f"{n:g} {noun}s were"


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
            self._refuse("a whole number of at least 1", self.n)

    @property
    def words(self) -> str:
        """The criterion in words."""
        on = {"": "", "each": " on each skill"}.get(self.skill, f" on {self.skill}")
        count, verb = _counted(self.n, "question").rsplit(" ", 1)
        return f"{count}{on} {verb} asked"

    def holds(self, now: Situation) -> Truth:
        """Whether so many were asked."""
        if not self.skill:
            return np.asarray(now.questions) >= self.n
        skills = list(now.of_skill) if self.skill == "each" else [self.skill]
        return where_all(np.asarray(now.of_skill[skill]) >= self.n for skill in skills)

    def reason(self, now: Situation) -> str:
        """Why, in words."""
        if not self.skill:
            return f"{_counted(now.questions, 'question')} asked; the limit is {self.n}."
        return f"At least {_counted(self.n, 'question')} asked on {'each skill' if self.skill == 'each' else self.skill}."


@dataclass(frozen=True)
class MinQuestions(MaxQuestions):
    """The same count, read as a minimum: for use in `all_of`."""

    name = "min_questions"

    @property
    def words(self) -> str:
        """The criterion in words."""
        return f"at least {super().words}"

    def reason(self, now: Situation) -> str:
        """Why, in words."""
        return super().reason(now) if self.skill else f"{_counted(now.questions, 'question')} asked, at least {self.n}."


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
            self._refuse("a threshold above 0 and at most 1", self.threshold)
        if self.over not in _OVER:
            self._refuse(f"over is one of {', '.join(_OVER)}", self.over)

    @property
    def words(self) -> str:
        """The criterion in words."""
        return f"the {_OVER[self.over][4:]} ({self.index}) is below {self.threshold:g}"

    def holds(self, now: Situation) -> Truth:
        """Whether the uncertainty is below the threshold."""
        return self._is_below(self._value(now))

    def reason(self, now: Situation) -> str:
        """Why, in words."""
        return f"{_OVER[self.over]} ({self.index}) is {float(self._value(now)):.3f}, below {self.threshold:g}."

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
            self._refuse("a threshold above 0 and at most 1", self.threshold)

    @property
    def words(self) -> str:
        """The criterion in words."""
        return f"each skill has a level with a probability of at least {self.threshold:g}"

    def holds(self, now: Situation) -> Truth:
        """Whether all skills are decided."""
        return where_all(self.decides(bounds) for bounds in now.beliefs.values())

    def reason(self, now: Situation) -> str:
        """Why, in words."""
        return f"Each skill has a level whose probability is at least {self.threshold:g}."

    def decides(self, bounds: Bounds | ManyBounds) -> Truth:
        """Whether the most probable level of one skill reaches the threshold."""
        at = best(bounds.lower, bounds.upper)[..., None]
        return np.asarray(np.take_along_axis(bounds.lower, at, axis=-1)[..., 0] >= self.threshold - TIED)


@dataclass(frozen=True)
class Dominant(Criterion):
    """Every skill is decided for every network of the set: the lower probability of one level exceeds the upper ones of the others."""

    name = "dominant"

    @property
    def words(self) -> str:
        """The criterion in words."""
        return "each skill has one level that is the most probable for every network of the set"

    def holds(self, now: Situation) -> Truth:
        """Whether all skills are decided."""
        return where_all(self.decides(bounds) for bounds in now.beliefs.values())

    def reason(self, now: Situation) -> str:
        """Why, in words."""
        return "Each skill has one level that is the most probable for every network of the set."

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
            self._refuse("a threshold", self.threshold)

    @property
    def words(self) -> str:
        """The criterion in words."""
        return f"no question would gain as much as {self.threshold:g}"

    def holds(self, now: Situation) -> Truth:
        """Whether the best gain is below; not where no question is left."""
        return np.asarray(now.best_gain) < self.threshold - TIED

    def reason(self, now: Situation) -> str:
        """Why, in words."""
        return f"The best question left would gain {now.best_gain:.4f}, less than {self.threshold:g}."


@dataclass(frozen=True)
class RightAnswers(Criterion):
    """So many questions were answered in the best way."""

    n: int
    name = "right_answers"

    def __post_init__(self) -> None:
        if isinstance(self.n, bool) or not isinstance(self.n, int) or self.n < 1:
            self._refuse("a whole number of at least 1", self.n)

    @property
    def words(self) -> str:
        """The criterion in words."""
        return f"{_counted(self.n, 'question')} answered right"

    def holds(self, now: Situation) -> Truth:
        """Whether so many were right."""
        return np.asarray(now.right) >= self.n

    def reason(self, now: Situation) -> str:
        """Why, in words."""
        return f"{_counted(now.right, 'question')} answered right; {self.n} {'is' if self.n == 1 else 'are'} enough."


@dataclass(frozen=True)
class Minutes(Criterion):
    """So many minutes were spent: those recorded with the answers, or the questions' own."""

    minutes: float
    name = "minutes"

    def __post_init__(self) -> None:
        if not _is_number(self.minutes) or not self.minutes > 0:
            self._refuse("minutes above 0", self.minutes)

    @property
    def words(self) -> str:
        """The criterion in words."""
        return f"{_counted(self.minutes, 'minute')} spent"

    def holds(self, now: Situation) -> Truth:
        """Whether so many were spent."""
        return np.asarray(now.minutes) >= self.minutes

    def reason(self, now: Situation) -> str:
        """Why, in words."""
        return f"{_counted(now.minutes, 'minute')} spent; the limit is {self.minutes:g}."
