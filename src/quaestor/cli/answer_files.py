"""Answers of people from a file: CSV is read in parts, so that a large file is never in memory as a whole; XLSX and Parquet at once.

CSV has commas, semicolons or tabs between its columns, in UTF-8 or as spreadsheet programs on Windows write it.
"""

import codecs
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

import pandas as pd

from quaestor.bankfile.bank import Bank
from quaestor.cli.group_column import GroupColumn
from quaestor.errors import QuaestorError, format_value, nearest
from quaestor.extras import from_extra
from quaestor.formats.separators import separator
from quaestor.learn.answers import Answers, is_long, read_answers

ENDINGS = (".csv", ".xlsx", ".parquet")
BEGINNING = 2**20  # bytes that tell the encoding
ROWS = 50_000  # rows of a CSV file that are read together
_TEXT: dict[str, Any] = {"dtype": str, "keep_default_na": False, "na_values": ["", "NA", "NaN", "nan"]}
_DAMAGED = (zipfile.BadZipFile, zlib.error, ParseError, KeyError, EOFError)  # raised by readers of XLSX


def read_file(path: str, bank: Bank, person: str | None = None, group: GroupColumn | None = None) -> Answers:
    """The answers to a bank's questions in a file; `person` names the column that holds the names of the people, `group` their groups."""
    answers = read_answers(bank, _checked(path, bank, person, group))
    if person is not None and not (names := pd.Index(answers.names)).is_unique:
        raise QuaestorError(f"{path}: a person has one row, got two of {format_value(names[names.duplicated()][0])}")
    return answers


def tables(path: str, person: str | None = None, group: GroupColumn | None = None) -> Iterator[pd.DataFrame]:
    """The table of a file in parts; a wide one is indexed by the column `person`, a long one keeps its three columns."""
    frames = _frames(path)
    for frame in frames if group is None else group.taken(frames):
        if person is None or (person == "person" and is_long(frame)):
            yield frame
            continue
        if person not in frame.columns:
            raise QuaestorError(f"{path}: --person names a column, got {format_value(person)}")
        renamed = frame.rename(columns={person: "person"})
        yield renamed if is_long(renamed) else frame.set_index(person)


def _frames(path: str) -> Iterator[pd.DataFrame]:
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise QuaestorError(f"{path}: a table of answers ends in one of {', '.join(ENDINGS)}, got '{ending}'")
    try:
        if ending == ".csv":
            with pd.read_csv(path, chunksize=ROWS, sep=separator(path), encoding=_encoding(path), **_TEXT) as parts:
                yield from parts
        else:
            yield pd.read_parquet(path) if ending == ".parquet" else _sheet(path)
    except (OSError, ValueError, pd.errors.ParserError) as error:
        raise QuaestorError(f"{path}: a table of answers, got {getattr(error, 'strerror', None) or error}") from error
    except _DAMAGED as error:
        raise QuaestorError(f"{path}: a table of answers, got a damaged file ({error})") from error


def _sheet(path: str) -> pd.DataFrame:
    with from_extra():
        import openpyxl  # noqa: F401  pandas would say that it is missing in other words

    frame: pd.DataFrame = pd.read_excel(path, **_TEXT)
    return frame


def _encoding(path: str) -> str:
    """UTF-8 where the beginning of a file is, else that of spreadsheet programs on Windows."""
    with open(path, "rb") as file:
        start = file.read(BEGINNING)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)  # the last character may be cut off
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _checked(path: str, bank: Bank, person: str | None, group: GroupColumn | None) -> Iterator[pd.DataFrame]:
    """The table of a file in parts; for a single column that is no question the error asks whether it names the people."""
    for frame in tables(path, person, group):
        others = [] if is_long(frame) else [str(column) for column in frame.columns if column not in bank.questions]
        if len(others) == 1 < len(frame.columns) and person is None and not nearest(others[0], bank.questions):
            hint = f"if it names the people: --person {format_value(others[0])}"
            raise QuaestorError(f"{path}: a column is a question of the bank, got {format_value(others[0])} ({hint})")
        if len(others) > 1 and len(others) < len(frame.columns) and not any(nearest(one, bank.questions) for one in others):
            listed = ", ".join(map(format_value, others[:5])) + (" and more" if len(others) > 5 else "")
            hint = "leave them out of the file; one that names the people is told by --person"
            raise QuaestorError(f"{path}: a column is a question of the bank, got {listed} ({hint})")
        yield frame
