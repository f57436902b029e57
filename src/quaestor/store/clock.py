"""The time, in one place: UTC without a zone, as the database keeps it."""

from datetime import UTC, datetime


def now() -> datetime:
    """The present moment."""
    return datetime.now(UTC).replace(tzinfo=None)
