"""Questions that work differently for groups of people: sentences, a table, a figure, and the same for a machine."""

from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from quaestor.learn.differential import CHANCE, DELTA, LARGE, MODERATE, Differences
from quaestor.report import page
from quaestor.report.figures import COLOURS, SETTINGS, svg

SHOWN = 60  # questions in the figure, those with the largest differences
ADVICE = "Look at its wording and context, take it out, or tell of the difference; that groups differ in skill is accounted for."


def group_findings(found: Differences | None) -> list[str]:
    """A sentence for each question that works differently, the largest differences first, and what a reader must know."""
    if found is None:
        return []
    return [*found.notes, *(f"`{one.question}`: {one.words} {ADVICE}" for one in found.told)]


def group_summary(found: Differences) -> str:
    """One paragraph: the groups, and what was found."""
    people = ", ".join(f"{label} ({count:,} people)" for label, count in zip(found.labels, found.people, strict=True))
    compared = sum(one.chance == one.chance for one in found.questions)
    told = [f"`{one.question}`" for one in found.told]
    which = f"None of {compared} questions works differently."
    if told:
        which = f"{len(told)} of {compared} questions work{'s' * (len(told) == 1)} differently: {', '.join(told)}."
    return f"Groups: {people}. {which}"


def group_parts(found: Differences | None) -> list[str]:
    """The section of a page; nothing without groups."""
    if found is None:
        return []
    return [
        page.heading("Groups"),
        page.text(group_summary(found)),
        page.text(_legend()),
        *([page.listing(found.notes)] if found.notes else []),
        page.table(group_table(found), 2),
        page.figure(svg(group_figure(found)), _caption(found)),
    ]


def group_table(found: Differences) -> pd.DataFrame:
    """A row a question; those that few have answered are not compared."""
    rows = {
        one.question: {
            "group": one.group,
            "against": one.others,
            "answers": f"{one.answers} and {one.answers_of_others}",
            "in 100": f"{100 * one.points:+.0f}",
            "log-odds": one.log_odds,
            "error": one.error,
            "chance": one.chance,
            "class": one.size,
            "by the level": "yes" if one.is_uneven else "",
        }
        for one in found.questions
        if one.chance == one.chance
    }
    frame = pd.DataFrame.from_dict(rows, orient="index")
    frame.index.name = "question"
    return frame


def group_figure(found: Differences) -> Figure:
    """The differences of log-odds with two standard errors to each side, and where classes B and C begin."""
    known = sorted((one for one in found.questions if one.chance == one.chance), key=lambda one: -abs(one.log_odds))[:SHOWN]
    shown = [one for one in found.questions if one in known]
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(7.2, 0.2 * len(shown) + 1.1), layout="constrained")
        axes = figure.subplots()
        rows = np.arange(len(shown))
        for bound, dash in ((MODERATE, ":"), (LARGE, "--")):
            for sign in (-1, 1):
                axes.axvline(sign * bound / DELTA, color=COLOURS[7], lw=0.9, linestyle=dash)
        axes.axvline(0, color=COLOURS[7], lw=0.9)
        for is_told, colour, marker in ((False, COLOURS[0], "o"), (True, COLOURS[1], "D")):
            own = [number for number, one in enumerate(shown) if one.is_told is is_told]
            x, error = [shown[number].log_odds for number in own], [2 * shown[number].error for number in own]
            axes.errorbar(x, rows[own], xerr=error, fmt=marker, color=colour, markersize=4, lw=1)
        several = len(found.labels) > 2
        axes.set_yticks(rows, [f"{one.question} · {one.group}" if several else one.question for one in shown], fontsize=8)
        axes.set_ylim(len(shown) - 0.4, -0.6)
        axes.set_xlabel("difference of log-odds at the same level")
    return figure


def plain_groups(found: Differences | None) -> dict[str, Any] | None:
    """The differences for a machine; None without groups."""
    if found is None:
        return None
    questions = {
        one.question: {
            **{name: None if value != value else value for name, value in vars(one).items() if name not in ("question", "classes")},
            "told": one.is_told,
        }
        for one in found.questions
    }
    people = dict(zip(found.labels, found.people, strict=True))
    return {"people": people, "anchors": list(found.anchors), "notes": list(found.notes), "questions": questions}


def _caption(found: Differences) -> str:
    which = f"{found.labels[1]} against {found.labels[0]}" if len(found.labels) == 2 else "the group that differs most against the others"
    return (
        f"Differences of log-odds, {which}, with two standard errors to each side: left of 0 the question is harder for the group. Diamonds"
        " are questions that work differently; dotted lines are where class B begins, dashed ones where C does (two answer classes)."
    )


def _legend() -> str:
    return (
        "A question works differently (differential item functioning, DIF) if people at the same level answer it differently in one group"
        " than in another. Each group has its own shares of people at the levels, so that groups which differ in skill are no reason to"
        " be named here; levels are known from the other answers. `in 100`: how many more (+) or fewer (-) of 100 people of the group"
        " answer right than others at the same level would (with more than two answer classes: the mean score); `class`: A negligible or"
        f" not beyond chance, B moderate, C large, by the scale of Educational Testing Service (from {MODERATE / DELTA:.2f} and"
        f" {LARGE / DELTA:.2f} in log-odds on); `by the level`: the difference changes with the level. Of the questions named at most"
        f" {CHANCE:.0%} are expected to be chance. A difference is no judgement: look at the wording and the context of the question, take"
        " it out, or tell of it."
    )
