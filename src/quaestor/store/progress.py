"""Running and finished attempts, counted in SQL.

An attempt whose time is up is over even if nobody came back and it was not recorded (see `sittings.deadline`).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, and_, case, func, or_, select
from sqlalchemy.orm import Session as Work

from quaestor.store.models import Attempt, Published


def is_over(tests: Iterable[Published], moment: datetime) -> ColumnElement[bool]:
    """The condition that an attempt at one of these tests is over: it ended, the test is closed, or its time is up."""
    closed: list[int] = []
    timed: dict[float, list[int]] = defaultdict(list)
    for test in tests:
        if test.closes is not None and test.closes <= moment:
            closed.append(test.id)
        elif test.minutes is not None:
            timed[test.minutes].append(test.id)
    up = [and_(Attempt.test_id.in_(ids), Attempt.started <= moment - timedelta(minutes=minutes)) for minutes, ids in timed.items()]
    return or_(Attempt.ended.is_not(None), Attempt.test_id.in_(closed), *up)


def counts(work: Work, tests: Sequence[Published], moment: datetime) -> dict[int, tuple[int, int]]:
    """The numbers of running and of finished attempts of each test that has any."""
    over = func.sum(case((is_over(tests, moment), 1), else_=0))
    begun = select(Attempt.test_id, func.count(), over).where(Attempt.test_id.in_([test.id for test in tests])).group_by(Attempt.test_id)
    return {test: (total - finished, finished) for test, total, finished in work.execute(begun)}
