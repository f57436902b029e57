"""Texts in the encodings that people's programs write: UTF-8, UTF-16 with its mark, or Windows-1252; never garbled.

A file that is UTF-8 in one line and not in another is broken UTF-8 and is refused with the line, rather than read as something else.
"""

import codecs
import re

from quaestor.formats.exchange.imported import Collection
from quaestor.formats.limits import refusal
from quaestor.i18n import say

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f]")


def decoded(data: bytes) -> tuple[str, int]:
    """The text of a file, and the first line that made it Windows-1252 (0 where it is not); lines end in a line feed alone."""
    text, line = _text(data)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if control := _CONTROL.search(text):
        where = say("line {line}", line=text.count("\n", 0, control.start()) + 1)
        found = say("control character {code:#04x}", code=ord(control[0]))
        raise refusal(say("the file is text"), found, say("save the file as UTF-8"), where)
    return text, line


def _text(data: bytes) -> tuple[str, int]:
    for mark, name in _MARKS:
        if data.startswith(mark):
            try:
                return data[len(mark) :].decode(name), 0
            except UnicodeDecodeError as error:
                before = data[len(mark) : len(mark) + error.start].decode(name, "replace")
                raise _undecoded(name.upper(), before.count("\n") + 1) from error
    try:
        return data.decode(), 0
    except UnicodeDecodeError as error:
        first = data.count(b"\n", 0, error.start) + 1
    if any(_is_multibyte(line) for line in data.splitlines()):
        raise _undecoded("UTF-8", first)
    try:
        return data.decode("cp1252"), first
    except UnicodeDecodeError as error:
        raise _undecoded(say("UTF-8 or Windows-1252"), data.count(b"\n", 0, error.start) + 1) from error


def _is_multibyte(line: bytes) -> bool:
    """Whether a line has letters beyond ASCII and is UTF-8."""
    try:
        return not line.decode().isascii()
    except UnicodeDecodeError:
        return False


def _undecoded(name: str, line: int) -> Exception:
    where = say("line {line}", line=line)
    return refusal(say("the text is encoded as {name}", name=name), say("other bytes"), say("save the file as UTF-8"), where)


def note_of_encoding(found: Collection, line: int) -> None:
    """Tell that a file was read as Windows-1252."""
    if line:
        found.note(say("line {line}", line=line), say("the file is not UTF-8: it was read as Windows-1252; look whether accents are right"))
