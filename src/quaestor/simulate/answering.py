"""How simulated students answer: by their true levels, by the luck that was drawn for them, and by how they behave.

The lines run on arrays of any library that speaks the array API; behaviours of one's own (`behaviours.py`) on numpy's.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from quaestor.arrays import device, namespace
from quaestor.errors import QuaestorError, format_value
from quaestor.inference.evidence import MISSING
from quaestor.simulate.behaviours import SHARES, Asked, OwnBehaviour
from quaestor.streams import Streams


@dataclass(frozen=True)
class Behaviour:
    """Deviations of the students' answers from the bank's model; they can be combined.

    `fatigue`: with each earlier question, this share of the answers is given as by somebody at the lowest levels. `guessing`: this share of
    the answers is drawn uniformly from the classes. `slips`: this share is of the worst class. `skipping`: this share is skipped.
    `reveals`: a question, once asked, reveals the best answer to other questions to a share of the students. `own`: registered ones, which
    come last (`quaestor.register.behaviour`).
    """

    fatigue: float = 0.0
    guessing: float = 0.0
    slips: float = 0.0
    skipping: float = 0.0
    reveals: Mapping[str, Mapping[str, float]] = field(default_factory=dict, hash=False)
    own: tuple[OwnBehaviour, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "own", tuple(self.own) if isinstance(self.own, list | tuple) else (self.own,))
        for one in self.own:
            if not isinstance(one, OwnBehaviour):
                raise QuaestorError(f"behaviour.own: behaviours made by qs.register.behaviour, got {format_value(one)}")
        if not isinstance(self.reveals, Mapping) or not all(isinstance(given, Mapping) for given in self.reveals.values()):
            rule = "behaviour.reveals: for a question a map of others, with the share of students to whom it reveals them"
            raise QuaestorError(f"{rule}, got {format_value(self.reveals)}")
        shares = {name: getattr(self, name) for name in SHARES}
        shares |= {f"reveals.{one}.{other}": share for one, given in self.reveals.items() for other, share in given.items()}
        for name, share in shares.items():
            if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
                raise QuaestorError(f"behaviour.{name}: a share between 0 and 1, got {share!r}")

    @property
    def document(self) -> dict[str, Any]:
        """What it is, as a study states it."""
        found: dict[str, Any] = {name: getattr(self, name) for name in (*SHARES, "reveals") if getattr(self, name)}
        for one in self.own:
            stated = one.document
            found |= {stated: {}} if isinstance(stated, str) else stated
        return found


def behaviour_of(stated: object) -> Behaviour:
    """A behaviour from what a caller gives: none, a `Behaviour`, or a registered one."""
    if stated is None:
        return Behaviour()
    if isinstance(stated, OwnBehaviour):
        return Behaviour(own=(stated,))
    if isinstance(stated, type) and issubclass(stated, OwnBehaviour):
        raise QuaestorError(f"behaviour: {stated.name}(...), called with its settings, got {stated.name} itself")
    if type(stated) is not Behaviour:
        rule = "behaviour: a Behaviour, or one that was made by qs.register.behaviour"
        raise QuaestorError(f"{rule}, got {format_value(stated)}")
    return stated


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

    def answers(
        self, behaviour: Behaviour, who: Any, questions: Any, before: Any, revealed: Any = None, seen: Callable[[], Asked] | None = None
    ) -> Any:
        """The answer class of some students, (students,), to a question each, MISSING for a skip.

        `before`: how many questions they were asked earlier; `revealed`: the share of them to whom the best answer was revealed;
        `seen`: what behaviours of one's own see.
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
        skipping: Any = behaviour.skipping
        if behaviour.own and seen is not None:
            asked = seen()
            for own in behaviour.own:
                p, skips = own.changed(p, asked)
                skipping = skips + (1 - skips) * skipping
        found = picked(p, self.streams.uniform(self.luck, who, questions), classes - 1)
        if behaviour.skipping or behaviour.own:
            found = xp.where(self.streams.uniform(self.moods, who, questions) < skipping, MISSING, found)
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
