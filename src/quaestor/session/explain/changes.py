"""What each answer changed: the one source for pages, programs and the terminal."""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from quaestor.credal.decisions import level
from quaestor.model.beliefs import Bounds
from quaestor.session.explain import wording
from quaestor.session.explain.reasons import Change, whole
from quaestor.session.session import Session


def changes(session: Session) -> list[tuple[Change, ...]]:
    """For each line of the log what it changed by what is shown, in whole per cent; a skill that looks the same is left out.

    A change is told of the level that is found in the end, as in the ledger; where that one looks the same, of the level that moved most.
    """
    found = {skill: bounds.states.index(level(bounds)) for skill, bounds in session.beliefs.items()}
    return [
        tuple(
            change
            for skill, place in found.items()
            if (change := _change(session, skill, place, before.beliefs[skill], after.beliefs[skill])) is not None
        )
        for before, after in pairwise(session.so_far)
    ]


def _change(session: Session, skill: str, place: int, before: Bounds, after: Bounds) -> Change | None:
    moved = np.abs(after.centre - before.centre)
    for at in [place, *np.argsort(-moved, kind="stable").tolist()]:
        if _shown(before, at) != _shown(after, at):
            made = Change(skill, before.states[at], at, before, after, "")
            return replace(made, text=wording.change(session.bank, made))
    return None


def _shown(bounds: Bounds, place: int) -> tuple[int, int, int]:
    """The whole per cents of a level that are shown somewhere: of its bounds and of their middle."""
    return whole(bounds.lower[place]), whole(bounds.upper[place]), whole(bounds.centre[place])
