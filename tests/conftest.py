"""Fixtures of all tests, and how property tests run: the same examples each time; `--hypothesis-profile=exploring` looks for more."""

from api_calls import small, world
from browsers import browse, chromium, site
from databases import cluster, database, make_database, migrated_file
from desks import ada, desk_app, join, kept, visit
from hypothesis import settings
from school import school, shared_school

__all__ = [
    "ada",
    "browse",
    "chromium",
    "cluster",
    "database",
    "desk_app",
    "join",
    "kept",
    "make_database",
    "migrated_file",
    "school",
    "shared_school",
    "site",
    "small",
    "visit",
    "world",
]

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=40)
settings.register_profile("exploring", deadline=None, max_examples=2000, print_blob=True)
settings.load_profile("repeatable")
