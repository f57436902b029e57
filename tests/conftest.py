"""How property tests run: the same examples every time; `pytest --hypothesis-profile=exploring` looks for others, and for longer."""

from browsers import browse, chromium, site
from databases import cluster, database, make_database, migrated_file
from hypothesis import settings

__all__ = ["browse", "chromium", "cluster", "database", "make_database", "migrated_file", "site"]

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=100)
settings.register_profile("exploring", deadline=None, max_examples=2000, print_blob=True)
settings.load_profile("repeatable")
