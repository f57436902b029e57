"""The small school. Pages on PostgreSQL belong to the long tests: what they ask of the database is tested on both in `tests/store`."""

import pytest

from helpers.school import school, shared_school

__all__ = ["pytest_collection_modifyitems", "school", "shared_school"]
ALWAYS = ("test_faults", "test_limits", "test_guessing")  # where PostgreSQL itself is what is tested


def pytest_collection_modifyitems(items):
    for item in items:
        where = item.path.as_posix()
        if "/tests/web/" in where and "postgresql" in item.name and item.path.stem not in ALWAYS:
            item.add_marker(pytest.mark.long)
