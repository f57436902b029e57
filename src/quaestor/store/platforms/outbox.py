"""Scores that platforms are owed: one for each learner, the newest, until the platform has taken it.

What a learner is owed follows from the outcome of their test alone (`look`), so it makes no difference why an outcome changed: an end, a
correction, a further try, an attempt that was set aside. The row of a seat is the outbox: it holds the newest score and its time,
which only grows. Whoever sends it has it in hand for a while (`held`), so that two processes never send at once; when that fails, it is due
again later and later. A platform that has a score of that time or a later one already has been told: so nothing counts twice, and nothing
older comes after something newer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import and_, func, or_, select, update
from sqlalchemy.orm import Session as Work

from quaestor.i18n import packed
from quaestor.store.attempts.invitations import holds_back
from quaestor.store.clock import now
from quaestor.store.models import Attempt, Published, Scoring
from quaestor.store.outcomes.grades import Scheme, score_of, stored
from quaestor.store.outcomes.outcome import Outcome
from quaestor.store.outcomes.results import outcomes
from quaestor.store.platform_tables import Placement, Seat
from quaestor.store.secrets import hashed

MAXIMUM = 100
HELD = timedelta(minutes=2)  # longer than all requests that sending one score needs may take
FIRST, LONGEST = 10.0, 6 * 3600.0  # seconds until the second try; between later ones at most
_STEP = timedelta(milliseconds=1)


@dataclass(frozen=True)
class Owed:
    """A score in hand: of which seat, for whom, what it says, and its time."""

    seat_id: int
    placement_id: int
    sub: str
    score: Mapping[str, Any]
    stamp: datetime


def look(work: Work) -> int:
    """Compare what was found with what platforms were told, wherever something changed; the number of scores that are owed anew."""
    return sum(_look_at(work, placement_id, mark) for placement_id, mark in changed(work))


def changed(work: Work) -> list[tuple[int, str]]:
    """The placements in whose tests something happened since they were looked at, each with its new mark; only reads."""
    scored = select(func.count()).select_from(Scoring).join(Attempt, Attempt.id == Scoring.attempt_id)
    asked = (
        select(
            Placement.id,
            Placement.seen,
            Published,
            func.count(Attempt.id),
            func.count(Attempt.ended),
            func.max(Attempt.ended),
            func.count(Attempt.set_aside),
            scored.where(Attempt.test_id == Published.id).correlate(Published).scalar_subquery(),
        )
        .join(Published, Published.id == Placement.test_id)
        .outerjoin(Attempt, Attempt.test_id == Published.id)
        .where(select(Seat.id).where(Seat.placement_id == Placement.id).exists())
        .group_by(Placement.id, Published.id)
    )
    found = []
    for number, seen, test, *counts in work.execute(asked).all():
        mark = hashed(f"{test.id} {test.revision} {test.retakes} {test.grades} {holds_back(test)} {counts}")
        if mark != seen:
            found.append((number, mark))
    return found


def _look_at(work: Work, placement_id: int, mark: str) -> int:
    placement = work.get(Placement, placement_id, with_for_update={"of": Placement})
    if placement is None or placement.test is None:
        return 0
    test = placement.test
    placement.seen = mark
    seats = work.scalars(select(Seat).where(Seat.placement_id == placement_id)).all()
    found = {one.pupil_id: one for one in outcomes(work, test, every=False)}
    scheme = stored(test.grades)
    count = 0
    for seat in seats:
        score = _score(found.get(seat.pupil_id), scheme, holds_back(test), seat)
        if score is not None and score != seat.score:
            moment = now()
            seat.score = score
            seat.stamp = moment if seat.stamp is None else max(moment, seat.stamp + _STEP)
            seat.due, seat.tries, seat.problem = moment, 0, ""
            count += 1
    work.flush()
    return count


def _score(outcome: Outcome | None, scheme: Scheme | None, is_held_back: bool, seat: Seat) -> dict[str, Any] | None:
    """What the platform is to be told; None where there is nothing new to tell."""
    if outcome is None or outcome.state != "over":
        if seat.score is None or seat.score.get("activityProgress") == "Initialized":
            return None
        return {"activityProgress": "Initialized", "gradingProgress": "NotReady"}  # what counted before was set aside
    if outcome.waits or is_held_back:
        return None
    share = score_of(outcome, scheme)
    if share is None:
        return {"activityProgress": "Completed", "gradingProgress": "PendingManual"}
    told = {"activityProgress": "Completed", "gradingProgress": "FullyGraded", "scoreGiven": share, "scoreMaximum": MAXIMUM}
    return {**told, "comment": outcome.grade} if outcome.grade else told


def claim(work: Work, away: Sequence[int] = ()) -> Owed | None:
    """Take a score that is due in hand. `away`: platforms that are not to be asked now."""
    moment = now()
    is_free = or_(Seat.held.is_(None), Seat.held < moment)
    asked = select(Seat).join(Placement).where(Seat.due <= moment, is_free, Placement.platform_id.not_in(away))
    seat = work.scalars(asked.order_by(Seat.due, Seat.id).limit(1).with_for_update(of=Seat, skip_locked=True)).first()
    if seat is None or seat.score is None or seat.stamp is None:
        return None
    seat.held = moment + HELD
    work.flush()
    return Owed(seat.id, seat.placement_id, seat.sub, seat.score, seat.stamp)


def is_any(work: Work) -> bool:
    """Whether a score is due; only reads."""
    moment = now()
    return work.scalar(select(Seat.id).where(Seat.due <= moment, or_(Seat.held.is_(None), Seat.held < moment)).limit(1)) is not None


def taken(work: Work, owed: Owed) -> None:
    """The platform has it. If there is a newer score by now, that one stays due."""
    mine = and_(Seat.id == owed.seat_id, Seat.stamp == owed.stamp)
    work.execute(update(Seat).where(Seat.id == owed.seat_id).values(sent=owed.stamp, held=None, tries=0))
    work.execute(update(Seat).where(mine).values(due=None, problem=""))


def put_off(work: Work, owed: Owed, words: str, for_good: bool = False) -> None:
    """It was not taken: it is tried again later, or not before there is a newer one (`for_good`)."""
    seat = work.get(Seat, owed.seat_id)
    if seat is None:
        return
    seat.held, seat.problem, seat.tries = None, packed(words), seat.tries + 1
    if seat.stamp == owed.stamp:
        seat.due = None if for_good else now() + timedelta(seconds=pause(seat.tries))
    work.flush()


def pause(tries: int) -> float:
    """The seconds after so many tries that failed: twice as many each time."""
    return float(min(FIRST * 2.0 ** (min(tries, 20) - 1), LONGEST))
