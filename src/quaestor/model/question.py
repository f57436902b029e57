"""Questions, and the rules that turn what a taker enters into an answer class."""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from quaestor.errors import AnswerError, format_value, got, placed
from quaestor.i18n import say
from quaestor.model.table import Table
from quaestor.numerals import read_number


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
      question or exclamation mark do not count.
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

    def __post_init__(self) -> None:
        for name in ("option_classes", "accept"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __reduce__(self) -> tuple[Any, ...]:
        values = (getattr(self, entry.name) for entry in fields(self))
        return Question, tuple(dict(value) if isinstance(value, Mapping) else value for value in values)

    @property
    def takes_entries(self) -> bool:
        """Whether `classify` can be used; a question for tests on paper may have answer classes only."""
        return self.kind != "choice" or bool(self.options)

    def classify(self, entry: str | float | Iterable[str]) -> str:
        """The answer class of what a taker entered; an invalid entry (empty, not an option, not a number) raises AnswerError.

        Several choices are given as a list of options, or as one text with `|` between them.
        """
        if not self.takes_entries:
            words = say("has no options to choose from; its answer classes are {classes}", classes=", ".join(self.classes))
            raise AnswerError(placed(self.id, words))
        if self.kind == "choices":
            return self._classify_choices(self.ticked(entry) if isinstance(entry, str) else entry)
        if isinstance(entry, int | float) and not isinstance(entry, bool):
            entry = str(entry)
        if not isinstance(entry, str):
            raise AnswerError(placed(self.id, got(say("one entry is expected"), format_value(entry))))
        if not entry.strip():
            raise AnswerError(placed(self.id, say("the entry is empty")))
        if self.kind == "choice":
            return self.option_classes[self._option(entry)]
        if self.kind == "number":
            return self._classify_number(entry)
        wanted = _answer(entry)
        return next((kind for accepted, kind in self.accept.items() if _answer(accepted) == wanted), self.classes[0])

    def ticked(self, entry: str) -> list[str]:
        """The options in a text with `|` between them; an option may have such a sign itself."""
        parts = entry.split("|")
        known = {loose(option) for option in self.options}
        found: list[str] = []
        while parts:
            whole = next((count for count in range(len(parts), 1, -1) if loose("|".join(parts[:count])) in known), 1)
            found.append("|".join(parts[:whole]))
            parts = parts[whole:]
        return found

    def _option(self, entry: str) -> str:
        """The option with the same text as the entry, or the only one that is equal under `loose`."""
        exact = entry.strip()
        if exact in self.options:
            return exact
        alike = [option for option in self.options if loose(option) == loose(entry)]
        if len(alike) != 1:
            rule = say("one of {words} is expected", words=" | ".join(self.options))
            raise AnswerError(placed(self.id, got(rule, format_value(entry))))
        return alike[0]

    def _classify_choices(self, entered: object) -> str:
        listed: list[Any] = list(entered) if isinstance(entered, Iterable) else [entered]
        if not all(isinstance(entry, str) for entry in listed):
            raise AnswerError(placed(self.id, got(say("a list of options is expected"), format_value(listed))))
        ticked = {self._option(entry) for entry in listed if entry.strip()}
        if not ticked:
            raise AnswerError(placed(self.id, say("the entry is empty")))
        hits = len(ticked & set(self.correct))
        share = Fraction(max(0, hits - (len(ticked) - hits)), len(self.correct))
        return self.classes[int(share * (len(self.classes) - 1))]

    def _classify_number(self, entry: str) -> str:
        value = read_number(entry)
        if value is None:
            rule = say("a number is expected, such as 12, 0.75, 3/4 or 1 1/2")
            raise AnswerError(placed(self.id, got(rule, format_value(entry))))
        for written, kind in self.accept.items():
            target = read_number(written)
            if target is not None and abs(value - target) <= self.tolerance:
                return kind
        return self.classes[0]


_PUNCTUATION = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "„": '"', "–": "-", "−": "-", "⁄": "/"})


def loose(entry: str) -> str:
    """A text normalised for comparison: Unicode compatibility form, lower case, plain quotes and dashes, single spaces."""
    return " ".join(unicodedata.normalize("NFKC", entry).translate(_PUNCTUATION).casefold().split())


def _answer(entry: str) -> str:
    plain = loose(entry)
    return plain.rstrip(" .!?") or plain
