"""Try a test on simulated students: a study file, or a bank with rules."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path

from quaestor import __version__
from quaestor.bankfile.bank import Bank
from quaestor.cli.take import DEFAULT
from quaestor.errors import QuaestorError
from quaestor.formats.documents import read_document
from quaestor.formats.files import bundled_banks, load
from quaestor.report.terminal import console, grid
from quaestor.selection.rules import Rules
from quaestor.selection.rules_file import load_rules
from quaestor.simulate import Simulation, simulate
from quaestor.simulate.answering import Behaviour
from quaestor.simulate.library import CPU
from quaestor.simulate.plain import is_plain
from quaestor.simulate.simulation import KEEP
from quaestor.simulate.study import load_study


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("what", metavar="STUDY|BANK", help="a study file (docs/studies.md), a bank file, or the name of a bundled bank")
    parser.add_argument("--rules", metavar="FILE", help="with a bank: how the test is run (default: as `quaestor take`)")
    parser.add_argument("--students", type=int, metavar="N", help="with a bank: how many (default: 1000)")
    parser.add_argument("--seed", type=int, help="with a bank: the seed (default: 1)")
    parser.add_argument("--widen", type=float, metavar="E", help="with a bank: make every number an interval of +- E first")
    parser.add_argument("--out", metavar="FOLDER", help="where results go: with a study tables, figures and a page; with a bank every step")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="processes on this machine; they do not change the results")
    parser.add_argument("--cluster", metavar="ADDRESS", help="a Dask scheduler to run on; it does not change the results")
    parser.add_argument(
        "--device",
        default=CPU,
        metavar="NAME",
        help="where to work it out: cpu (default), or a graphics card, cuda, cuda:1 (for which tests: docs/large-simulations.md)",
    )
    parser.add_argument(
        "--keep",
        choices=KEEP,
        help="with a bank: keep numbers of all students (default), or only sums over them, for more students than memory holds",
    )
    parser.add_argument("--json", action="store_true", default=None, help="with a bank: print the results as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Simulate and report."""
    if _is_study(arguments.what):
        return _study(arguments)
    bank = load(arguments.what)
    bank = bank.widen(arguments.widen) if arguments.widen else bank
    rules = load_rules(arguments.rules) if arguments.rules else DEFAULT
    students = 1000 if arguments.students is None else arguments.students
    if arguments.device != CPU and not is_plain(bank, rules, Behaviour(), arguments.device):
        print("The graphics card is not used: it is for plain tests, see docs/large-simulations.md.", file=sys.stderr)
    with _progress(students) as progress:
        found = simulate(
            bank,
            rules,
            students,
            1 if arguments.seed is None else arguments.seed,
            workers=arguments.workers,
            cluster=arguments.cluster,
            out=arguments.out,
            device=arguments.device,
            progress=progress,
            keep=arguments.keep or KEEP[0],
        )
    if arguments.json:
        print(json.dumps(_plain(found, rules), indent=1))
    else:
        _show(found, bank, rules)
    return 0


def _is_study(what: str) -> bool:
    if what in bundled_banks() or not Path(what).exists() or Path(what).suffix.lower() not in (".yaml", ".yml", ".json"):
        return False
    document, _ = read_document(what)
    return isinstance(document, dict) and not {"bank", "methods", "students"}.isdisjoint(document)


def _study(arguments: argparse.Namespace) -> int:
    given = [f"--{name}" for name in ("rules", "students", "seed", "widen", "keep", "json") if getattr(arguments, name) is not None]
    if given:
        raise QuaestorError(f"{arguments.what}: a study says these things itself, got {', '.join(given)}; change the file")
    from quaestor.report.study import write_study

    study = load_study(arguments.what)
    folder = Path(arguments.out) if arguments.out else Path(arguments.what).with_suffix("")
    if folder.exists() and not folder.is_dir():
        raise QuaestorError(f"{folder}: a folder that can be written, got a file")
    count = study.students if isinstance(study.students, int) else prod(len(skill.levels) for skill in study.bank.skills.values())
    with _progress(count * len(study.methods)) as progress:
        results = study.run(arguments.workers, arguments.cluster, progress, arguments.device)
    try:
        write_study(study, results, folder, f"quaestor simulate {Path(arguments.what).name}", __version__)
    except OSError as error:
        raise QuaestorError(f"{folder}: a folder that can be written, got {error.strerror or error}") from error
    out = console()
    out.print(f"{study.title}: {len(study.methods)} methods, written to {folder}/index.html")
    return 0


@contextmanager
def _progress(total: int) -> Iterator[Callable[[int], None] | None]:
    """A progress bar with rate and time left; None if the output is not a terminal."""
    if not sys.stdout.isatty():
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("students"), BarColumn(), TextColumn("{task.completed:,} of {task.total:,}"), TextColumn("{task.fields[rate]}"))
    with Progress(*columns, TimeRemainingColumn(), console=console(), transient=True) as bar:
        task = bar.add_task("students", total=total, rate="")

        def done(students: int) -> None:
            speed = bar.tasks[task].speed
            bar.update(task, advance=students, rate=f"{speed:,.0f} a second" if speed else "")

        yield done


def _plain(found: Simulation, rules: Rules) -> dict[str, object]:
    errors = {f"{name}_error": found.error(name) for name in found.means}
    columns = {"running": found.running, **{name: getattr(found, name) for name in found.means}, **errors}
    steps = {name: [None if value != value else value for value in column.tolist()] for name, column in columns.items()}
    counted = {"mean_length": float(found.length), "stops": found.stops, "never_used": found.never_used}
    return {"rules": rules.document, **counted, "steps": steps}


def _show(found: Simulation, bank: Bank, rules: Rules) -> None:
    out = console()
    out.print(f"The test stops when {rules.stop.words}." if rules.stop is not None else "The test ends when no question is left.")
    shortest, longest = (found.running[1:] == 1).sum(), len(found.running) - 1
    out.print(f"{found.count:,} students; {found.length:.1f} questions on average, from {shortest} to {longest}.")
    out.print(f"Stopped by: {', '.join(f'{rule} ({count})' for rule, count in found.stops.items())}.")
    table = grid("questions", "still asked", "accuracy", "± error", "Brier", *(() if bank.is_precise else ("determinate",)))
    steps = sorted({step for step in (0, 1, 2, 3, 5, 8, 12, 16, 20, 30, 50) if step < len(found.running)} | {len(found.running) - 1})
    error = found.error()
    for step in steps:
        numbers = [found.accuracy[step], error[step], found.brier[step]]
        if not bank.is_precise:  # in a precise bank all results are determinate
            numbers.append(found.determinate[step])
        table.add_row(str(step), f"{found.running[step]:.0%}", *(f"{value:.3f}" for value in numbers))
    out.print(table)
    if found.never_used:
        shown = ", ".join(found.never_used[:8])
        more = f" and {len(found.never_used) - 8} more" if len(found.never_used) > 8 else ""
        out.print(f"Never asked: {shown}{more}.")
