"""Results as sheets: a table with plain column names, a dictionary that explains them, and both as CSV and XLSX.

Names are typed by takers, so cells that a spreadsheet would read as formulas are made text: in CSV by a leading apostrophe, in XLSX by the
type of the cell.
"""

from collections.abc import Iterable
from datetime import datetime
from io import BytesIO
from typing import TYPE_CHECKING, Any

from openpyxl import Workbook
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from openpyxl.worksheet.worksheet import Worksheet

from quaestor.bankfile.bank import Bank
from quaestor.i18n import say
from quaestor.selection.sureness import USUAL
from quaestor.store.outcomes.outcome import Outcome

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = {
    "name": (say("who took the test"), say("text")),
    "code": (say("the code to go on with, or the pupil's own code"), say("text")),
    "started": (say("when the attempt began"), say("date and time, UTC")),
    "ended": (say("when it was over; empty while it runs"), say("date and time, UTC")),
    "minutes": (say("how long it took; while it runs, until the last answer"), say("number")),
    "questions": (say("questions that were asked, including skipped ones"), say("whole number")),
    "counted": (say("questions that count: not those that were only tried out, or withdrawn"), say("whole number")),
    "right": (say("of them answered with the best answer class"), say("whole number")),
    "points": (say("right answers, partly right ones counted in part"), say("number")),
    "grade": (say("the grade by the scheme of the test; empty where it has none, and where there are too few answers"), say("text")),
    "state": (say("whether the attempt is over"), "running, over"),
    "reason": (say("why it is over"), say("text")),
    "counts": (say("whether it is the attempt that counts for its taker"), "yes, no"),
    "look": (
        say("whether the answers contradict one another so much that somebody should have a look; one in twenty by chance alone"),
        "yes, no",
    ),
}
_RISKY = ("=", "+", "-", "@", "\t", "\r", "\n")


def table(found: Iterable[Outcome], bank: Bank) -> "pd.DataFrame":
    """A row an attempt, with the columns that `dictionary` describes."""
    import pandas as pd  # only here: it takes long to import

    return pd.DataFrame([_row(outcome) for outcome in found], columns=[name for name, _, _ in described(bank)])


def _row(outcome: Outcome) -> dict[str, Any]:
    row: dict[str, Any] = {name: getattr(outcome, name) for name in ("name", "code", "state", "reason", "grade")}
    row |= {name: getattr(outcome, name) for name in ("questions", "counted", "right")}
    row |= {"started": _second(outcome.started), "ended": _second(outcome.ended), "minutes": round(outcome.minutes, 1)}
    row["points"] = round(outcome.points, 2)
    row["counts"] = "yes" if outcome.counts else "no"
    row["look"] = "" if outcome.hint is None else "yes" if outcome.hint else "no"
    for skill, finding in outcome.skills.items():
        row[f"{skill} answers"] = finding.answers
        if finding.enough and not outcome.waits:
            row[f"{skill} level"] = finding.level
            row[f"{skill} lower"], row[f"{skill} upper"] = round(finding.lower, 4), round(finding.upper, 4)
            row[f"{skill} sure"] = "yes" if finding.sure else "no"
    return row


def _second(moment: datetime | None) -> datetime | None:
    return moment.replace(microsecond=0) if moment is not None else None


def dictionary(bank: Bank, above: float = USUAL) -> "pd.DataFrame":
    """The meaning and the values of each column of `table`; `above`: what is sure in the test (`sure_above`)."""
    import pandas as pd  # only here: it takes long to import

    return pd.DataFrame([list(row) for row in described(bank, above)], columns=["column", "meaning", "values"])


def described(bank: Bank, above: float = USUAL) -> list[tuple[str, str, str]]:
    """Name, meaning and values of each column, to be translated; values that are the same in all languages are plain texts."""
    rows: list[tuple[str, str, str]] = [(name, meaning, values) for name, (meaning, values) in _COLUMNS.items()]
    for skill in bank.skills.values():
        rows.append((f"{skill.id} answers", say("answers that count for {skill}", skill=skill.id), say("whole number")))
        told = say("the most probable level of {skill}; empty where there are too few answers to tell", skill=skill.id)
        rows.append((f"{skill.id} level", told, ", ".join(skill.levels)))
        rows.append((f"{skill.id} lower", say("the lower probability of that level"), say("number from 0 to 1")))
        rows.append(
            (
                f"{skill.id} upper",
                say("the upper probability of that level; equal to the lower one in precise banks"),
                say("number from 0 to 1"),
            )
        )
        rows.append((f"{skill.id} sure", say("whether the lower probability is at least {least:g}", least=above), "yes, no"))
    return rows


def csv_bytes(frame: "pd.DataFrame") -> bytes:
    """A table as CSV, in UTF-8 with a byte-order mark for spreadsheets."""
    safe = frame.map(neutral).rename(columns=neutral)
    return safe.to_csv(index=False, lineterminator="\r\n", date_format="%Y-%m-%d %H:%M:%S").encode("utf-8-sig")


def neutral(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula."""
    is_risky = isinstance(cell, str) and (cell.startswith(_RISKY) or cell.lstrip().startswith(_RISKY))
    return f"'{cell}" if is_risky else cell


def xlsx_bytes(results: "pd.DataFrame", described: "pd.DataFrame") -> bytes:
    """A workbook of two sheets: results, dictionary."""
    book = Workbook()
    first = book.active
    assert isinstance(first, Worksheet)
    first.title = "results"
    _fill(first, results)
    _fill(book.create_sheet("dictionary"), described)
    written = BytesIO()
    book.save(written)
    return written.getvalue()


def _fill(sheet: Worksheet, frame: "pd.DataFrame") -> None:
    import pandas as pd  # only here: it takes long to import

    rows = [list(frame.columns), *frame.astype(object).to_numpy().tolist()]
    for number, row in enumerate(rows, 1):
        for column, value in enumerate(row, 1):
            if value is None or value is pd.NaT:
                continue
            cell = sheet.cell(number, column)
            if isinstance(value, str):
                cell.value = ILLEGAL_CHARACTERS_RE.sub("", value)
                cell.data_type = "s"  # never a formula
            else:
                cell.value = value.to_pydatetime() if isinstance(value, pd.Timestamp) else value
    sheet.freeze_panes = "A2"
