"""What was counted of a question."""

from dataclasses import dataclass
from math import sqrt

from quaestor.question import Question

_Z = 1.96  # of an interval that holds the true share in 95 of 100 cases


@dataclass(frozen=True)
class Share:
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
        """The 95 % interval of Wilson (1927) around the share seen: where the true share may lie."""
        if not self.count:
            return 0.0, 1.0
        n, p = self.count, self.seen
        middle, spread = (p + _Z**2 / (2 * n)) / (1 + _Z**2 / n), _Z / (1 + _Z**2 / n) * sqrt(p * (1 - p) / n + _Z**2 / (4 * n * n))
        return max(0.0, middle - spread), min(1.0, middle + spread)


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
    shares: tuple[Share, ...]
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
