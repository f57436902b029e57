"""A class during a test: who is at which question, who is stuck, and who has left.

A taker is *stuck* who has been at the present question for at least two minutes and for longer than three times the median of their own
answer times (before the first answer: the median of the class); *gone* is a taker without an answer for a quarter of an hour.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from quaestor.store.attempts.answers import Clock
from quaestor.store.outcomes.outcome import Finding, Outcome

STUCK_TIMES = 3
STUCK_MINUTES = 2
GONE_MINUTES = 15
STATES = ("stuck", "gone", "on it", "finished", "not begun")  # in the order of the list: those who may need help first


@dataclass(frozen=True)
class Seat:
    """One person of the class. `question`: the number of the present question, or of all; `idle`: minutes since the last answer."""

    attempt_id: int | None
    name: str
    state: str
    question: int
    idle: float | None
    skills: Mapping[str, Finding]

    @property
    def sure(self) -> int:
        """The number of skills with a sure level."""
        return sum(finding.sure for finding in self.skills.values())


def present(found: Iterable[Outcome]) -> list[Outcome]:
    """The latest attempt of each pupil, and all attempts of takers who are on no class list."""
    latest = {outcome.pupil_id if outcome.pupil_id is not None else -outcome.attempt_id: outcome for outcome in found}
    return list(latest.values())


def seats(found: Sequence[Outcome], clocks: Mapping[int, Clock], absent: Iterable[str], moment: datetime) -> list[Seat]:
    """The class in the order of `STATES`, then by name. `absent`: names on the class list that have not begun."""
    taken = [seconds for clock in clocks.values() for seconds in clock.seconds]
    usual = median(taken) if taken else 0.0
    listed = [_seat(outcome, clocks.get(outcome.attempt_id), usual, moment) for outcome in found]
    listed += [Seat(None, name, "not begun", 0, None, {}) for name in absent]
    return sorted(listed, key=lambda seat: (STATES.index(seat.state), seat.name.casefold(), seat.attempt_id or 0))


def _seat(outcome: Outcome, clock: Clock | None, usual: float, moment: datetime) -> Seat:
    last = clock.last if clock is not None else outcome.started
    if outcome.state == "over":
        last = outcome.ended or last
    idle = max(0.0, (moment - last).total_seconds() / 60)
    if outcome.state == "over":
        return Seat(outcome.attempt_id, outcome.name, "finished", outcome.questions, idle, outcome.skills)
    own = median(clock.seconds) if clock is not None else usual
    if idle >= GONE_MINUTES:
        state = "gone"
    elif idle >= STUCK_MINUTES and idle * 60 > STUCK_TIMES * own:
        state = "stuck"
    else:
        state = "on it"
    return Seat(outcome.attempt_id, outcome.name, state, outcome.questions + 1, idle, outcome.skills)


def counts(listed: Iterable[Seat]) -> dict[str, int]:
    """The number of people in each state, 0 included."""
    found = dict.fromkeys(STATES, 0)
    for seat in listed:
        found[seat.state] += 1
    return found
