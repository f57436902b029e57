"""The counts of a question in a test."""

from dataclasses import dataclass

from quaestor.model.question import Question
from quaestor.report.shares import wilson


@dataclass(frozen=True)
class AtLevel:
    """Takers at one combination of levels: the numbers of answers and of right ones. `low`, `high`: P(right | levels) in the bank's table.

    `least`, `most`: the bounds of the expected share right of these takers, whose levels are not certain: the table averaged over their
    posterior probabilities.
    """

    levels: tuple[str, ...]
    count: int
    right: int
    low: float
    high: float
    least: float
    most: float

    @property
    def seen(self) -> float:
        """The observed share right; 0 if there are no answers."""
        return self.right / self.count if self.count else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the share right."""
        found = wilson(self.right, self.count)
        return found.low, found.high


@dataclass(frozen=True)
class Option:
    """An option or entry: how many takers, and how many strong takers, gave it.

    `allowed`: the upper probability, for strong takers, of an answer of its class.
    """

    text: str
    count: int
    strong: int
    right: bool
    allowed: float


@dataclass(frozen=True)
class PartTally:
    """A part of a question: how many filled it in, how many of them rightly, and what else was given, most frequent first."""

    name: str
    count: int
    right: int
    others: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Tally:
    """A question: times asked and skipped, median seconds to an answer, shares by level, number of strong takers, options given, and the
    counts of each part where it has several.
    """

    question: Question
    asked: int
    skipped: int
    seconds: float | None
    shares: tuple[AtLevel, ...]
    strong: int
    options: tuple[Option, ...]
    parts: tuple[PartTally, ...] = ()

    @property
    def answered(self) -> int:
        """The number of answers."""
        return self.asked - self.skipped

    @property
    def is_typed(self) -> bool:
        """Whether takers type the answer."""
        return self.question.kind in ("number", "text")
