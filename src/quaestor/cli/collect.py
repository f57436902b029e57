"""Read the results that came back from a test without a server (`export --html`) into one sheet, or into a test on a server."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quaestor.cli.web import add_settings, database_of, settings_of
from quaestor.errors import QuaestorError
from quaestor.formats.files import save
from quaestor.report.terminal import console, grid
from quaestor.selection.sureness import sure_above

if TYPE_CHECKING:
    from quaestor.bankfile.bank import Bank
    from quaestor.selection.rules import Rules
    from quaestor.store.outcomes.outcome import Outcome

ENDINGS = (".csv", ".xlsx")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("test", metavar="TEST.html", help="the file with the test, as it was written by 'quaestor export --html'")
    parser.add_argument(
        "results", metavar="RESULT", nargs="+", help="saved results, text files with a scanned code a line, or folders of these"
    )
    parser.add_argument("--out", metavar="FILE", help="a CSV or XLSX file to write; default: a table on the screen")
    parser.add_argument(
        "--into", type=int, metavar="NUMBER", help="the number of a test on the server: results become those of its pupils, each once"
    )
    add_settings(parser, "data", "database")


def run(arguments: argparse.Namespace) -> int:
    """Check every result, work it out again, and write one row for each; what cannot be taken is named, and the exit code is then 1."""
    from quaestor.store.outcomes.sheets import csv_bytes, dictionary, table, xlsx_bytes
    from quaestor.web.offline.handed_in import HandedIn, HandedInError, outcome_of, read_test, taken

    ending = Path(arguments.out).suffix.lower() if arguments.out else ""
    if arguments.out and ending not in ENDINGS:
        raise QuaestorError.at(arguments.out, f"results are written to a file that ends in one of {', '.join(ENDINGS)}")
    bank, rules = read_test(Path(arguments.test))
    if arguments.into is not None:
        return _into(arguments, bank, rules)
    found: dict[str, HandedIn] = {}
    refused: list[str] = []
    for place, code, saved in _results(arguments.results, refused):
        try:
            found.setdefault(" ".join(code.split()), taken(bank, rules, place, code, saved))
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


def _into(arguments: argparse.Namespace, bank: "Bank", rules: "Rules") -> int:
    """Read results into a test on the server; 1 if any was refused."""
    from quaestor.store.models import Published
    from quaestor.web.offline.collecting import checked, collect, conditions_of, summary
    from quaestor.web.offline.file import identity

    if arguments.out:
        raise QuaestorError("--into and --out: one of them, got both")
    unread: list[str] = []
    with database_of(settings_of(arguments)) as database:
        with database.read() as work:
            test = work.get(Published, arguments.into)
            if test is None:
                raise QuaestorError.at("--into", f"the number of a test is expected, got {arguments.into}")
            expected, sent = identity(*conditions_of(test)), identity(bank, rules)
            if sent != expected:
                words = (
                    f"the file of test {test.id} ('{test.title}', {expected}) is expected, got another bank version or other rules ({sent})"
                )
                raise QuaestorError.at(arguments.test, words)
            found, report = checked(work, test, _results(arguments.results, unread))
        with database.work() as work:
            report = collect(work, work.get_one(Published, arguments.into), found, report)
    for words in (*report.notes, *unread, *report.refused):
        print(words, file=sys.stderr)
    report.refused += unread
    print(summary(report))
    return 1 if report.refused else 0


def _results(named: list[str], refused: list[str]) -> "Iterator[tuple[str, str, dict[str, Any]]]":
    """The results in files and folders; `refused` gets what is wrong with files that hold none."""
    from quaestor.web.offline.handed_in import HandedInError, read_results

    for path in _files(named):
        try:
            yield from read_results(path)
        except HandedInError as error:
            refused.append(str(error))


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
