"""The present time as the database stores it: UTC without a time zone."""

from datetime import UTC, datetime


def now() -> datetime:
    """The present time."""
    return datetime.now(UTC).replace(tzinfo=None)
