"""How property tests run: the same examples every time; `pytest --hypothesis-profile=exploring` looks for others, and for longer."""

from databases import cluster, database, make_database, migrated_file
from hypothesis import settings

__all__ = ["cluster", "database", "make_database", "migrated_file"]

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=100)
settings.register_profile("exploring", deadline=None, max_examples=2000, print_blob=True)
settings.load_profile("repeatable")
