"""Sheets of other systems as rows of texts: workbooks (XLSX) and CSV, within the limits of our own sheets."""

import csv
import io
from typing import Any

from quaestor.formats.exchange.encoding import decoded
from quaestor.formats.limits import LARGEST_FILE, refusal
from quaestor.formats.workbooks import TIMES, worksheets
from quaestor.i18n import say

Rows = list[list[str]]
MOST_ROWS = 20_000
_SIGN = b"xl/workbook.xml"


class Dated(str):
    """The text of a cell that a spreadsheet program took for a date, such as `3/4`: what stood there is not known."""


def is_workbook(data: bytes) -> bool:
    """Whether this is an XLSX file."""
    return data[:4] == b"PK\x03\x04" and _SIGN in data


def workbook(data: bytes, most: int = MOST_ROWS) -> dict[str, Rows]:
    """The sheets of a workbook by name, at most so many rows of each; numbers as people write them, nothing where a cell is empty."""
    found: dict[str, Rows] = {}
    letters = 0
    with worksheets(data) as (pages, width):
        for page in pages:
            rows = [[_text(cell) for cell in line] for line in page.iter_rows(max_col=width, max_row=most, values_only=True)]
            letters += sum(len(cell) for row in rows for cell in row)
            if letters > LARGEST_FILE:  # a text that many cells share is there once in the file
                raise refusal(say("the cells of a sheet hold at most {most:,} characters", most=LARGEST_FILE), say("more"))
            found[page.title] = rows
    return found


def csv_rows(data: bytes, most: int = MOST_ROWS) -> Rows:
    """The rows of a CSV file, at most so many, with commas, semicolons or tabs between cells."""
    text, _ = decoded(data)
    first = text.partition("\n")[0]
    separator = max(",;\t", key=first.count)
    found: Rows = []
    try:
        for line in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
            if len(found) == most:
                break
            found.append([cell.strip() for cell in line])
    except csv.Error as error:
        raise refusal(say("the file is a table of cells"), str(error)) from error
    return found


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, TIMES):
        return Dated(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value).strip()
