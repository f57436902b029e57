"""What was counted of a question."""

from dataclasses import dataclass

from quaestor.model.question import Question
from quaestor.report.shares import wilson


@dataclass(frozen=True)
class AtLevel:
    """Takers found at one combination of levels: how many answered, how many right; `low` and `high`: what the bank's table says.

    `least` and `most`: what it says of these very takers, as some of them may be of another level.
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
        """The share that was right; of nobody it is 0."""
        return self.right / self.count if self.count else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval around the share seen: where the true share may lie."""
        found = wilson(self.right, self.count)
        return found.low, found.high


@dataclass(frozen=True)
class Option:
    """Something that was chosen or typed, by how many, and by how many of the strong.

    `allowed`: the largest share of the strong whom the table lets give any answer of its class.
    """

    text: str
    count: int
    strong: int
    right: bool
    allowed: float


@dataclass(frozen=True)
class Tally:
    """A question: times asked, times skipped, median seconds to an answer, shares by level, strong takers who answered, what was given."""

    question: Question
    asked: int
    skipped: int
    seconds: float | None
    shares: tuple[AtLevel, ...]
    strong: int
    options: tuple[Option, ...]

    @property
    def answered(self) -> int:
        """Times it was answered."""
        return self.asked - self.skipped

    @property
    def is_typed(self) -> bool:
        """Whether takers type the answer."""
        return self.question.kind in ("number", "text")
