"""What is known of a taker now, and how a session came to it."""

from typing import TYPE_CHECKING

import numpy as np

from quaestor.errors import QuaestorError, format_value, is_among, nearest
from quaestor.model.beliefs import Beliefs
from quaestor.plot.axes import axes_of, expect
from quaestor.report.figures import COLOURS
from quaestor.session.session import Session

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def beliefs(known: Beliefs | Session, axes: "Axes | None" = None) -> "Axes":
    """A bar for the probability of every level of every skill; in credal banks a pale band between the bounds."""
    expect("beliefs", known, Beliefs, Session)
    found = known.beliefs if isinstance(known, Session) else known
    names = [f"{skill}: {level}" for skill, bounds in found.items() for level in bounds.states]
    low = np.concatenate([bounds.lower for bounds in found.values()])
    high = np.concatenate([bounds.upper for bounds in found.values()])
    axes = axes_of(axes, 7.2, 1 + 0.28 * len(names))
    places = np.arange(len(names))[::-1]
    axes.barh(places, low, color=COLOURS[0], height=0.7, label="at least")
    if (high - low).max() > 0:
        axes.barh(places, high - low, left=low, color=COLOURS[0], alpha=0.35, height=0.7, label="at most")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False, fontsize=9)
    axes.set_yticks(places, names)
    axes.set_xlim(0, 1)
    axes.set_xlabel("probability")
    axes.grid(axis="x", alpha=0.25)
    return axes


def course(session: Session, skill: str | None = None, level: str | None = None, axes: "Axes | None" = None) -> "Axes":
    """How the probability of a level (the highest, unless it is said) changed with every answer; one skill, or all of them.

    Bounds of credal banks are bands. Below the axis stand the questions, with + for the best answer class and - for any other.
    """
    expect("session", session, Session)
    skills = list(session.bank.skills) if skill is None else [skill]
    if skill is not None and not is_among(skill, session.bank.skills):
        raise QuaestorError(f"skill: one of the bank's, got {format_value(skill)} {nearest(skill, session.bank.skills)}".strip())
    steps = session.so_far
    axes = axes_of(axes)
    for number, name in enumerate(skills):
        levels = session.bank.skills[name].levels
        if level is not None and level not in levels:
            raise QuaestorError(f"level: one of {', '.join(levels)}, got {format_value(level)}")
        place = len(levels) - 1 if level is None else levels.index(level)
        low = np.array([step.beliefs[name].lower[place] for step in steps])
        high = np.array([step.beliefs[name].upper[place] for step in steps])
        colour = COLOURS[number % len(COLOURS)]
        axes.plot((low + high) / 2, color=colour, marker="o", markersize=3, label=f"{name}: {levels[place]}")
        axes.fill_between(np.arange(len(steps)), low, high, color=colour, alpha=0.2, linewidth=0)
    marks = ["start", *(f"{one} {_mark(session, one)}" for one in session.asked)][: len(steps)]
    axes.set_xticks(np.arange(len(marks)), marks, rotation=60 if len(marks) > 6 else 0, fontsize=8)
    axes.set_ylim(0, 1)
    axes.set_ylabel("probability")
    axes.legend(frameon=False, fontsize=9)
    axes.grid(axis="y", alpha=0.25)
    return axes


def _mark(session: Session, question: str) -> str:
    answer = session.answers.get(question)
    return "·" if answer is None else "+" if answer == session.bank.questions[question].classes[-1] else "−"
