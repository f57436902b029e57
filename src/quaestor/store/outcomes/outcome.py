"""The outcome of an attempt as data."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from quaestor.credal.decisions import survivors
from quaestor.model.table import Array, centre
from quaestor.selection.sureness import is_sure


@dataclass(frozen=True)
class Finding:
    """The finding of a skill: the most probable level and the bounds of all levels, (levels,) each, lowest first.

    `answers` count for it, `least` are needed to name a level; `sure_from`: the probability from which on a level counts as sure. `cut`:
    the bounds hold, but nearer ones may be possible; working these out takes longer than a server allows.
    """

    level: str
    levels: tuple[str, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]
    answers: int
    least: int
    sure_from: float
    cut: bool = False

    @property
    def enough(self) -> bool:
        """Whether there are enough answers to name a level: else nobody is told one."""
        return self.answers >= self.least

    @property
    def place(self) -> int:
        """The index of the level."""
        return self.levels.index(self.level)

    @property
    def lower(self) -> float:
        """The lower probability of the level."""
        return self.lows[self.place]

    @property
    def upper(self) -> float:
        """The upper probability of the level."""
        return self.highs[self.place]

    @property
    def sure(self) -> bool:
        """Whether the level is sure."""
        return self.enough and is_sure(self.lower, self.sure_from)

    @property
    def possible(self) -> tuple[str, ...]:
        """The levels that none rules out: the most probable one, or several if they are equally probable or, in a credal bank, if it
        depends on the network.
        """
        kept = survivors(np.array(self.lows), np.array(self.highs))
        return tuple(level for level, is_kept in zip(self.levels, kept, strict=True) if is_kept)

    @property
    def at_top(self) -> bool:
        """Whether the level is the highest one."""
        return self.place == len(self.levels) - 1

    @property
    def centre(self) -> Array:
        """The distribution at the centre of the bounds, (levels,)."""
        lows = np.array(self.lows)
        return lows if self.lows == self.highs else centre(lows, np.array(self.highs))


@dataclass(frozen=True)
class Outcome:
    """The outcome of an attempt. `state`: running or over; `minutes`: from its start to its end, or to the last answer while it runs.

    `questions` were shown, `skipped` of them skipped; `counted` of them count, `right` of which were answered with the best class;
    `points`: partly right ones count less than 1. `hint`: whether the answers fit the bank so badly that a teacher should check them; None
    while the attempt runs, and where this was not worked out yet. `code`: the pupil's own, or that of the attempt. `counts`: whether it is
    the attempt that counts for its taker; not if the teacher has `set_aside` it. `waits`: whether what the answers came to is still to be
    worked out; `anew`: whether it was scored anew after a correction. `grade`: by the scheme of the test, if it has one and can give one.
    `starts`: whether it began with what earlier tests told.
    """

    attempt_id: int
    pupil_id: int | None
    name: str
    code: str
    state: str
    started: datetime
    ended: datetime | None
    minutes: float
    questions: int
    right: int
    reason: str
    skills: Mapping[str, Finding]
    hint: bool | None
    counts: bool = True
    skipped: int = 0
    counted: int = 0
    points: float = 0.0
    expected: float = 0.0
    grade: str = ""
    anew: bool = False
    set_aside: bool = False
    waits: bool = False
    starts: bool = False
