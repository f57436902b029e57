"""What simulations came to: curves over the number of questions, how often questions are seen, how far results can be relied on."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from quaestor import errors
from quaestor.errors import QuaestorError, format_kind, is_among, nearest
from quaestor.plot.axes import axes_of, expect
from quaestor.report.figures import COLOURS, Line, draw
from quaestor.simulate.curves import Curves
from quaestor.simulate.retest import Reliability
from quaestor.simulate.simulation import Simulation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 8  # curves whose colours can be told apart
SURE = 1.96  # standard errors: 95 in 100


def curves(found: Curves | Mapping[str, Curves], metric: str = "accuracy", axes: "Axes | None" = None) -> "Axes":
    """The curves of one or several simulations, by name, with bands of 95 % where they were sampled."""
    named = found if isinstance(found, Mapping) else {"": found}
    if not 1 <= len(named) <= MOST:
        raise QuaestorError(f"curves: 1 to {MOST} can be told apart, got {len(named)}")
    lines = []
    for number, (name, one) in enumerate(named.items()):
        errors.expect(f"curves.{name}" if name else "curves", one, Curves, "a simulation, or a dict of name: simulation, is expected")
        if not is_among(metric, one.means):
            hint = nearest(metric, one.means)
            raise QuaestorError(errors.got(f"metric: one of {', '.join(one.means)}", format_kind(metric), hint))
        error = SURE * one.error(metric) if isinstance(one, Simulation) else None
        lines.append(Line(name, getattr(one, metric), error, number))
    axes = axes_of(axes)
    draw(axes, lines)
    axes.set_xlabel("questions asked")
    axes.set_ylabel(metric.replace("_", " "))
    return axes


def exposure(found: Simulation, axes: "Axes | None" = None) -> "Axes":
    """The share of students that each question was asked, the most asked first."""
    expect("exposure", found, Simulation)
    shares = np.sort(found.times / found.count)[::-1]
    axes = axes_of(axes)
    axes.bar(np.arange(1, len(shares) + 1), shares, color=COLOURS[0], width=1.0, edgecolor="white", linewidth=0.3)
    never = int((shares == 0).sum())
    axes.set_title(f"{never} of {len(shares)} questions are never asked" if never else "every question is asked", loc="left", fontsize=10)
    axes.set_xlabel("questions, the most asked first")
    axes.set_ylabel("share of students")
    axes.set_ylim(0, 1)
    return axes


def reliability(found: Reliability, axes: "Axes | None" = None) -> "Axes":
    """Accuracy, consistency and reliability of each skill, with 95 % of the simulation's error."""
    expect("reliability", found, Reliability)
    axes = axes_of(axes, 7.2, 1.2 + 0.5 * len(found.skills))
    places = np.arange(len(found.skills))[::-1]
    for number, name in enumerate(("accuracy", "consistency", "reliability")):
        values, error = getattr(found, name), getattr(found, f"{name}_error")
        axes.errorbar(
            values, places + 0.2 * (1 - number), xerr=SURE * error, fmt="os^"[number], color=COLOURS[number], markersize=5, label=name
        )
    axes.set_yticks(places, found.skills)
    axes.set_xlim(0, 1)
    axes.legend(frameon=False, fontsize=9, loc="lower left")
    axes.grid(axis="x", alpha=0.25)
    return axes
