"""The result of a simulation: curves with standard errors, paired differences, lengths, stop rules, exposure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from quaestor.decisions import TIED
from quaestor.errors import QuaestorError
from quaestor.simulate.curves import Curves
from quaestor.simulate.metrics import METRICS
from quaestor.simulate.run import Record
from quaestor.simulate.totals import Total, calibration_of, stretched, totals_of
from quaestor.table import Array

if TYPE_CHECKING:
    import pandas as pd

KEPT = ("accuracy", "brier", "log_loss")  # metrics that are kept for each student, for errors and paired differences


@dataclass
class Part:
    """What is kept of some students: sums, and a few numbers each."""

    totals: dict[str, Total]
    calibration: Array
    by_student: dict[str, Array]
    asked: NDArray[np.int32]
    answers: NDArray[np.int32]
    rule: NDArray[np.object_]
    levels: NDArray[np.intp]


def summarised(record: Record) -> Part:
    """The part of a record that is kept."""
    by_student = {}
    if record.held_out is not None:
        by_student = _foretelling(record.held_out)
    if (record.levels < 0).any():  # real people: nobody knows their levels
        return Part({}, np.zeros((record.asked.shape[1] + 1, 0, 3)), by_student, record.asked, record.answers, record.rule, record.levels)
    for name in KEPT:
        values = [METRICS[name](low, high, record.levels[:, skill]) for skill, (low, high) in enumerate(record.bounds)]
        by_student[name] = np.mean(values, axis=0)
    return Part(totals_of(record), calibration_of(record), by_student, record.asked, record.answers, record.rule, record.levels)


def _foretelling(chances: Array) -> dict[str, Array]:
    """How well answers held out are foretold, (students, steps), NaN without any: log loss, and whether they were the likelier half."""
    with np.errstate(divide="ignore"):
        loss = -np.log(chances)
    known = ~np.isnan(chances)
    count = known.sum(axis=2)
    sums = {"held_out_log_loss": loss, "held_out_accuracy": (chances > 0.5 - TIED) - 0.5 * (np.abs(chances - 0.5) <= TIED)}
    return {name: _divided(np.where(known, values, 0).sum(axis=2), count) for name, values in sums.items()}


def _divided(total: Array, count: Array) -> Array:
    """A quotient; NaN where nothing was counted."""
    return np.asarray(np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0))


def _mean_and_error(values: Array) -> tuple[Array, Array]:
    """The mean over the students who have a value, and its standard error (NaN where fewer than two have), each (steps,)."""
    known = ~np.isnan(values)
    count = known.sum(axis=0)
    mean = _divided(np.where(known, values, 0).sum(axis=0), count)
    with np.errstate(invalid="ignore"):  # an infinite loss has no error
        squares = (np.where(known, values - mean, 0) ** 2).sum(axis=0)
        return mean, np.sqrt(_divided(squares, (count - 1) * count))


@dataclass(frozen=True, eq=False)
class Simulation(Curves):
    """Curves of simulated students. `length`: questions asked of each, (students,); `stops`: how many tests each rule ended.

    `asked` and `answers`: ids of questions and numbers of classes by student and step; `levels`: true levels, (students, skills).
    """

    questions: tuple[str, ...]
    totals: dict[str, Total]
    by_student: dict[str, Array]
    asked_places: NDArray[np.int32]
    answers: NDArray[np.int32]
    stops: dict[str, int]
    levels: NDArray[np.intp]
    calibration: Array

    @staticmethod
    def of(parts: Sequence[Part], skills: tuple[str, ...], questions: tuple[str, ...]) -> "Simulation":
        """Everything together."""
        steps = max(len(part.calibration) for part in parts)
        totals = dict(parts[0].totals)
        for part in parts[1:]:
            totals = {name: total.plus(part.totals[name]) for name, total in totals.items()}
        asked, answers = (_joined([getattr(part, name) for part in parts], steps - 1) for name in ("asked", "answers"))
        by_student = {name: np.concatenate([stretched(p.by_student[name], steps, 1) for p in parts]) for name in parts[0].by_student}
        running = np.concatenate([[1.0], (asked >= 0).mean(axis=0)])
        means = {name: total.mean() for name, total in totals.items()}
        means |= {name: _mean_and_error(values)[0][:, None] for name, values in by_student.items() if name not in means}
        stops = Counter(rule for part in parts for rule in part.rule.tolist())
        levels = np.concatenate([part.levels for part in parts])
        calibration = np.sum([stretched(part.calibration, steps) for part in parts], axis=0)
        return Simulation(
            skills, means, running, questions, totals, by_student, asked, answers, dict(stops.most_common()), levels, calibration
        )

    @property
    def length(self) -> NDArray[np.intp]:
        """How many questions each student was asked."""
        found: NDArray[np.intp] = (self.asked_places >= 0).sum(axis=1)
        return found

    @property
    def asked(self) -> NDArray[np.object_]:
        """The ids of the questions by student and step, empty after the end."""
        return np.array([*self.questions, ""], dtype=object)[self.asked_places]

    def error(self, metric: str = "accuracy") -> Array:
        """The standard error of a curve: of the mean over students of their means over skills, (steps,)."""
        return _mean_and_error(self._students(metric))[1]

    def difference(self, other: "Simulation", metric: str = "accuracy") -> tuple[Array, Array]:
        """How much larger a curve is than another's over the same students, and the standard error of that, each (steps,)."""
        if not np.array_equal(self.levels, other.levels):
            raise QuaestorError("differences are taken between simulations of the same students, got others")
        steps = max(len(self.running), len(other.running))
        return _mean_and_error(stretched(self._students(metric), steps, 1) - stretched(other._students(metric), steps, 1))

    def _students(self, metric: str) -> Array:
        if metric not in self.by_student:
            raise QuaestorError(f"errors are known for {', '.join(self.by_student)}, got '{metric}'")
        return self.by_student[metric]

    def by_level(self, metric: str = "accuracy") -> Array:
        """The means for each true level, (steps, skills, levels); NaN where nobody has it."""
        return self.totals[metric].mean(axes=())

    @property
    def exposure(self) -> "pd.Series[float]":
        """The share of students that each question was asked."""
        import pandas as pd  # only here: it takes long to import

        counts = np.bincount(self.asked_places[self.asked_places >= 0], minlength=len(self.questions))
        return pd.Series(counts / len(self.asked_places), index=list(self.questions), name="exposure")

    @property
    def overlap(self) -> float:
        """The mean share of questions that two students have in common: shared questions over the mean length."""
        count = len(self.asked_places)
        times = self.exposure.to_numpy() * count
        pairs = (times * (times - 1)).sum() / (count * (count - 1)) if count > 1 else np.nan
        return float(pairs / self.length.mean()) if self.length.any() else 0.0

    @property
    def never_used(self) -> list[str]:
        """The questions that nobody was asked."""
        return [name for name, share in zip(self.questions, self.exposure, strict=True) if share == 0]

    def table(self) -> "pd.DataFrame":
        """A row a step: the share still running, every metric (mean over the skills), and standard errors where they are known."""
        frame = super().table()
        for name in self.by_student:
            frame[f"{name}_error"] = self.error(name)
        return frame


def _joined(parts: list[NDArray[np.int32]], steps: int) -> NDArray[np.int32]:
    """Arrays over (students, steps), made equally long by -1."""
    return np.concatenate([np.pad(part, ((0, 0), (0, steps - part.shape[1])), constant_values=-1) for part in parts])
