"""YAML, read with every scalar as the text that was written; the field decides what it means.

It is built on the event stream of the parser: repeated keys are found, aliases are followed but counted (an alias bomb is refused before it
is expanded), nesting is limited, and the line of every place is known.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import yaml

from quaestor.errors import BankError, Locate, Problem, format_place
from quaestor.formats.limits import DEEPEST, MOST_VALUES, refusal
from quaestor.i18n import say

_Loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_COUNTED_AS_ONE = 20  # an alias of a long text counts as one value more for so many characters, as it costs as much to read
_READ_OTHERWISE = re.compile(r"[yYnN]|0o[0-7]+|[-+]?\.?\d[\d.]*[eE][-+]?\d+")  # booleans or numbers for other YAML readers


def parse(text: str) -> Any:
    """The document as dicts, lists and strings."""
    return _Builder(text).document


def locator(text: str) -> Locate:
    """A function from a place such as `questions.Q1.right[0]` to the line where it, or the nearest place around it, was written."""

    @cache
    def lines() -> dict[str, int]:
        return _Builder(text, lines=True).lines

    def locate(place: str) -> str:
        while place and place not in lines():
            place = place[: max(place.rfind("."), place.rfind("["), 0)]
        return say("line {line}", line=lines()[place]) if place else ""

    return locate


class _Builder:
    """Plain data built from events; `lines` maps places to lines if wanted."""

    def __init__(self, text: str, lines: bool = False) -> None:
        self.lines: dict[str, int] = {}
        self._keep_lines = lines
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._count = 0
        self._repeated: list[Problem] = []
        try:
            self._events: Iterator[Any] = iter(yaml.parse(text, Loader=_Loader))
            next(self._events)
            if isinstance(next(self._events), yaml.StreamEndEvent):
                raise refusal(say("a file has content"), say("an empty file"))
            self.document = self._node(next(self._events), (), 0)
            next(self._events)
            if not isinstance(next(self._events), yaml.StreamEndEvent):
                raise refusal(say("a file holds one YAML document"), say("several"))
        except yaml.YAMLError as error:
            raise _syntax(error) from error
        except (UnicodeError, ValueError) as error:  # the parser's own errors on broken escapes and surrogates
            raise refusal(say("the file is valid YAML"), error) from error
        if self._repeated and not lines:
            raise BankError(self._repeated)

    def _node(self, event: Any, place: tuple[str | int, ...], depth: int) -> Any:
        if depth > DEEPEST:
            raise refusal(say("values are nested at most {most} deep", most=DEEPEST), say("more"), where=_line(event))
        self._add(1)
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._anchors:
                raise refusal(say("an alias names an anchor above it"), event.anchor, where=_line(event))
            value, cost = self._anchors[event.anchor]
            self._add(cost)
            return value
        if isinstance(event, yaml.ScalarEvent):
            if event.anchor:
                self._anchors[event.anchor] = (event.value, len(event.value) // _COUNTED_AS_ONE)
            return event.value
        before = self._count
        value = self._mapping(place, depth) if isinstance(event, yaml.MappingStartEvent) else self._sequence(place, depth)
        if event.anchor:
            self._anchors[event.anchor] = (value, self._count - before)
        return value

    def _mapping(self, place: tuple[str | int, ...], depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._node(event, place, depth + 1)
            if not isinstance(key, str):
                raise refusal(say("a key is text"), say("a list or map"), where=_line(event))
            if key in found:
                self._repeated.append(Problem(format_place(place) or "file", say("each key is used once"), f"'{key}'", where=_line(event)))
            if self._keep_lines:
                self.lines.setdefault(format_place((*place, key)), event.start_mark.line + 1)
            value = self._node(next(self._events), (*place, key), depth + 1)
            found.setdefault(key, value)
        return found

    def _sequence(self, place: tuple[str | int, ...], depth: int) -> list[Any]:
        found: list[Any] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            if self._keep_lines:
                self.lines.setdefault(format_place((*place, len(found))), event.start_mark.line + 1)
            found.append(self._node(event, (*place, len(found)), depth + 1))
        return found

    def _add(self, cost: int) -> None:
        self._count += cost
        if self._count > MOST_VALUES:
            raise refusal(say("a file has at most {most:,} values, aliases included", most=MOST_VALUES), say("more"))


def _line(event: Any) -> str:
    return say("line {line}", line=event.start_mark.line + 1)


def _syntax(error: yaml.YAMLError) -> BankError:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    where = say("line {line}", line=mark.line + 1) if mark is not None else ""
    return BankError([Problem("file", say("the file is valid YAML"), problem, where=where)])


class _BankDumper(_Dumper):  # type: ignore[misc, valid-type]
    """Short lists on one line, long texts as blocks, no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_text(dumper: Any, value: str) -> Any:
    style = "|" if "\n" in value else "'" if _READ_OTHERWISE.fullmatch(value) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


def _represent_list(dumper: Any, value: list[Any]) -> Any:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=True)


_BankDumper.add_representer(str, _represent_text)
_BankDumper.add_representer(list, _represent_list)


def write(document: dict[str, Any]) -> str:
    """A document as YAML that any YAML reader understands: words such as `no` or `50` are quoted."""
    return str(yaml.dump(document, Dumper=_BankDumper, sort_keys=False, allow_unicode=True, width=140, default_flow_style=False))
