"""Learn a bank from the answers of people: write the new bank, and a page with its diagnosis."""

import argparse
import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from quaestor import __version__
from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError
from quaestor.formats.files import BANK_ENDINGS, dump, load
from quaestor.learn import ITERATIONS, WEIGHT, Fit, learn
from quaestor.learn.answers import Answers
from quaestor.learn.compare import Maker, held_out_log_likelihoods
from quaestor.learn.diagnose import Diagnosis, diagnose
from quaestor.learn.fit import HeldOut
from quaestor.learn.folds import fold_of
from quaestor.learn.graphs import chain, independent, learnt_tree
from quaestor.learn.intervals import LEVEL, SAMPLES, STRENGTH, bootstrap, imprecise
from quaestor.learn.sections import Untaken, untaken, without
from quaestor.learn.skeleton import NEEDS, read_matrix, skeleton
from quaestor.report.terminal import console

Bars = Callable[..., Callable[..., None] | None]  # from a name and a total, if known, to a function that updates the progress bar
GRAPHS = ("given", "independent", "chain", "tree")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("bank", nargs="?", metavar="BANK", help="a bank file, or the name of a bundled bank")
    parser.add_argument("--matrix", metavar="FILE", help="instead of a bank: a Q-matrix (CSV), a row a question, a column a skill")
    parser.add_argument("--levels", type=int, default=2, metavar="N", help="with --matrix: levels of every skill (default: 2)")
    parser.add_argument("--needs", choices=NEEDS, default="each", help="with --matrix: how the skills of a question combine")
    parser.add_argument("--graph", choices=GRAPHS, default="given", help="the graph over the skills (default: that of the bank)")
    parser.add_argument("--responses", required=True, metavar="FILE", help="the answers: CSV, XLSX or Parquet, a row a person")
    parser.add_argument("--person", metavar="COLUMN", help="a column of the answers that names the people")
    parser.add_argument("--out", required=True, metavar="NEW", help="where the learnt bank goes; its page goes beside it, as .html")
    parser.add_argument("--weight", type=float, default=WEIGHT, metavar="W", help=f"a row of the bank counts as W answers ({WEIGHT:g})")
    parser.add_argument("--no-monotone", action="store_true", help="right answers may become less likely at a higher level")
    parser.add_argument("--tied", action="store_true", help="rows that are equal in the bank stay equal")
    parser.add_argument("--untaken", choices=("keep", "empty"), default="keep", help="whether sections that look untaken are left out")
    parser.add_argument("--credal", choices=("idm", "bootstrap"), help="intervals: imprecise Dirichlet model, or bootstrap")
    parser.add_argument("--s", type=float, default=STRENGTH, help=f"with --credal idm: its parameter ({STRENGTH:g})")
    parser.add_argument("--samples", type=int, default=SAMPLES, metavar="N", help=f"with --credal bootstrap: how many ({SAMPLES})")
    parser.add_argument("--level", type=float, default=LEVEL, help=f"with --credal bootstrap: the share inside ({LEVEL:g})")
    parser.add_argument("--restarts", type=int, default=0, metavar="N", help="further random starts")
    parser.add_argument("--folds", type=int, default=5, metavar="N", help="folds for the held-out log-likelihood; 0 for none (5)")
    parser.add_argument("--iterations", type=int, default=ITERATIONS, metavar="N", help=f"at most so many steps of EM ({ITERATIONS})")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="threads; they do not change the results")
    parser.add_argument("--cluster", metavar="ADDRESS", help="a Dask scheduler to run on; it does not change the results")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Learn, diagnose, write and report."""
    from quaestor.cli.answer_files import read_file
    from quaestor.report.learning import findings, held_out_notes, summary, write_learning

    out = Path(arguments.out)
    _check(arguments, out)
    given = _given(arguments)
    answers = read_file(arguments.responses, given, arguments.person)
    with _progress() as progress:
        fit, found, emptied = _learnt(arguments, given, answers, progress)
        learnt = _kept(arguments, fit, progress("bootstrap", arguments.samples))
        diagnoses = diagnose(fit)
    dump(learnt, out)
    notes = held_out_notes(fit, arguments.graph == "tree", emptied)
    write_learning(fit, learnt, diagnoses, found, emptied, out.with_suffix(".html"), _command(arguments), __version__, notes)
    if arguments.json:
        print(json.dumps(_plain(fit, learnt, diagnoses, found, notes), indent=1))
        return 0
    shown = console()
    shown.print(" ".join([summary(fit), *notes]))
    for sentence in findings(fit, diagnoses, found, emptied):
        shown.print(f"- {sentence}")
    shown.print(f"Written to {out}; the page is {out.with_suffix('.html')}.")
    return 0


def _check(arguments: argparse.Namespace, out: Path) -> None:
    """Check what would otherwise fail only after the learning."""
    if arguments.folds < 0 or arguments.folds == 1:
        raise QuaestorError(f"learn: folds are at least 2, or 0 for none, got {arguments.folds}")
    if out.suffix.lower() not in BANK_ENDINGS:
        raise QuaestorError(f"{out}: a bank file ends in one of {', '.join(BANK_ENDINGS)}, got '{out.suffix}'")
    for path in (out, out.with_suffix(".html")):
        if path.is_dir() or not path.parent.is_dir():
            raise QuaestorError(f"{path}: the file can be written, got {'a folder' if path.is_dir() else f'no folder {path.parent}'}")
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            raise QuaestorError(f"{path}: the file can be written, got no right to")


def _learnt(arguments: argparse.Namespace, given: Bank, answers: Answers, progress: Bars) -> tuple[Fit, tuple[Untaken, ...], bool]:
    """The fit, the sections that look untaken, and whether these were left out."""
    work: dict[str, Any] = {"workers": arguments.workers, "cluster": arguments.cluster}
    shared = {"weight": arguments.weight, "monotone": not arguments.no_monotone, "tied": arguments.tied, "seed": arguments.seed, **work}
    steps = {"iterations": arguments.iterations}

    def graph(people: Any) -> Bank:
        return _graph(given, people, arguments.graph, {**shared, **steps, "progress": progress("the graph")})

    bank = graph(answers)
    found: tuple[Untaken, ...] = ()
    if arguments.untaken == "empty":
        found = untaken(learn(bank, answers, iterations=1, **shared), **work, progress=progress("sections"))
    emptied = bool(found)
    if emptied:
        answers = without(answers, found)
        bank = graph(answers)
    is_tree = arguments.graph == "tree"
    more = {"restarts": arguments.restarts, "folds": 0 if is_tree else arguments.folds}
    name = "learning and cross-validation" if more["folds"] else "learning"
    fit = learn(bank, answers, progress=progress(name), **shared, **steps, **more)
    if is_tree and arguments.folds:
        fit = replace(fit, held_out=_held_out(Maker(graph), answers, arguments, {**shared, **steps}))
    if arguments.untaken == "keep":
        found = untaken(fit, **work, progress=progress("sections"))
    return fit, found, emptied


def _held_out(maker: Maker, answers: Answers, arguments: argparse.Namespace, options: dict[str, Any]) -> HeldOut:
    """The held-out log-likelihoods where the tree, too, is learnt anew for each fold."""
    some = answers.chosen(answers.counts > 0)
    if arguments.folds > len(some):
        raise QuaestorError(f"learn: at most as many folds as people, got {arguments.folds} for {len(some)}")
    fold = fold_of(len(some), arguments.folds, np.random.default_rng(arguments.seed))
    return HeldOut(held_out_log_likelihoods(maker, some, fold, **options), arguments.folds)


def _given(arguments: argparse.Namespace) -> Bank:
    if (arguments.bank is None) == (arguments.matrix is None):
        raise QuaestorError(f"learn: a bank or --matrix, got {'both' if arguments.bank else 'neither'}")
    if arguments.bank is not None:
        return load(arguments.bank)
    return skeleton(read_matrix(arguments.matrix), arguments.levels, arguments.needs, Path(arguments.matrix).stem)


def _graph(bank: Bank, responses: Answers, graph: str, options: dict[str, Any]) -> Bank:
    if graph == "tree":
        return learnt_tree(bank, responses, **options)
    return independent(bank) if graph == "independent" else chain(bank) if graph == "chain" else bank


def _kept(arguments: argparse.Namespace, fit: Fit, progress: Callable[..., None] | None) -> Bank:
    if arguments.credal == "idm":
        return imprecise(fit, arguments.s)
    if arguments.credal == "bootstrap":
        rng = np.random.default_rng([arguments.seed, 1])
        return bootstrap(fit, rng, arguments.samples, arguments.level, arguments.workers, arguments.cluster, progress)
    return fit.bank


@contextmanager
def _progress() -> Iterator[Bars]:
    """A progress bar for each task, with its steps, and with the objective of EM; none if the output is not a terminal."""
    if not sys.stdout.isatty():
        yield lambda name, total=None: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"), TimeElapsedColumn())
    with Progress(*columns, console=console(), transient=True) as bar:

        def line(name: str, total: int | None = None) -> Callable[..., None]:
            task: list[Any] = []

            def update(step: int, objective: float | None = None) -> None:
                if not task:
                    task.append(bar.add_task(name, total=total, state=""))
                value = "" if objective is None else f", objective {objective:,.2f}"
                bar.update(task[0], completed=step, state=f"step {step}{f' of {total}' if total else ''}{value}")

            return update

        yield line


def _command(arguments: argparse.Namespace) -> str:
    words = ["quaestor learn", *([shlex.quote(arguments.bank)] if arguments.bank else [])]
    defaults = {"levels": 2, "needs": "each", "graph": "given", "weight": WEIGHT, "untaken": "keep", "s": STRENGTH, "samples": SAMPLES}
    defaults |= {"level": LEVEL, "restarts": 0, "folds": 5, "iterations": ITERATIONS, "seed": 0, "workers": 1}
    for name, value in vars(arguments).items():
        if name in ("command", "bank", "json", "cluster", "workers") or value is None or value is False or defaults.get(name) == value:
            continue
        words.append(f"--{name.replace('_', '-')}" + ("" if value is True else f" {shlex.quote(str(value))}"))
    return " ".join(words)


def _plain(fit: Fit, learnt: Bank, diagnoses: tuple[Diagnosis, ...], found: tuple[Untaken, ...], notes: list[str]) -> dict[str, Any]:
    held = fit.held_out
    return {
        "bank": {"before": fit.given.version, "learnt": learnt.version},
        "people": len(fit.people),
        "answers": fit.people.answers,
        "log_likelihood": fit.log_likelihood,
        "objective": fit.objective,
        "parameters": fit.parameters,
        "bic": fit.bic,
        "held_out": None if held is None else {"mean": held.mean, "error": held.error, "folds": held.folds, "notes": notes},
        "steps": fit.iterations,
        "converged": fit.converged,
        "warnings": [str(warning) for warning in fit.warnings],
        "violations": len(fit.violations),
        "untaken": [{"person": str(one.person), "section": one.section, "probability": one.probability} for one in found],
        "questions": {
            one.question: {"answers": one.answers, "rest": _number(one.rest), "bits": one.information, "flags": list(one.flags)}
            for one in diagnoses
        },
    }


def _number(value: float) -> float | None:
    return None if value != value else value
