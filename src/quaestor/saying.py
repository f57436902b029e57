"""Sentences that can be said in another language: a text that remembers the pattern and the values it was made of.

`say("{count} questions were asked", count=3)` is the text `3 questions were asked`, and everything that takes a text takes it. Whoever
has a catalogue of patterns can say it again (`Said.again`); values that are sentences themselves are said again too. Joining or
formatting such texts in other ways makes plain texts of them: use `say` and `together`.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any


class Said(str):
    """A text with the pattern and the values it was made of."""

    pattern: str
    values: Mapping[str, Any]

    def __new__(cls, pattern: str, values: Mapping[str, Any]) -> "Said":
        """The text that the values make of the pattern."""
        made = super().__new__(cls, pattern.format(**values))
        made.pattern, made.values = pattern, dict(values)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Said, (self.pattern, self.values)

    def again(self, translate: Callable[[str], str]) -> str:
        """The same in other words: `translate` turns a pattern (or a plain value that is an interface word) into another language."""
        return translate(self.pattern).format(
            **{name: value.again(translate) if isinstance(value, Said) else value for name, value in self.values.items()}
        )


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
