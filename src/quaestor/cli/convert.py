"""Convert a bank or network file to another format, or write a form to fill in."""

import argparse
from pathlib import Path

from quaestor.bankfile.bank import NEWEST, Bank
from quaestor.errors import QuaestorError
from quaestor.formats import sheets
from quaestor.formats.files import BANK_ENDINGS, NETWORK_ENDINGS, dump, load, read_network, save, write_network

_EXAMPLE = {
    "quaestor": NEWEST,
    "title": "My first bank",
    "description": "Replace these rows by your own; empty columns may stay empty.",
    "skills": {
        "addition": {"title": "Adding", "levels": ["no", "yes"], "prior": [0.4, 0.6]},
        "carrying": {"title": "Adding with carrying", "levels": ["no", "partly", "yes"], "parents": ["addition"], "strength": 0.6},
    },
    "templates": {"standard": {"difficulty": "medium", "discrimination": "strong", "confidence": "fairly sure"}},
    "questions": {
        "A1": {"text": "What is $7 + 2$?", "options": ["8", "9", "10"], "correct": "9", "skill": "addition", "right": [0.4, 0.95]},
        "A2": {"template": "standard", "text": "What is $38 + 25$?", "kind": "number", "correct": "63", "skill": "carrying", "minutes": 1},
        "A3": {
            "text": "What is $19 + 4$?",
            "options": {"23": "right", "13": "half", "22": "wrong"},
            "skills": ["addition", "carrying"],
            "classes": ["wrong", "half", "right"],
            "table": {
                "no, no": [0.6, 0.2, 0.2],
                "no, partly": [0.5, 0.3, 0.2],
                "no, yes": [0.5, 0.2, 0.3],
                "yes, no": [0.3, 0.4, 0.3],
                "yes, partly": [0.2, 0.3, 0.5],
                "yes, yes": [0.05, 0.1, [0.8, 0.9]],
            },
        },
    },
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("source", nargs="?", metavar="FROM", help="a bank or network file, or the name of a bundled bank")
    parser.add_argument("target", metavar="TO", help="the file to write; its ending names the format")
    parser.add_argument("--template", action="store_true", help="write a small example bank to start from (XLSX: with every column)")


def run(arguments: argparse.Namespace) -> int:
    """Convert, or write the form."""
    source, target = arguments.source, arguments.target
    if arguments.template and source is not None:
        raise QuaestorError("--template writes one file, got two names")
    if arguments.template:
        _write_template(target)
    elif source is None:
        raise QuaestorError("convert needs a file to read and a file to write, got one")
    elif Path(source).suffix.lower() in NETWORK_ENDINGS:
        if Path(target).suffix.lower() in BANK_ENDINGS:
            raise QuaestorError(f"{target}: a network has no questions and cannot become a bank, got {source}")
        write_network(read_network(source), target)
    elif Path(target).suffix.lower() in NETWORK_ENDINGS:
        write_network(load(source).network, target)
    else:
        dump(load(source), target)
    print(f"wrote {target}")
    return 0


def _write_template(target: str) -> None:
    bank = Bank(_EXAMPLE)
    if Path(target).suffix.lower() == ".xlsx":
        save(sheets.write_xlsx(bank.document, every_column=True), target)
    else:
        dump(bank, target)
