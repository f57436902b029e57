"""What one attempt came to, as data."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Finding:
    """What was found of a skill: its level, the bounds of that level's probability, and whether it is sure.

    `expected`: the expected number of the level (the lowest is 0) for the centre of the bounds; `centre`: that distribution.
    """

    level: str
    lower: float
    upper: float
    sure: bool
    expected: float
    centre: tuple[float, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """An attempt at a glance. `state`: running or over; `minutes`: until the end, or the last answer of one that runs.

    `questions` were put, `skipped` of them skipped; `right` of them were answered with the best class. `hint`: whether the answers fit
    together so badly that somebody should have a look; None of attempts that run, and of those that were not looked at yet. `code`: the
    pupil's own one, or that of the attempt. `counts`: whether it is the attempt that counts for its taker.
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
        """How many questions were answered."""
        return self.questions - self.skipped

    @property
    def expected(self) -> float:
        """The expected level, summed over the skills."""
        return sum(finding.expected for finding in self.skills.values())
