"""Sheets of other systems as rows of texts: workbooks (XLSX) and CSV, within the limits of our own sheets."""

import csv
import io
import warnings
from typing import Any

from quaestor.errors import BankError
from quaestor.extras import from_extra
from quaestor.formats.exchange.encoding import decoded
from quaestor.formats.limits import LARGEST_FILE, refusal
from quaestor.formats.measure import widest
from quaestor.i18n import say

Rows = list[list[str]]
MOST_ROWS = 20_000
_SIGN = b"xl/workbook.xml"


def is_workbook(data: bytes) -> bool:
    """Whether this is an XLSX file."""
    return data[:4] == b"PK\x03\x04" and _SIGN in data


def workbook(data: bytes, most: int = MOST_ROWS) -> dict[str, Rows]:
    """The sheets of a workbook by name, at most so many rows of each; numbers as people write them, nothing where a cell is empty."""
    with from_extra():
        from openpyxl import load_workbook  # only here: it takes long to import

    found: dict[str, Rows] = {}
    letters = 0
    try:
        width = widest(io.BytesIO(data))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl warns of unknown styles and extensions, which are not read
            book = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
            for page in book.worksheets:
                page.reset_dimensions()  # some programs write wrong dimensions, and openpyxl would stop there
                rows = [[_text(cell) for cell in line] for line in page.iter_rows(max_col=width, max_row=most, values_only=True)]
                letters += sum(len(cell) for row in rows for cell in row)
                if letters > LARGEST_FILE:  # a text that many cells share is there once in the file
                    raise refusal(say("the cells of a sheet hold at most {most:,} characters", most=LARGEST_FILE), say("more"))
                found[page.title] = rows
            book.close()
    except (BankError, MemoryError):
        raise
    except Exception as error:  # a damaged workbook can raise almost anything in zipfile, the XML parser or openpyxl
        rule, value = say("the file is a valid XLSX workbook"), say("a file that is broken or is no workbook")
        raise refusal(rule, value, say("open it in a spreadsheet program and save it again as XLSX")) from error
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
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value).strip()
