"""A section of the page on the paper: its findings in sentences, its text, tables and figures."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from quaestor.model.table import Array
from quaestor.report import page
from quaestor.report.figures import COLOURS, MARKERS, Line, curves, svg
from quaestor.report.figures import name as name_lines
from quaestor.simulate.paper import NAMES

STYLES = {name: style for style, name in enumerate(NAMES.values())}  # a method looks the same in every figure


@dataclass
class Section:
    """One section of the reproduction. `findings` are repeated at the top of the page."""

    title: str
    findings: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    frames: dict[str, pd.DataFrame] = field(default_factory=dict)
    figures: dict[str, Figure] = field(default_factory=dict)

    def say(self, words: str) -> None:
        """Add a paragraph."""
        self.parts.append(page.text(words))

    def points(self, items: Sequence[str]) -> None:
        """Add a list."""
        self.parts.append(page.listing(items))

    def table(self, name: str, frame: pd.DataFrame, digits: int = 3) -> None:
        """Add a table to the page, and as a CSV file."""
        self.frames[name] = frame
        self.parts.append(page.table(frame, digits))

    def figure(self, name: str, figure: Figure, caption: str) -> None:
        """Add a figure to the page, and as files."""
        self.figures[name] = figure
        self.parts.append(page.figure(small_svg(figure), caption))


def small_svg(figure: Figure) -> str:
    """The figure as SVG with one decimal, one font family and no indentation: it is saved twice, as a file and in the page."""
    text = re.sub(r"(\d\d\.\d)\d+", r"\1", svg(figure))
    text = re.sub(r"font-family: [^;\"]*;", "font-family: sans-serif;", text)
    text = re.sub(r' transform="rotate\(-0 [^)]*\)"', "", text)
    return re.sub(r"\n\s*", "\n", text)


def overlaid(
    lines: Mapping[str, Array],
    points: Mapping[str, Array],
    quantity: str,
    bottom: float | None = None,
    every: int = 1,
    errors: Mapping[str, Array] | None = None,
    marks: str = "printed",
) -> Figure:
    """Curves as lines, and others (such as the printed ones) as open marks of the same colours and shapes, without step 0.

    `errors`: standard errors of curves, drawn as bands of two to each side; `marks`: what the open marks are.
    """
    styles = {name: STYLES.get(name, len(STYLES) + number) for number, name in enumerate(lines)}
    bands = {name: 2 * error for name, error in (errors or {}).items()}
    figure = curves([Line(name, y, bands.get(name), styles[name]) for name, y in lines.items()], quantity)
    axes = figure.axes[0]
    for name, y in points.items():
        steps, style = np.arange(1, len(y), every), styles[name]
        look: Any = {"marker": MARKERS[style], "color": COLOURS[style], "fillstyle": "none", "markersize": 6.5}
        axes.plot(steps, y[steps], linestyle="none", **look)
    if points:
        open_mark = Line2D(
            [], [], linestyle="none", marker="o", fillstyle="none", color="0.3", markersize=6.5, label=f"open marks: {marks}"
        )
        name_lines(axes, [open_mark])
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if bottom is not None:
        axes.set_ylim(bottom=bottom)
    return figure
