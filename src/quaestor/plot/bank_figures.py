"""What a bank can tell: which levels its questions separate, and how its skills build on one another."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError, format_value, is_among, nearest, several
from quaestor.inference.divergence import information as information_of
from quaestor.plot.axes import axes_of, expect
from quaestor.report.figures import COLOURS
from quaestor.report.graph import rows_of

ARROW = {"arrowstyle": "-|>", "color": COLOURS[7], "shrinkA": 16, "shrinkB": 16}

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def information(bank: Bank, skill: str, questions: Sequence[str] = (), axes: "Axes | None" = None) -> "Axes":
    """How well a bank, or each of some questions, separates each level of a skill from the next (`qs.information`)."""
    expect("bank", bank, Bank)
    found = information_of(bank, skill)
    names = list(bank.questions)
    questions = several("questions", questions, "a list of ids is expected")
    for one in questions:
        if not is_among(one, bank.questions):
            raise QuaestorError(f"questions: a question of the bank, got {format_value(one)} {nearest(one, names)}".strip())
    levels = bank.skills[skill].levels
    steps = [f"{low} | {high}" for low, high in pairwise(levels)]
    axes = axes_of(axes)
    places = np.arange(len(steps))
    if questions:
        width = 0.8 / len(questions)
        for number, one in enumerate(questions):
            axes.bar(places + width * (number - (len(questions) - 1) / 2), found[names.index(one)], width, color=_colour(number), label=one)
        axes.legend(frameon=False, fontsize=9)
    else:
        axes.bar(places, found.sum(axis=0), 0.6, color=COLOURS[0])
    axes.set_xticks(places, steps)
    axes.set_xlabel(f"between levels of {skill}")
    axes.set_ylabel("information (Jeffreys)")
    axes.grid(axis="y", alpha=0.25)
    return axes


def network(bank: Bank, axes: "Axes | None" = None) -> "Axes":
    """The skills, each below those that it builds on, with the number of its questions."""
    expect("bank", bank, Bank)
    rows = rows_of({name: skill.parents for name, skill in bank.skills.items()})
    axes = axes_of(axes, max(4.0, 2.2 * max(map(len, rows))), 1.3 * len(rows) + 0.5)
    place = {name: ((column + 0.5) / len(row), -float(depth)) for depth, row in enumerate(rows) for column, name in enumerate(row)}
    for name, skill in bank.skills.items():
        for parent in skill.parents:
            axes.annotate("", place[name], place[parent], arrowprops=ARROW)
        count = sum(name in question.skills for question in bank.questions.values())
        text = f"{skill.title or name}\n{count} questions"
        axes.text(*place[name], text, ha="center", va="center", fontsize=9, bbox={"boxstyle": "round", "fc": "white", "ec": COLOURS[0]})
    axes.set_xlim(0, 1)
    axes.set_ylim(0.5 - len(rows), 0.5)
    axes.set_axis_off()
    return axes


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]
