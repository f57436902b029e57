"""Curves as figures: colour-blind safe, readable in grey (every line has its own colour, dash and marker), the names beside the lines."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from quaestor.formats.files import save
from quaestor.model.table import Array

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9", "#7F7F7F")  # Okabe and Ito, and a grey
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), "-")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
SIGNS = "●■▲◆▼✚✖★"  # the markers again, before the names
SETTINGS: Any = {"svg.hashsalt": "quaestor", "svg.fonttype": "none", "font.size": 10, "axes.spines.top": False, "axes.spines.right": False}


@dataclass(frozen=True)
class Line:
    """One curve over the number of questions; `error`: half the width of its band; `dotted`: points only, such as published ones."""

    name: str
    y: Array
    error: Array | None = None
    style: int = 0
    dotted: bool = False


def curves(lines: Sequence[Line], quantity: str, title: str = "", x: str = "questions asked") -> Figure:
    """A figure of several curves."""
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(7.2, 4.2), layout="constrained")
        axes = figure.add_subplot()
        draw(axes, lines)
        axes.set_xlabel(x)
        axes.set_ylabel(quantity)
        if title:
            axes.set_title(title, loc="left", fontsize=11)
    return figure


def draw(axes: Axes, lines: Sequence[Line]) -> None:
    """Draw curves into axes, their names at the right ends."""
    longest = max(len(line.y) for line in lines)
    for line in lines:
        steps = np.arange(len(line.y))
        style = line.style % len(COLOURS)
        colour, marker = COLOURS[style], MARKERS[style]
        if line.dotted:
            axes.plot(steps, line.y, linestyle="none", marker=marker, markersize=4, color=colour, fillstyle="none", zorder=3)
        else:
            every = max(1, longest // 10)
            axes.plot(
                steps, line.y, linestyle=DASHES[style], marker=marker, markersize=4, markevery=(style % every, every), color=colour, lw=1.6
            )
        if line.error is not None:
            axes.fill_between(steps, line.y - line.error, line.y + line.error, color=colour, alpha=0.15, linewidth=0)
    low, high = axes.get_ylim()
    for line, height in zip(lines, _heights(lines, low, high), strict=True):
        axes.annotate(
            f"{SIGNS[line.style % len(SIGNS)]} {line.name}",
            (len(line.y) - 1, height),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            color=COLOURS[line.style % len(COLOURS)],
            fontsize=9,
            annotation_clip=False,
        )
    axes.grid(axis="y", alpha=0.25)


def _heights(lines: Sequence[Line], low: float, high: float) -> list[float]:
    """The heights of the names: at the ends of the lines, but without overlap and within the axes; better curves above worse ones."""
    least = (high - low) * 0.052
    ends = [float(line.y[-1]) for line in lines]
    order = sorted(range(len(lines)), key=lambda number: (round(ends[number], 2), float(np.nanmean(lines[number].y))))
    moved: NDArray[np.float64] = np.array(ends)
    for _ in range(200):
        for below, above in pairwise(order):
            short = max(0.0, least - (moved[above] - moved[below]))
            moved[below] -= short / 2
            moved[above] += short / 2
    moved -= max(0.0, moved.max() - high)
    return [float(height) for height in moved]


def svg(figure: Figure) -> str:
    """The figure as SVG; equal data give equal text."""
    with mpl.rc_context(SETTINGS):
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def save_figure(figure: Figure, folder: str | Path, name: str) -> None:
    """Save the figure as name.png and name.svg."""
    buffer = io.BytesIO()
    with mpl.rc_context(SETTINGS):
        figure.savefig(buffer, format="png", dpi=150, metadata={"Software": None})
    save(buffer.getvalue(), Path(folder) / f"{name}.png")
    save(svg(figure).encode(), Path(folder) / f"{name}.svg")
