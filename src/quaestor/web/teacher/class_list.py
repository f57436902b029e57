"""Names for a class list: pasted, a line a name, or out of a text or CSV file; and what is told of those that were sent."""

import csv
import io
from typing import Any

from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError
from quaestor.i18n import listed, say, together
from quaestor.store.models import Published
from quaestor.store.publishing import sort_names
from quaestor.web.teacher import access

FIRST = {"first name", "firstname", "given name", "vorname", "rufname", "prénom"}
LAST = {"last name", "lastname", "surname", "family name", "nachname", "familienname", "nom"}
WHOLE = {"name", "full name", "names", "pupil", "student", "schüler", "schülerin", "schüler/in"}


def pasted(text: str) -> list[str]:
    """A line a name; the columns of a sheet, which are pasted with tabs between them, are parts of the name."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def from_file(name: str, content: bytes) -> list[str]:
    """The names in a file: a line each, or the columns of a CSV file that a first row calls name, first name, last name."""
    text = _decoded(content)
    if not name.lower().endswith(".csv"):
        return pasted(text)
    start = text.lstrip().split("\n", 1)[0]
    delimiter = max(";,\t", key=start.count)
    try:
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        rows = [row for line in lines if any(row := [cell.strip() for cell in line])]
    except csv.Error:
        return pasted(text)
    columns = _columns(rows[0]) if rows else []
    if columns:
        return pasted("\n".join(" ".join(row[place] for place in columns if place < len(row)) for row in rows[1:]))
    return pasted("\n".join(" ".join(row) for row in rows))


def _columns(header: list[str]) -> list[int]:
    """Where a header has the name, first name first; empty when the row is no header."""
    words = [cell.lower() for cell in header]
    whole = [place for place, word in enumerate(words) if word in WHOLE][:1]
    first = [place for place, word in enumerate(words) if word in FIRST][:1]
    last = [place for place, word in enumerate(words) if word in LAST][:1]
    return first + (last or whole) if first else whole or last


def _decoded(content: bytes) -> str:
    """UTF-8, or what spreadsheet programs write on Windows."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def wrong_with(work: Work, test: Published, names: str) -> str:
    """Why names, one a line, were not taken, found by trying once more; empty when nothing is wrong with them."""
    try:
        sort_names(work, test, pasted(names))
    except QuaestorError as error:
        return access.told(error)
    return ""


def told(note: dict[str, Any]) -> str:
    """What became of names that were taken."""
    added, known, some = note.get("added"), note.get("known"), note.get("some")
    if not isinstance(added, int) or not isinstance(known, int) or not isinstance(some, list):
        return ""
    words = [say("{count} {count:name was|names were} added to the class list.", count=added)]
    if known:
        named = [str(one) for one in some] + ([say("{count} more", count=known - len(some))] if known > len(some) else [])
        words.append(
            say(
                "{count} {count:name was|names were} on the list already and {count:was|were} not added again: {names}.",
                count=known,
                names=listed(named),
            )
        )
    return together(words)
