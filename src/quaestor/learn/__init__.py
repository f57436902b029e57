"""A bank learnt from answers. Skills are latent variables, so the tables are estimated by expectation-maximisation (EM)."""

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from quaestor.bankfile.bank import Bank
from quaestor.errors import Problem, QuaestorError, expect_call, expect_flag, format_kind, is_among, several
from quaestor.i18n import say
from quaestor.learn.augmentation import plausible
from quaestor.learn.calibration import calibrated
from quaestor.learn.em import Progress, random_start, solved
from quaestor.learn.expect import check_size
from quaestor.learn.fit import Fit
from quaestor.learn.fixed import A_LIST, fixed_tables
from quaestor.learn.folds import held_out
from quaestor.learn.layout import Tables, answered, as_tables, layout_of, tables_of
from quaestor.learn.maximise import aim_of, parameters
from quaestor.learn.options import check_level, is_count, is_number
from quaestor.learn.people import Responses, read_people
from quaestor.learn.residuals import unexplained
from quaestor.learn.work import steps

__all__ = ["Fit", "learn"]

WEIGHT = 2.0
HEAVIEST = 1e12  # beyond this weight the answers would be lost in rounding
TOLERANCE = 1e-3
ITERATIONS = 1000
SHAPES = ("tables", "curves")


def learn(
    bank: Bank,
    responses: "Responses",
    weight: float = WEIGHT,
    monotone: bool = True,
    tied: bool = False,
    shape: str = "tables",
    fixed: Iterable[str] = (),
    restarts: int = 0,
    folds: int = 0,
    seed: int = 0,
    tolerance: float = TOLERANCE,
    iterations: int = ITERATIONS,
    workers: int = 1,
    cluster: Any = None,
    progress: Progress | None = None,
    intervals: float | None = None,
) -> Fit:
    """Learn the tables of a bank's skills and questions from answers.

    `responses`: a table with a row a person and a column a question id (class names, 0/1 where there are two classes, empty where not
    answered); or with columns person, question, answer; or several tables one after another. `weight`: the bank's own tables are the
    prior, and each of their rows counts as so many answers (0: the data alone). `monotone`: P(this class or a better one) never falls
    from a level to a higher one. `tied`: rows that are equal in a question's own table stay equal. Questions without answers keep their
    tables. `shape`: `tables`, each row by itself, or `curves`, few numbers a question, shrunk towards one another; the bank's own numbers
    then count by how well they fit, and not by the weight. `fixed`: ids of questions and skills whose tables are not learnt. `restarts`:
    further random starts; the run with the largest objective is kept. `folds`: the number of folds for the held-out log-likelihood,
    `Fit.held_out`. EM ends when a step gains less than `tolerance` (for every 10,000 people), or after `iterations` steps. `workers`
    (threads) and `cluster` (the address of a Dask scheduler, a client or a cluster of Dask) do not change results. `progress` is called
    with the number of steps and the objective. `intervals`: a share such as 0.9; the bank is then credal, and of the shares of right
    answers that it predicts for new people, 90 in 100 hold; `predict` of `quaestor.learn.predictions` has more predictions.
    """
    _check(bank, weight, shape, restarts, folds, seed, tolerance, iterations)
    for name, flag in (("monotone", monotone), ("tied", tied)):
        expect_flag(f"learn: {name}", flag)
    expect_call("learn: progress", progress)
    check_level(intervals)
    layout = layout_of(bank)
    check_size(layout)
    people = read_people(bank, layout, responses)
    if folds > len(people):
        raise QuaestorError(f"learn: at most as many folds as people, got {folds} for {len(people)}")
    own, kept = tables_of(bank, layout), several("learn: fixed", fixed, A_LIST)
    aim = aim_of(layout, own, float(weight), monotone, tied, shape == "curves", fixed_tables(bank, layout, kept) if kept else None)
    rng = np.random.default_rng(seed)
    with steps(layout, people.patterns, workers, cluster) as step:
        weights = people.weights()
        starts = (own, *(aim.kept(random_start(layout, child), own) for child in rng.spawn(restarts)))
        runs = [solved(layout, start, aim, step, weights, tolerance, iterations, progress) for start in starts]
        best, reached = max(runs, key=lambda one: one[0].trace[-1])
        held = held_out(layout, own, aim, step, people, folds, rng, tolerance, iterations, progress) if folds else None
        draws: tuple[Tables, ...] = ()
        if intervals is not None:
            tell = None if progress is None else partial(_tell, progress, best.trace[-1])
            draws = plausible(layout, best.tables, reached, people, step, np.random.default_rng([seed, 1]), tell)
    some = answered(best.expected.counts)
    ends, misfit = (best.tables, best.tables), 0.0
    if intervals is not None:
        learnt = some if aim.fixed is None else [one & ~same for one, same in zip(some, aim.fixed.groups, strict=True)]
        ends = calibrated(layout, best.tables, draws, intervals, learnt)
        misfit = unexplained(layout, best.tables, people, parameters(layout, best.expected.counts, reached))
    warnings = list(people.warnings)
    if not best.converged:
        rule = say("the last step gains less than {tolerance:g}; more iterations may change the tables", tolerance=tolerance)
        gain = best.trace[-1] - best.trace[-2]
        shown = say("{gain:.2g} after {count}", gain=gain, count=len(best.trace) - 1)
        warnings.append(Problem("learn.iterations", rule, shown, severity="warning"))
    made = as_tables(bank, layout, *ends, chosen=some)
    return Fit(
        given=bank,
        bank=bank.with_tables({name: table for name, table in made.items() if name not in kept}),
        log_likelihood=best.expected.log_likelihood,
        trace=best.trace,
        converged=best.converged,
        restarts=tuple(one.trace[-1] for one, _ in runs),
        weight=float(weight),
        held_out=held,
        warnings=tuple(warnings),
        people=people,
        layout=layout,
        aim=reached,
        tables=best.tables,
        expected=best.expected,
        level=intervals,
        draws=draws,
        unexplained=misfit,
    )


def _tell(progress: Progress, objective: float, number: int) -> None:
    progress(number, objective)


def _check(bank: Bank, weight: float, shape: str, restarts: int, folds: int, seed: int, tolerance: float, iterations: int) -> None:
    if not isinstance(bank, Bank):
        raise QuaestorError(f"learn: a bank is expected, as qs.load gives it, got {format_kind(bank)}")
    for name, number in (("weight", weight), ("tolerance", tolerance)):
        if not is_number(number) or not 0 <= number < np.inf:
            raise QuaestorError(f"learn: {name} is a number of at least 0, got {number!r}")
    if not is_among(shape, SHAPES):
        raise QuaestorError(f"learn: shape is one of {', '.join(SHAPES)}, got {shape!r}")
    if weight > HEAVIEST:
        raise QuaestorError(f"learn: weight is at most {HEAVIEST:g}, got {weight:g}")
    for name, count, least in (("restarts", restarts, 0), ("folds", folds, 0), ("seed", seed, 0), ("iterations", iterations, 1)):
        if not is_count(count, least):
            raise QuaestorError(f"learn: {name} is a whole number of at least {least}, got {count!r}")
    if folds == 1:
        raise QuaestorError("learn: folds are at least 2, or 0 for none, got 1")
