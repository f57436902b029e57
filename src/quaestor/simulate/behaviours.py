"""Behaviours of one's own: functions that change how probable the answers of simulated students are.

A function is given the probabilities `p` of the answer classes, (students, classes), one question for each student, and what it may look
at (`Asked`), and gives them back changed. What a row lacks to 1 is the probability that the question is skipped.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quaestor.errors import format_value
from quaestor.i18n import Said
from quaestor.inference.layout import Numbers
from quaestor.model.table import Array
from quaestor.registry import Named, RegisterError, Registry, said_of, settings_of

SHARES = ("fatigue", "guessing", "slips", "skipping")  # the settings of `Behaviour`
BEHAVIOURS: "Registry[type[OwnBehaviour]]" = Registry("behaviour", taken=(*SHARES, "reveals", "own"))
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Asked:
    """What a behaviour sees of students who meet a question each.

    `questions`: its number in the bank, (students,); `classes`: how many answer classes it has, (students,): beyond them `p` is 0;
    `before`: how many questions they were asked earlier, (students,); `levels`: their true levels, (students, skills);
    `answers`: what they have answered so far, (students, questions): a class, -1 for a skip, -2 for not asked;
    `ids`, `skills`: the names of questions and skills, in order; `minutes`: that questions take, (questions,).
    """

    questions: Numbers
    classes: Numbers
    before: Numbers
    levels: Numbers
    answers: Numbers
    ids: tuple[str, ...]
    skills: tuple[str, ...]
    minutes: Array


class OwnBehaviour(Named):
    """A behaviour made of a function (`quaestor.register.behaviour`)."""

    known = BEHAVIOURS
    function: ClassVar[Callable[..., Any]]
    pattern: ClassVar[str]

    @property
    def words(self) -> Said:
        """What students do, in words."""
        return said_of(self)

    def changed(self, p: Array, asked: Asked) -> tuple[Array, Array]:
        """The probabilities of the classes of a question that is answered, (students, classes), and of a skip, (students,)."""
        found = np.asarray(self.function(p.copy(), asked, **settings_of(self)))
        rule = f"behaviour {self.name}: probabilities of the answer classes, shape (students, classes)"
        if found.shape != p.shape or found.dtype.kind not in "bif":
            raise RegisterError(f"{rule} = {p.shape}, got an array of {found.dtype} of shape {found.shape}")
        total = found.sum(axis=1)
        beyond = np.arange(p.shape[1]) >= asked.classes[:, None]
        is_wrong = ~((found >= -_ROUNDING) & np.isfinite(found) & ~(beyond & (found > 0))).all(axis=1) | (total > 1 + _ROUNDING)
        if is_wrong.any():
            student = int(is_wrong.argmax())
            shown = f"{format_value(found[student].tolist())} for {asked.ids[asked.questions[student]]}"
            raise RegisterError(f"{rule}, from 0 to 1, 0 beyond the last class of a question, summing to at most 1, got {shown}")
        total = np.clip(total, 0.0, 1.0)
        chances = np.divide(found, total[:, None], out=p.copy(), where=total[:, None] > 0)
        skips = 1 - total
        return chances, np.where(skips > _ROUNDING, skips, 0.0)
