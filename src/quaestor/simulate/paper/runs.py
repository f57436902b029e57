"""Runs of students, ours or the authors', in one format, so that the same metrics apply to both."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank
from quaestor.credal.decisions import TIED, survivors
from quaestor.inference.engine import Ends
from quaestor.model.table import Array, centre
from quaestor.selection.rules import Rules
from quaestor.simulate.answering import Behaviour
from quaestor.simulate.cohort import Cohort
from quaestor.simulate.metrics import METRICS, Metric, Truth
from quaestor.simulate.run import take
from quaestor.simulate.totals import stretched
from quaestor.simulate.work import PART


def _at(values: Array, truth: Truth) -> Array:
    return np.take_along_axis(values, truth[:, None, None], axis=2)[..., 0]


def strict_accuracy(low: Array, high: Array, truth: Truth) -> Array:
    """1 if the true level is the only most probable one at the centre, else 0, (students, steps): a tie is wrong, as in the paper."""
    p = centre(low, high)
    rivals = p.copy()
    np.put_along_axis(rivals, truth[:, None, None], -1.0, axis=2)
    return np.asarray(_at(p, truth) > rivals.max(axis=2) + TIED, dtype=float)


def wrong_lower(low: Array, high: Array, truth: Truth) -> Array:
    """The lower probability of the wrong one of two levels, 1 - upper P(true), (students, steps); the "Brier distance" of figure 2."""
    return _at(low, 1 - truth)


def not_ruled_out(low: Array, high: Array, truth: Truth) -> Array:
    """1 if the true level is not interval-dominated, else 0, (students, steps)."""
    return _at(survivors(low, high).astype(float), truth)


PAPER: dict[str, Metric] = {"strict_accuracy": strict_accuracy, "wrong_lower": wrong_lower, "not_ruled_out": not_ruled_out}


@dataclass(frozen=True)
class Run:
    """Students by step. `levels`: (students, skills); `bounds`: for each skill lower and upper, (students, steps + 1, levels).

    `asked`: positions of questions in the bank, (students, steps), -1 after the end; `answers`: numbers of their answer classes.
    """

    levels: NDArray[np.intp]
    bounds: tuple[Ends, ...]
    asked: NDArray[np.int32]
    answers: NDArray[np.int32]

    def values(self, metric: str) -> Array:
        """A metric of each student and step, the mean over the skills, (students, steps + 1)."""
        of = (METRICS | PAPER)[metric]
        return np.asarray(np.mean([of(low, high, self.levels[:, skill]) for skill, (low, high) in enumerate(self.bounds)], axis=0))

    def mean(self, metric: str) -> Array:
        """The mean over students, (steps + 1,)."""
        return np.asarray(self.values(metric).mean(axis=0))

    def spread(self, metric: str) -> Array:
        """The standard deviation between students, (steps + 1,)."""
        return np.asarray(self.values(metric).std(axis=0, ddof=1))

    def error(self, metric: str) -> Array:
        """The standard error of the mean, (steps + 1,)."""
        return np.asarray(self.spread(metric) / np.sqrt(len(self.levels)))

    @property
    def lengths(self) -> NDArray[np.intp]:
        """The number of questions that each student was asked, (students,)."""
        found: NDArray[np.intp] = (self.asked >= 0).sum(axis=1)
        return found


def own(bank: Bank, rules: Rules, students: int, seed: int, apart: Bank | None = None) -> Run:
    """Our own students: those that `simulate` would draw from the bank's centre, with all their bounds kept.

    `apart`: a credal bank; each student then comes from a random network of its set.
    """
    cohort = Cohort(bank, bank.centre() if apart is None else apart, students, seed, apart is not None)
    steps = len(bank.questions)
    parts = [take(bank, rules, cohort.part(start, start + PART), Behaviour()) for start in range(0, students, PART)]
    bounds = tuple(
        (
            np.concatenate([stretched(part.bounds[skill][0], steps + 1, 1) for part in parts]),
            np.concatenate([stretched(part.bounds[skill][1], steps + 1, 1) for part in parts]),
        )
        for skill in range(len(bank.skills))
    )
    asked, answers = (
        np.concatenate([_filled(part.asked if name == "asked" else part.answers, steps) for part in parts]) for name in ("asked", "answers")
    )
    return Run(np.concatenate([part.levels for part in parts]), bounds, asked, answers)


def _filled(values: NDArray[np.int32], steps: int) -> NDArray[np.int32]:
    return np.pad(values, ((0, 0), (0, steps - values.shape[1])), constant_values=-1)
