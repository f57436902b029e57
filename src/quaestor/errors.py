"""Everything that can go wrong, said so that it can be mended: where, which rule, which value."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Literal

Place = tuple[str | int, ...]
Locate = Callable[[str], str]  # from a problem's place to where that stands in a file, e.g. `line 12`


class QuaestorError(Exception):
    """The base of every error that this package raises on purpose."""


class NetworkError(QuaestorError):
    """A network, table or row that breaks a rule, or a network file that cannot be read."""


class AnswerError(QuaestorError):
    """An entry or answer that the question cannot take."""


class UnknownNameError(QuaestorError, KeyError):
    """A name that is not there, with a proposal where one is near."""

    def __init__(self, words: str, hint: str = "") -> None:
        super().__init__(f"{words} ({hint})" if hint else words)

    def __str__(self) -> str:
        return str(self.args[0])  # a KeyError would show it in quotes


class StatementError(QuaestorError):
    """A statement about probabilities that breaks a rule: `rule`, `value`, and perhaps a `hint`."""

    def __init__(self, rule: str, value: str, hint: str = "") -> None:
        self.rule, self.value, self.hint = rule, value, hint
        super().__init__(f"{rule}, got {value}" + (f" ({hint})" if hint else ""))


@dataclass(frozen=True)
class Problem:
    """One broken rule: `place` (e.g. `questions.Q3.right[1]`), `rule` in words, `value` as found, and perhaps a `hint`.

    `where` is the line, or the sheet and row, when the source has such a thing.
    """

    place: str
    rule: str
    value: str
    hint: str = ""
    severity: Literal["error", "warning"] = "error"
    where: str = ""

    def __str__(self) -> str:
        hint = f" ({self.hint})" if self.hint else ""
        where = f" [{self.where}]" if self.where else ""
        return f"{self.place}: {self.rule}, got {self.value}{hint}{where}"


class BankError(QuaestorError):
    """A bank that breaks rules, all of them in `problems`; `source` names the file, if there is one."""

    def __init__(self, problems: Iterable[Problem], source: str = "") -> None:
        self.problems = tuple(problems)
        self.source = source
        prefix = f"{source}:" if source else ""
        super().__init__("\n".join(f"{prefix}{problem}" for problem in self.problems))


def located(problems: Iterable[Problem], locate: Locate | None) -> list[Problem]:
    """The problems, each with where it stands in its file, when `locate` can tell."""
    if locate is None:
        return list(problems)
    return [replace(problem, where=problem.where or locate(problem.place)) for problem in problems]


def nearest(word: object, known: Iterable[str]) -> str:
    """A hint that proposes the known word most like this one; empty when none is near."""
    close = get_close_matches(word, list(known), n=1, cutoff=0.6) if isinstance(word, str) else []
    return f"did you mean '{close[0]}'?" if close else ""


def format_place(place: Place) -> str:
    """Write a path as people read it: `("questions", "Q1", "right", 0)` as `questions.Q1.right[0]`."""
    text = ""
    for step in place:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


class Words(str):
    """What was found, said in words (`none`, `3 skills`): a message shows it without quotes."""


def format_value(value: object) -> str:
    """Show a value in a message: on one line, cut to a readable length, what cannot be printed as its code."""
    try:
        text = f"'{value}'" if isinstance(value, str) and not isinstance(value, Words) else str(value)
    except (ValueError, RecursionError):  # Python writes neither integers of thousands of digits nor very deep lists
        text = "a value too long to show"
    text = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text[:81])
    return text if len(text) <= 80 else f"{text[:77]}..."
