"""Tables that are held fixed while the others are learnt: new questions are calibrated on the scale of old ones."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError, format_value, is_among, nearest, several
from quaestor.learn.layout import Layout, Tables

A_LIST = "a list of ids of questions and skills is expected"


@dataclass(frozen=True)
class Fixed:
    """Tables that are not learnt: whether each skill is one, and for each group which of its questions are, (questions,)."""

    skills: tuple[bool, ...]
    groups: tuple[NDArray[np.bool_], ...]

    def kept(self, learnt: Tables, now: Tables) -> Tables:
        """The learnt tables, but the current ones where they are fixed."""
        skills = tuple(old if held else new for new, old, held in zip(learnt.skills, now.skills, self.skills, strict=True))
        pairs = zip(learnt.groups, now.groups, self.groups, strict=True)
        return Tables(skills, tuple(np.where(held[:, None, None], old, new) for new, old, held in pairs))


def fixed_tables(bank: Bank, layout: Layout, ids: Iterable[str]) -> Fixed:
    """The tables of these questions and skills."""
    wanted = several("learn: fixed", ids, A_LIST)
    known = [*bank.skills, *bank.questions]
    for name in sorted((name for name in wanted if not is_among(name, known)), key=str):
        hint = nearest(name, known)
        shown = format_value(name) + (f" ({hint})" if hint else "")
        raise QuaestorError(f"learn: fixed names questions and skills of the bank, got {shown}")
    listed = np.array([name in wanted for name in bank.questions])
    return Fixed(tuple(name in wanted for name in layout.names), tuple(listed[group.positions] for group in layout.groups))
