"""Check bank and network files against every rule and print what is wrong.

A bank that is right is also tried out, for some seconds at most: a warning says if its structure makes the steps of a test slow, and what
would help. Exit code 1 when there is an error, 0 when there are at most warnings.
"""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from quaestor.errors import BankError, NetworkError, Problem
from quaestor.formats.files import NETWORK_ENDINGS, load, read_network
from quaestor.report.slowness import slowness


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="bank or network files, or names of bundled banks")
    parser.add_argument("--json", action="store_true", help="print the problems as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Check each file."""
    results = [_check(file) for file in arguments.files]
    failed = any(problem.severity == "error" for _, _, problems in results for problem in problems)
    if arguments.json:
        listed = [{"file": file, "problems": [_listed(problem) for problem in problems]} for file, _, problems in results]
        print(json.dumps(listed, ensure_ascii=False, indent=1))
        return int(failed)
    for file, content, problems in results:
        for problem in problems:
            print(f"{file}:{problem}" if problem.severity == "error" else f"{file}:warning: {problem}")
        counts = [sum(problem.severity == severity for problem in problems) for severity in ("error", "warning")]
        print(f"{file}: {content}{_count(counts[0], 'error')}, {_count(counts[1], 'warning')}")
    return int(failed)


def _listed(problem: Problem) -> dict[str, str]:
    return {name: value for name, value in asdict(problem).items() if name != "path"}


def _check(file: str) -> tuple[str, str, tuple[Problem, ...]]:
    """A file's name, a summary of its content, and its problems."""
    try:
        if Path(file).suffix.lower() in NETWORK_ENDINGS:
            return file, f"{_count(len(read_network(file).variables), 'variable')}; ", ()
        bank = load(file)
    except BankError as error:
        return file, "", error.problems
    except NetworkError as error:
        return file, "", (Problem("network", "a network file follows its format", str(error).removeprefix(f"{file}: ")),)
    slow = slowness(bank)
    problems = bank.warnings if slow is None else (*bank.warnings, slow)
    return file, f"{_count(len(bank.skills), 'skill')}, {_count(len(bank.questions), 'question')}; ", problems


def _count(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'s' * (number != 1)}"
