"""The outcome of an attempt as data."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Finding:
    """The finding of a skill: the most probable level, the bounds of its probability, and whether it is sure.

    `centre`: the distribution at the centre of the bounds, (levels,); `expected`: its mean, where the lowest level counts 0.
    """

    level: str
    lower: float
    upper: float
    sure: bool
    expected: float
    centre: tuple[float, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """The outcome of an attempt. `state`: running or over; `minutes`: from its start to its end, or to the last answer while it runs.

    `questions` were shown, `skipped` of them skipped, `right` of them answered with the best class. `hint`: whether the answers fit the
    bank so badly that a teacher should check them; None while the attempt runs, and where this was not computed yet. `code`: the pupil's
    own, or that of the attempt. `counts`: whether it is the attempt that counts for its taker.
    """

    attempt_id: int
    pupil_id: int | None
    name: str
    code: str
    state: str
    started: datetime
    ended: datetime | None
    minutes: float
    questions: int
    right: int
    reason: str
    skills: Mapping[str, Finding]
    hint: bool | None
    counts: bool = True
    skipped: int = 0

    @property
    def answered(self) -> int:
        """The number of questions that were answered."""
        return self.questions - self.skipped

    @property
    def expected(self) -> float:
        """The expected level, summed over the skills."""
        return sum(finding.expected for finding in self.skills.values())
