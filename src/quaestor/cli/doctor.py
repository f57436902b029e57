"""Look at a set-up of the server and say what is wrong with it and how to mend it; nothing is changed."""

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from quaestor.cli.web import add_settings

if TYPE_CHECKING:
    from quaestor.web.checkup.finding import Finding
    from quaestor.web.settings import Settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--json", action="store_true", help="print every finding as JSON")
    parser.add_argument("--back-ups", metavar="FOLDER", default="", help="the folder of the back-ups: the newest one is looked at")
    parser.add_argument("--banks", action="store_true", help="also make dry runs of the latest tests, up to 10 seconds")
    add_settings(parser)


def run(arguments: argparse.Namespace) -> int:
    """Look at everything and print what was found; 1 if anything is wrong."""
    from quaestor.web.checkup.finding import ADVICE, WRONG

    found = list(_all(arguments))
    if arguments.json:
        print(json.dumps([asdict(one) for one in found], ensure_ascii=False, indent=1))
    else:
        for one in found:
            print(f"{one.state:<7} {one.check}: {one.words}")
            if one.mend:
                print(f"        {one.mend}")
        count, hints = (sum(one.state == state for one in found) for state in (WRONG, ADVICE))
        print(f"{len(found)} checks: {count or 'nothing'} wrong, {hints or 'no'} {'piece' if hints == 1 else 'pieces'} of advice")
    return 1 if any(one.state == WRONG for one in found) else 0


def _all(arguments: argparse.Namespace) -> "Iterator[Finding]":
    from quaestor.errors import QuaestorError
    from quaestor.web.checkup import folder, machine, setup
    from quaestor.web.checkup.finding import WRONG, wrong

    libraries = machine.libraries()
    yield from libraries
    yield from machine.fonts()
    yield from setup.names()
    try:
        settings = _settings(arguments)
    except QuaestorError as error:
        yield from wrong("settings", f"A setting cannot be read: {error}.", "Mend it; docs/server.md lists the settings.")
        return
    for check in (setup.address, setup.secrets, machine.workers, folder.data):
        yield from check(settings)
    if libraries[0].state != WRONG:
        from quaestor.web.checkup import provider_check, records

        yield from provider_check.openid(settings)
        yield from records.database(settings, arguments.banks)
    yield from setup.server(settings)
    yield from folder.back_ups(arguments.back_ups)


def _settings(arguments: argparse.Namespace) -> "Settings":
    from quaestor.web.settings import from_environment

    return from_environment(**{name: value for name, value in vars(arguments).items() if name != "command"})
