"""Inserts with a conflict clause (upserts), which SQLite and PostgreSQL write alike."""

from typing import Any

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session as Work


def insert(work: Work, table: Any) -> postgresql.Insert | sqlite.Insert:
    """An insert with `on_conflict_do_nothing` and `on_conflict_do_update`."""
    return postgresql.insert(table) if work.get_bind().dialect.name == "postgresql" else sqlite.insert(table)
