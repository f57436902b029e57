"""Sentences that can be said in another language: a text that remembers the pattern and the values it was made of.

`say("{count} questions were asked", count=3)` is the text `3 questions were asked`, and everything that takes a text takes it. Whoever
has a catalogue of patterns can say it again (`Said.again`); values that are sentences themselves are said again too. Joining or
formatting such texts in other ways makes plain texts of them: use `say` and `together`.

A word that goes with a number has two forms, the first for one: `{count} {count:question was|questions were} asked`. A language has its
own way of writing numbers, so a number is given as a number, not as a text, and its digits are said in the pattern: `{mean:.1f}`.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any


class _Number:
    """A number in a pattern: it chooses between two words, or is written in the way of a language."""

    __slots__ = ("value", "written")

    def __init__(self, value: Real, written: Callable[[str], str]) -> None:
        self.value, self.written = value, written

    def __format__(self, form: str) -> str:
        if "|" not in form:
            return self.written(format(self.value, form))
        one, many = form.split("|")
        return one if self.value == 1 else many


def numbered(values: Mapping[str, Any], written: Callable[[str], str] = str) -> dict[str, Any]:
    """Values for a pattern's `format`, where `written` turns `1,234.5` into what a language makes of it."""
    return {name: _Number(value, written) if isinstance(value, Real) else value for name, value in values.items()}


class Said(str):
    """A text with the pattern and the values it was made of."""

    pattern: str
    values: Mapping[str, Any]

    def __new__(cls, pattern: str, values: Mapping[str, Any]) -> "Said":
        """The text that the values make of the pattern."""
        made = super().__new__(cls, pattern.format(**numbered(values)))
        made.pattern, made.values = pattern, dict(values)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Said, (self.pattern, self.values)

    def again(self, translate: Callable[[str], str], written: Callable[[str], str] = str) -> str:
        """The same in other words: `translate` turns a pattern into another language, `written` the digits of a number."""
        said = {name: value.again(translate, written) if isinstance(value, Said) else value for name, value in self.values.items()}
        return translate(self.pattern).format(**numbered(said, written))


def say(pattern: str, /, **values: Any) -> Said:
    """A sentence made of a pattern and values; a value that is to be translated too is a sentence itself."""
    return Said(pattern, values)


def together(parts: Iterable[str], between: str = " ") -> Said:
    """Several sentences in a row."""
    named = {f"part{number}": part for number, part in enumerate(parts)}
    return Said(between.replace("{", "{{").replace("}", "}}").join(f"{{{name}}}" for name in named), named)


def listed(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(parts) < 2:
        return parts[0] if parts else ""
    return say("{list} and {last}", list=together(parts[:-1], ", "), last=parts[-1])


def said(error: BaseException) -> str:
    """The sentence of an error, where it has one: `str(error)` would make a plain text of it."""
    return error.args[0] if len(error.args) == 1 and isinstance(error.args[0], str) else str(error)


def packed(text: str) -> str:
    """A sentence as one text to be kept, from which `unpacked` makes it again."""
    if not isinstance(text, Said):
        return json.dumps(text, ensure_ascii=False)
    values = {name: json.loads(packed(value)) if isinstance(value, str) else value for name, value in text.values.items()}
    return json.dumps({"pattern": text.pattern, "values": values}, ensure_ascii=False)


def unpacked(kept: str) -> str:
    """The sentence that `packed` kept."""
    found: str = _again(json.loads(kept))
    return found


def _again(found: Any) -> Any:
    return Said(found["pattern"], {name: _again(value) for name, value in found["values"].items()}) if isinstance(found, dict) else found
