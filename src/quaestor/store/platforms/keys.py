"""Our own key pairs. A key is published for a day before it signs, so that platforms which keep a copy of our keys know it by then.

A new one is made each year; the one before stays published until the next.
"""

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session as Work

from quaestor.store.clock import now
from quaestor.store.platform_tables import ToolKey

YEAR, DAY = timedelta(days=365), timedelta(days=1)


def published(work: Work) -> Sequence[ToolKey]:
    """All keys that platforms may meet, the oldest first."""
    return work.scalars(select(ToolKey).order_by(ToolKey.created, ToolKey.kid)).all()


def signing(work: Work) -> ToolKey | None:
    """The key that signs: the newest that was published for a day, or the first one; None if there is none yet."""
    found = published(work)
    ready = [key for key in found if key.created < now() - DAY]
    return ready[-1] if ready else found[0] if found else None


def is_needed(work: Work) -> bool:
    """Whether a key is to be made: there is none, or the newest is a year old."""
    found = published(work)
    return not found or found[-1].created < now() - YEAR


def keep(work: Work, kid: str, private: str) -> None:
    """Store a new key; of the earlier ones only the last stays."""
    for key in published(work)[:-1]:
        work.delete(key)
    work.add(ToolKey(kid=kid, private=private, created=now()))
    work.flush()
