"""Restore a back-up into an empty database, of the same kind or another."""

import argparse
from pathlib import Path

from quaestor.cli.web import add_settings, settings_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE", help="a zip file of `quaestor back-up`")
    add_settings(parser, "data", "database")


def run(arguments: argparse.Namespace) -> int:
    """Restore the file and print what was in it."""
    settings = settings_of(arguments)
    from quaestor.store.backup import restore
    from quaestor.web.operations.installation import restored_database

    with restored_database(settings) as database:
        counts = restore(database, Path(arguments.file))
    print(f"restored: {counts['published']} tests, {counts['attempt']} attempts, {counts['event']} answers")
    return 0
