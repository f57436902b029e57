"""The result of a simulation: curves with standard errors, paired differences, lengths, stop rules, exposure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from quaestor.credal.decisions import TIED
from quaestor.errors import QuaestorError
from quaestor.model.table import Array
from quaestor.simulate.curves import UNKNOWN, Curves
from quaestor.simulate.identity import Identity
from quaestor.simulate.library import fetched
from quaestor.simulate.metrics import ALIKE, METRICS
from quaestor.simulate.run import Record
from quaestor.simulate.totals import Total, Values, stretched, totals_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass
class Part:
    """The summary of a batch of students: sums over them, and a few numbers for each."""

    totals: dict[str, Total]
    calibration: Array
    by_student: dict[str, Values]
    asked: NDArray[np.int32]
    answers: NDArray[np.int32]
    rule: NDArray[np.object_]
    levels: NDArray[np.intp]


def summarised(record: Record) -> Part:
    """The summary of a record."""
    by_student: dict[str, Values] = {}
    if record.held_out is not None:
        by_student |= _prediction_metrics(record.held_out)
    if (record.levels < 0).any():  # real people: nobody knows their levels
        return Part({}, np.zeros((record.asked.shape[1] + 1, 0, 3)), by_student, record.asked, record.answers, record.rule, record.levels)
    totals, own, calibration = totals_of(record)
    asked, answers = fetched(record.asked), fetched(record.answers)
    return Part(totals, calibration, by_student | own, asked, answers, record.rule, record.levels)


def _prediction_metrics(chances: Array) -> dict[str, Array]:
    """Metrics of the predicted probabilities of held-out answers, (students, steps, questions): the mean log loss, and the accuracy, where
    an answer is predicted if its probability is above 1/2 (exactly 1/2 counts half); (students, steps) each, NaN without answers.
    """
    with np.errstate(divide="ignore"):
        loss = -np.log(chances)
    known = ~np.isnan(chances)
    count = known.sum(axis=2)
    sums = {"held_out_log_loss": loss, "held_out_accuracy": (chances > 0.5 - TIED) - 0.5 * (np.abs(chances - 0.5) <= TIED)}
    return {name: _divided(np.where(known, values, 0).sum(axis=2), count) for name, values in sums.items()}


def _divided(total: Array, count: Array) -> Array:
    """total / count; NaN where the count is 0."""
    return np.asarray(np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0))


def _mean_and_error(values: Values) -> tuple[Array, Array]:
    """The mean over the students who have a value, and its standard error (NaN where fewer than two have), each (steps,)."""
    found = np.full((2, values.shape[1]), np.nan)
    for step in range(values.shape[1]):  # one after another: a million students fit in memory
        known = values[:, step].astype(float)
        known = known[~np.isnan(known)]
        if len(known):
            with np.errstate(invalid="ignore"):  # an infinite loss has no error
                mean = known.mean()
                error = known.std(ddof=1) / np.sqrt(len(known)) if len(known) > 1 else np.nan
            found[:, step] = mean, error
    return found[0], found[1]


class ByStudent(Mapping[str, Values]):
    """Metrics of each student, (students, steps), put together from parts when asked for: of a million students they are large."""

    def __init__(self, parts: Mapping[str, list[Values]]) -> None:
        others = {other: parts[name] for name, listed in ALIKE.items() if name in parts for other in listed}
        every = {**others, **parts}
        self._parts = {name: every[name] for name in dict.fromkeys((*METRICS, *every)) if name in every}

    def __getitem__(self, name: str) -> Values:
        listed = self._parts[name]
        steps = max(values.shape[1] for values in listed)
        return np.concatenate([stretched(values, steps, 1).T for values in listed], axis=1).T

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)


@dataclass(frozen=True, eq=False)
class Simulation(Curves):
    """Curves of simulated students. `lengths`: questions asked of each, (students,); `stops`: how many tests each rule ended.

    `by_student`: the mean over the skills for each student, (students, steps), of every metric but `single_accuracy` and `set_accuracy`.
    `asked` and `answers`: ids of questions and numbers of classes by student and step; `levels`: true levels, (students, skills);
    `whose`: the identity of the students (None for a simulation made by hand: paired differences then compare the levels only).
    """

    questions: tuple[str, ...]
    totals: dict[str, Total]
    by_student: Mapping[str, Values]
    asked_places: NDArray[np.int32]
    answers: NDArray[np.int32]
    stops: dict[str, int]
    levels: NDArray[np.intp]
    calibration: Array
    whose: Identity | None = None

    @staticmethod
    def of(
        parts: Iterable[Part],
        skills: tuple[str, ...],
        questions: tuple[str, ...],
        students: int | None = None,
        whose: Identity | None = None,
    ) -> "Simulation":
        """The simulation of all parts together. If the number of students is given, parts from an iterator are not kept in memory."""
        if students is None:
            parts = list(parts)
            students = sum(len(part.asked) for part in parts)
        totals: dict[str, Total] = {}
        stops: Counter[str] = Counter()
        calibration: Array | None = None
        every: dict[str, list[Values]] = defaultdict(list)
        places, classes, true_levels = _Rows(students, -1), _Rows(students, -1), _Rows(students)
        for part in parts:
            totals = {name: totals[name].plus(total) if name in totals else total for name, total in part.totals.items()}
            stops.update(part.rule.tolist())
            calibration = part.calibration if calibration is None else _added(calibration, part.calibration)
            true_levels.add(part.levels)
            places.add(part.asked)
            classes.add(part.answers)
            for name, values in part.by_student.items():
                every[name].append(values)
        assert calibration is not None, "a simulation has at least 1 student"
        asked, answers, levels = places.rows, classes.rows, true_levels.rows
        by_student = ByStudent(every)
        running = np.concatenate([[1.0], (asked >= 0).mean(axis=0)])
        means = {name: total.mean() for name, total in totals.items()}
        means |= {name: _mean_and_error(by_student[name])[0][:, None] for name in by_student if name not in means}
        ended = dict(stops.most_common())
        return Simulation(skills, means, running, questions, totals, by_student, asked, answers, ended, levels, calibration, whose)

    @property
    def lengths(self) -> NDArray[np.intp]:
        """The number of questions that each student was asked, (students,)."""
        found: NDArray[np.intp] = (self.asked_places >= 0).sum(axis=1)
        return found

    @property
    def asked(self) -> NDArray[np.object_]:
        """The ids of the questions by student and step, empty after the end."""
        return np.array([*self.questions, ""], dtype=object)[self.asked_places]

    def error(self, metric: str = "accuracy") -> Array:
        """The standard error of a curve: of the mean over students of their means over skills, (steps,).

        For `single_accuracy` and `set_accuracy`, which some students do not have, it is the mean of the skills' errors, an upper bound.
        """
        if metric in self.totals and metric not in self.by_student:
            return _mean_and_error(self.totals[metric].error().T)[0]
        return _mean_and_error(self._students(metric))[1]

    def difference(self, other: "Simulation", metric: str = "accuracy") -> tuple[Array, Array]:
        """The paired difference of this curve to that of another simulation of the same students, and its standard error, (steps,) each."""
        apart = self._apart(other)
        if apart:
            raise QuaestorError(f"differences are taken between simulations of the same students, got {apart}")
        steps = max(len(self.running), len(other.running))
        mine, yours = (stretched(one._students(metric), steps, 1) for one in (self, other))
        with np.errstate(invalid="ignore"):
            mean, error = _mean_and_error(mine - yours)
        endless = (np.isinf(mine) & np.isinf(yours)).any(axis=0)
        mean[endless] = error[endless] = np.nan  # nobody knows how far two infinite losses are apart
        return mean, error

    def _apart(self, other: "Simulation") -> str:
        """In words why the students of another simulation are not the same ones; empty if they are."""
        if self.whose is None or other.whose is None:
            apart = "" if self.whose is other.whose else "one that does not say whose it is"
        else:
            apart = self.whose.difference(other.whose)
        if apart or (self.whose is not None and self.whose.seed is None):
            return apart
        if self.levels.shape != other.levels.shape or self.skills != other.skills:
            return f"{len(self.levels)} with the skills {', '.join(self.skills)} and {len(other.levels)} with {', '.join(other.skills)}"
        moved = int((self.levels != other.levels).any(axis=1).sum())
        return f"other true levels of {moved} of the {len(self.levels)} students" if moved else ""

    def _students(self, metric: str) -> Values:
        if metric not in self.by_student:
            raise self._unknown(metric, self.by_student)
        return self.by_student[metric]

    def _unknown(self, metric: str, known: Iterable[str]) -> QuaestorError:
        if metric in METRICS and not self.totals:
            return QuaestorError(f"no {metric}: {UNKNOWN}")
        return QuaestorError(f"a metric is one of {', '.join(known)}, got '{metric}'")

    def by_level(self, metric: str = "accuracy") -> Array:
        """The means for each true level, (steps, skills, levels); NaN where nobody has it."""
        return self._total(metric).mean(axes=())

    def error_by_skill(self, metric: str = "accuracy") -> Array:
        """The standard errors of `x.<metric>_by_skill`, (steps, skills)."""
        return self._total(metric).error()

    def error_by_level(self, metric: str = "accuracy") -> Array:
        """The standard errors of `by_level`, (steps, skills, levels); NaN where fewer than two students have the level."""
        return self._total(metric).error(axes=())

    def _total(self, metric: str) -> Total:
        if metric not in self.totals:
            raise self._unknown(metric, self.totals or self.by_student)
        return self.totals[metric]

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
        return float(pairs / self.lengths.mean()) if self.lengths.any() else 0.0

    @property
    def never_used(self) -> list[str]:
        """The questions that nobody was asked."""
        return [name for name, share in zip(self.questions, self.exposure, strict=True) if share == 0]

    def table(self) -> "pd.DataFrame":
        """A row a step: the share still running, every metric (mean over the skills), and standard errors where they are known."""
        frame = super().table()
        for name in self.means:
            frame[f"{name}_error"] = self.error(name)
        return frame


def _added(one: Array, other: Array) -> Array:
    """The sum of two arrays over steps, the shorter one extended by its last value."""
    steps = max(len(one), len(other))
    return stretched(one, steps) + stretched(other, steps)


class _Rows:
    """An array of rows by student, filled batch by batch; it is allocated once, so that batches are not copied again in the end.

    Missing steps of a batch are filled with `after`, or with its last value. In memory the students of a step stand together.
    """

    def __init__(self, count: int, after: int | None = None) -> None:
        self._count, self._after, self._filled = count, after, 0
        self.rows: NDArray[Any] = np.zeros((0, 0))

    def add(self, part: NDArray[Any]) -> None:
        """Add the rows of the next students."""
        if not self._filled:
            self.rows = np.zeros((part.shape[1], self._count), part.dtype).T
        steps = max(self.rows.shape[1], part.shape[1])
        self.rows, part = self._longer(self.rows, steps), self._longer(part, steps)
        self.rows[self._filled : self._filled + len(part)] = part
        self._filled += len(part)

    def _longer(self, rows: NDArray[Any], steps: int) -> NDArray[Any]:
        if self._after is None or rows.shape[1] == steps:
            return stretched(rows, steps, 1)
        return np.pad(rows.T, ((0, steps - rows.shape[1]), (0, 0)), constant_values=self._after).T
