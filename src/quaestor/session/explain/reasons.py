"""Explanations as data: what `explain` finds and `wording` puts into sentences.

Every `text` has at most two sentences; the numbers behind it are in `numbers`, to be folded away.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from quaestor.i18n import Said, together
from quaestor.inference.engine import Ends
from quaestor.inference.misfit import Misfit
from quaestor.lazy import lazy
from quaestor.model.beliefs import Bounds
from quaestor.model.question import Question
from quaestor.selection.narrowing import Narrowing
from quaestor.selection.same_decision import SameDecision


def whole(p: float) -> int:
    """A probability in whole per cent, as it is shown: changes are told by these, so that words and numbers agree."""
    return int(f"{100 * p:.0f}")


@dataclass(frozen=True)
class Outcome:
    """One possible answer: its class, the bounds of its probability, and the bounds of the levels of the question's skills then."""

    answer: str
    probability: tuple[float, float]
    after: Mapping[str, Ends]


@dataclass(frozen=True, eq=False)
class WhyQuestion:
    """Why a question comes next. `votes`: for credal banks how many of the networks drawn from the set would ask which question.

    `decided`: what really decided: `pilot`, `rule` (it names the question, draws it, or has it voted for), `only` (none else is left),
    `score`, `second` (the score that breaks ties), or `order` (of equally good ones the first); `tied`: how many were equally good by the
    rules' score.
    """

    question: Question
    gain: float | None
    uncertain: str
    outcomes: tuple[Outcome, ...]
    runners_up: tuple[tuple[str, float], ...]
    narrowed: tuple[Narrowing, ...]
    votes: Mapping[str, int]
    text: str
    numbers: str = ""
    decided: str = "score"
    tied: int = 1

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

    @property
    def points(self) -> int:
        """The change in percentage points, between the whole per cents that are shown; these add up too."""
        return whole(self.after) - whole(self.before)


@dataclass(frozen=True, eq=False)
class Change:
    """What one answer changed of a skill, for one level: the bounds of all levels before and after, `place` that of the level."""

    skill: str
    level: str
    place: int
    before: Bounds
    after: Bounds
    text: str

    @property
    def ends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The lower and upper probability of the level before and after; where these look alike, the middle, which does not."""
        found = tuple((float(bounds.lower[self.place]), float(bounds.upper[self.place])) for bounds in (self.before, self.after))
        if [whole(end) for end in found[0]] == [whole(end) for end in found[1]]:
            found = tuple((float(bounds.centre[self.place]),) * 2 for bounds in (self.before, self.after))
        return found[0], found[1]


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
    numbers: str = ""

    @property
    def largest(self) -> tuple[Entry, ...]:
        """The ledger, the heaviest entries first."""
        return tuple(sorted(self.ledger, key=lambda entry: -abs(entry.weight)))


@dataclass(frozen=True, eq=False)
class Explanation:
    """All there is to say of a session; `text` says it in sentences. `question` is None when the test is over, `stop` while it runs.

    `future`: whether more questions would change the result, where that was asked for; `more`: a sentence of it.
    `open`: skills whose level is not sure: its (lower) probability is below that with which the test is content (`sure_above`).
    """

    question: WhyQuestion | None
    results: Mapping[str, WhyResult]
    stop: str | None
    open: tuple[str, ...]
    sure: str
    misfit: Misfit | None
    hint: str
    future: SameDecision | None = None
    more: str = ""

    @lazy
    def text(self) -> Said:
        """All of it but the numbers, a paragraph each."""
        parts = [self.question.text if self.question is not None else "", *(result.text for result in self.results.values())]
        parts += [self.stop or "", self.more, self.sure, self.hint]
        return together([part for part in parts if part], "\n\n")

    @lazy
    def numbers(self) -> Said:
        """The numbers behind it, a paragraph each."""
        parts = [self.question.numbers if self.question is not None else "", *(result.numbers for result in self.results.values())]
        return together([part for part in parts if part], "\n\n")
