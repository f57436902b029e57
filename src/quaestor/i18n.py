"""Sentences that can be said in another language: a text that remembers the pattern and the values it was made of.

`say("{count} questions were asked", count=3)` is the text `3 questions were asked`, and everything that takes a text takes it. Whoever
has a catalogue of patterns can say it again (`Said.again`); values that are sentences themselves are said again too. Joining or
formatting such texts in other ways makes plain texts of them: use `say` and `together`.

A word that goes with a number has as many forms as its language, in English two, the first for one: `{count} {count:question was|questions
were} asked`. A language has its own way of writing numbers and dates (`Writing`), so a number is given as a number, not as a text, and its
digits are said in the pattern: `{mean:.1f}`; so is a moment: `{opens:moment}`.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from numbers import Real
from typing import Any


class Writing:
    """How a language writes numbers and moments, and which form of a word goes with a number: here English, which needs no library."""

    def number(self, text: str) -> str:
        """A number that is given as `1,234.5`."""
        return text

    def form(self, value: Real) -> int:
        """The place of the form that goes with a number, among the forms of a word."""
        return int(value != 1)

    def moment(self, value: datetime) -> str:
        """A date and a time; it is UTC, and says so."""
        return f"{value.day} {value:%B %Y, %H:%M} UTC"


ENGLISH = Writing()


class _Number:
    """A number in a pattern: it chooses between the forms of a word, or is written in the way of a language."""

    __slots__ = ("value", "writing")

    def __init__(self, value: Real, writing: Writing) -> None:
        self.value, self.writing = value, writing

    def __format__(self, form: str) -> str:
        if "|" not in form:
            return self.writing.number(format(self.value, form))
        forms = form.split("|")
        return forms[min(self.writing.form(self.value), len(forms) - 1)]  # fewer, in a text that nobody has translated


class _Moment:
    """A date and a time in a pattern, written in the way of a language."""

    __slots__ = ("value", "writing")

    def __init__(self, value: datetime, writing: Writing) -> None:
        self.value, self.writing = value, writing

    def __format__(self, form: str) -> str:
        return self.writing.moment(self.value) if form == "moment" else format(self.value, form)


def prepared(values: Mapping[str, Any], writing: Writing = ENGLISH) -> dict[str, Any]:
    """Values for a pattern's `format`: numbers and moments know how a language writes them."""
    return {name: _prepared(value, writing) for name, value in values.items()}


def _prepared(value: Any, writing: Writing) -> Any:
    if isinstance(value, Real):
        return _Number(value, writing)
    return _Moment(value, writing) if isinstance(value, datetime) else value


class Said(str):
    """A text with the pattern and the values it was made of."""

    pattern: str
    values: Mapping[str, Any]

    def __new__(cls, pattern: str, values: Mapping[str, Any]) -> "Said":
        """The text that the values make of the pattern."""
        made = super().__new__(cls, pattern.format(**prepared(values)))
        made.pattern, made.values = pattern, dict(values)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Said, (self.pattern, self.values)

    def again(self, translate: Callable[[str], str], writing: Writing = ENGLISH) -> str:
        """The same in other words: `translate` turns a pattern into another language, `writing` writes the numbers."""
        said = {name: value.again(translate, writing) if isinstance(value, Said) else value for name, value in self.values.items()}
        return translate(self.pattern).format(**prepared(said, writing))


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
