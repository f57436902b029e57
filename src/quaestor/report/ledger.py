"""The ledger of a session in the terminal: a row an answer, a column a skill, and how the answer changed the probability of its level."""

from typing import TYPE_CHECKING

from quaestor.report.terminal import grid
from quaestor.session.explain.why import why_result
from quaestor.session.session import Session

if TYPE_CHECKING:
    from rich.console import Console


def show_ledger(session: Session, out: "Console") -> None:
    """Print the change of the probability of each skill's level by each answer, in percentage points (centre of the bounds)."""
    results = [why_result(session, skill) for skill in session.bank.skills]
    if not session.log:
        return
    out.print("What each answer did to the probability, in percentage points", style="bold")  # a table title would wrap
    table = grid("answer", *(f"{result.skill}: {result.level}" for result in results))
    for column in table.columns[1:]:
        column.justify = "right"
    for number, first in enumerate(results[0].ledger):
        moved = [result.ledger[number] for result in results]
        table.add_row(f"{first.source} {first.answer}", *(_points(entry.points) for entry in moved))
    out.print(table)


def _points(points: int) -> str:
    return f"{points:+d}" if points else "·"
