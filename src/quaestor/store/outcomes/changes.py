"""What corrections change in the results of a test: foreseen before one is made, counted afterwards, and told to each taker.

Nothing is worked out twice: what was told before is stored (`scoring`), a row for each revision by which an attempt was scored. Two
corrections that were made one soon after the other may have been scored together; then they share one change.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

from sqlalchemy import Row, Select, exists, func, select
from sqlalchemy.orm import Session as Work

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError
from quaestor.model.question import Question
from quaestor.selection.rules_file import read_rules
from quaestor.session.sufficiency import least_answers
from quaestor.store.attempts.pace import is_quick
from quaestor.store.attempts.scoring import scored
from quaestor.store.attempts.session_cache import corrected
from quaestor.store.corrections import bank_at, corrections_of
from quaestor.store.models import Attempt, Correction, Event, Published, Scoring
from quaestor.store.outcomes.replay import replay
from quaestor.store.publishing import open_bank

MOST, PATIENCE = 200, 2.0  # attempts that are foreseen, and the seconds that may take
_NEAR = 1e-9  # of points


@dataclass(frozen=True)
class Told:
    """What is told of an attempt: its points, of how many questions, and the level of each skill; None where there are too few answers."""

    points: float
    counted: int
    levels: Mapping[str, str | None]


@dataclass(frozen=True)
class Change:
    """Corrections that an attempt was scored anew for, and what is told of it before and after; `after`: None until it is known."""

    corrections: Sequence[Correction]
    before: Told
    after: Told | None

    @property
    def skills(self) -> list[str]:
        """The skills of which another level is told."""
        return [] if self.after is None else [one for one, level in self.before.levels.items() if self.after.levels.get(one) != level]

    @property
    def differs(self) -> bool:
        """Whether anything is told otherwise."""
        return self.after is not None and (bool(self.skills) or _other(self.before, self.after))


@dataclass(frozen=True)
class Effect:
    """What a correction did: how many results were worked out anew, and whose are others now, (attempt, name) by name.

    `later`: whether they were worked out only together with the next correction.
    """

    results: int
    changed: Sequence[tuple[int, str]]
    later: bool = False


@dataclass(frozen=True)
class Foreseen:
    """What a correction would change: of `asked` attempts so many get more points (`up`), fewer (`down`), or another level of a skill.

    None where there are too many attempts to find out while somebody waits.
    """

    asked: int
    up: int | None = None
    down: int | None = None
    levels: int | None = None


def changes_of(work: Work, attempt: Attempt) -> list[Change]:
    """What corrections changed in the result of an attempt after its end, the first one first.

    Corrections of questions that its taker was not asked are left out; a change that no others made has none.
    """
    test = attempt.test
    if not test.revision:
        return []
    asked = set(work.scalars(select(Event.question).where(Event.attempt_id == attempt.id)))
    made = corrections_of(work, test)
    least = _Least(work, test)
    rows = work.execute(_rows(test).where(Scoring.attempt_id == attempt.id)).all()
    steps: list[tuple[Row[Any], Row[Any] | None]] = list(pairwise(rows))
    if rows and attempt.ended is not None and rows[-1].revision < test.revision:
        steps.append((rows[-1], None))
    found = []
    for before, after in steps:
        until = test.revision if after is None else after.revision
        mine = [one for one in made if before.revision < one.revision <= until and one.question in asked]
        change = Change(mine, _told(before, least), None if after is None else _told(after, least))
        if mine or change.differs:
            found.append(change)
    return found


def effects(work: Work, test: Published) -> dict[int, Effect]:
    """What each correction of a test did, by revision; without those that nothing is known of yet."""
    if not test.revision:
        return {}
    least = _Least(work, test)
    results: dict[int, int] = {}
    changed: dict[int, list[tuple[int, str]]] = {}
    together: set[int] = set()
    for _, rows in groupby(work.execute(_rows(test)), key=lambda row: row.attempt_id):
        for before, after in pairwise(rows):
            results[after.revision] = results.get(after.revision, 0) + 1
            together.update(range(before.revision + 1, after.revision))
            if Change((), _told(before, least), _told(after, least)).differs:
                changed.setdefault(after.revision, []).append((after.attempt_id, after.name))
    by_name = {revision: sorted(people, key=lambda one: (one[1].casefold(), one[0])) for revision, people in changed.items()}
    return {
        revision: Effect(results.get(revision, 0), by_name.get(revision, []), revision not in results)
        for revision in sorted({*results, *together})
    }


def left(work: Work, test: Published) -> int:
    """How many results are still to be worked out anew."""
    present = exists().where(Scoring.attempt_id == Attempt.id, Scoring.revision == test.revision)
    over = (Attempt.test_id == test.id, Attempt.ended.is_not(None))
    return work.scalar(select(func.count()).select_from(Attempt).where(*over, ~present)) or 0


def foresee(work: Work, test: Published, question: str, bank: Bank, rules: Mapping[str, Any], patience: float = PATIENCE) -> Foreseen:
    """What would change if a test had this bank and these rules; `question`: the one that is corrected."""
    asking = select(Attempt).join(Event, Event.attempt_id == Attempt.id).where(Attempt.test_id == test.id, Event.question == question)
    asked = work.scalars(asking.order_by(Attempt.id)).unique().all()
    if len(asked) > MOST or not is_quick(bank, read_rules(rules)):
        return Foreseen(len(asked))
    end = time.monotonic() + patience
    present, anew = open_bank(test.bank), corrected(work, test)
    then = {name: bank.questions[name] for name in {*anew, *([question] if bank is not present else [])}}
    up = down = levels = 0
    try:
        for attempt in asked:
            if time.monotonic() > end:
                return Foreseen(len(asked))
            before, after = _replayed(work, attempt, present, test.rules, anew), _replayed(work, attempt, bank, rules, then)
            up += after.points > before.points + _NEAR
            down += after.points < before.points - _NEAR
            levels += after.levels != before.levels
    except QuaestorError:  # an answer that is impossible now: the attempt stays as it is, and the log of the server tells
        return Foreseen(len(asked))
    return Foreseen(len(asked), up, down, levels)


def _replayed(work: Work, attempt: Attempt, bank: Bank, rules: Mapping[str, Any], anew: Mapping[str, Question]) -> Told:
    """What would be told of an attempt by a bank and rules."""
    session = replay(work, attempt.id, bank, rules, anew)
    found = scored(session)
    return Told(found["points"], found["counted"], _levels(found["skills"], least_answers(bank, session.rules)))


def _rows(test: Published) -> Select[Any]:
    columns = (Scoring.attempt_id, Attempt.name, Scoring.revision, Scoring.points, Scoring.counted, Scoring.skills)
    return (
        select(*columns)
        .join(Attempt, Attempt.id == Scoring.attempt_id)
        .where(Attempt.test_id == test.id)
        .order_by(Scoring.attempt_id, Scoring.revision)
    )


class _Least:
    """How many answers each skill needed before a level was told, at each revision of a test."""

    def __init__(self, work: Work, test: Published) -> None:
        self._work, self._test = work, test
        self._known: dict[int, Mapping[str, int]] = {}

    def at(self, revision: int) -> Mapping[str, int]:
        if revision not in self._known:
            kept, rules = bank_at(self._work, self._test, revision)
            self._known[revision] = least_answers(open_bank(kept), read_rules(rules))
        return self._known[revision]


def _told(row: Row[Any], least: _Least) -> Told:
    return Told(row.points, row.counted, _levels(row.skills, least.at(row.revision)))


def _levels(skills: Mapping[str, Any], least: Mapping[str, int]) -> Mapping[str, str | None]:
    return {skill: found["level"] if found["answers"] >= least[skill] else None for skill, found in skills.items()}


def _other(before: Told, after: Told) -> bool:
    return before.counted != after.counted or abs(before.points - after.points) > _NEAR
