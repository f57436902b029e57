"""Curves as figures: colour-blind safe, readable in grey (every line has its own colour, dash and marker), their names inside."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from quaestor.formats.files import save
from quaestor.model.table import Array

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9", "#7F7F7F")  # Okabe and Ito, and a grey
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), "-")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
MOST = 5  # curves of a panel: more cannot be told apart
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
    """A figure of several curves, in panels of at most `MOST` that share their axes."""
    panels = [lines[first : first + MOST] for first in range(0, len(lines), MOST)]
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(7.2, 4.2 * len(panels)), layout="constrained")
        drawn = figure.subplots(len(panels), sharex=True, sharey=True, squeeze=False)[:, 0]
        for axes, some in zip(drawn, panels, strict=True):
            draw(axes, some)
            axes.set_ylabel(quantity)
        drawn[-1].set_xlabel(x)
        if title:
            drawn[0].set_title(title, loc="left", fontsize=11)
    return figure


def draw(axes: Axes, lines: Sequence[Line]) -> None:
    """Draw curves into axes, their names inside."""
    longest = max(len(line.y) for line in lines)
    for line in lines:
        steps = np.arange(len(line.y))
        style = line.style % len(COLOURS)
        look: Any = {"marker": MARKERS[style], "markersize": 4, "color": COLOURS[style], "label": line.name}
        if line.dotted:
            axes.plot(steps, line.y, linestyle="none", fillstyle="none", zorder=3, **look)
        else:
            every = max(1, longest // 10)
            axes.plot(steps, line.y, linestyle=DASHES[style], markevery=(style % every, every), lw=1.6, **look)
        if line.error is not None:
            axes.fill_between(steps, line.y - line.error, line.y + line.error, color=COLOURS[style], alpha=0.15, linewidth=0)
    name(axes)
    axes.grid(axis="y", alpha=0.25)


def name(axes: Axes, also: Sequence[Any] = ()) -> None:
    """Name the lines inside of the axes, where they leave the most room; `also`: further things to name."""
    known = [*axes.get_legend_handles_labels()[0], *also]
    if known:
        axes.legend(handles=known, loc="best", frameon=False, fontsize=9, handlelength=3)


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
