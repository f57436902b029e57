"""Words of a bank file that forms show: whoever writes a bank reads and writes them in their own language; the file keeps its own.

The file's words are understood in every language too, so what somebody copies out of a file can be pasted into a form.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from quaestor.bankfile.elicit import CHANCE, CONFIDENCE, DIFFICULTY, DISCRIMINATION, PRIOR
from quaestor.bankfile.schema import KINDS, NEEDS
from quaestor.bankfile.words import in_file
from quaestor.errors import Problem
from quaestor.formats.cells import write_cell
from quaestor.i18n import Said

Translate = Callable[[str], str]
WORDS: dict[str, tuple[str, ...]] = {
    "difficulty": tuple(DIFFICULTY),
    "discrimination": tuple(DISCRIMINATION),
    "confidence": tuple(CONFIDENCE),
    "prior": PRIOR,
    **dict.fromkeys(("right", "slip", "guess"), tuple(CHANCE)),
    "kind": KINDS,
    "needs": NEEDS,
}
_EVERY = {word for name, words in WORDS.items() if name != "kind" for word in words}
DIGITS = 3  # of numbers that are looked at, not edited
SECTIONS = ("skills", "templates", "questions")
LEVELS = ("no", "yes")  # the levels of a skill that names none


def spoken(field: str, value: Any, translate: Translate) -> Any:
    """What a field holds, as people read it: words of the file in their language, anything else as it is."""
    known = WORDS.get(field, ())
    if isinstance(value, list):
        return [spoken(field, one, translate) for one in value]
    if not isinstance(value, str) or not known:
        return value
    return " | ".join(translate(part) if part in known else part for part in value.split(" | "))


def readable(field: str, value: Any, translate: Translate) -> str:
    """What a field holds, to look at: as a cell of a sheet has it, with no more digits than tell something."""
    if isinstance(value, bool):
        return translate("yes" if value else "no")
    return str(write_cell(field, _rounded(spoken(field, value, translate))))


def _rounded(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _rounded(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return round(value, DIGITS) if isinstance(value, float) else value


def written(field: str, text: str) -> str:
    """What somebody wrote into a field, as the file has it."""
    words = WORDS.get(field, ())
    parts = [part.strip() for part in text.split("|")]
    meant = [in_file(part, words) for part in parts]
    return " | ".join(meant) if meant != parts else text


def _all(field: str, value: Any) -> Any:
    if isinstance(value, list):
        return [_all(field, one) for one in value]
    return written(field, value) if isinstance(value, str) else value


def in_file_words(document: dict[str, Any]) -> dict[str, Any]:
    """A document as the file has it: words that somebody wrote into cells in their own language become the file's."""
    return {
        section: {name: {field: _all(field, value) for field, value in entry.items()} for name, entry in entries.items()}
        if section in SECTIONS
        else entries
        for section, entries in document.items()
    }


def told(problems: Iterable[Problem], translate: Translate) -> tuple[Problem, ...]:
    """What is wrong with a draft, for those who write it in a form: words to choose from are those that the form takes."""
    return tuple(replace(one, rule=_told(one.rule, translate), hint=_told(one.hint, translate)) for one in problems)


def _told(text: str, translate: Translate) -> str:
    if not isinstance(text, Said):
        return text
    return Said(text.pattern, {name: _chosen(value, translate) for name, value in text.values.items()})


def _chosen(value: Any, translate: Translate) -> Any:
    parts = value.split(", ") if type(value) is str else []
    return ", ".join(translate(part) for part in parts) if parts and all(part in _EVERY for part in parts) else value
