"""Try a test on simulated students, or on answers of real people: a study file, or a bank with rules."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path

import numpy as np

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
    parser.add_argument("--responses", metavar="FILE", help="with a bank: replay answers of real people (CSV, XLSX, Parquet) instead")
    parser.add_argument("--person", metavar="COLUMN", help="with --responses: a column that names the people")
    parser.add_argument(
        "--holdout",
        metavar="QUESTIONS",
        help="with --responses: questions that are predicted, never asked: ids with commas between, or a number, drawn by the seed",
    )
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
    if arguments.responses is not None:
        return _replay(arguments, bank, rules)
    for name in ("person", "holdout"):
        if getattr(arguments, name) is not None:
            raise QuaestorError(f"simulate: --{name} is for answers of real people, got it without --responses")
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


def _replay(arguments: argparse.Namespace, bank: Bank, rules: Rules) -> int:
    """Real people are asked by these rules, and answer as they did."""
    if arguments.students is not None:
        raise QuaestorError("simulate: with --responses the rows are the people, got --students as well")
    import pandas as pd

    from quaestor.cli.answer_files import read_file  # only here: it takes long to import

    answers = read_file(arguments.responses, bank, arguments.person)
    answers = answers.chosen(answers.counts > 0)
    cells = answers.cells if isinstance(answers.cells, np.ndarray) else answers.cells.toarray() - 1
    named = {
        name: [None if cell < 0 else own[cell] for cell in column]
        for name, own, column in zip(answers.columns, answers.classes, cells.T, strict=True)
    }
    frame = pd.DataFrame(named).dropna(axis=1, how="all")
    seed = 1 if arguments.seed is None else arguments.seed
    holdout = _held(arguments.holdout, list(frame.columns), seed)
    with _progress(len(frame)) as progress:
        found = simulate(
            bank,
            rules,
            None,
            seed,
            responses=frame,
            holdout=holdout,
            workers=arguments.workers,
            cluster=arguments.cluster,
            out=arguments.out,
            progress=progress,
        )
    if arguments.json:
        print(json.dumps({**_plain(found, rules), "held_out": holdout}, indent=1))
        return 0
    out = console()
    out.print(f"{found.count:,} people answer as they did; {found.length:.1f} questions on average.")
    if not holdout:
        out.print("To see how well the test predicts: --holdout 5, or name questions that are not asked.")
        return 0
    out.print(f"Predicted, never asked: {', '.join(holdout)}.")
    table = grid("questions", "still asked", "log loss", "± error", "predicted right")
    loss, right, error = found.held_out_log_loss, found.held_out_accuracy, found.error("held_out_log_loss")
    for step in _steps(len(found.running)):
        table.add_row(str(step), f"{found.running[step]:.0%}", f"{loss[step]:.3f}", f"{error[step]:.3f}", f"{right[step]:.0%}")
    out.print(table)
    return 0


def _held(stated: str | None, known: list[str], seed: int) -> list[str]:
    """The questions to hold out: by their ids, or so many of them, drawn."""
    if stated is None:
        return []
    if stated.strip().isdecimal() and stated.strip() not in known:
        count = int(stated)
        if not 1 <= count < len(known):
            raise QuaestorError(f"simulate: --holdout leaves a question to ask, got {count} of {len(known)}")
        return sorted(np.random.default_rng(seed).choice(known, count, replace=False).tolist(), key=known.index)
    return [name.strip() for name in stated.split(",") if name.strip()]


def _steps(count: int) -> list[int]:
    """The steps that a table shows."""
    return sorted({step for step in (0, 1, 2, 3, 5, 8, 12, 16, 20, 30, 50) if step < count} | {count - 1})


def _is_study(what: str) -> bool:
    if what in bundled_banks() or not Path(what).exists() or Path(what).suffix.lower() not in (".yaml", ".yml", ".json"):
        return False
    document, _ = read_document(what)
    return isinstance(document, dict) and not {"bank", "methods", "students"}.isdisjoint(document)


def _study(arguments: argparse.Namespace) -> int:
    given = [
        f"--{name}"
        for name in ("rules", "students", "seed", "responses", "person", "holdout", "widen", "keep", "json")
        if getattr(arguments, name) is not None
    ]
    if given:
        raise QuaestorError(f"{arguments.what}: a study says these things itself, got {', '.join(given)}; change the file")
    from quaestor.report.writing import write_study

    study = load_study(arguments.what)
    folder = Path(arguments.out) if arguments.out else Path(arguments.what).with_suffix("")
    if folder.exists() and not folder.is_dir():
        raise QuaestorError(f"{folder}: a folder that can be written, got a file")
    count = study.students if isinstance(study.students, int) else prod(len(skill.levels) for skill in study.bank.skills.values())
    with _progress(count * len(study.methods)) as progress:
        results = study.run(arguments.workers, arguments.cluster, progress, arguments.device)
    write_study(study, results, folder, f"quaestor simulate {Path(arguments.what).name}", __version__)
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
    error = found.error()
    for step in _steps(len(found.running)):
        numbers = [found.accuracy[step], error[step], found.brier[step]]
        if not bank.is_precise:  # in a precise bank all results are determinate
            numbers.append(found.determinate[step])
        table.add_row(str(step), f"{found.running[step]:.0%}", *(f"{value:.3f}" for value in numbers))
    out.print(table)
    if found.never_used:
        shown = ", ".join(found.never_used[:8])
        more = f" and {len(found.never_used) - 8} more" if len(found.never_used) > 8 else ""
        out.print(f"Never asked: {shown}{more}.")
