"""Fixtures of all tests, and how property tests run: the same examples each time; `--hypothesis-profile=exploring` looks for more."""

from hypothesis import settings

from helpers.databases import cluster, database, make_database, migrated_file

__all__ = ["cluster", "database", "make_database", "migrated_file"]

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=40)
settings.register_profile("exploring", deadline=None, max_examples=2000, print_blob=True)
settings.load_profile("repeatable")
