"""Shared by the commands of the server: its settings as flags, and its database."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quaestor.store.database import Database
    from quaestor.web.settings import Settings


def add_settings(parser: argparse.ArgumentParser, *names: str) -> None:
    """Declare the settings as flags: all of them, or some."""
    from quaestor.web.settings import MEANINGS, PREFIX, Settings

    for field in fields(Settings):
        if not names or field.name in names:
            meaning = f"{MEANINGS[field.name]} ({PREFIX}{field.name.upper()}; default: {field.default or 'none'})"
            parser.add_argument(f"--{field.name}", metavar=field.name.upper(), help=meaning.replace("%", "%%"))


def settings_of(arguments: argparse.Namespace) -> "Settings":
    """The settings of the environment, changed by the flags."""
    from quaestor.web.settings import from_environment

    return from_environment(**{name: value for name, value in vars(arguments).items() if name != "command"})


@contextmanager
def database_of(settings: "Settings", make: bool = False) -> "Iterator[Database]":
    """The database of a command, closed at its end. `make`: create it if there is none."""
    from quaestor.web.operations.installation import make_database, open_database

    database = make_database(settings) if make else open_database(settings)
    try:
        yield database
    finally:
        database.close()
