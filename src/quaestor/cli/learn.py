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
from quaestor.cli.learning_start import add_start, begin, chosen, only_one, told
from quaestor.errors import QuaestorError
from quaestor.formats.files import BANK_ENDINGS, dump, load
from quaestor.learn import ITERATIONS, WEIGHT, Fit, learn
from quaestor.learn.alternatives import Alternative, Start, simplest
from quaestor.learn.answers import Answers
from quaestor.learn.choice import FOLDS, TRIED, Choice
from quaestor.learn.compare import Maker, held_out_log_likelihoods
from quaestor.learn.diagnose import Diagnosis, diagnose
from quaestor.learn.differential import differences
from quaestor.learn.fit import HeldOut
from quaestor.learn.folds import fold_of
from quaestor.learn.intervals import LEVEL, SAMPLES, STRENGTH, bootstrap, imprecise
from quaestor.learn.linking import link
from quaestor.learn.options import check_level
from quaestor.learn.sections import Untaken, untaken, without
from quaestor.learn.verification import Verified, verify
from quaestor.report.alternatives import choice_grid, plain_choice
from quaestor.report.terminal import console

Bars = Callable[..., Callable[..., None] | None]  # from a name and a total, if known, to a function that updates the progress bar
FEWEST = 10  # people; with fewer nothing can be held out that tells banks apart


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_start(parser)
    parser.add_argument("--out", required=True, metavar="NEW", help="where the learnt bank goes; its page goes beside it, as .html")
    parser.add_argument("--weight", type=float, default=WEIGHT, metavar="W", help=f"a row of the bank counts as W answers ({WEIGHT:g})")
    parser.add_argument("--no-monotone", action="store_true", help="right answers may become less likely at a higher level")
    parser.add_argument("--tied", action="store_true", help="rows that are equal in the bank stay equal")
    parser.add_argument("--fixed", metavar="IDS", help="questions and skills whose tables stay as they are, with commas between")
    parser.add_argument("--link", metavar="OLD", help="put the bank on the scale of this older one, which shares questions with it")
    parser.add_argument("--untaken", choices=("keep", "empty"), default="keep", help="whether sections that look untaken are left out")
    words = "a share such as 0.9: a bank with intervals, of whose predictions for new people 90 in 100 hold"
    parser.add_argument("--intervals", type=float, metavar="SHARE", help=words)
    parser.add_argument("--credal", choices=("idm", "bootstrap"), help="other intervals: imprecise Dirichlet model, or bootstrap")
    parser.add_argument("--s", type=float, default=STRENGTH, help=f"with --credal idm: its parameter ({STRENGTH:g})")
    parser.add_argument("--samples", type=int, default=SAMPLES, metavar="N", help=f"with --credal bootstrap: how many ({SAMPLES})")
    parser.add_argument("--level", type=float, default=LEVEL, help=f"with --credal bootstrap: the share inside ({LEVEL:g})")
    words = "a column of the answers that names groups of people: which questions work differently for them"
    parser.add_argument("--group", metavar="COLUMN", help=words)
    parser.add_argument("--restarts", type=int, default=0, metavar="N", help="further random starts")
    parser.add_argument("--folds", type=int, default=5, metavar="N", help="folds for the held-out log-likelihood; 0 for none (5)")
    parser.add_argument("--iterations", type=int, default=ITERATIONS, metavar="N", help=f"at most so many steps of EM ({ITERATIONS})")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="threads; they do not change the results")
    parser.add_argument("--cluster", metavar="ADDRESS", help="a Dask scheduler to run on; it does not change the results")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Learn, diagnose, write and report."""
    from quaestor.cli.group_column import GroupColumn  # only here: it needs an extra
    from quaestor.report.differential import group_summary, plain_groups
    from quaestor.report.fit_words import people_words, plain_quality, quality_of
    from quaestor.report.learning import findings, held_out_notes, interval_words, opening, summary, write_learning

    out = Path(arguments.out)
    _check(arguments, out)
    command = _command(arguments)
    column = GroupColumn(arguments.responses, arguments.group, arguments.person) if arguments.group is not None else None
    start, answers = begin(arguments, column)
    labels = column.labels(answers) if column else None
    if arguments.link:
        return _linked(arguments, start, answers, out)
    with _progress() as progress:
        alternative, choice = _taken(arguments, start, answers, progress)
        if choice is not None and len(answers) > TRIED:
            arguments.folds = 0  # people were held out already, and with many this would take most of the time
        fit, found, emptied = _learnt(arguments, start, alternative, answers, progress)
        learnt = _kept(arguments, fit, progress("bootstrap", arguments.samples))
        diagnoses, quality = diagnose(fit), quality_of(fit, arguments.seed)
        groups = differences(fit, labels) if labels is not None else None
        verified = verify(fit, np.random.default_rng([arguments.seed, 2])) if arguments.intervals and arguments.folds else None
    dump(learnt, out)
    notes = held_out_notes(fit, alternative, emptied, choice is not None)
    page, has_bank = out.with_suffix(".html"), start.stated is not None
    write_learning(fit, learnt, diagnoses, found, emptied, page, command, __version__, notes, choice, verified, quality, groups, has_bank)
    if arguments.json:
        plain = {**_plain(fit, learnt, diagnoses, found, notes, verified), **plain_quality(quality)}
        print(json.dumps({**plain, "choice": plain_choice(choice), "groups": plain_groups(groups)}, indent=1))
        return 0
    shown = console()
    shown.print(opening(fit, diagnoses, quality))
    if choice is not None:
        shown.print(choice.words)
        shown.print(choice_grid(choice))
    shown.print(" ".join([summary(fit), *notes]))
    if fit.level is not None:
        shown.print(" ".join(interval_words(fit.level, verified)))
    if groups is not None:
        shown.print(group_summary(groups))
    for sentence in findings(fit, diagnoses, found, emptied, groups):
        shown.print(f"- {sentence}")
    shown.print(" ".join(quality.whole.words))
    for sentence in people_words(quality):
        shown.print(f"- {sentence}")
    shown.print(f"Written to {out}; the page is {page}.")
    return 0


def _linked(arguments: argparse.Namespace, start: Start, answers: Answers, out: Path) -> int:
    """Both forms of a test as one bank."""
    if start.stated is None:
        raise QuaestorError("learn: --link is for a bank that shares questions with the older one, got none")
    options = {**_shared(arguments), "iterations": arguments.iterations, "seed": arguments.seed}
    found = link(load(arguments.link), start.stated, answers, **options)
    dump(found.bank, out)
    if arguments.json:
        anchors = [
            {name: _number(value) if isinstance(value, float) else value for name, value in vars(one).items()} for one in found.anchors
        ]
        print(json.dumps({"questions": len(found.bank.questions), "people": len(found.fit.people), "anchors": anchors}, indent=1))
        return 0
    shown = console()
    stayed = len(found.anchors) - len(found.moved)
    shown.print(f"{len(found.fit.people):,} people; {len(found.bank.questions)} questions on one scale, held by {stayed} shared ones.")
    for one in found.anchors:
        if one.moved:
            way = "easier" if one.observed > one.expected else "harder"
            shown.print(f"- `{one.question}` has become {way}: {one.observed:.0%} right, expected {one.expected:.0%}; it was learnt anew.")
    shown.print(f"Written to {out}.")
    return 0


def _check(arguments: argparse.Namespace, out: Path) -> None:
    """Check what would otherwise fail only after the learning."""
    check_level(arguments.intervals, "learn: --intervals")
    if arguments.intervals is not None and (arguments.credal or arguments.link):
        other = "--credal" if arguments.credal else "--link"
        raise QuaestorError(f"learn: --intervals or {other}, got both")
    if arguments.group is not None and arguments.link:
        raise QuaestorError("learn: --group or --link, got both")
    if arguments.folds < 0 or arguments.folds == 1:
        raise QuaestorError(f"learn: folds are at least 2, or 0 for none, got {arguments.folds}")
    if out.suffix.lower() not in BANK_ENDINGS:
        raise QuaestorError(f"{out}: a bank file ends in one of {', '.join(BANK_ENDINGS)}, got '{out.suffix}'")
    for path in (out, out.with_suffix(".html")):
        if path.is_dir() or not path.parent.is_dir():
            raise QuaestorError(f"{path}: the file can be written, got {'a folder' if path.is_dir() else f'no folder {path.parent}'}")
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            raise QuaestorError(f"{path}: the file can be written, got no right to")


def _shared(arguments: argparse.Namespace) -> dict[str, Any]:
    work: dict[str, Any] = {"workers": arguments.workers, "cluster": arguments.cluster}
    fixed = {"fixed": [name.strip() for name in arguments.fixed.split(",")]} if arguments.fixed else {}
    return {
        "weight": arguments.weight,
        **fixed,
        "monotone": not arguments.no_monotone,
        **({"tied": True} if arguments.tied else {}),
        **work,
    }


def _taken(arguments: argparse.Namespace, start: Start, answers: Answers, progress: Bars) -> tuple[Alternative, Choice | None]:
    """The bank to learn, and how it was chosen; with fewer people than `FEWEST` the simplest is taken untried."""
    alone = only_one(start, arguments)
    some = int((answers.counts > 0).sum())
    if alone is None and some < FEWEST:
        alone = simplest(start, told(arguments))
    if alone is not None:
        return alone, None
    bar = progress("alternatives on held-out people")
    update = None if bar is None else lambda done, _: bar(done)
    choice = chosen(
        start, answers, arguments, min(arguments.folds or FOLDS, some), {**_shared(arguments), "iterations": arguments.iterations}, update
    )
    return choice.taken.alternative, choice


def _learnt(
    arguments: argparse.Namespace, start: Start, alternative: Alternative, answers: Answers, progress: Bars
) -> tuple[Fit, tuple[Untaken, ...], bool]:
    """The fit, the sections that look untaken, and whether these were left out."""
    work: dict[str, Any] = {"workers": arguments.workers, "cluster": arguments.cluster}
    shared = {"seed": arguments.seed, **alternative.options, **_shared(arguments)}
    steps = {"iterations": arguments.iterations}

    def graph(people: Any) -> Bank:
        return start.made(alternative, people, **{**shared, **steps, "progress": progress("the graph")})

    bank = graph(answers)
    found: tuple[Untaken, ...] = ()
    if arguments.untaken == "empty":
        found = untaken(learn(bank, answers, **{**shared, "iterations": 1}), **work, progress=progress("sections"))
    emptied = bool(found)
    if emptied:
        answers = without(answers, found)
        bank = graph(answers)
    is_learnt = alternative.is_learnt
    more = {"restarts": arguments.restarts, "folds": 0 if is_learnt else arguments.folds}
    name = "learning and cross-validation" if more["folds"] else "learning"
    fit = learn(bank, answers, progress=progress(name), intervals=arguments.intervals, **shared, **steps, **more)
    if is_learnt and arguments.folds:
        fit = replace(fit, held_out=_held_out(Maker(graph), answers, arguments, {**shared, **steps}))
    if arguments.untaken == "keep":
        found = untaken(fit, **work, progress=progress("sections"))
    return fit, found, emptied


def _held_out(maker: Maker, answers: Answers, arguments: argparse.Namespace, options: dict[str, Any]) -> HeldOut:
    """The held-out log-likelihoods where tree and skills, too, are learnt anew for each fold."""
    some = answers.chosen(answers.counts > 0)
    if arguments.folds > len(some):
        raise QuaestorError(f"learn: at most as many folds as people, got {arguments.folds} for {len(some)}")
    fold = fold_of(len(some), arguments.folds, np.random.default_rng(arguments.seed))
    return HeldOut(held_out_log_likelihoods(maker, some, fold, **options), arguments.folds)


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
    defaults = {"weight": WEIGHT, "untaken": "keep", "s": STRENGTH, "samples": SAMPLES}
    defaults |= {"level": LEVEL, "restarts": 0, "folds": 5, "iterations": ITERATIONS, "seed": 0, "workers": 1}
    for name, value in vars(arguments).items():
        if name in ("command", "bank", "json", "cluster", "workers") or value is None or value is False or defaults.get(name) == value:
            continue
        words.append(f"--{name.replace('_', '-')}" + ("" if value is True else f" {shlex.quote(str(value))}"))
    return " ".join(words)


def _plain(
    fit: Fit,
    learnt: Bank,
    diagnoses: tuple[Diagnosis, ...],
    found: tuple[Untaken, ...],
    notes: list[str],
    verified: Verified | None,
) -> dict[str, Any]:
    from quaestor.report.needed_skills import plain_rows

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
        "intervals": None if fit.level is None else {"level": fit.level, "held_out": None if verified is None else vars(verified)},
        "steps": fit.iterations,
        "converged": fit.converged,
        "warnings": [str(warning) for warning in fit.warnings],
        "violations": len(fit.violations),
        "untaken": [{"person": str(one.person), "section": one.section, "probability": one.probability} for one in found],
        "questions": {
            one.question: {"answers": one.answers, "rest": _number(one.rest), "bits": one.information, "flags": list(one.flags)}
            for one in diagnoses
        },
        "pairs": [
            {"first": one.first, "second": one.second, "people": one.people, "size": one.size, "chance": one.chance}
            for one in sorted({pair for one in diagnoses for pair in one.pairs}, key=lambda pair: -pair.size)
        ],
        "rows": plain_rows(diagnoses),
    }


def _number(value: float) -> float | None:
    return None if value != value else value
