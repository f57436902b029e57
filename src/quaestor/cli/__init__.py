"""The command line: each command is a function that takes parsed arguments and returns an exit code."""

import argparse
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from quaestor import __version__
from quaestor.errors import QuaestorError
from quaestor.extras import from_extra

COMMANDS = (
    "check",
    "show",
    "convert",
    "posterior",
    "rank",
    "take",
    "simulate",
    "reproduce",
    "export",
    "collect",
    "learn",
    "compare",
    "serve",
    "sign-in",
    "back-up",
    "restore",
    "verify",
    "doctor",
    "tour",
)


def _module(command: str) -> Any:
    return import_module(f"quaestor.cli.{command.replace('-', '_')}")


def parser(only: str = "") -> argparse.ArgumentParser:
    """The parser of the command line; `only`: a command, all others then get no arguments, since their modules take long to import."""
    main_parser = argparse.ArgumentParser(prog="quaestor", description="Adaptive tests on Bayesian and credal networks.")
    main_parser.add_argument("--version", action="version", version=f"quaestor {__version__}")
    commands = main_parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS:
        if only in ("", name):
            summary = (_module(name).__doc__ or "").splitlines()[0]
            _module(name).add_arguments(commands.add_parser(name, help=summary, description=summary))
        else:
            commands.add_parser(name)
    return main_parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; a QuaestorError becomes a message and exit code 1."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # for terminals that cannot show all characters
    given = sys.argv[1:] if arguments is None else arguments
    try:
        with from_extra():
            parsed = parser(given[0] if given and given[0] in COMMANDS else "").parse_args(given)
            code: int = _module(parsed.command).run(parsed)
        sys.stdout.flush()
        return code
    except QuaestorError as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
