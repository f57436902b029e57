"""Sheets of quiz games: a row a question, a column for its text, columns for its answers and one for those that are right.

Kahoot: headings somewhere on top, `Question - max 120 characters`, `Answer 1 - max 75 characters`, ..., `Correct answer(s) - choose at
least one`. Quizizz (Wayground): `Question Text`, `Question Type`, `Option 1`, ..., `Correct Answer`; its second row explains the columns.
Sheets that add-ons for forms write have the same columns in other words.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

from quaestor.errors import BankError, format_value
from quaestor.formats.exchange import marking
from quaestor.formats.exchange.imported import Collection, Fields, Imported
from quaestor.formats.exchange.keys import Refused
from quaestor.formats.exchange.markdown import line_starts, prose_of
from quaestor.formats.exchange.tables import MOST_ROWS, Dated, Rows, csv_rows, is_workbook, workbook
from quaestor.i18n import said, say

_HIGHEST_HEADER = 20  # the last row in which the names of columns may stand
_MOST_FIRST = 25
_COLUMNS = {
    "text": re.compile(r"question( text)?|question (-|–).*", re.I),
    "kind": re.compile(r"(question )?type", re.I),
    "option": re.compile(r"(answer|option|choice) ?[1-9a-j]\b.*", re.I),
    "right": re.compile(r"(correct|right) (answer|option)s?\b.*|correct answer\(s\).*|answer key", re.I),
    "time": re.compile(r"time\b.*", re.I),
    "picture": re.compile(r"image( link)?|picture", re.I),
    "explanation": re.compile(r"(answer )?explanation|feedback", re.I),
}
_ROW_THAT_EXPLAINS = re.compile(r"text of the question\b.*\(required\)", re.I)
_KINDS = {"": "choice", "multiple choice": "choice", "checkbox": "choices", "fill-in-the-blank": "text", "fill in the blank": "text"}
_LIMIT = re.compile(r"max (\d+) characters")


@dataclass(frozen=True)
class _Header:
    """Where the names of the columns stand, and the columns that each name is of."""

    row: int
    names: list[str]
    columns: dict[str, list[int]]

    def cells(self, line: list[str], name: str) -> list[str]:
        """The cells of a row in the columns of this name."""
        return [line[column] if column < len(line) else "" for column in self.columns.get(name, ())]

    def cell(self, line: list[str], name: str) -> str:
        """The cell of a row in the column of this name."""
        return next(iter(self.cells(line, name)), "")


def recognise(data: bytes, name: str) -> bool:
    """Whether a workbook or CSV file has columns for questions, at least two answers, and the right ones."""
    try:
        return any(_header(rows) is not None for rows in _sheets(data, name, _MOST_FIRST).values())
    except BankError:
        return False


def _sheets(data: bytes, name: str, most: int) -> dict[str, Rows]:
    if is_workbook(data):
        return workbook(data, most)
    return {"": csv_rows(data, most)} if PurePath(name).suffix.lower() == ".csv" else {}


def _header(rows: Rows) -> _Header | None:
    for number, row in enumerate(rows[:_HIGHEST_HEADER]):
        columns: dict[str, list[int]] = {}
        for position, cell in enumerate(row):
            for column, pattern in _COLUMNS.items():
                if pattern.fullmatch(" ".join(cell.split())):
                    columns.setdefault(column, []).append(position)
                    break
        if {"text", "option", "right"} <= columns.keys() and len(columns["option"]) > 1:
            return _Header(number, row, columns)
    return None


def read(data: bytes, name: str) -> Imported:
    """The questions of all sheets that have such columns."""
    found = Collection(PurePath(name).stem)
    for title, rows in _sheets(data, name, MOST_ROWS).items():
        header = _header(rows)
        if header is None:
            continue
        if len(rows) == MOST_ROWS:
            found.note(title, say("of a sheet the first {most:,} rows were read", most=MOST_ROWS))
        for number, line in _lines(rows, header):
            place = say("{sheet}, row {row}", sheet=title, row=number) if title else say("row {row}", row=number)
            notes: list[str] = []
            text = header.cell(line, "text")
            try:
                fields = _question(line, header, notes)
            except Refused as refusal:
                found.refuse(text, place, said(refusal))
            else:
                found.add(text, fields, place, notes)
    return found.finished()


def _lines(rows: Rows, header: _Header) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(rows[header.row + 1 :], header.row + 2):
        if _ROW_THAT_EXPLAINS.fullmatch(header.cell(line, "text")):
            continue
        if header.cell(line, "text") or any(header.cells(line, "option")):
            yield number, line


def _question(line: list[str], header: _Header, notes: list[str]) -> Fields:
    """The fields of a row."""
    if dates := [cell for name in ("text", "option", "right") for cell in header.cells(line, name) if isinstance(cell, Dated)]:
        raise Refused(say("a cell holds text or a number, got a date, {date} (format the column as text)", date=dates[0]))
    if not header.cell(line, "text"):
        raise Refused(say("the question has no text"))
    stated = header.cell(line, "kind")
    kind = _KINDS.get(stated.lower())
    if kind is None:
        raise Refused(say("{what} cannot be marked here", what=format_value(stated)))
    options = [prose_of(cell) for cell in header.cells(line, "option")]
    _tell_losses(line, header, notes)
    fields: Fields = {"text": line_starts(prose_of(header.cell(line, "text")))}
    if explanation := header.cell(line, "explanation"):
        fields["explanation"] = line_starts(prose_of(explanation))
    if kind == "text":
        return {**fields, **marking.typed(header.cells(line, "option"), notes)}
    right = _right(header.cell(line, "right"), header.cells(line, "option"), notes)
    judged = [(option, position in right) for position, option in enumerate(options) if option]
    return {**fields, **marking.choice(judged, kind == "choices" or len(right) > 1, notes)}


def _right(cell: str, options: list[str], notes: list[str]) -> set[int]:
    """The positions of the right options: a cell has numbers from 1, letters from A, or the text of one."""
    words = [word.strip() for word in re.split(r"[,;|]", cell)]
    if all(word.isdecimal() and len(word) < 3 and 1 <= int(word) <= len(options) for word in words):
        if any(word in options and options[int(word) - 1] != word for word in words):
            rule = say("the right answer {answer} was read as the number of an option, not as its text", answer=format_value(cell))
            notes.append(rule)
        return {int(word) - 1 for word in words}
    if cell in options:
        return {options.index(cell)}
    if all(len(word) == 1 and "A" <= word.upper() <= chr(64 + len(options)) for word in words):
        return {ord(word.upper()) - 65 for word in words}
    if all(word and word in options for word in words):
        return {options.index(word) for word in words}
    raise Refused(say("the right answer is the number or the text of an option, got {answer}", answer=format_value(cell)))


def _tell_losses(line: list[str], header: _Header, notes: list[str]) -> None:
    if header.cell(line, "time"):
        notes.append(say("the time limit was left out"))
    if picture := header.cell(line, "picture"):
        notes.append(say("a picture that is only linked was left out: {name}", name=format_value(picture)))
    for column in (*header.columns["text"], *header.columns["option"]):
        limit = _LIMIT.search(header.names[column])
        if limit is not None and column < len(line) and len(line[column]) > int(limit[1][:6]):
            notes.append(say("a text is longer than the {most} {most:character|characters} that its system takes", most=int(limit[1][:6])))
