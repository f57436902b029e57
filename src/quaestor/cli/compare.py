"""Compare the banks that answers could be learnt with, on people held out: skills, levels, links, tables or curves."""

import argparse
import json
from pathlib import Path

from quaestor.cli.learning_start import add_start, begin, chosen
from quaestor.errors import QuaestorError
from quaestor.formats.files import save
from quaestor.learn import WEIGHT
from quaestor.learn.choice import FOLDS
from quaestor.report.alternatives import RULE, choice_grid, plain_choice
from quaestor.report.terminal import console


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_start(parser)
    parser.add_argument("--weight", type=float, default=WEIGHT, metavar="W", help=f"a row of the bank counts as W answers ({WEIGHT:g})")
    parser.add_argument("--folds", type=int, default=FOLDS, metavar="N", help=f"parts of the people that are held out in turn ({FOLDS})")
    parser.add_argument("--out", metavar="FILE", help="write the table as CSV, too")
    parser.add_argument("--json", action="store_true", help="print the comparison as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Compare and report."""
    if arguments.out and Path(arguments.out).suffix.lower() != ".csv":
        raise QuaestorError(f"{arguments.out}: the table is written as .csv, got '{Path(arguments.out).suffix}'")
    start, answers = begin(arguments)
    choice = chosen(start, answers, arguments, arguments.folds, {"weight": arguments.weight}, None)
    if arguments.out:
        save(choice.table().to_csv(lineterminator="\n", float_format="%.6f").encode(), Path(arguments.out))
    if arguments.json:
        print(json.dumps(plain_choice(choice), indent=1))
        return 0
    shown = console()
    shown.print(choice.words)
    shown.print(choice_grid(choice))
    shown.print(RULE)
    return 0
