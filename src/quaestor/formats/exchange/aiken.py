"""Aiken: a question, options `A) ...` or `A. ...` below it, and a line `ANSWER: B`; an empty line ends it. All of it is plain text."""

import re
from collections.abc import Callable
from pathlib import PurePath

from quaestor.errors import BankError, format_value
from quaestor.formats.exchange.encoding import decoded, note_of_encoding
from quaestor.formats.exchange.imported import Collection, Imported
from quaestor.formats.exchange.markdown import line_starts, prose_of
from quaestor.i18n import say

_OPTION = re.compile(r"\s*([A-Z])[.)]\s*(.*)")
_ANSWER = re.compile(r"\s*ANSWER:\s*(.*?)\s*")
_ANY_ANSWER = re.compile(r"^\s*ANSWER:\s*[A-Z]\s*$", re.M)
_ANY_OPTION = re.compile(r"^\s*[A-Z][.)]", re.M)


def recognise(data: bytes, name: str) -> bool:
    """Whether a text has an option and a line with the answer, and no sign of another format."""
    try:
        text, _ = decoded(data)
    except BankError:
        return False
    return bool(_ANY_ANSWER.search(text) and _ANY_OPTION.search(text)) and not text.lstrip().startswith(("<", "{", "//", "::", "$CATEGORY"))


def read(data: bytes, name: str) -> Imported:
    """The questions of a file."""
    text, odd_line = decoded(data)
    found = Collection(PurePath(name).stem)
    note_of_encoding(found, odd_line)
    read_blocks(text, found, lambda line: say("line {line}", line=line))
    return found.finished()


def read_blocks(text: str, found: Collection, place: Callable[[int], str]) -> None:
    """Add the questions of a text; `place` tells where a line of it stands."""
    for line, lines in _blocks(text):
        _read_block(found, place(line), lines)


def _blocks(text: str) -> list[tuple[int, list[str]]]:
    """The lines between empty ones, with the number of the first; a block without options and answer belongs to the next one."""
    blocks: list[tuple[int, list[str]]] = []
    is_open = goes_on = False
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            is_open = False
            continue
        if not is_open and not goes_on:
            blocks.append((number, []))
        elif not is_open:
            blocks[-1][1].append("")
        blocks[-1][1].append(line)
        is_open, goes_on = True, not any(_OPTION.fullmatch(one) or _ANSWER.fullmatch(one) for one in blocks[-1][1])
    return blocks


def _read_block(found: Collection, place: str, lines: list[str]) -> None:
    stem: list[str] = []
    options: dict[str, str] = {}
    letter = answer = ""
    for one in lines:
        if (key := _ANSWER.fullmatch(one)) is not None:
            answer = key[1]
        elif (option := _OPTION.fullmatch(one)) is not None:
            letter = option[1]
            options[letter] = f"{options[letter]} {option[2]}" if letter in options else option[2]
        elif letter:
            options[letter] += f" {one.strip()}"
        else:
            stem.append(one.strip())
    name = " ".join(stem) or lines[0].strip()
    if not any(stem):
        found.refuse(name, place, say("there is no question above the options"))
    elif len(options) < 2:
        found.refuse(name, place, say("a question has at least two options, got {count}", count=len(options)))
    elif not answer:
        found.refuse(name, place, say("there is no line that begins with 'ANSWER:'"))
    elif answer not in options:
        found.refuse(name, place, say("the answer is the letter of an option, got {answer}", answer=format_value(answer)))
    else:
        shown = {key: prose_of(option.strip()) for key, option in options.items()}
        text = "\n".join(stem).strip()
        fields = {"text": line_starts(prose_of(text)), "options": list(shown.values()), "correct": shown[answer]}
        found.add(name, fields, place)
