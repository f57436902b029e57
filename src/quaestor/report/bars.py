"""Probabilities as bars of text: solid up to the lower bound, shaded up to the upper one."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from quaestor.bankfile.bank import Bank
from quaestor.model.beliefs import Beliefs, Bounds
from quaestor.report.terminal import grid

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 30


def bar(lower: float, upper: float, width: int = WIDTH) -> str:
    """A bar of fixed width.

    >>> bar(0.25, 0.5, width=8)
    '██▒▒····'
    """
    solid, reached = round(lower * width), round(upper * width)
    if upper > lower and reached == solid:
        reached = min(solid + 1, width)
        solid = reached - 1
    return "█" * solid + "▒" * (reached - solid) + "·" * (width - reached)


def span(lower: float, upper: float) -> str:
    """A probability, or its bounds, to three decimals."""
    low, high = f"{lower:.3f}", f"{upper:.3f}"
    return low if low == high else f"{low} to {high}"


def show_beliefs(bank: Bank, beliefs: Beliefs, out: "Console") -> None:
    """Print the bounds of every skill, a row a level, and how they were computed."""
    table = grid("skill", "level", "probability", "")
    table.columns[2].no_wrap = table.columns[3].no_wrap = True
    table.columns[3].min_width = WIDTH
    for skill, bounds in beliefs.items():
        for cells in _rows(bank.skills[skill].title or skill, bounds):
            table.add_row(*cells)
    out.print(table)
    how = "exact" if beliefs.exact else f"certified: outer and inner bounds at most {beliefs.gap:.2g} apart"
    out.print(f"{how} (method: {beliefs.method})")


def _rows(title: str, bounds: Bounds) -> Iterable[tuple[str, str, str, str]]:
    for position, level in enumerate(bounds.states):
        low, high = float(bounds.lower[position]), float(bounds.upper[position])
        yield title if position == 0 else "", level, span(low, high), bar(low, high)
