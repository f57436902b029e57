"""A result in words for the taker: why the test ended, which levels are sure, and what to practise next."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from quaestor.bankfile.bank import Bank
from quaestor.i18n import say
from quaestor.model.beliefs import Bounds
from quaestor.session.session import Session, Stop
from quaestor.session.sufficiency import least_answers
from quaestor.store.attempts.scoring import scored
from quaestor.store.outcomes.outcome import Finding as Stored
from quaestor.store.outcomes.results import findings_of

SURE = say("The test ended as soon as we were sure enough.")
ENDINGS = {  # by stop criterion; for all others the engine's own reason is plain enough
    "max_questions": say("This test asks no more questions."),
    **dict.fromkeys(("entropy_below", "mode_below", "gini_below", "probability_above", "dominant", "sprt", "loss_below"), SURE),
    "same_decision": say("More questions would hardly have changed the result."),
    "gain_below": say("More questions would have told us little."),
    "right_answers": say("That many right answers are enough."),
    "minutes": say("The time for this test was used up."),
}


@dataclass(frozen=True)
class Finding:
    """One skill: the level found and its index (`place`), the bounds of its probability, whether it is sure, other possible levels.

    `enough`: whether there are enough answers to name a level; else nobody is told one. `cut`: the bounds are true but rough.
    """

    skill: str
    title: str
    level: str
    place: int
    low: float
    high: float
    sure: bool
    others: tuple[str, ...]
    bounds: Bounds
    enough: bool
    cut: bool

    @property
    def at_top(self) -> bool:
        """Whether the level found is the highest one."""
        return self.place == len(self.bounds.states) - 1


def ending(stop: Stop) -> str:
    """Why a test ended, in words for takers and parents: without the quantities that the stop rules measure."""
    return ENDINGS.get(stop.rule, stop.reason)


def findings(session: Session) -> list[Finding]:
    """The finding of every skill, as it would be stored at this moment."""
    least = least_answers(session.bank, session.rules)
    return stored_findings(session.bank, findings_of(session.bank, session.rules, least, scored(session)["skills"]))


def stored_findings(bank: Bank, stored: Mapping[str, Stored]) -> list[Finding]:
    """The finding of every skill as it is stored."""
    found = []
    for skill, one in stored.items():
        low, high = np.array(one.lows), np.array(one.highs)
        bounds, title = Bounds(one.levels, low, high, low, high, "stored"), bank.skills[skill].title or skill
        others = tuple(level for level in one.possible if level != one.level)
        found.append(Finding(skill, title, one.level, one.place, one.lower, one.upper, one.sure, others, bounds, one.enough, one.cut))
    return found


class Standing(Protocol):
    """What the advice has to know about a person's level in one skill."""

    @property
    def skill(self) -> str:
        """The skill's id."""

    @property
    def at_top(self) -> bool:
        """Whether the level is the highest one."""

    @property
    def sure(self) -> bool:
        """Whether the level is sure."""


S = TypeVar("S", bound=Standing)


def practise(bank: Bank, found: Iterable[S]) -> list[S]:
    """The skills to practise, in order: first those whose parents are all at their highest level; among equals sure findings first.

    Skills at their highest level are left out.
    """
    by_skill: Mapping[str, S] = {finding.skill: finding for finding in found}
    waiting = [finding for finding in by_skill.values() if not finding.at_top]

    def ready(finding: S) -> bool:
        return all(by_skill[parent].at_top for parent in bank.skills[finding.skill].parents if parent in by_skill)

    return sorted(waiting, key=lambda finding: (not ready(finding), not finding.sure))
