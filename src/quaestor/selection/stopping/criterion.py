"""Where a test stands, of one taker or of many, and what a criterion is: a frozen value that looks at it and gives its reason in words.

`CRITERIA` holds them by name: `criteria.py` adds those that are built in, `quaestor.register.stop` others.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quaestor.errors import QuaestorError, got, placed
from quaestor.i18n import Said, say
from quaestor.inference.engine import Ends
from quaestor.lazy import lazy
from quaestor.model.beliefs import Bounds
from quaestor.model.table import Array
from quaestor.registry import Named, RegisterError, Registry, said_of, settings_of
from quaestor.selection.same_decision import SameDecision

OF_SKILL = ("entropy_below", "mode_below", "gini_below", "probability_above", "dominant")  # criteria that can decide on one skill
Truth = NDArray[np.bool_]
Count = int | NDArray[np.intp]
Number = float | Array


class ManyBounds(NamedTuple):
    """The bounds of one skill for many takers, (takers, levels)."""

    states: tuple[str, ...]
    lower: Array
    upper: Array


def _unknown(taker: int, seed: int) -> SameDecision:
    raise QuaestorError("whether more questions would change the result is not known here")


@dataclass(frozen=True)
class Situation:
    """Where a test stands. `questions`: how many scored ones were asked, `of_skill` for each skill; `right`: best answers given.

    `best_gain` gives the gain of the question that would be asked next (None or NaN when none is left), `joint` an uncertainty of all
    skills together by the name of its index; both are worked out only when a criterion wants them. Numbers stand for one taker, arrays of
    shape (takers,) for many. `prior`: lower and upper P(level) of each skill before the test, (levels,) each; `future` tells, for a taker
    and a seed, whether more questions would change the result.
    """

    beliefs: Mapping[str, Bounds] | Mapping[str, ManyBounds]
    questions: Count
    of_skill: Mapping[str, Count]
    right: Count
    minutes: Number
    find_gain: Callable[[], Number | None]
    joint: Callable[[str], Number]
    prior: Mapping[str, Ends] = field(default_factory=dict)
    future: Callable[[int, int], SameDecision] = _unknown

    @lazy
    def best_gain(self) -> Number:
        """The largest gain of the questions that may be asked; NaN where there is none."""
        found = self.find_gain()
        return float("nan") if found is None else found

    def of_taker(self, taker: int) -> "Situation":
        """Where one of many takers stands, in numbers."""
        beliefs = {skill: ManyBounds(b.states, b.lower[taker], b.upper[taker]) for skill, b in self.beliefs.items()}
        of_skill = {skill: _at(count, taker) for skill, count in self.of_skill.items()}
        return Situation(
            beliefs,
            _at(self.questions, taker),
            of_skill,
            _at(self.right, taker),
            _at(self.minutes, taker),
            lambda: _at(self.best_gain, taker),
            lambda index: _at(self.joint(index), taker),
            self.prior,
            lambda _, seed: self.future(taker, seed),
        )


def _at(values: Any, taker: int) -> Any:
    return np.asarray(values)[taker].item()


class CriterionError(QuaestorError):
    """A setting that a criterion cannot have: `rule` and `value`."""

    def __init__(self, name: str, rule: str, value: object) -> None:
        self.rule, self.value = rule, repr(value)
        super().__init__(placed(name, got(rule, self.value)))


CRITERIA: "Registry[type[Criterion]]" = Registry("stop")


class Criterion(Named):
    """A reason to stop. One of your own gives `name`, `holds`, `reason` and `words`, and is a frozen dataclass of its settings."""

    known = CRITERIA
    looks_far: ClassVar[bool] = False  # whether it takes much longer than what is known now

    def holds(self, now: Situation) -> Truth:
        """Whether it says stop: for one taker, or for each of many."""
        raise NotImplementedError

    def reason(self, now: Situation) -> Said:
        """Why, in words, for one taker of whom it holds."""
        raise NotImplementedError

    @property
    def words(self) -> Said:
        """The criterion in words, to go after "stops when"."""
        raise NotImplementedError

    def decides(self, bounds: Bounds | ManyBounds) -> Truth:
        """Whether enough is known of one skill; only for criteria on what is known."""
        words = say("says nothing of a single skill; use one of {criteria}", criteria=", ".join(OF_SKILL))
        raise QuaestorError.at(self.name, words)

    def met(self, now: Situation) -> str:
        """The reason to stop, in words; empty when there is none."""
        return self.reason(now) if self.holds(now) else ""

    def rule(self, now: Situation) -> NDArray[np.object_]:
        """The name of the criterion that says stop, for each taker; empty where none does."""
        return named_where(self.holds(now), self.name)

    def simple(self) -> "Iterator[Criterion]":
        """The criteria that it is made of, combinations taken apart."""
        yield self

    def limits(self) -> "Iterator[Criterion]":
        """The limits on questions or minutes that end a test by themselves, whatever else must still be asked."""
        return iter(())

    def most_questions(self) -> int | None:
        """How many questions that count there are at most, where it sets a limit by itself."""
        return None

    @property
    def is_of_skill(self) -> bool:
        """Whether it can decide on one skill."""
        return type(self).decides is not Criterion.decides

    def _refuse(self, rule: str, value: object) -> None:
        raise CriterionError(self.name, rule, value)


_NO_BRANCH = (
    "it serves many takers at once, whose numbers are arrays: write `return now.questions > 5`, got an `if` (or `and`, `or`, `not`, for "
    "which arrays have `&`, `|`, `~`)"
)


class OwnCriterion(Criterion):
    """A criterion made of a function of a `Situation` and of settings (`quaestor.register.stop`)."""

    function: ClassVar[Callable[..., Any]]
    pattern: ClassVar[str]

    @property
    def words(self) -> Said:
        """The criterion in words."""
        return said_of(self)

    def holds(self, now: Situation) -> Truth:
        """What the function says, (takers,), or one truth for one taker."""
        try:
            found, wanted = np.asarray(self.function(now, **settings_of(self))), np.shape(now.questions)
        except ValueError as error:
            if "truth value of an array" not in str(error):
                raise
            raise RegisterError(f"stop {self.name}: {_NO_BRANCH}") from error
        if found.dtype != bool or found.shape not in ((), wanted):
            shown = f"an array of {found.dtype} of shape {found.shape}"
            raise RegisterError(f"stop {self.name}: true or false for each taker, shape (takers,) = {wanted}, got {shown}")
        return found

    def reason(self, now: Situation) -> Said:
        """Why, in words."""
        return said_of(self, ".")


def named_where(holds: Truth, name: str) -> NDArray[np.object_]:
    """A name where something holds, an empty text elsewhere."""
    found = np.full(np.shape(holds), "", dtype=object)
    found[np.asarray(holds)] = name
    return found


def where_all(found: Iterable[Any]) -> Truth:
    """Where all of them hold."""
    return np.asarray(np.logical_and.reduce(np.stack([np.asarray(one) for one in found])))
