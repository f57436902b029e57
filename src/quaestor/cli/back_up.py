"""Write everything that the server keeps into one file, while it runs."""

import argparse
from pathlib import Path

from quaestor.cli.web import add_settings, database_of, settings_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE", help="the zip file to write")
    add_settings(parser, "data", "database")


def run(arguments: argparse.Namespace) -> int:
    """Write the file and print what is in it."""
    settings = settings_of(arguments)
    from quaestor.store.backup import back_up

    with database_of(settings) as database:
        counts = back_up(database, Path(arguments.file))
    print(f"{arguments.file}: {counts['published']} tests, {counts['attempt']} attempts, {counts['event']} answers")
    return 0
