"""Questions, and the rules that turn what a taker enters into an answer class."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np

from quaestor.errors import AnswerError, expect, format_value, got
from quaestor.html_tables import html_table, interval
from quaestor.i18n import say
from quaestor.model.entries import GAP, PICTURE, SOUNDS, Part, PartsError, accepted, chosen, loose, one_text
from quaestor.model.table import Table

ONE_CHOICE = ("choice", "truefalse")  # kinds of which one option is chosen
Entry = str | float | bool | Iterable[Any] | Mapping[str, Any]


@dataclass(frozen=True)
class Question:
    """One question of a bank. `skills` is its scope, `classes` its answer classes, worst first.

    `table` is P(class | levels of the skills), shape (*levels, classes). What a taker enters is classified by kind:

    - `choice`: the option's class in `option_classes`;
    - `choices`: with h correct and f other options ticked, n correct options and k classes, the class with index
      floor((k - 1) max(0, h - f) / n); with two classes only the exact set is right;
    - `number`: the class in `accept` of the first value (the correct one comes first) that is within `tolerance`, else the worst
      class;
    - `text`: the class in `accept` of an equal text, else the worst class; case, typography, extra spaces and a final full stop,
      question or exclamation mark do not count;
    - `truefalse`: as a choice between `true` and `false`;
    - `matching`, `ordering`, `gaps`: each of the `parts` is right or not; with r of n parts right and k classes, the class with index
      floor((k - 1) r / n); with two classes only all right is right. The parts are what stands on the left, the places of the order
      (the first, the second, ...), and the gaps as they come in the text.
    """

    id: str
    skills: tuple[str, ...]
    classes: tuple[str, ...]
    table: Table
    text: str = ""
    kind: str = "choice"
    options: tuple[str, ...] = ()
    option_classes: Mapping[str, str] = field(default_factory=dict, hash=False)
    correct: tuple[str, ...] = ()
    accept: Mapping[str, str] = field(default_factory=dict, hash=False)
    tolerance: Fraction = Fraction(0)
    explanation: str = ""
    media: str = ""
    alt: str = ""
    minutes: float | None = None
    group: str = ""
    tags: tuple[str, ...] = ()
    pilot: bool = False
    template: str = ""
    parts: tuple[Part, ...] = ()

    def __post_init__(self) -> None:
        for name in ("option_classes", "accept"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __repr__(self) -> str:
        return f"<Question {self.id!r}: {self.kind}, on {', '.join(self.skills)}, classes {', '.join(self.classes)}>"

    def _repr_html_(self) -> str:
        rows = []
        for at in np.ndindex(self.table.lower.shape[:-1]):
            ends = zip(self.table.lower[at], self.table.upper[at], strict=True)
            rows.append((", ".join(str(level) for level in at), *(interval(low, high) for low, high in ends)))
        head = (f"level of {', '.join(self.skills)} (0: the lowest)", *(f"P({name})" for name in self.classes))
        return html_table(f"{self.id}: {self.text}" if self.text else self.id, head, rows, len(rows))

    def __reduce__(self) -> tuple[Any, ...]:
        values = (getattr(self, entry.name) for entry in fields(self))
        return Question, tuple(dict(value) if isinstance(value, Mapping) else value for value in values)

    @property
    def takes_entries(self) -> bool:
        """Whether `classify` can be used; a question for tests on paper may have answer classes only."""
        return self.kind != "choice" or bool(self.options)

    @property
    def has_sound(self) -> bool:
        """Whether the file in `media` is a sound, by its name; otherwise it is an image."""
        return self.media.lower().endswith(SOUNDS)

    @property
    def files(self) -> tuple[str, ...]:
        """The files that the question names, each once: `media`, and the pictures in its texts and options."""
        options = (*self.options, *(text for part in self.parts for text in (part.name, *part.options)))
        named = (found[1] for text in (self.text, self.explanation, *options) for found in PICTURE.findall(text))
        return tuple(dict.fromkeys(name for name in (self.media, *named) if name))

    @property
    def with_blanks(self) -> str:
        """The text, with blanks for its gaps: `A [1 …] has [2 …] legs`."""
        if self.kind != "gaps":
            return self.text
        numbers = {part.name: number for number, part in enumerate(self.parts, start=1)}
        return GAP.sub(lambda found: f"[{numbers[found[1].strip()]} …]", self.text)

    def classify(self, entry: Entry) -> str:
        """The answer class of what a taker entered; an invalid entry (empty, not an option, not a number) raises AnswerError.

        Several choices are given as a list of options, or as one text with `|` between them. A question of several parts takes a map from
        the names of the parts to entries, a list with an entry for each part, or either of them as JSON text.
        """
        if not self.takes_entries:
            words = say("has no options to choose from; its answer classes are {classes}", classes=", ".join(self.classes))
            raise AnswerError.at(self.id, words)
        if self.parts:
            marks = self.marks(entry)
            return self.classes[(len(self.classes) - 1) * sum(marks) // len(marks)]
        try:
            if self.kind == "choices":
                return self._classify_choices(self.ticked(entry) if isinstance(entry, str) else entry)
            written = self._single(entry)
            if self.kind in ONE_CHOICE:
                return self.option_classes[chosen(written, self.options)]
            found = accepted(self.kind, written, self.accept, self.tolerance)
        except AnswerError as error:
            raise AnswerError.at(self.id, error.args[0]) from error
        return self.classes[0] if found is None else self.accept[found]

    def marks(self, entry: Entry) -> tuple[bool, ...]:
        """Which parts are right, for an entry to a question of several parts."""
        return tuple(part.is_right(read) for part, read in zip(self.parts, self.entries(entry), strict=True))

    def written(self, entry: Entry) -> str:
        """An entry as one text, as logs, tables and addresses keep it; `classify` reads it back as the same entry."""
        if self.parts:
            read = self.entries(entry)
            named: Any = list(read) if self.kind == "ordering" else dict(zip([part.name for part in self.parts], read, strict=True))
            return json.dumps(named, ensure_ascii=False)
        if isinstance(entry, Iterable) and not isinstance(entry, str):
            return " | ".join(str(one) for one in entry)
        return self._single(entry)

    def _single(self, entry: object) -> str:
        return str(entry).lower() if self.kind == "truefalse" and isinstance(entry, bool) else one_text(entry)

    def entries(self, entry: Entry) -> tuple[str, ...]:
        """What was entered in each part; PartsError says of each that has none, or a wrong one, what is wrong with it."""
        given = self._by_part(json_value(entry) if isinstance(entry, str) else entry)
        read: dict[str, str] = {}
        faults: dict[str, str] = {}
        for part in self.parts:
            try:
                read[part.name] = part.read(given.get(part.name, ""))
                if self.kind == "ordering" and list(read.values()).count(read[part.name]) > 1:
                    raise AnswerError(got(say("each is listed once"), format_value(read[part.name])))
            except AnswerError as error:
                faults[part.name] = error.args[0]
        if faults:
            raise PartsError(self.id, faults)
        return tuple(read.values())

    def _by_part(self, entry: object) -> dict[str, Any]:
        """What was entered by the names of the parts, not yet read."""
        names = [part.name for part in self.parts]
        listed: list[Any] = []
        if isinstance(entry, Mapping):
            given: dict[str, Any] = {}
            for key, value in entry.items():
                try:
                    given[chosen(str(key), names)] = value
                except AnswerError as error:
                    raise AnswerError.at(self.id, error.args[0]) from error
            return given
        if isinstance(entry, Iterable) and not isinstance(entry, str | bytes):
            listed = list(entry)
        if len(listed) != len(names):
            rule = say("an entry for each of {names} is expected, as a list or map", names=" | ".join(names))
            raise AnswerError.at(self.id, got(rule, format_value(entry)))
        return dict(zip(names, listed, strict=True))

    def ticked(self, entry: str) -> list[str]:
        """The options in a text with `|` between them; an option may have such a sign itself."""
        expect("entry", entry, str, "a text is expected")
        parts = entry.split("|")
        known = {loose(option) for option in self.options}
        found: list[str] = []
        while parts:
            whole = next((count for count in range(len(parts), 1, -1) if loose("|".join(parts[:count])) in known), 1)
            found.append("|".join(parts[:whole]))
            parts = parts[whole:]
        return found

    def _classify_choices(self, entered: object) -> str:
        listed: list[Any] = list(entered) if isinstance(entered, Iterable) else [entered]
        if not all(isinstance(entry, str) for entry in listed):
            raise AnswerError(got(say("a list of options is expected"), format_value(listed)))
        ticked = {chosen(entry, self.options) for entry in listed if entry.strip()}
        if not ticked:
            raise AnswerError(say("the entry is empty"))
        hits = len(ticked & set(self.correct))
        share = Fraction(max(0, hits - (len(ticked) - hits)), len(self.correct))
        return self.classes[int(share * (len(self.classes) - 1))]


def json_value(text: str) -> object:
    """What a text says as JSON; the text itself where it is none."""
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):  # ValueError: also a number of thousands of digits
        return text
    return found
