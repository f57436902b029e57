"""How a pupil and a class grow: each skill over all tests that measured it.

Two tests measured the same skill if it has the same id and the same levels in both banks; a test with other levels measured something
else, and stands on its own. Of each test the attempt that counts is taken, once it is over. Where there were too few answers to name a
level nothing is claimed, and no point is drawn. For a class the bounds of its pupils are averaged: the share of pupils at a level lies
between the mean of the lower and the mean of the upper probabilities.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session as Work

from quaestor.store.classes.class_lists import tests_of
from quaestor.store.models import Attempt, Published, Pupil, SchoolClass
from quaestor.store.outcomes.outcome import Finding, Outcome
from quaestor.store.outcomes.results import of_pupil, outcomes
from quaestor.store.publishing import open_bank

Key = tuple[str, tuple[str, ...]]  # a skill: its id and its levels


@dataclass(frozen=True)
class Point:
    """What one test told of a skill. `lows`, `highs`: of its levels, (levels,), empty where there were too few answers to tell.

    `level`: the most probable one, if there is one; `answers`: of a pupil; `pupils` of a class of whom enough is known, `short`: of whom
    too little. `starts`: whether the test began with what earlier ones told, so that this point rests on those before it too.
    """

    test: int
    title: str
    bank: str
    at: datetime
    lows: tuple[float, ...]
    highs: tuple[float, ...]
    level: str = ""
    sure: bool = False
    answers: int = 0
    pupils: int = 0
    short: int = 0
    starts: bool = False

    @property
    def is_known(self) -> bool:
        """Whether anything is claimed."""
        return bool(self.lows)


@dataclass(frozen=True)
class Growth:
    """A skill over all tests that measured it, the first one first; `levels`: the lowest first."""

    skill: str
    title: str
    levels: tuple[str, ...]
    points: tuple[Point, ...]

    @property
    def is_class(self) -> bool:
        """Whether it is that of a class."""
        return any(point.pupils or point.short for point in self.points)


def growth_of(work: Work, pupil: Pupil) -> list[Growth]:
    """Each skill of a pupil over all their tests, whichever class these were for."""
    mine = select(Attempt.test_id).where(Attempt.pupil_id == pupil.id, Attempt.set_aside.is_(None))
    found: dict[Key, list[Point]] = {}
    titles: dict[Key, str] = {}
    for test in work.scalars(select(Published).where(Published.id.in_(mine)).order_by(Published.id)):
        outcome = of_pupil(work, test, pupil.id)
        if outcome is None:
            continue
        for key, finding in _measured(outcome).items():
            found.setdefault(key, []).append(_point(test, outcome, finding))
            titles[key] = open_bank(test.bank).skills[key[0]].title or key[0]
    return [_grown(key, titles[key], points) for key, points in found.items()]


def class_growth(work: Work, found: SchoolClass) -> list[Growth]:
    """Each skill of a class over all its tests: of everybody who took them as a pupil, also who has left since."""
    points: dict[Key, list[Point]] = {}
    titles: dict[Key, str] = {}
    for test in reversed(tests_of(work, found)):
        over = [one for one in outcomes(work, test, every=False) if one.state == "over" and not one.waits and one.pupil_id is not None]
        by_skill: dict[Key, list[Finding]] = {}
        for outcome in over:
            for key, finding in _measured(outcome).items():
                by_skill.setdefault(key, []).append(finding)
        for key, findings in by_skill.items():
            last = max(outcome.ended or outcome.started for outcome in over)
            points.setdefault(key, []).append(_mean(test, last, findings))
            titles[key] = open_bank(test.bank).skills[key[0]].title or key[0]
    return [_grown(key, titles[key], some) for key, some in points.items()]


def _measured(outcome: Outcome) -> dict[Key, Finding]:
    """The skills of which something was asked."""
    return {(skill, finding.levels): finding for skill, finding in outcome.skills.items() if finding.answers}


def _grown(key: Key, title: str, points: Iterable[Point]) -> Growth:
    return Growth(key[0], title, key[1], tuple(sorted(points, key=lambda point: (point.at, point.test))))


def _point(test: Published, outcome: Outcome, finding: Finding) -> Point:
    lows, highs = (finding.lows, finding.highs) if finding.enough else ((), ())
    level = finding.level if finding.enough else ""
    about = (test.id, test.title, test.bank.title, outcome.ended or outcome.started)
    return Point(*about, lows, highs, level, finding.sure, finding.answers, starts=outcome.starts)


def _mean(test: Published, at: datetime, findings: list[Finding]) -> Point:
    enough = [finding for finding in findings if finding.enough]
    lows, highs = (), ()
    if enough:
        lows = tuple(np.mean([finding.lows for finding in enough], axis=0).tolist())
        highs = tuple(np.mean([finding.highs for finding in enough], axis=0).tolist())
    short = len(findings) - len(enough)
    starts = test.half_life is not None
    return Point(test.id, test.title, test.bank.title, at, lows, highs, pupils=len(enough), short=short, starts=starts)
