"""Convert a bank or network file to another format, or write a form to fill in."""

import argparse
from pathlib import Path

from quaestor.bankfile.networks import bank_from_network
from quaestor.errors import BankError, QuaestorError
from quaestor.formats.files import BANK_ENDINGS, NETWORK_ENDINGS, dump, load, read_network, save, write_network
from quaestor.formats.template import template


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("source", nargs="?", metavar="FROM", help="a bank or network file, or the name of a bundled bank")
    parser.add_argument("target", metavar="TO", help="the file to write; its ending names the format")
    parser.add_argument(
        "--skills", type=_names, default=[], metavar="A,B", help="of a network that becomes a bank: the variables that are skills"
    )
    parser.add_argument("--hidden", type=_names, default=[], metavar="C,D", help="of a network that becomes a bank: variables to sum out")
    parser.add_argument("--template", action="store_true", help="write a small example bank to start from (XLSX: with every column)")


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def run(arguments: argparse.Namespace) -> int:
    """Convert, or write the form."""
    source, target = arguments.source, arguments.target
    if arguments.template and source is not None:
        raise QuaestorError("--template writes one file, got two names")
    if arguments.template:
        try:
            save(template(Path(target).suffix.lower()), target)
        except BankError as error:
            raise BankError(error.problems, target) from error
    elif source is None:
        raise QuaestorError("convert needs a file to read and a file to write, got one")
    elif Path(source).suffix.lower() in NETWORK_ENDINGS:
        if Path(target).suffix.lower() in BANK_ENDINGS:
            if not arguments.skills:
                raise QuaestorError(f"{target}: a network becomes a bank with --skills, the names of the variables to measure, got none")
            dump(bank_from_network(read_network(source), arguments.skills, arguments.hidden, title=Path(source).stem), target)
        else:
            write_network(read_network(source), target)
    elif Path(target).suffix.lower() in NETWORK_ENDINGS:
        write_network(load(source).network, target)
    else:
        dump(load(source), target)
    print(f"wrote {target}")
    return 0
