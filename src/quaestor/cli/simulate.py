"""Try a test on simulated students: a study file, or a bank with rules."""

import argparse
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from quaestor.errors import QuaestorError
from quaestor.formats import bundled_banks, load, read_document
from quaestor.report.study import write_study
from quaestor.report.terminal import console, grid
from quaestor.rules import Rules
from quaestor.rules_file import load_rules
from quaestor.simulate import Simulation, simulate
from quaestor.simulate.study import FIELDS, Study, load_study


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("what", metavar="STUDY|BANK", help="a study file (docs/studies.md), a bank file, or the name of a bundled bank")
    parser.add_argument("--rules", metavar="FILE", help="with a bank: how the test is run")
    parser.add_argument("--students", type=int, default=1000, metavar="N", help="with a bank: how many (default: 1000)")
    parser.add_argument("--seed", type=int, default=1, help="with a bank: the seed (default: 1)")
    parser.add_argument("--widen", type=float, default=0.0, metavar="E", help="with a bank: make every number an interval of +- E first")
    parser.add_argument("--out", metavar="FOLDER", help="where results go: with a study tables, figures and a page; with a bank every step")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="processes on this machine; they do not change the results")
    parser.add_argument("--cluster", metavar="ADDRESS", help="a Dask scheduler to run on; it does not change the results")
    parser.add_argument("--json", action="store_true", help="with a bank: print the results as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Simulate and report."""
    if _is_study(arguments.what):
        return _study(load_study(arguments.what), arguments)
    bank = load(arguments.what)
    bank = bank.widen(arguments.widen) if arguments.widen else bank
    rules = load_rules(arguments.rules) if arguments.rules else Rules()
    with _progress(arguments.students) as progress:
        found = simulate(
            bank,
            rules,
            arguments.students,
            arguments.seed,
            workers=arguments.workers,
            cluster=arguments.cluster,
            out=arguments.out,
            progress=progress,
        )
    if arguments.json:
        print(json.dumps(_plain(found), indent=1))
    else:
        _show(found)
    return 0


def _is_study(what: str) -> bool:
    if what in bundled_banks() or not Path(what).exists() or Path(what).suffix.lower() not in (".yaml", ".yml", ".json"):
        return False
    document, _ = read_document(what)
    return isinstance(document, dict) and "methods" in document and set(document) <= set(FIELDS)


def _study(study: Study, arguments: argparse.Namespace) -> int:
    folder = Path(arguments.out) if arguments.out else Path(arguments.what).with_suffix("")
    count = study.students if isinstance(study.students, int) else 0
    with _progress(count * len(study.methods)) as progress:
        results = study.run(arguments.workers, arguments.cluster, progress)
    try:
        write_study(study, results, folder, f"quaestor simulate {Path(arguments.what).name}")
    except OSError as error:
        raise QuaestorError(f"{folder}: a folder that can be written, got {error.strerror or error}") from error
    out = console()
    out.print(f"{study.title}: {len(study.methods)} methods, written to {folder}/index.html")
    return 0


@contextmanager
def _progress(total: int) -> Iterator[Callable[[int], None] | None]:
    """A bar with rate and time left; nothing when the output is no terminal."""
    out = console()
    if not out.is_terminal:
        yield None
        return
    columns = (TextColumn("students"), BarColumn(), TextColumn("{task.completed:,} of {task.total:,}"), TextColumn("{task.fields[rate]}"))
    with Progress(*columns, TimeRemainingColumn(), console=out, transient=True) as bar:
        task = bar.add_task("students", total=total, rate="")

        def done(students: int) -> None:
            speed = bar.tasks[task].speed
            bar.update(task, advance=students, rate=f"{speed:,.0f} a second" if speed else "")

        yield done


def _plain(found: Simulation) -> dict[str, object]:
    table = found.table()
    steps = {name: [None if value != value else value for value in table[name].tolist()] for name in table.columns}
    return {"mean_length": found.mean_length, "stops": found.stops, "never_used": found.never_used, "steps": steps}


def _show(found: Simulation) -> None:
    out = console()
    length = found.length
    out.print(f"{len(length):,} students; {length.mean():.1f} questions on average, from {length.min()} to {length.max()}.")
    out.print(f"Stopped by: {', '.join(f'{rule} ({count})' for rule, count in found.stops.items())}.")
    table = grid("questions", "still asked", "accuracy", "± error", "Brier", "determinate")
    steps = sorted({step for step in (0, 1, 2, 3, 5, 8, 12, 16, 20, 30, 50) if step < len(found.running)} | {len(found.running) - 1})
    error = found.error()
    for step in steps:
        numbers = (found.accuracy[step], error[step], found.brier[step], found.determinate[step])
        table.add_row(str(step), f"{found.running[step]:.0%}", *(f"{value:.3f}" for value in numbers))
    out.print(table)
    if found.never_used:
        shown = ", ".join(found.never_used[:8])
        more = f" and {len(found.never_used) - 8} more" if len(found.never_used) > 8 else ""
        out.print(f"Never asked: {shown}{more}.")
