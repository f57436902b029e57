"""How the cost of a full step grows with answers, skills, levels, width and questions: a table, and the same as a figure.

A row of the table is named `what grows, setting, precise or credal`; the figure has a panel for each thing that grows.
"""

from functools import partial
from itertools import groupby
from pathlib import Path

import matplotlib as mpl
from made_banks import answers_of, chain_bank
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from timing import full_step, median

import quaestor as qs

FIGURE = Path(__file__).with_name("growth.svg")
COLOURS = ("#1b5e8c", "#b34a10")
GREY = "#6b6b6b"
Row = tuple[str, list[float], list[float]]


def measure() -> list[Row]:
    """For each row its name, the values of what grows, and the median milliseconds of a full step."""
    cases: list[tuple[str, list[float], list[qs.Bank], list[int]]] = [
        ("answers, chain of 4, 1000 questions, credal", [5, 50, 500], [chain_bank(4, 2, 1_000, 0.05)] * 3, [5, 50, 500]),
        ("answers, chain of 4, 1000 questions, precise", [5, 50, 500], [chain_bank(4, 2, 1_000)] * 3, [5, 50, 500]),
        ("binary skills, chain, 64 questions, credal", [4, 8, 16, 30], [chain_bank(n, 2, 64, 0.05) for n in (4, 8, 16, 30)], [10] * 4),
        ("levels, chain of 4, 80 questions, credal", [2, 3, 4], [chain_bank(4, n, 80, 0.05) for n in (2, 3, 4)], [10] * 3),
        (
            "width, chain of 4, 3 levels, 80 questions, credal",
            [0.01, 0.05, 0.1],
            [chain_bank(4, 3, 80, w) for w in (0.01, 0.05, 0.1)],
            [10] * 3,
        ),
        ("questions, chain of 4, credal", [64, 1_000, 10_000], [chain_bank(4, 2, n, 0.05) for n in (64, 1_000, 10_000)], [10] * 3),
    ]
    rows = []
    for name, values, banks, counts in cases:
        times = []
        for bank, count in zip(banks, counts, strict=True):
            answers = answers_of(bank, count)
            times.append(median(partial(full_step, bank, answers), 5))
        rows.append((name, values, times))
    return rows


def draw(rows: list[Row], path: Path) -> None:
    """Write the figure: log-log, one scale of milliseconds for all panels; a dotted line is growth in proportion."""
    panels = [list(lines) for _, lines in groupby(rows, key=lambda row: row[0].split(", ")[0])]
    fonts = {"font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans", "Arial"], "font.size": 10, "svg.fonttype": "none"}
    with mpl.rc_context({**fonts, "svg.hashsalt": "quaestor"}):
        figure = Figure(figsize=(2.1 * len(panels), 4.2), layout="constrained")
        drawn = figure.subplots(1, len(panels), sharey=True)
        for axes, lines in zip(drawn, panels, strict=True):
            _panel(axes, lines)
        drawn[0].set_ylabel("full step, ms")
        _, values, times = rows[0]
        _write(drawn[0], "in proportion", values[-1], _proportional(values, times)[-1], GREY, (0, 3), "right")
        figure.savefig(path, metadata={"Date": None, "Creator": None})


def _panel(axes: Axes, lines: list[Row]) -> None:
    what, *setting, _ = lines[0][0].split(", ")
    axes.set(xscale="log", yscale="log", xlabel=what, ylim=(0.1, 250))
    axes.set_title(f"{', '.join(setting[:-1])}\n{setting[-1]}", fontsize=10)
    axes.plot(lines[0][1], _proportional(*lines[0][1:]), color=GREY, linestyle=":", linewidth=1)
    for (name, values, times), colour in zip(lines, COLOURS, strict=False):
        axes.plot(values, times, color=colour, marker="o", markersize=4)
        _write(axes, f"{times[0]:.2f}", values[0], times[0], colour, (-3, -15), "left")
        _write(axes, f"{name.split(', ')[-1]} {times[-1]:.2f}", values[-1], times[-1], colour, (3, 4), "right")
    axes.xaxis.set_major_locator(FixedLocator(lines[0][1]))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        axis.set_minor_locator(NullLocator())
    axes.margins(x=0.15)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#e5e5e5")


def _proportional(values: list[float], times: list[float]) -> list[float]:
    return [times[0] * value / values[0] for value in values]


def _write(axes: Axes, text: str, x: float, y: float, colour: str, offset: tuple[int, int], side: str) -> None:
    """A text at a point, moved by the offset in typographic points."""
    axes.annotate(text, (x, y), offset, textcoords="offset points", color=colour, ha=side)


def main() -> None:
    rows = measure()
    print("\n### How the cost of a full step grows (median ms)\n")
    print("| what | values | ms |\n| --- | --- | --- |")
    for name, values, times in rows:
        print(f"| {name} | {', '.join(f'{value:,}' for value in values)} | {', '.join(f'{time:.2f}' for time in times)} |")
    draw(rows, FIGURE)
    print(f"\nThe figure: benchmarks/{FIGURE.name}")
