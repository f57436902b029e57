"""The time of a published test after it was published: closing, opening it again, another time limit, extra time, another try.

An attempt that ended only because its time was up, or because the test was closed, goes on when it is given time again.
"""

from datetime import datetime

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError, got
from quaestor.i18n import say
from quaestor.store.attempts.state import CLOSED, TIME_UP, deadline
from quaestor.store.clock import now
from quaestor.store.models import Attempt, Published, Pupil
from quaestor.store.privacy import has_name, is_named
from quaestor.store.publishing import Conditions

MOST_EXTRA = 24 * 60  # minutes
FACTORS = (1.0, 1.25, 1.5, 2.0)  # times the time limit
SET_ASIDE = say("Your teacher has set this try aside; you can begin again with your code.")


def close(work: Work, test: Published) -> None:
    """Close a test now, for everybody."""
    if test.closes is None or test.closes > now():
        test.closes = now()
        _set_due(work, test)


def change_time(work: Work, test: Published, minutes: float | None, closes: datetime | None) -> None:
    """Give a test another time limit, or none, and another moment of closing, or none; a later one opens it again."""
    Conditions(minutes=minutes, opens=test.opens, closes=closes)  # raises for what cannot be
    test.minutes, test.closes = minutes, closes
    _set_due(work, test)


def change_limits(test: Published, per_browser: int | None, per_address: int | None) -> None:
    """Let a test be begun so often within a day, in one browser and from one address; None: without a limit."""
    Conditions(per_browser=per_browser, per_address=per_address)  # raises for what cannot be
    test.per_browser, test.per_address = per_browser, per_address


def give_time(work: Work, whom: Attempt | Pupil, minutes: float, factor: float = 1.0) -> None:
    """Give an attempt, or every attempt of a pupil, so many times the time limit, and minutes more than that, from the beginning."""
    if factor not in FACTORS:
        rule = say("one of {words}", words=", ".join(f"{one:g}" for one in FACTORS))
        raise QuaestorError.at("factor", got(rule, f"{factor:g}"))
    if not 0 <= minutes <= MOST_EXTRA:
        raise QuaestorError.at("extra", got(say("a number of minutes from 0 to {most}", most=MOST_EXTRA), f"{minutes:g}"))
    whom.extra, whom.factor = minutes, factor
    mine = Attempt.id == whom.id if isinstance(whom, Attempt) else Attempt.pupil_id == whom.id
    work.execute(update(Attempt).where(mine).values(extra=minutes, factor=factor), execution_options={"synchronize_session": "fetch"})
    for test in work.scalars(select(Published).where(Published.id.in_(select(Attempt.test_id).where(mine)))).all():
        _set_due(work, test, mine)


def set_aside(work: Work, attempt: Attempt) -> None:
    """Let an attempt not count, so that its taker may begin another one; what was answered is kept."""
    moment = now()
    attempt.set_aside = moment
    if attempt.ended is None:
        attempt.ended, attempt.reason = moment, str(SET_ASIDE)


def count_again(work: Work, attempt: Attempt) -> None:
    """Let an attempt count that was set aside; if only that had ended it, it goes on where it has time."""
    if attempt.set_aside is None:
        return
    later = (Attempt.pupil_id == attempt.pupil_id, Attempt.id > attempt.id, Attempt.set_aside.is_(None))
    if attempt.pupil_id is not None and work.scalar(select(Attempt.id).where(*later).limit(1)) is not None:
        raise QuaestorError(say("{name} has begun another try since: set that one aside first", name=attempt.name))
    attempt.set_aside = None
    if attempt.reason == SET_ASIDE and is_named(attempt):
        attempt.ended, attempt.reason = None, ""
    _set_due(work, attempt.test, Attempt.id == attempt.id)


def _set_due(work: Work, test: Published, mine: object = True) -> None:
    """When each attempt is over at the latest; those that only the clock ended go on where they have time again."""
    work.flush()
    by_clock = or_(Attempt.ended.is_(None), Attempt.reason.in_((str(TIME_UP), str(CLOSED))))
    there = (Attempt.test_id == test.id, Attempt.set_aside.is_(None), has_name(), by_clock)
    for attempt in work.scalars(select(Attempt).where(*there, mine)):  # type: ignore[arg-type]
        attempt.due = deadline(attempt)[0]
        if attempt.ended is not None and (attempt.due is None or attempt.due > now()):
            attempt.ended, attempt.reason = None, ""
