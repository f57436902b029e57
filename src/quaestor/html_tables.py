"""Plain HTML tables for notebooks: how banks, beliefs, rankings and results show themselves there. Every text is escaped."""

from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice

MOST = 30  # rows


def html_table(title: str, head: Sequence[str], rows: Iterable[Sequence[object]], count: int | None = None) -> str:
    """A table with a title above it; of many rows (`count`, where it is known) the first ones."""
    shown = list(islice(rows, MOST))
    columns = "".join(f"<th scope='col'>{escape(name)}</th>" for name in head)
    lines = "".join("<tr>" + "".join(f"<td>{escape(_text(cell))}</td>" for cell in row) + "</tr>" for row in shown)
    rest = (len(shown) if count is None else count) - len(shown)
    more = f"<p>… and {rest:,} more</p>" if rest > 0 else ""
    return f"<p><b>{escape(title)}</b></p><table><thead><tr>{columns}</tr></thead><tbody>{lines}</tbody></table>{more}"


def interval(low: float, high: float) -> str:
    """A probability, or its bounds."""
    return f"{low:.3f}" if high - low < 5e-4 else f"{low:.3f} to {high:.3f}"


def _text(cell: object) -> str:
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
