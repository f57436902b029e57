"""Learn a bank from the answers of people: a new bank, and a page that says what to look at."""

import argparse
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from quaestor import __version__
from quaestor.bank import Bank
from quaestor.errors import QuaestorError
from quaestor.formats import dump, load
from quaestor.learn import ITERATIONS, WEIGHT, Fit, learn
from quaestor.learn.diagnose import Diagnosis, diagnose
from quaestor.learn.graphs import chain, independent, learnt_tree
from quaestor.learn.intervals import LEVEL, SAMPLES, STRENGTH, bootstrap, imprecise
from quaestor.learn.sections import Untaken, untaken, without
from quaestor.learn.skeleton import NEEDS, read_matrix, skeleton
from quaestor.report.learning import findings, summary, write_learning
from quaestor.report.terminal import console

GRAPHS = ("given", "independent", "chain", "tree")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("bank", nargs="?", metavar="BANK", help="a bank file, or the name of a bundled bank")
    parser.add_argument("--matrix", metavar="FILE", help="instead of a bank: a Q-matrix (CSV), a row a question, a column a skill")
    parser.add_argument("--levels", type=int, default=2, metavar="N", help="with --matrix: levels of every skill (default: 2)")
    parser.add_argument("--needs", choices=NEEDS, default="each", help="with --matrix: how the skills of a question work together")
    parser.add_argument("--graph", choices=GRAPHS, default="given", help="how the skills hang together (default: as the bank says)")
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
    parser.add_argument("--folds", type=int, default=5, metavar="N", help="parts of the people that are held out in turn; 0 for none (5)")
    parser.add_argument("--iterations", type=int, default=ITERATIONS, metavar="N", help=f"at most so many steps of EM ({ITERATIONS})")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="threads; they do not change the results")
    parser.add_argument("--cluster", metavar="ADDRESS", help="a Dask scheduler to run on; it does not change the results")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Learn, diagnose, write and report."""
    out = Path(arguments.out)
    responses = read_table(arguments.responses, arguments.person)
    shared = {"weight": arguments.weight, "monotone": not arguments.no_monotone, "tied": arguments.tied, "iterations": arguments.iterations}
    shared |= {"seed": arguments.seed, "workers": arguments.workers, "cluster": arguments.cluster}
    with _progress() as progress:
        bank = _graph(_given(arguments), responses, arguments.graph, {**shared, "progress": progress("the graph")})
        fit = learn(bank, responses, progress=progress("learning"), **shared)
        found = untaken(fit)
        emptied = bool(found) and arguments.untaken == "empty"
        responses = without(responses, found) if emptied else responses
        if emptied or arguments.folds or arguments.restarts:
            more = {"restarts": arguments.restarts, "folds": arguments.folds}
            fit = learn(bank, responses, progress=progress("learning, and people held out"), **shared, **more)
        learnt = _kept(arguments, fit, progress("bootstrap"))
        diagnoses = diagnose(fit)
    dump(learnt, out)
    page = out.with_suffix(".html")
    write_learning(fit, learnt, diagnoses, found, emptied, page, _command(arguments), __version__)
    if arguments.json:
        print(json.dumps(_plain(fit, learnt, diagnoses, found), indent=1))
        return 0
    shown = console()
    shown.print(summary(fit))
    for sentence in findings(fit, diagnoses, found, emptied):
        shown.print(f"- {sentence}")
    shown.print(f"Written to {out}; the page is {page}.")
    return 0


def read_table(path: str, person: str | None = None) -> pd.DataFrame:
    """The answers of a file, cells as text; `person` names the column that holds the names of the rows."""
    readers: dict[str, Callable[..., pd.DataFrame]] = {".csv": pd.read_csv, ".xlsx": pd.read_excel, ".parquet": pd.read_parquet}
    ending = Path(path).suffix.lower()
    if ending not in readers:
        raise QuaestorError(f"{path}: a table of answers ends in one of {', '.join(readers)}, got '{ending}'")
    options = {} if ending == ".parquet" else {"dtype": str, "keep_default_na": False, "na_values": ["", "NA", "NaN", "nan"]}
    try:
        frame = readers[ending](path, **options)
    except (OSError, ValueError, pd.errors.ParserError) as error:
        raise QuaestorError(f"{path}: a table of answers, got {getattr(error, 'strerror', None) or error}") from error
    if person is not None:
        if person not in frame.columns:
            raise QuaestorError(f"{path}: --person names a column, got '{person}'")
        frame = frame.set_index(person)
        if not frame.index.is_unique:
            raise QuaestorError(f"{path}: a person has one row, got two of '{frame.index[frame.index.duplicated()][0]}'")
    return frame


def _given(arguments: argparse.Namespace) -> Bank:
    if (arguments.bank is None) == (arguments.matrix is None):
        raise QuaestorError(f"learn: a bank or --matrix, got {'both' if arguments.bank else 'neither'}")
    if arguments.bank is not None:
        return load(arguments.bank)
    return skeleton(read_matrix(arguments.matrix), arguments.levels, arguments.needs, Path(arguments.matrix).stem)


def _graph(bank: Bank, responses: pd.DataFrame, graph: str, options: dict[str, Any]) -> Bank:
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
def _progress() -> Iterator[Callable[[str], Callable[..., None] | None]]:
    """A bar for each piece of work, with its steps and the objective (nobody knows how many there will be); nothing without a terminal."""
    shown = console()
    if not shown.is_terminal:
        yield lambda name: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"), TimeElapsedColumn())
    with Progress(*columns, console=shown, transient=True) as bar:

        def line(name: str) -> Callable[..., None]:
            task: list[Any] = []

            def told(step: int, objective: float | None = None) -> None:
                if not task:
                    task.append(bar.add_task(name, total=None, state=""))
                value = "" if objective is None else f", objective {objective:,.2f}"
                bar.update(task[0], state=f"step {step}{value}")

            return told

        yield line


def _command(arguments: argparse.Namespace) -> str:
    """The command that gives the same again."""
    words = ["quaestor learn", *([arguments.bank] if arguments.bank else [])]
    defaults = {"levels": 2, "needs": "each", "graph": "given", "weight": WEIGHT, "untaken": "keep", "s": STRENGTH, "samples": SAMPLES}
    defaults |= {"level": LEVEL, "restarts": 0, "folds": 5, "iterations": ITERATIONS, "seed": 0, "workers": 1}
    for name, value in vars(arguments).items():
        if name in ("command", "bank", "json", "cluster", "workers") or value is None or value is False or defaults.get(name) == value:
            continue
        words.append(f"--{name.replace('_', '-')}" + ("" if value is True else f" {value}"))
    return " ".join(words)


def _plain(fit: Fit, learnt: Bank, diagnoses: tuple[Diagnosis, ...], found: tuple[Untaken, ...]) -> dict[str, Any]:
    held = fit.held_out
    return {
        "bank": {"before": fit.given.version, "learnt": learnt.version},
        "people": len(fit.people),
        "answers": fit.people.answers,
        "log_likelihood": fit.log_likelihood,
        "objective": fit.objective,
        "parameters": fit.parameters,
        "bic": fit.bic,
        "held_out": None if held is None else {"mean": held.mean, "error": held.error, "folds": held.folds},
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
