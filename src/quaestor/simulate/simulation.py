"""The result of a simulation: curves with standard errors, paired differences, lengths, stop rules, exposure."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank, check_bank
from quaestor.credal.decisions import TIED
from quaestor.errors import QuaestorError, expect, format_kind, got, is_among, nearest
from quaestor.extras import from_extra
from quaestor.model.table import Array
from quaestor.simulate.curves import UNKNOWN, Curves
from quaestor.simulate.each import ByStudent, Each, Rows, in_order
from quaestor.simulate.identity import Identity
from quaestor.simulate.library import fetched
from quaestor.simulate.metrics import METRICS
from quaestor.simulate.responses import as_responses
from quaestor.simulate.run import Record
from quaestor.simulate.totals import PerStudent, Spread, Total, Values, stretched, totals_of

if TYPE_CHECKING:
    import pandas as pd

KEEP = ("students", "sums")  # what a simulation keeps: numbers of every student, or sums over them alone


@dataclass(frozen=True, eq=False)
class Part:
    """The summary of a batch of students: sums over them, and a few numbers for `each`, where these are kept.

    `count`: how many they are; `running`: how many were asked a first, a second, ... question, (steps,); `times`: how often each question
    was asked, up to the last one that was; `spreads`: of each student's metrics, where these are not kept.
    """

    count: int
    totals: dict[str, Total]
    calibration: Array
    running: NDArray[np.intp]
    times: NDArray[np.intp]
    stops: Counter[str]
    spreads: dict[str, Spread]
    each: Each | None


def summarised(record: Record, keep: str = KEEP[0]) -> Part:
    """The summary of a record."""
    asked, answers = fetched(record.asked), fetched(record.answers)
    totals: dict[str, Total] = {}
    metrics: dict[str, PerStudent] = {}
    if record.held_out is not None:
        metrics |= {name: PerStudent.of(values) for name, values in _prediction_metrics(record.held_out).items()}
    calibration: Array = np.zeros((asked.shape[1] + 1, 0, 3))
    if (record.levels >= 0).all():  # nobody knows those of real people
        totals, own, calibration = totals_of(record)
        metrics |= own
    is_asked = asked >= 0
    return Part(
        len(asked),
        totals,
        calibration,
        is_asked.sum(axis=0),
        np.bincount(asked[is_asked]),
        Counter(record.rule.tolist()),
        {} if keep == KEEP[0] else {name: Spread.of(kept.values) for name, kept in metrics.items()},
        Each([Rows(metrics, asked, answers, record.levels)]) if keep == KEEP[0] else None,
    )


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


@dataclass(frozen=True, eq=False)
class Simulation(Curves):
    """Curves of simulated students. `count`: how many there are; `stops`: how many tests each rule ended; `times`: how often each question
    was asked, (questions,).

    `each`: what is kept of each student, None where only sums are kept: then whatever tells of each student raises an error.
    `spreads`: the standard errors then. `whose`: the identity of the students (None for a simulation made by hand: paired differences then
    compare the levels only).
    """

    questions: tuple[str, ...]
    count: int
    totals: dict[str, Total]
    stops: dict[str, int]
    calibration: Array
    times: NDArray[np.intp]
    spreads: dict[str, Spread]
    each: Each | None
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
            students = sum(part.count for part in parts)
        totals: dict[str, Total] = {}
        spreads: dict[str, Spread] = {}
        stops: Counter[str] = Counter()
        running, times = np.zeros(0, dtype=np.intp), np.zeros(len(questions), dtype=np.intp)
        calibration: Array | None = None
        rows: list[Rows] = []
        for part in parts:
            totals = {name: totals[name].plus(total) if name in totals else total for name, total in part.totals.items()}
            spreads = {name: Spread.of_parts([spreads[name], one] if name in spreads else [one]) for name, one in part.spreads.items()}
            stops.update(part.stops)
            calibration = part.calibration if calibration is None else _added(calibration, part.calibration)
            running = np.pad(running, (0, max(0, len(part.running) - len(running))))
            running[: len(part.running)] += part.running
            times[: len(part.times)] += part.times
            if part.each is not None:
                rows += part.each.parts
        assert calibration is not None, "a simulation has at least 1 student"
        each = Each(rows) if rows else None
        spreads = in_order(spreads)
        means = {name: total.mean() for name, total in totals.items()}
        own = spreads if each is None else {name: each.by_student.spread(name) for name in each.by_student if name not in means}
        means |= {name: one.mean[:, None] for name, one in own.items() if name not in means}
        shares = np.concatenate([[1.0], running / students])
        ended = dict(stops.most_common())
        return Simulation(skills, means, shares, questions, students, totals, ended, calibration, times, spreads, each, whose)

    def _of_each(self, what: str) -> Each:
        if self.each is None:
            raise QuaestorError(f"{what}: numbers of each student are there with keep='students', got a simulation with keep='sums'")
        return self.each

    __repr__ = Curves.__repr__

    def _whose(self) -> str:
        return f" of {self.count:,} students"

    @property
    def by_student(self) -> ByStudent:
        """The mean over the skills for each student, (students, steps), of every metric but `single_accuracy` and `set_accuracy`."""
        return self._of_each("by_student").by_student

    @property
    def asked_places(self) -> NDArray[np.int32]:
        """The numbers of the questions by student and step, -1 after the end."""
        return self._of_each("asked").asked

    @property
    def answers(self) -> NDArray[np.int32]:
        """The numbers of the answer classes by student and step, -1 for a skip and after the end."""
        return self._of_each("answers").answers

    @property
    def levels(self) -> NDArray[np.intp]:
        """The true levels, (students, skills)."""
        return self._of_each("levels").levels

    @property
    def lengths(self) -> NDArray[np.intp]:
        """The number of questions that each student was asked, (students,)."""
        found: NDArray[np.intp] = (self._of_each("lengths").asked >= 0).sum(axis=1)
        return found

    @property
    def asked(self) -> NDArray[np.object_]:
        """The ids of the questions by student and step, empty after the end."""
        return np.array([*self.questions, ""], dtype=object)[self.asked_places]

    def responses(self, bank: Bank) -> "pd.DataFrame":
        """The answers as a table of class names, as `qs.learn` takes it: one row per student, one column per question of the bank.

        A cell is empty where the question was not asked, or skipped.
        """
        check_bank(bank)
        if tuple(bank.questions) != self.questions:
            raise QuaestorError("responses: the bank that was simulated, got one with other questions")
        return as_responses(bank, self.asked_places, self.answers)

    def error(self, metric: str = "accuracy") -> Array:
        """The standard error of a curve: of the mean over students of their means over skills, (steps,).

        For `single_accuracy` and `set_accuracy`, which some students do not have, it is the mean of the skills' errors, an upper bound.
        """
        if self.each is None and is_among(metric, self.spreads):
            return self.spreads[metric].error
        if self.each is not None and is_among(metric, self.each.by_student):
            return self.each.by_student.spread(metric).error
        if is_among(metric, self.totals):
            return Spread.of(self.totals[metric].error().T).mean
        raise self._unknown(metric, self.means)

    def difference(self, other: "Simulation", metric: str = "accuracy") -> tuple[Array, Array]:
        """The paired difference of this curve to that of another simulation of the same students, and its standard error, (steps,) each."""
        expect("other", other, Simulation, "a Simulation, as qs.simulate gives it, is expected")
        for one in (self, other):
            one._of_each("difference")
        apart = self._apart(other)
        if apart:
            raise QuaestorError(f"differences are taken between simulations of the same students, got {apart}")
        steps = max(len(self.running), len(other.running))
        mine, yours = (stretched(one._students(metric), steps, 1) for one in (self, other))
        with np.errstate(invalid="ignore"):
            found = Spread.of(mine - yours)
        mean, error = found.mean, found.error
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
        if not is_among(metric, self.by_student):
            raise self._unknown(metric, self.by_student)
        return self.by_student[metric]

    def _unknown(self, metric: object, known: Iterable[str]) -> QuaestorError:
        if is_among(metric, METRICS) and not self.totals:
            return QuaestorError(f"no {metric}: {UNKNOWN}")
        return QuaestorError(
            got(f"a metric is one of {', '.join(known)}", format_kind(metric), "" if is_among(metric, METRICS) else nearest(metric, known))
        )

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
        if not is_among(metric, self.totals):
            raise self._unknown(metric, self.totals or self.means)
        return self.totals[metric]

    @property
    def exposure(self) -> "pd.Series[float]":
        """The share of students that each question was asked."""
        with from_extra():
            import pandas as pd  # only here: it takes long to import

        return pd.Series(self.times / self.count, index=list(self.questions), name="exposure")

    @property
    def overlap(self) -> float:
        """The mean share of questions that two students have in common: shared questions over the mean length."""
        pairs = (self.times * (self.times - 1.0)).sum() / (self.count * (self.count - 1)) if self.count > 1 else np.nan
        return float(pairs / self.length) if self.times.any() else 0.0

    @property
    def never_used(self) -> list[str]:
        """The questions that nobody was asked."""
        return [name for name, times in zip(self.questions, self.times, strict=True) if not times]

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
