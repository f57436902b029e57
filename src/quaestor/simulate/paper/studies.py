"""Figures 2 and 3 repeated: simulations of each method, and for one skill also exact expectations."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from quaestor.errors import QuaestorError
from quaestor.model.table import Array
from quaestor.simulate.curves import Curves
from quaestor.simulate.exact import expected
from quaestor.simulate.paper import published
from quaestor.simulate.paper.methods import Method, methods
from quaestor.simulate.paper.raw import Raw
from quaestor.simulate.paper.runs import Run, own
from quaestor.simulate.totals import stretched

SEED = 1
SINGLE, MULTI = "single-skill-as-run", "four-skills"
PRINTED = ("credal entropy", "credal mode", "random", "Bayesian entropy", "Bayesian mode")
IN_DOUBT = ("credal entropy", "Bayesian entropy")


@dataclass(frozen=True)
class Repeated:
    """One of the paper's studies repeated: runs of our own students, exact curves where they are feasible, the authors' raw results or
    None.

    `in_doubt`: runs of students from random networks of the credal set, for whom the precise bank is wrong.
    """

    methods: tuple[Method, ...]
    students: int
    own: dict[str, Run]
    exact: dict[str, Curves]
    raw: Raw | None
    in_doubt: dict[str, Run]

    @property
    def steps(self) -> int:
        """The number of questions."""
        return len(self.methods[0].bank.questions)

    def exact_curve(self, method: str, metric: str) -> Array:
        """An exact curve, extended to the number of questions, (steps + 1,)."""
        found: Array = getattr(self.exact[method], metric)
        return stretched(found, self.steps + 1)


def repeat_single(students: int, raw: Raw | None = None) -> Repeated:
    """The study of one skill, with the tables that were really used."""
    listed = methods(SINGLE)
    credal = listed[0].bank
    return Repeated(
        listed,
        students,
        {m.name: own(m.bank, m.rules, students, SEED) for m in listed if m.printed},
        {m.name: expected(m.bank, m.rules) for m in listed if not m.rules.is_random},
        raw,
        {m.name: own(m.bank, m.rules, students, SEED, credal) for m in listed if m.name in IN_DOUBT},
    )


def repeat_multi(students: int) -> Repeated:
    """The study of four skills, which has too many answer sets for exact expectations."""
    wanted = (*PRINTED, "Bayesian mode, ties by entropy")
    listed = tuple(method for method in methods(MULTI) if method.name in wanted)
    return Repeated(listed, students, {m.name: own(m.bank, m.rules, students, SEED) for m in listed}, {}, None, {})


def check_students(students: int) -> None:
    """Refuse fewer than two students, which have no standard error."""
    if students < 2:
        raise QuaestorError(f"--students: a whole number of at least 2, got {students}")


def gaps(printed: str, curves: dict[str, Array], errors: dict[str, Array] | None = None) -> pd.DataFrame:
    """Differences between printed points and curves, without step 0: a row a method, the largest and the mean absolute difference.

    `errors`: standard errors of the differences; with them also the largest difference in standard errors.
    """
    points, rows = published(printed), {}
    for name, curve in curves.items():
        apart = np.abs(points[name].to_numpy() - curve)[1:]
        rows[name] = {"largest": float(apart.max()), "at question": int(apart.argmax()) + 1, "mean": float(apart.mean())}
        if errors is not None:
            error = errors[name][1:]
            rows[name]["in errors"] = float(np.max(np.divide(apart, error, out=np.zeros_like(apart), where=error > 0)))
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")


def paired(one: Run, other: Run, metric: str) -> tuple[Array, Array]:
    """The paired difference of a metric between two runs of the same students, and its standard error, (steps + 1,) each."""
    apart = one.values(metric) - other.values(metric)
    return np.asarray(apart.mean(axis=0)), np.asarray(apart.std(axis=0, ddof=1) / np.sqrt(len(apart)))
