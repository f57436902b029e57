"""What is kept of each student, part by part, and put together when asked for: of a million students it is large."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from quaestor.lazy import lazy
from quaestor.simulate.metrics import ALIKE, METRICS
from quaestor.simulate.totals import PerStudent, Spread, Values, stretched

Kind = TypeVar("Kind")


@dataclass(frozen=True, eq=False)
class Rows:
    """What is kept of the students of one part: metrics; questions and answers, (students, steps); true levels, (students, skills)."""

    metrics: Mapping[str, PerStudent]
    asked: NDArray[np.int32]
    answers: NDArray[np.int32]
    levels: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Each:
    """What is kept of all students, in the order of the parts."""

    parts: Sequence[Rows]

    @lazy
    def asked(self) -> NDArray[np.int32]:
        """The numbers of the questions, (students, steps), -1 after the end."""
        return _joined([part.asked for part in self.parts])

    @lazy
    def answers(self) -> NDArray[np.int32]:
        """The numbers of the answer classes, (students, steps), -1 for a skip and after the end."""
        return _joined([part.answers for part in self.parts])

    @lazy
    def levels(self) -> NDArray[np.intp]:
        """The true levels, (students, skills)."""
        return np.concatenate([part.levels for part in self.parts])

    @lazy
    def by_student(self) -> "ByStudent":
        """Metrics of each student."""
        return ByStudent({name: [part.metrics[name] for part in self.parts] for name in self.parts[0].metrics})


def _joined(parts: list[NDArray[np.int32]]) -> NDArray[np.int32]:
    """Rows of students after those of others, with -1 where others have more steps; in memory the students of a step stand together."""
    steps = max(part.shape[1] for part in parts)
    rows = [np.pad(part.T, ((0, steps - part.shape[1]), (0, 0)), constant_values=-1) if part.shape[1] < steps else part.T for part in parts]
    return rows[0].T if len(rows) == 1 else np.concatenate(rows, axis=1).T


def in_order(metrics: Mapping[str, Kind]) -> dict[str, Kind]:
    """Metrics in the order of `METRICS`, with those that are the same of exact numbers."""
    others = {other: metrics[name] for name, listed in ALIKE.items() if name in metrics for other in listed}
    every = {**others, **metrics}
    return {name: every[name] for name in dict.fromkeys((*METRICS, *every)) if name in every}


class ByStudent(Mapping[str, Values]):
    """Metrics of each student, (students, steps), put together from parts when asked for."""

    def __init__(self, parts: Mapping[str, list[PerStudent]]) -> None:
        self._every = in_order(parts)

    def __getitem__(self, name: str) -> Values:
        listed = [part.values for part in self._every[name]]
        steps = max(values.shape[1] for values in listed)
        return np.concatenate([stretched(values, steps, 1).T for values in listed], axis=1).T

    def __iter__(self) -> Iterator[str]:
        return iter(self._every)

    def __len__(self) -> int:
        return len(self._every)

    def spread(self, name: str) -> Spread:
        """How far apart the students are in a metric."""
        return Spread.of_parts(Spread.of(part.values) for part in self._every[name])
