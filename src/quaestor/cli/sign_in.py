"""Print a new one-time link that signs the owner (or a teacher) in."""

import argparse

from quaestor.cli.web import add_settings, database_of, settings_of
from quaestor.errors import QuaestorError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("teacher", nargs="?", metavar="EMAIL", help="the teacher's address; the owner when left out")
    add_settings(parser, "data", "database", "host", "port", "root", "address")


def run(arguments: argparse.Namespace) -> int:
    """Make a link and print it."""
    settings = settings_of(arguments)
    from quaestor.store import teachers

    with database_of(settings) as database, database.work() as work:
        found = teachers.by_email(work, arguments.teacher) if arguments.teacher else teachers.owner(work, settings.email)
        if found is None:
            raise QuaestorError(f"teacher: the address of an account, got '{arguments.teacher}'")
        link = teachers.sign_in_link(work, found)
    print(f"{settings.public_address}/sign-in/{link}")
    return 0
