"""Explanations as data: what `explain` finds and `wording` puts into sentences."""

from collections.abc import Mapping
from dataclasses import dataclass

from quaestor.i18n import Said, together
from quaestor.inference.engine import Ends
from quaestor.inference.misfit import Misfit
from quaestor.lazy import lazy
from quaestor.model.beliefs import Bounds
from quaestor.model.question import Question
from quaestor.selection.narrowing import Narrowing


@dataclass(frozen=True)
class Outcome:
    """One possible answer: its class, the bounds of its probability, and the bounds of the levels of the question's skills then."""

    answer: str
    probability: tuple[float, float]
    after: Mapping[str, Ends]


@dataclass(frozen=True, eq=False)
class WhyQuestion:
    """Why a question comes next. `votes`: for credal banks how many of the networks drawn from the set would ask which question."""

    question: Question
    gain: float | None
    uncertain: str
    outcomes: tuple[Outcome, ...]
    runners_up: tuple[tuple[str, float], ...]
    narrowed: tuple[Narrowing, ...]
    votes: Mapping[str, int]
    text: str

    @property
    def agree(self) -> tuple[int, int] | None:
        """How many of so many networks of a credal set would ask the same question; None for precise banks."""
        return (self.votes.get(self.question.id, 0), sum(self.votes.values())) if self.votes else None


@dataclass(frozen=True)
class Entry:
    """A line of the ledger: what one answer did for the level that a skill is found at.

    `weight`: the change of log10 of the odds of that level (of the centre of the bounds), so the weights of a skill add up.
    """

    source: str
    answer: str
    weight: float
    before: float
    after: float


@dataclass(frozen=True)
class More:
    """What one more answer would make of the level found: bounds of its probability after the worst and the best class of a question."""

    question: str
    worst: tuple[str, float, float]
    best: tuple[str, float, float]


@dataclass(frozen=True, eq=False)
class WhyResult:
    """What was found of one skill: the level, all levels that some network of the set may prefer, the bounds, the ledger in order.

    `more`: what the best open question on the skill could still change; None when none is left.
    """

    skill: str
    level: str
    possible: tuple[str, ...]
    bounds: Bounds
    ledger: tuple[Entry, ...]
    more: More | None
    text: str

    @property
    def largest(self) -> tuple[Entry, ...]:
        """The ledger, the heaviest entries first."""
        return tuple(sorted(self.ledger, key=lambda entry: -abs(entry.weight)))


@dataclass(frozen=True, eq=False)
class Explanation:
    """All there is to say of a session; `text` says it in sentences. `question` is None when the test is over, `stop` while it runs.

    `open`: skills whose level has a (lower) probability below 0.8.
    """

    question: WhyQuestion | None
    results: Mapping[str, WhyResult]
    stop: str | None
    open: tuple[str, ...]
    sure: str
    misfit: Misfit | None
    hint: str

    @lazy
    def text(self) -> Said:
        """All of it, a paragraph each."""
        parts = [self.question.text if self.question is not None else "", *(result.text for result in self.results.values())]
        parts += [self.stop or "", self.sure, self.hint]
        return together([part for part in parts if part], "\n\n")
