"""Files of QTI 1.2: tests and banks with sections of items, which Canvas calls quizzes and groups."""

from quaestor.formats.exchange.html import Keep
from quaestor.formats.exchange.imported import Collection
from quaestor.formats.exchange.keys import Refused
from quaestor.formats.exchange.qti.names import told_name
from quaestor.formats.exchange.qti.old_items import metadata, read_item
from quaestor.formats.exchange.xml import Element
from quaestor.i18n import said, say

ROOT = "questestinterop"
_BANKS = ("assessment", "objectbank")


def items(root: Element) -> int:
    """The number of items in a file."""
    return sum(1 for one in root.walk() if one.tag == "item")


def title(root: Element) -> str:
    """The title of the first test or bank of a file."""
    for one in root.all(*_BANKS):
        if found := one.attributes.get("title") or metadata(one).get("bank_title", ""):
            return found
    return ""


def read_tests(holder: Element, found: Collection, keep: Keep, file: str = "", path: tuple[str, ...] = ()) -> None:
    """Add all items of a file in their order; the titles of sections are their categories."""
    for part in holder.children:
        if part.tag == "item":
            _read(part, found, keep, path, file)
        elif part.tag in (*_BANKS, "section"):
            name = part.attributes.get("title", "") if part.tag == "section" else ""
            read_tests(part, found, keep, file, (*path, name) if name else path)
        elif part.tag in ("itemref", "sectionref"):
            found.note(place(part, file), say("{what} refers to something that is not in the file", what=f"<{part.tag}>"))
        elif part.tag == "selection_ordering":
            _tell_selection(part, found, file)


def _read(item: Element, found: Collection, keep: Keep, path: tuple[str, ...], file: str) -> None:
    name = told_name(item.attributes.get("ident", ""), item.attributes.get("title", ""))
    notes: list[str] = []
    try:
        fields = read_item(item, keep, notes)
    except Refused as refusal:
        found.refuse(name, place(item, file), said(refusal))
        return
    points = metadata(item).get("points_possible", "")
    if points and points.rstrip("0").rstrip(".") not in ("", "1"):
        notes.append(say("it counts {points} points there; here all questions count alike", points=points))
    found.add(name, fields, place(item, file), notes, path)


def _tell_selection(ordering: Element, found: Collection, file: str) -> None:
    for one in ordering.walk():
        if one.tag == "selection_number":
            given = one.text.strip()
            words = say("some of the questions of this group are drawn there; here all are in the bank")
            if given.isdecimal() and len(given) < 6:
                drawn = int(given)
                words = say("{count} of the questions of this group {count:is|are} drawn there; here all are in the bank", count=drawn)
            found.note(place(one, file), words)
        elif one.tag in ("sourcebank_ref", "sourcebank_context"):
            found.note(
                place(one, file), say("questions of another bank are drawn there, which is not in the file: {name}", name=one.text.strip())
            )


def place(element: Element, file: str = "") -> str:
    """Where an element stands, as people look for it."""
    return say("{file}, line {line}", file=file, line=element.line) if file else say("line {line}", line=element.line)
