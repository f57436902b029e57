"""The API on every kind of database, and on one."""

from helpers.api_calls import small, world

__all__ = ["small", "world"]
