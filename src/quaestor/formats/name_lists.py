"""Names of a class, a line each: pasted, or out of a text, CSV or XLSX file as schools' programs write them.

A first row that calls its columns (name, first name, last name, in English, German or French) says where the names are; without one all
cells of a row are the parts of a name. Whatever a cell holds is text: formulas are neither worked out nor taken.
"""

import csv
import io
import warnings
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

from quaestor.errors import BankError, QuaestorError, format_value, got
from quaestor.extras import from_extra
from quaestor.formats.measure import widest
from quaestor.i18n import said, say

MOST_NAMES = 2000
FIRST = {"first name", "firstname", "given name", "givenname", "vorname", "rufname", "prénom", "prenom"}
LAST = {"last name", "lastname", "surname", "family name", "familyname", "nachname", "familienname", "nom", "nom de famille"}
WHOLE = {"name", "full name", "names", "pupil", "student", "schüler", "schülerin", "schüler/in", "élève", "nom complet"}
_RISKY = ("=", "+", "@")


def pasted(text: str) -> list[str]:
    """A line a name; the columns of a sheet, which are pasted with tabs between them, are parts of the name."""
    return _limited(" ".join(line.split()) for line in io.StringIO(text) if line.strip())


def from_file(name: str, content: bytes) -> list[str]:
    """The names in a file: a line each, or the columns of a CSV or XLSX file that a first row calls name, first name, last name."""
    if name.lower().endswith(".xlsx"):
        return _from_rows(_xlsx_rows(content))
    text = decoded(content)
    if not name.lower().endswith(".csv"):
        return pasted(text)
    start = text.lstrip().split("\n", 1)[0]
    delimiter = max(";,\t", key=start.count)
    try:
        return _from_rows(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error:
        return pasted(text)


def refuse_formulas(names: Iterable[str]) -> None:
    """QuaestorError for a name that a spreadsheet would take for a formula, counted as lines from 1."""
    for number, name in enumerate(names, 1):
        if name.startswith(_RISKY):
            found = say("{name} (line {line})", name=format_value(name), line=number)
            raise QuaestorError(got(say("a name does not begin with =, + or @, as a formula does"), found))


def decoded(content: bytes) -> str:
    """UTF-8, UTF-16 where a mark says so, or what spreadsheet programs write on Windows; QuaestorError for anything else."""
    marked = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    for encoding in (marked, "cp1252"):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return text
    raise QuaestorError(say("the file is no text that can be read; save it as CSV UTF-8 in your spreadsheet program, or as XLSX"))


def _limited(names: Iterable[str]) -> list[str]:
    found = list(islice(names, MOST_NAMES + 1))
    if len(found) > MOST_NAMES:
        raise QuaestorError(got(say("a class list has at most {most} names", most=MOST_NAMES), say("more")))
    return found


def _from_rows(rows: Iterable[list[str]]) -> list[str]:
    """The names in rows of cells."""
    written = (row for line in rows if any(row := [" ".join(cell.split()) for cell in line]))
    first = next(written, None)
    if first is None:
        return []
    columns = _columns(first)
    if columns:
        named = (" ".join(row[place] for place in columns if place < len(row)).strip() for row in written)
        return _limited(filter(None, named))
    return _limited(" ".join(filter(None, row)) for row in chain((first,), written))


def _columns(header: list[str]) -> list[int]:
    """Where a header has the name, first name first; empty when the row is no header."""
    words = [cell.lower() for cell in header]
    whole = [place for place, word in enumerate(words) if word in WHOLE][:1]
    first = [place for place, word in enumerate(words) if word in FIRST][:1]
    last = [place for place, word in enumerate(words) if word in LAST][:1]
    return first + (last or whole) if first else whole or last


def _xlsx_rows(content: bytes) -> Iterator[list[str]]:
    """The rows of the first sheet of a workbook that has any."""
    with from_extra():
        from openpyxl import load_workbook  # only here: it takes long to import

    try:
        width = widest(io.BytesIO(content))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl warns of unknown styles and extensions, which are not read
            book = load_workbook(io.BytesIO(content), read_only=True)
            for page in book.worksheets:
                page.reset_dimensions()  # some programs write wrong ones
            pages = (page.iter_rows(max_row=2 * MOST_NAMES, max_col=width, values_only=True) for page in book.worksheets)
            rows: list[Any] = next((found for page in pages if (found := [row for row in page if any(map(_shown, row))])), [])
            book.close()
    except MemoryError:
        raise
    except BankError as error:
        raise QuaestorError(said(error)) from error
    except Exception as error:  # a damaged workbook can raise almost anything in zipfile, the XML parser or openpyxl
        raise QuaestorError(
            say("the file is no valid XLSX workbook; open it in a spreadsheet program and save it again as XLSX")
        ) from error
    return ([_shown(cell) for cell in row] for row in rows)


def _shown(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return "" if cell is None else str(cell)
