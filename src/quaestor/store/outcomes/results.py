"""Results of a test: the outcome of each attempt as it was stored, and which of a pupil's attempts counts."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, case, func, select
from sqlalchemy.orm import Session as Work

from quaestor.bankfile.bank import Bank
from quaestor.selection.rules import Rules
from quaestor.selection.rules_file import read_rules
from quaestor.selection.sureness import sure_above
from quaestor.session.sufficiency import least_answers
from quaestor.store.attempts.progress import is_over
from quaestor.store.attempts.state import deadline
from quaestor.store.clock import now
from quaestor.store.models import Attempt, Published, Pupil, Scoring
from quaestor.store.outcomes.grades import stored
from quaestor.store.outcomes.outcome import Finding, Outcome
from quaestor.store.outcomes.sheets import csv_bytes as csv_bytes
from quaestor.store.outcomes.sheets import dictionary as dictionary
from quaestor.store.outcomes.sheets import table as table
from quaestor.store.outcomes.sheets import xlsx_bytes as xlsx_bytes
from quaestor.store.publishing import open_bank


def outcomes(work: Work, test: Published, every: bool = True, first: int = 0, most: int | None = None) -> list[Outcome]:
    """The outcomes of all attempts of a test, in the order of their ids, or only of those that count; or `most` of them from a place on."""
    found = _made(work, test, _query(test).order_by(Attempt.id).offset(first).limit(most))
    return found if every else [outcome for outcome in found if outcome.counts]


def some(work: Work, test: Published, first: int, count: int) -> list[Outcome]:
    """The outcomes of so many attempts from a place on (the first is 0), in the order of the takers' names."""
    return _made(work, test, _query(test).order_by(func.lower(Attempt.name), Attempt.id).offset(first).limit(count))


def number(work: Work, test: Published) -> int:
    """The number of attempts at a test."""
    return work.scalar(select(func.count()).where(Attempt.test_id == test.id)) or 0


def outcome_of(work: Work, attempt: Attempt) -> Outcome:
    """The outcome of one attempt; whether it counts beside others is not looked at."""
    (found,) = _made(work, attempt.test, _query(attempt.test).where(Attempt.id == attempt.id))
    return found


def of_pupil(work: Work, test: Published, pupil: int) -> Outcome | None:
    """The outcome of a pupil in a test: that of the attempt that counts, once it is over and worked out."""
    found = _made(work, test, _query(test).where(Attempt.pupil_id == pupil))
    return next((one for one in found if one.counts and one.state == "over" and not one.waits), None)


def _query(test: Published) -> Select[Any]:
    """The attempts of a test, each with its last scoring, the pupil's code, the attempt's rank among those of the
    same pupil, and the first revision by which it was scored.

    The first of a pupil's attempts counts, and every attempt of somebody who is on no class list. Attempts that were set aside come last,
    and those that run behind those that are over. Among these: the first when retakes are forbidden (`none`), the last when they are
    allowed (`any`), and with `best` the one with the highest expected level summed over the skills, for the centre of the bounds (levels
    count 0, 1, 2, ...), of equal ones the first. The best of several attempts is biased upwards: by chance alone it is above what a
    single one would show.
    """
    last = select(func.max(Scoring.revision)).where(Scoring.attempt_id == Attempt.id).correlate(Attempt).scalar_subquery()
    first = select(func.min(Scoring.revision)).where(Scoring.attempt_id == Attempt.id).correlate(Attempt).scalar_subquery()
    orders: Mapping[str, tuple[ColumnElement[Any], ...]] = {
        "none": (Attempt.id.asc(),),
        "any": (Attempt.id.desc(),),
        "best": (func.coalesce(Scoring.expected, 0.0).desc(), Attempt.id.asc()),
    }
    behind = case((Attempt.set_aside.is_not(None), 2), (is_over(now()), 0), else_=1)
    of_pupil = case((Attempt.pupil_id.is_(None), -Attempt.id), else_=Attempt.pupil_id)
    rank = func.row_number().over(partition_by=of_pupil, order_by=(behind, *orders[test.retakes]))
    return (
        select(Attempt, Scoring, Pupil.code, rank, first)
        .outerjoin(Scoring, and_(Scoring.attempt_id == Attempt.id, Scoring.revision == last))
        .outerjoin(Pupil, Pupil.id == Attempt.pupil_id)
        .where(Attempt.test_id == test.id)
    )


def _made(work: Work, test: Published, query: Select[Any]) -> list[Outcome]:
    bank, rules = open_bank(test.bank), read_rules(test.rules)
    least, scheme = least_answers(bank, rules), stored(test.grades)
    found = [_outcome(bank, rules, least, *row) for row in work.execute(query).all()]
    return found if scheme is None else [replace(outcome, grade=scheme.grade(outcome)) for outcome in found]


def _outcome(
    bank: Bank,
    rules: Rules,
    least: Mapping[str, int],
    attempt: Attempt,
    scoring: Scoring | None,
    code: str | None,
    rank: int,
    first: int | None,
) -> Outcome:
    limit, words = deadline(attempt)
    ended, reason = attempt.ended, attempt.reason
    if ended is None and limit is not None and limit <= now():
        ended, reason = limit, words
    until = ended or (scoring.at if scoring is not None else attempt.started)
    return Outcome(
        attempt_id=attempt.id,
        pupil_id=attempt.pupil_id,
        name=attempt.name,
        code=code or attempt.code,
        state="running" if ended is None else "over",
        started=attempt.started,
        ended=ended,
        minutes=max(0.0, (until - attempt.started).total_seconds() / 60),
        questions=scoring.asked if scoring is not None else 0,
        counted=scoring.counted if scoring is not None else 0,
        right=scoring.right if scoring is not None else 0,
        reason=reason,
        skills=findings_of(bank, rules, least, scoring.skills if scoring is not None else {}),
        hint=scoring.misfits if scoring is not None and ended is not None else None,
        counts=rank == 1 and attempt.set_aside is None,
        skipped=scoring.skipped if scoring is not None else 0,
        points=scoring.points if scoring is not None else 0.0,
        expected=scoring.expected if scoring is not None else 0.0,
        set_aside=attempt.set_aside is not None,
        anew=scoring is not None and first is not None and first < scoring.revision,
        waits=ended is not None and (scoring is None or scoring.revision < attempt.test.revision),
        starts=attempt.start is not None,
    )


def findings_of(bank: Bank, rules: Rules, least: Mapping[str, int], stored: Mapping[str, Any]) -> dict[str, Finding]:
    """The findings of all skills as they are stored; nothing is known of those that are not."""
    found = {}
    for skill in bank.skills.values():
        count = len(skill.levels)
        one = stored.get(skill.id) or {"level": skill.levels[0], "answers": 0, "lower": [0.0] * count, "upper": [1.0] * count}
        lows, highs = tuple(one["lower"]), tuple(one["upper"])
        enough = one["answers"], least[skill.id], sure_above(rules)
        found[skill.id] = Finding(one["level"], skill.levels, lows, highs, *enough, cut=one.get("cut", False))
    return found
