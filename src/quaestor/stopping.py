"""When to stop: criteria that look at where a test stands and give their reason in words, or nothing.

`any_of` and `all_of` combine them. A criterion is a frozen value; in a file it is written by its name: `max_questions: 20`, or with
several settings `max_questions: {n: 5, skill: each}`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from quaestor.beliefs import Beliefs, Bounds
from quaestor.decisions import level, undominated
from quaestor.errors import QuaestorError
from quaestor.indices import INDICES

_OVER = {"mean": "The mean uncertainty over the skills", "largest": "The largest uncertainty of a skill", "joint": "The joint uncertainty"}


@dataclass(frozen=True)
class Situation:
    """Where a test stands. `questions`: how many scored ones were asked, `of_skill` for each skill; `right`: best answers given.

    `best_gain` gives the gain of the question that would be asked next (None when none is left), `joint` an uncertainty of all skills
    together by the name of its index; both are worked out only when a criterion wants them.
    """

    beliefs: Beliefs
    questions: int
    of_skill: Mapping[str, int]
    right: int
    minutes: float
    find_gain: Callable[[], float | None]
    joint: Callable[[str], float]

    @cached_property
    def best_gain(self) -> float | None:
        """The largest gain of the questions that may be asked."""
        return self.find_gain()


class Criterion:
    """What all criteria share: they are written by their name and settings."""

    name = ""

    def met(self, now: Situation) -> str:
        """The reason to stop, in words; empty when there is none."""
        raise NotImplementedError

    @property
    def words(self) -> str:
        """The criterion in words, to go after "stops when"."""
        raise NotImplementedError

    def decides(self, bounds: Bounds) -> bool:
        """Whether enough is known of one skill; only for criteria on what is known."""
        raise QuaestorError(f"{self.name}: says nothing of a single skill; use one of {', '.join(OF_SKILL)}")

    @property
    def document(self) -> Any:
        """As it stands in a file: its name, with its one setting or a map of those that differ from the default."""
        stated = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}  # type: ignore[arg-type]
        return {self.name: stated if len(stated) > 1 else next(iter(stated.values()))} if stated else self.name

    def _refuse(self, rule: str, value: object) -> None:
        raise QuaestorError(f"{self.name}: {rule}, got {value!r}")


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}{'s' * (n != 1)}"


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
        return f"{_counted(self.n, 'question')}{on} were asked"

    def met(self, now: Situation) -> str:
        """The reason, or nothing."""
        if not self.skill:
            return f"{_counted(now.questions, 'question')} were asked; the limit is {self.n}." if now.questions >= self.n else ""
        skills = list(now.of_skill) if self.skill == "each" else [self.skill]
        if any(now.of_skill[skill] < self.n for skill in skills):
            return ""
        return f"At least {_counted(self.n, 'question')} were asked on {'each skill' if self.skill == 'each' else self.skill}."


@dataclass(frozen=True)
class MinQuestions(MaxQuestions):
    """The same count, read as a minimum: for use in `all_of`."""

    name = "min_questions"

    @property
    def words(self) -> str:
        """The criterion in words."""
        return f"at least {super().words}"

    def met(self, now: Situation) -> str:
        """The reason, or nothing."""
        reason = super().met(now)
        return f"{_counted(now.questions, 'question')} were asked, at least {self.n}." if reason and not self.skill else reason


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

    def met(self, now: Situation) -> str:
        """The reason, or nothing."""
        if self.over == "joint":
            value = now.joint(self.index)
        else:
            each = [self._of(bounds) for bounds in now.beliefs.values()]
            value = float(np.mean(each)) if self.over == "mean" else max(each)
        if value >= self.threshold:
            return ""
        return f"{_OVER[self.over]} ({self.index}) is {value:.3f}, below {self.threshold:g}."

    def decides(self, bounds: Bounds) -> bool:
        """Whether the uncertainty of one skill is below the threshold."""
        return self._of(bounds) < self.threshold

    def _of(self, bounds: Bounds) -> float:
        return float(INDICES[self.index].upper(bounds.lower, bounds.upper))


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

    def met(self, now: Situation) -> str:
        """The reason, or nothing."""
        if not all(self.decides(bounds) for bounds in now.beliefs.values()):
            return ""
        return f"Each skill has a level whose probability is at least {self.threshold:g}."

    def decides(self, bounds: Bounds) -> bool:
        """Whether the most probable level of one skill reaches the threshold."""
        return float(bounds.lower[bounds.states.index(level(bounds))]) >= self.threshold


@dataclass(frozen=True)
class Dominant(Criterion):
    """Every skill is decided for every network of the set: the lower probability of one level exceeds the upper ones of the others."""

    name = "dominant"

    @property
    def words(self) -> str:
        """The criterion in words."""
        return "each skill has one level that is the most probable for every network of the set"

    def met(self, now: Situation) -> str:
        """The reason, or nothing."""
        if not all(self.decides(bounds) for bounds in now.beliefs.values()):
            return ""
        return "Each skill has one level that is the most probable for every network of the set."

    def decides(self, bounds: Bounds) -> bool:
        """Whether one level dominates."""
        return len(undominated(bounds)) == 1


@dataclass(frozen=True)
class GainBelow(Criterion):
    """No question that may be asked is expected to tell as much as this."""

    threshold: float
    name = "gain_below"

    def __post_init__(self) -> None:
        if isinstance(self.threshold, bool) or not isinstance(self.threshold, (int, float)):
            self._refuse("a threshold", self.threshold)

    @property
    def words(self) -> str:
        """The criterion in words."""
        return f"no question would gain as much as {self.threshold:g}"

    def met(self, now: Situation) -> str:
        """The reason, or nothing."""
        best = now.best_gain
        if best is None or best >= self.threshold:
            return ""
        return f"The best question left would gain {best:.4f}, less than {self.threshold:g}."


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
        return f"{_counted(self.n, 'question')} were answered right"

    def met(self, now: Situation) -> str:
        """The reason, or nothing."""
        return f"{_counted(now.right, 'question')} were answered right; {self.n} are enough." if now.right >= self.n else ""


@dataclass(frozen=True)
class Minutes(Criterion):
    """So many minutes were spent: those recorded with the answers, or the questions' own."""

    minutes: float
    name = "minutes"

    def __post_init__(self) -> None:
        if isinstance(self.minutes, bool) or not isinstance(self.minutes, (int, float)) or not self.minutes > 0:
            self._refuse("minutes above 0", self.minutes)

    @property
    def words(self) -> str:
        """The criterion in words."""
        return f"{self.minutes:g} minutes were spent"

    def met(self, now: Situation) -> str:
        """The reason, or nothing."""
        return f"{now.minutes:g} minutes were spent; the limit is {self.minutes:g}." if now.minutes >= self.minutes else ""


@dataclass(frozen=True)
class AnyOf(Criterion):
    """One criterion is enough."""

    parts: tuple[Criterion, ...]
    name = "any_of"

    @property
    def words(self) -> str:
        """The criterion in words."""
        return " or ".join(part.words for part in self.parts)

    def met(self, now: Situation) -> str:
        """The first reason, or nothing."""
        return next((reason for part in self.parts if (reason := part.met(now))), "")

    def decides(self, bounds: Bounds) -> bool:
        """Whether one of them decides."""
        return any(part.decides(bounds) for part in self.parts)

    @property
    def document(self) -> Any:
        """As it stands in a file."""
        return {self.name: [part.document for part in self.parts]}


@dataclass(frozen=True)
class AllOf(AnyOf):
    """All criteria are needed."""

    name = "all_of"

    @property
    def words(self) -> str:
        """The criterion in words."""
        return " and ".join(f"({part.words})" if isinstance(part, AnyOf) else part.words for part in self.parts)

    def met(self, now: Situation) -> str:
        """All reasons, or nothing."""
        reasons = []
        for part in self.parts:
            if not (reason := part.met(now)):
                return ""
            reasons.append(reason)
        return " ".join(reasons)

    def decides(self, bounds: Bounds) -> bool:
        """Whether all of them decide."""
        return all(part.decides(bounds) for part in self.parts)


def any_of(*parts: Criterion) -> AnyOf:
    """Stop when one of these says so."""
    return AnyOf(_criteria("any_of", parts))


def all_of(*parts: Criterion) -> AllOf:
    """Stop when all of these say so."""
    return AllOf(_criteria("all_of", parts))


def _criteria(name: str, parts: Iterable[Criterion]) -> tuple[Criterion, ...]:
    listed = tuple(parts)
    wrong = [part for part in listed if not isinstance(part, Criterion)]
    if wrong or not listed:
        raise QuaestorError(f"{name}: one or more criteria are expected, got {wrong[0] if wrong else 'none'}")
    return listed


max_questions, min_questions, entropy_below, mode_below, gini_below = MaxQuestions, MinQuestions, UncertaintyBelow, ModeBelow, GiniBelow
probability_above, dominant, gain_below, right_answers, minutes = ProbabilityAbove, Dominant, GainBelow, RightAnswers, Minutes

SIMPLE: dict[str, type[Criterion]] = {
    kind.name: kind
    for kind in (
        MaxQuestions,
        MinQuestions,
        UncertaintyBelow,
        ModeBelow,
        GiniBelow,
        ProbabilityAbove,
        Dominant,
        GainBelow,
        RightAnswers,
        Minutes,
    )
}
COMBINED: dict[str, Callable[..., Criterion]] = {"any_of": any_of, "all_of": all_of}
OF_SKILL = [name for name, kind in SIMPLE.items() if kind.decides is not Criterion.decides]
