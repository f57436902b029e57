"""Read the results that came back from a test without a server (`export --html`) into one sheet."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from quaestor.errors import QuaestorError
from quaestor.formats.files import save
from quaestor.report.terminal import console, grid
from quaestor.selection.sureness import sure_above

if TYPE_CHECKING:
    from quaestor.store.outcomes.outcome import Outcome

ENDINGS = (".csv", ".xlsx")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("test", metavar="TEST.html", help="the file with the test, as it was written by 'quaestor export --html'")
    parser.add_argument(
        "results", metavar="RESULT", nargs="+", help="saved results, text files with a scanned code a line, or folders of these"
    )
    parser.add_argument("--out", metavar="FILE", help="a CSV or XLSX file to write; default: a table on the screen")


def run(arguments: argparse.Namespace) -> int:
    """Check every result, work it out again, and write one row for each; what cannot be taken is named, and the exit code is then 1."""
    from quaestor.store.outcomes.sheets import csv_bytes, dictionary, table, xlsx_bytes
    from quaestor.web.offline.handed_in import HandedIn, HandedInError, outcome_of, read_results, read_test, taken

    ending = Path(arguments.out).suffix.lower() if arguments.out else ""
    if arguments.out and ending not in ENDINGS:
        raise QuaestorError.at(arguments.out, f"results are written to a file that ends in one of {', '.join(ENDINGS)}")
    bank, rules = read_test(Path(arguments.test))
    found: dict[str, HandedIn] = {}
    refused: list[str] = []
    for path in _files(arguments.results):
        try:
            for place, code, saved in read_results(path):
                try:
                    found.setdefault(" ".join(code.split()), taken(bank, rules, place, code, saved))
                except HandedInError as error:
                    refused.append(str(error))
        except HandedInError as error:
            refused.append(str(error))
    outcomes = [outcome_of(number, one) for number, one in enumerate(found.values(), 1)]
    if ending == ".csv":
        save(csv_bytes(table(outcomes, bank)), arguments.out)
    elif ending == ".xlsx":
        save(xlsx_bytes(table(outcomes, bank), dictionary(bank, sure_above(rules))), arguments.out)
    elif outcomes:
        _show(outcomes)
    for one in found.values():
        for note in one.notes:
            print(f"{one.place}: {one.name}: {note}", file=sys.stderr)
    for words in refused:
        print(words, file=sys.stderr)
    results = f"{len(found)} {'result' if len(found) == 1 else 'results'}"
    print(f"{results} taken, {len(refused)} refused", file=sys.stderr)
    return 1 if refused else 0


def _show(outcomes: "list[Outcome]") -> None:
    skills = list(outcomes[0].skills)
    rows = grid("name", "right", *skills)
    for one in outcomes:
        levels = [(f.level if f.sure else f"{f.level}?") if f.enough else "too few answers" for f in one.skills.values()]
        rows.add_row(one.name, f"{one.right} of {one.counted}", *levels)
    console().print(rows)
    console().print("?: not certain yet", style="dim")


def _files(named: list[str]) -> list[Path]:
    """The files themselves, and those with results in the folders."""
    found: list[Path] = []
    for name in named:
        path = Path(name)
        found += sorted(one for one in path.iterdir() if one.suffix.lower() in (".json", ".txt")) if path.is_dir() else [path]
    return found
