"""Running and finished attempts, counted in SQL.

An attempt whose time is up is over even if nobody came back and it was not recorded (see `state.deadline`).
"""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, case, func, or_, select
from sqlalchemy.orm import Session as Work

from quaestor.store.models import Attempt, Published


def is_over(moment: datetime) -> ColumnElement[bool]:
    """The condition that an attempt is over: it ended, or its time was up."""
    return or_(Attempt.ended.is_not(None), func.coalesce(Attempt.due <= moment, False))


def counts(work: Work, tests: Sequence[Published], moment: datetime) -> dict[int, tuple[int, int]]:
    """The numbers of running and of finished attempts of each test that has any."""
    over = func.sum(case((is_over(moment), 1), else_=0))
    begun = select(Attempt.test_id, func.count(), over).where(Attempt.test_id.in_([test.id for test in tests])).group_by(Attempt.test_id)
    return {test: (total - finished, finished) for test, total, finished in work.execute(begun)}
