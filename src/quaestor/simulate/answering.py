"""How simulated students answer: by their true levels, by the luck that was drawn for them, and by how they behave.

The lines run on arrays of any library that speaks the array API.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from quaestor.arrays import device, namespace
from quaestor.errors import QuaestorError
from quaestor.inference.evidence import MISSING
from quaestor.streams import Streams


@dataclass(frozen=True)
class Behaviour:
    """Deviations of the students' answers from the bank's model; they can be combined.

    `fatigue`: with each earlier question, this share of the answers is given as by somebody at the lowest levels. `guessing`: this share of
    the answers is drawn uniformly from the classes. `slips`: this share is of the worst class. `skipping`: this share is skipped.
    `reveals`: a question, once asked, reveals the best answer to other questions to a share of the students.
    """

    fatigue: float = 0.0
    guessing: float = 0.0
    slips: float = 0.0
    skipping: float = 0.0
    reveals: Mapping[str, Mapping[str, float]] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        shares = {name: getattr(self, name) for name in ("fatigue", "guessing", "slips", "skipping")}
        shares |= {f"reveals.{one}.{other}": share for one, given in self.reveals.items() for other, share in given.items()}
        for name, share in shares.items():
            if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
                raise QuaestorError(f"behaviour.{name}: a share between 0 and 1, got {share!r}")


@dataclass(frozen=True, eq=False)
class Asking:
    """The questions as students meet them. `rows`: P(class | configuration) of all questions, one after another, (rows, most classes), or
    (students, rows, most classes) where each student has another network; `first`: the first row of each question, the one of the lowest
    levels; `scope_of`: the number of its scope; `classes`: how many it has, (questions,) each.

    `luck`, `moods`: the places of their numbers in the students' `streams`. `at`: the configurations of the students in each scope,
    (students, scopes).
    """

    streams: Streams
    rows: Any
    first: Any
    scope_of: Any
    classes: Any
    luck: Any
    moods: Any
    at: Any

    def answers(self, behaviour: Behaviour, who: Any, questions: Any, before: Any, revealed: Any = None) -> Any:
        """The answer class of some students, (students,), to a question each, MISSING for a skip.

        `before`: how many questions they were asked earlier; `revealed`: the share of them to whom the best answer was revealed.
        """
        xp = namespace(self.at)
        scopes, most = self.at.shape[1], self.rows.shape[-1]
        lowest = xp.take(self.first, questions, axis=0)
        cell = who if scopes == 1 else who * scopes + xp.take(self.scope_of, questions, axis=0)
        row = lowest + xp.take(xp.reshape(self.at, (-1,)), cell, axis=0)
        p = self._row(xp, who, row)
        classes = xp.take(self.classes, questions, axis=0)
        place = xp.arange(most, device=device(self.at))
        if behaviour.fatigue:
            tired = (1 - (1 - behaviour.fatigue) ** xp.astype(before, xp.float64))[:, None]
            p = (1 - tired) * p + tired * self._row(xp, who, lowest)
        if revealed is not None:
            p = (1 - revealed)[:, None] * p + revealed[:, None] * xp.astype(place == (classes - 1)[:, None], xp.float64)
        if behaviour.guessing:
            even = xp.astype(place < classes[:, None], xp.float64) / xp.astype(classes, xp.float64)[:, None]
            p = (1 - behaviour.guessing) * p + behaviour.guessing * even
        if behaviour.slips:
            p = (1 - behaviour.slips) * p + behaviour.slips * xp.astype(place == 0, xp.float64)
        found = picked(p, self.streams.uniform(self.luck, who, questions), classes - 1)
        if behaviour.skipping:
            found = xp.where(self.streams.uniform(self.moods, who, questions) < behaviour.skipping, MISSING, found)
        return found

    def _row(self, xp: Any, who: Any, row: Any) -> Any:
        """P(class), (students, most classes)."""
        if self.rows.ndim == 2:
            return xp.take(self.rows, row, axis=0)
        every = xp.reshape(self.rows, (-1, self.rows.shape[-1]))
        return xp.take(every, who * self.rows.shape[1] + row, axis=0)


def picked(p: Any, uniform: Any, last: Any) -> Any:
    """The class that a uniform number falls on, for rows (n, most classes); at most the `last` one of each, (n,)."""
    xp = namespace(p)
    total = p[:, 0]
    found = xp.astype(total <= uniform, last.dtype)
    for place in range(1, p.shape[1] - 1):
        total = total + p[:, place]
        found = found + xp.astype(total <= uniform, last.dtype)
    return xp.minimum(found, last)
