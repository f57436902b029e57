"""An XLSX file is measured before it is read: how much it unpacks to, and how many cells it has, and how wide it is.

A small file can hold very much: a cell in the last column makes a row of 16,384 cells, and a million equal cells pack into some hundred
kilobytes. What a sheet says of its own dimensions may be wrong, so its elements are counted, by a parser that builds nothing and ends at
the first limit. A part that is no XML is not measured, nor what comes after a fault in one: the reader does not get beyond it either.
"""

import zipfile
from typing import IO, NoReturn
from xml.parsers.expat import ExpatError, ParserCreate

from quaestor.formats.limits import LARGEST_SHEET, MOST_CELLS, MOST_VALUES, WIDEST_SHEET, refusal
from quaestor.i18n import say

_MOST_PARTS = 2_000
_MOST_IN_TREE = 200_000  # elements of a part that is read as a whole
_TREES = ("styleSheet", "workbook", "Types", "Relationships")  # the outermost elements of such parts
_VALUES = ("v", "t", "f")  # what holds the value of a cell
_PIECE = 1 << 16


def widest(file: IO[bytes]) -> int:
    """The last column of a workbook in which a cell has a value; BankError where anything is more than the limits allow."""
    with zipfile.ZipFile(file) as packed:
        parts = packed.infolist()
        if len(parts) > _MOST_PARTS:
            raise refusal(say("a workbook has at most {most:,} parts", most=_MOST_PARTS), f"{len(parts):,}")
        size = sum(part.file_size for part in parts)
        if size > LARGEST_SHEET:
            rule = say("a workbook has at most {most:,} bytes when unpacked", most=LARGEST_SHEET)
            raise refusal(rule, say("{count:,} {count:byte|bytes}", count=size))
        seen = _Seen()
        for part in parts:
            seen.begin(part.filename)
            with packed.open(part) as content:
                _parse(content, seen)
    return seen.widest


def _parse(content: IO[bytes], seen: "_Seen") -> None:
    parser = ParserCreate()
    parser.StartElementHandler = seen.element
    try:
        while piece := content.read(_PIECE):
            parser.Parse(piece)
    except ExpatError:
        return


class _Seen:
    """What was counted so far, of all parts and of the present one."""

    def __init__(self) -> None:
        self.widest = 1
        self._cells = self._elements = 0
        self.begin("")

    def begin(self, part: str) -> None:
        """Go on with another part."""
        self._part, self._row, self._column, self._name, self._inside, self._is_tree = part, 0, 0, "", 0, False

    def element(self, name: str, attributes: dict[str, str]) -> None:
        """Count an element; its name may have a prefix."""
        name = name.rpartition(":")[2]
        self._elements += 1
        self._inside += 1
        if self._elements > MOST_VALUES:
            self._refuse(say("a workbook has at most {most:,} elements", most=MOST_VALUES), say("more"))
        if self._inside == 1:
            self._is_tree = name in _TREES
        elif self._is_tree and self._inside > _MOST_IN_TREE:
            self._refuse(say("a part of a workbook has at most {most:,} elements", most=_MOST_IN_TREE), say("more"))
        if name == "c":
            self._cells += 1
            if self._cells > MOST_CELLS:
                self._refuse(say("a workbook has at most {most:,} cells", most=MOST_CELLS), say("more"))
            self._name = attributes.get("r", "").rstrip("0123456789")
            self._column = _number(self._name) if self._name else self._column + 1
        elif name == "row":
            row = attributes.get("r", "")[:20]
            self._row, self._column = int(row) if row.isdecimal() else self._row + 1, 0
        elif name in _VALUES and self._column > self.widest:
            self.widest = self._column
            if self._column > WIDEST_SHEET:
                found = say("a value in column {column}", column=self._name[:3] or self._column)
                self._refuse(say("a sheet has at most {most} columns", most=WIDEST_SHEET), found)

    def _refuse(self, rule: str, found: str) -> NoReturn:
        part = self._part.rpartition("/")[2][:40]
        raise refusal(rule, found, where=say("{part}, row {row}", part=part, row=self._row) if self._row else part)


def _number(letters: str) -> int:
    """The number of a column, A is 1; more than any limit where there are more letters than a spreadsheet has."""
    found = 0
    for letter in letters[:4].upper():
        found = 26 * found + ord(letter) - 64
    return found
