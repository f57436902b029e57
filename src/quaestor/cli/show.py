"""Show a bank or network: its skills, how they build on one another, and what its tables say."""

import argparse
import json
from pathlib import Path

from quaestor.errors import QuaestorError
from quaestor.formats.files import NETWORK_ENDINGS, load, read_network, save
from quaestor.report.graph import skill_graph
from quaestor.report.terminal import console, show_bank, show_network


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE", help="a bank or network file, or the name of a bundled bank")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--svg", metavar="PICTURE", help="write the skill graph as an SVG picture to this file")
    form.add_argument("--json", action="store_true", help="print the bank as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the bank or network, or draw the skill graph."""
    if Path(arguments.file).suffix.lower() in NETWORK_ENDINGS:
        if arguments.svg or arguments.json:
            raise QuaestorError(f"{arguments.file}: --svg and --json are for banks, got a network")
        show_network(read_network(arguments.file), console())
        return 0
    bank = load(arguments.file)
    if arguments.svg:
        save(skill_graph(bank).encode(), arguments.svg)
        print(f"wrote {arguments.svg}")
    elif arguments.json:
        print(json.dumps(bank.document, ensure_ascii=False, indent=1))
    else:
        show_bank(bank, console())
    return 0
