"""Everything that can go wrong, said so that it can be mended: where, which rule, which value."""

import os
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import lru_cache
from numbers import Integral, Real
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Self

from quaestor.i18n import Said, said, say, together

Place = tuple[str | int, ...]
LONGEST_WORD = 200  # letters of a word for which a like one is looked for
Locate = Callable[[str], str]  # from a problem's place to where that stands in a file, e.g. `line 12`


class QuaestorError(Exception):
    """The base of every error that this package raises on purpose; it can be sent to another process.

    `place`: what it is said of (a field, a question, a file), where it is said of one thing.
    """

    place: str = ""
    _words: str = ""

    @classmethod
    def at(cls, place: str, words: str) -> Self:
        """An error that is said of one thing."""
        made = cls(placed(place, words))
        made.place, made._words = place, words
        return made

    @property
    def words(self) -> str:
        """What is said, without the place it is said of."""
        return self._words or said(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).__new__, (type(self), *self.args), self.__dict__  # not made anew: what a kind is made of differs


class NetworkError(QuaestorError):
    """A network, table or row that breaks a rule, or a network file that cannot be read."""


class AnswerError(QuaestorError):
    """An entry or answer that the question cannot take."""


class UnknownNameError(QuaestorError, KeyError):
    """A name that is not there, with a proposal where one is near."""

    def __init__(self, words: str, hint: str = "") -> None:
        super().__init__(say("{words} ({hint})", words=words, hint=hint) if hint else words)

    def __str__(self) -> str:
        return str(self.args[0])  # a KeyError would show it in quotes


class StatementError(QuaestorError):
    """A statement about probabilities that breaks a rule: `rule`, `value`, and perhaps a `hint`."""

    def __init__(self, rule: str, value: str, hint: str = "") -> None:
        self.rule, self.value, self.hint = rule, value, hint
        super().__init__(got(rule, value, hint))


@dataclass(frozen=True)
class Problem:
    """One broken rule: `place` (e.g. `questions.Q3.right[1]`), `rule` in words, `value` as found, and perhaps a `hint`.

    `where` is the line, or the sheet and row, when the source has such a thing; `path` the place step by step, when it lies in a document.
    """

    place: str
    rule: str
    value: str
    hint: str = ""
    severity: Literal["error", "warning"] = "error"
    where: str = ""
    path: Place = field(default=(), compare=False, repr=False)

    @property
    def sentence(self) -> Said:
        """All of it in one sentence."""
        words = placed(self.place, got(self.rule, self.value, self.hint))
        return say("{words} [{where}]", words=words, where=self.where) if self.where else words

    def __str__(self) -> str:
        return str(self.sentence)


class BankError(QuaestorError):
    """A bank that breaks rules, all of them in `problems`; `source` names the file, if there is one."""

    def __init__(self, problems: Iterable[Problem], source: str = "") -> None:
        self.problems = tuple(problems)
        self.source = source
        super().__init__(all_of_them(self.problems, source))


def got(rule: str, value: str, hint: str = "") -> Said:
    """A broken rule and what was found instead."""
    if hint:
        return say("{rule}, got {value} ({hint})", rule=rule, value=value, hint=hint)
    return say("{rule}, got {value}", rule=rule, value=value)


def placed(place: str, words: str) -> Said:
    """Where something is, and what is to be said of it."""
    return say("{place}: {words}", place=place, words=words)


def all_of_them(problems: Iterable[Problem], source: str = "") -> Said:
    """Problems, one a line; `source` names the file, if there is one."""
    sentences = [problem.sentence for problem in problems]
    return together([together((source, one), ":") for one in sentences] if source else sentences, "\n")


def located(problems: Iterable[Problem], locate: Locate | None) -> list[Problem]:
    """The problems, each with where it stands in its file, when `locate` can tell."""
    if locate is None:
        return list(problems)
    return [replace(problem, where=problem.where or locate(problem.place)) for problem in problems]


def nearest(word: object, known: Iterable[str]) -> str:
    """A hint that proposes the known word most like this one; empty when none is near."""
    close = closest(word, known)
    return say("did you mean '{word}'?", word=close) if close else ""


def closest(word: object, known: Iterable[str]) -> str:
    """The known word most like this one; empty when none is near."""
    return _closest(word, tuple(known)) if isinstance(word, str) and len(word) <= LONGEST_WORD else ""


@lru_cache(maxsize=1000)  # a file with the same slip in every line is read no more slowly
def _closest(word: str, known: tuple[str, ...]) -> str:
    return next(iter(get_close_matches(word, known, n=1, cutoff=0.6)), "")


def format_place(place: Place) -> str:
    """Write a path as people read it: `("questions", "Q1", "right", 0)` as `questions.Q1.right[0]`."""
    text = ""
    for step in place:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


class Words(str):
    """What was found, to be shown without quotes (`a, b`); so is what was said (`say("{count} skills", ...)`)."""


def format_value(value: object) -> str:
    """Show a value in a message: on one line, cut to a readable length, what cannot be printed as its code."""
    try:
        text = f"'{value}'" if isinstance(value, str) and not isinstance(value, Words | Said) else str(value)
    except (ValueError, RecursionError):  # Python writes neither integers of thousands of digits nor very deep lists
        return say("a value too long to show")
    text = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text[:81])
    shown = text if len(text) <= 80 else f"{text[:77]}..."
    return value if isinstance(value, Said) and shown == value else shown


# Arguments of the wrong kind, refused where they are given

Kinds = type | UnionType | tuple[type, ...]


def expect(place: str, value: object, kinds: Kinds, rule: str, error: type[QuaestorError] = QuaestorError) -> None:
    """Refuse what is none of these kinds; `rule` says what is expected instead."""
    if not isinstance(value, kinds):
        raise error.at(place, got(rule, format_kind(value)))


def format_kind(value: object) -> str:
    """Show something of the wrong kind: words and numbers as they are, other things by what they are (`a Bank`)."""
    if value is None or isinstance(value, str | bool | int | float):
        return format_value(value)
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def is_among(value: object, known: Container[Any]) -> bool:
    """Whether a word or number is one of those known; arrays, tables and lists, which Python compares otherwise, never are."""
    return isinstance(value, str | int | float | None) and value in known


def expect_flag(place: str, value: object) -> None:
    """Refuse what is neither true nor false; numpy has its own of both."""
    if type(value).__name__ not in ("bool", "bool_"):
        raise QuaestorError.at(place, got("True or False is expected", format_kind(value)))


def expect_number(place: str, value: object, least: float = 0, most: float = float("inf"), whole: bool = False) -> None:
    """Refuse what is no number between these two, both allowed."""
    if not isinstance(value, Integral if whole else Real) or isinstance(value, bool) or not least <= float(value) <= most:
        what = "a whole number" if whole else "a number"
        ends = f"of at least {least:g}" if most == float("inf") else f"from {least:g} to {most:g}"
        raise QuaestorError.at(place, got(f"{what} {ends}", format_kind(value)))


def expect_call(place: str, value: object) -> None:
    """Refuse what is neither None nor a function."""
    expect(place, value, Callable | None, "a function, or None, is expected")  # type: ignore[arg-type]


def path_of(place: str, value: object) -> Path:
    """The path of a file or folder, from its name."""
    expect(place, value, str | os.PathLike, "the name of a file, or a Path, is expected")
    return Path(value)  # type: ignore[arg-type]


def several(place: str, value: object, rule: str) -> list[Any]:
    """A list of what is given; one word is none, since its letters would be taken for words."""
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        try:
            return list(value)
        except TypeError:  # an array of numpy that is one number
            pass
    raise QuaestorError.at(place, got(rule, format_kind(value)))
