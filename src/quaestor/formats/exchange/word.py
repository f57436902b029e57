"""Documents of Word (.docx) with questions as people type them: a text, options `A. ...` or `A) ...`, and a line `ANSWER: B`.

Each paragraph is a line of Aiken. Options that Word numbers by itself have no letter in the text: the first of a list is A, the next B.
A heading is no question; what it says is told. Bold and other formats are left out.
"""

import string
from pathlib import PurePath

from quaestor.errors import BankError
from quaestor.formats.exchange import xml
from quaestor.formats.exchange.aiken import read_blocks
from quaestor.formats.exchange.imported import Collection, Imported
from quaestor.formats.exchange.package import Package, is_package
from quaestor.formats.exchange.xml import Element
from quaestor.i18n import say

DOCUMENT = "word/document.xml"
_LEFT_OUT = {
    "drawing": say("a picture"),
    "pict": say("a picture"),
    "oMath": say("a formula"),
    "tbl": say("a table"),
    "object": say("an embedded object"),
}


def recognise(data: bytes, name: str) -> bool:
    """Whether this is a document of Word."""
    try:
        return is_package(data) and DOCUMENT.encode() in data and DOCUMENT in Package(data).names
    except BankError:
        return PurePath(name).suffix.lower() == ".docx"


def read(data: bytes, name: str) -> Imported:
    """The questions of a document."""
    body = xml.parse(Package(data).read(DOCUMENT)).first("body")
    found = Collection(PurePath(name).stem)
    lines: list[str] = []
    letter = 0
    for part in body.children if body is not None else ():
        place = _place(len(lines) + 1)
        for one in part.walk():
            if one.tag in _LEFT_OUT:
                found.note(place, say("{what} was left out", what=_LEFT_OUT[one.tag]))
        if part.tag != "p":
            continue
        text, style = _text(part), _style(part)
        if style.lower().startswith(("heading", "title", "berschrift", "titre")):
            found.note(place, say("a heading is no question: {text}", text=text))
            text = ""
        is_item = bool(text) and (style.lower().startswith("list") or part.first("pPr", "numPr") is not None)
        letter = letter + 1 if is_item else 0
        lines.append(f"{string.ascii_uppercase[letter - 1]}. {text}" if is_item and letter <= 26 else text)
    read_blocks("\n".join(lines), found, _place)
    return found.finished()


def _place(paragraph: int) -> str:
    return say("paragraph {number}", number=paragraph)


def _text(paragraph: Element) -> str:
    """What a paragraph says, on one line."""
    parts = []
    for one in paragraph.walk():
        if one.tag == "t":
            parts.append(one.text)
        elif one.tag in ("tab", "br", "cr"):
            parts.append(" ")
    return " ".join("".join(parts).split())


def _style(paragraph: Element) -> str:
    style = paragraph.first("pPr", "pStyle")
    return style.attributes.get("val", "") if style is not None else ""
