"""The command line: each command is a function that takes parsed arguments and returns an exit code."""

import argparse
import io
import os
import sys
from collections.abc import Sequence
from typing import Any

from quaestor import __version__
from quaestor.cli import (
    back_up,
    check,
    convert,
    export,
    learn,
    posterior,
    rank,
    reproduce,
    restore,
    serve,
    show,
    sign_in,
    simulate,
    take,
    tour,
)
from quaestor.errors import QuaestorError

COMMANDS: dict[str, Any] = {
    "check": check,
    "show": show,
    "convert": convert,
    "posterior": posterior,
    "rank": rank,
    "take": take,
    "simulate": simulate,
    "reproduce": reproduce,
    "export": export,
    "learn": learn,
    "serve": serve,
    "sign-in": sign_in,
    "back-up": back_up,
    "restore": restore,
    "tour": tour,
}


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    main_parser = argparse.ArgumentParser(prog="quaestor", description="Adaptive tests on Bayesian and credal networks.")
    main_parser.add_argument("--version", action="version", version=f"quaestor {__version__}")
    commands = main_parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, module in COMMANDS.items():
        summary = (module.__doc__ or "").splitlines()[0]
        module.add_arguments(commands.add_parser(name, help=summary, description=summary))
    return main_parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; every error of ours becomes a message and exit code 1."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # not every terminal has every letter
    parsed = parser().parse_args(arguments)
    try:
        code: int = COMMANDS[parsed.command].run(parsed)
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
