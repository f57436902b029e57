"""Many people: what is known of a class, and whether probabilities come true."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from quaestor import errors
from quaestor.errors import QuaestorError
from quaestor.model.beliefs import Beliefs
from quaestor.plot.axes import axes_of, expect
from quaestor.report.figures import COLOURS
from quaestor.simulate.simulation import Simulation

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def class_map(known: Mapping[str, Beliefs], axes: "Axes | None" = None) -> "Axes":
    """A row a person, a column a skill: the expected level, light (the lowest) to dark; in numbers how probable the likeliest level is."""
    errors.expect("class_map", known, Mapping, "a dict of name: beliefs is expected")
    if not known:
        raise QuaestorError("class_map: beliefs of at least one person, got none")
    for name, one in known.items():
        expect(f"class_map.{name}", one, Beliefs)
    skills = list(next(iter(known.values())))
    if any(list(one) != skills for one in known.values()):
        raise QuaestorError("class_map: beliefs on the same skills, got others")
    centres = [[one[skill].centre for skill in skills] for one in known.values()]
    shade = np.array([[p @ np.arange(len(p)) / (len(p) - 1) for p in row] for row in centres])
    axes = axes_of(axes, 1.6 + 1.1 * len(skills), 1 + 0.32 * len(known))
    axes.imshow(shade, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for row, column in np.ndindex(shade.shape):
        colour = "white" if shade[row, column] > 0.6 else "black"
        axes.text(column, row, f"{centres[row][column].max():.0%}", ha="center", va="center", fontsize=8, color=colour)
    axes.set_xticks(np.arange(len(skills)), skills, rotation=30 if len(skills) > 4 else 0, ha="right" if len(skills) > 4 else "center")
    axes.set_yticks(np.arange(len(known)), list(known))
    axes.tick_params(length=0)
    return axes


def calibration(found: Simulation, step: int = -1, axes: "Axes | None" = None) -> "Axes":
    """How often levels of a stated probability are the true ones, after so many questions; on the diagonal what is said comes true."""
    expect("calibration", found, Simulation)
    steps = len(found.calibration)
    if isinstance(step, bool) or not isinstance(step, int) or not -steps <= step < steps:
        raise QuaestorError(f"step: a whole number from 0 to {steps - 1}, got {step!r}")
    count, stated, true = found.calibration[step].T  # (bins,) each
    some = count > 0
    axes = axes_of(axes, 4.6, 4.4)
    axes.plot([0, 1], [0, 1], color=COLOURS[7], lw=1)
    axes.scatter(stated[some] / count[some], true[some] / count[some], s=10 + 300 * count[some] / count.sum(), color=COLOURS[0], alpha=0.8)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_xlabel("stated probability of a level")
    axes.set_ylabel("share of students who have it")
    return axes
