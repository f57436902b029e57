"""A bank as a file of another system: its content, and what other programs will not see of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from quaestor.formats.exchange.imported import Note
from quaestor.formats.exchange.keys import decimal
from quaestor.i18n import say
from quaestor.model.question import Question
from quaestor.numerals import read_number

Media = Mapping[str, bytes]  # contents of pictures and sounds by name
_SHARES = (100, 90, 83.33333, 80, 75, 70, 66.66667, 60, 50, 40, 33.33333, 30, 25, 20, 16.66667, 14.28571, 12.5, 11.11111, 10, 5, 0)


@dataclass(frozen=True)
class Exported:
    """A file as bytes, and notes of what only Quaestor will find in it."""

    data: bytes
    notes: tuple[Note, ...]


def only_ours(kind: str) -> str:
    """What is said of a question that a format has no form for."""
    return say("this format has no questions of kind {kind}: other programs see a text to write, only Quaestor the question", kind=kind)


def share(question: Question, given: str) -> float:
    """What an answer class is worth of 100, as near as Moodle allows: classes are a like distance apart."""
    place = question.classes.index(given)
    exact = 100 * place / (len(question.classes) - 1)
    return min(_SHARES, key=lambda known: abs(known - exact))


def share_of(count: int) -> float:
    """What each of some right options is worth, as near as Moodle allows."""
    return min(_SHARES, key=lambda known: abs(known - 100 / count))


def plain_number(written: str) -> tuple[str, bool]:
    """A number as other programs read it, and whether that is exact.

    >>> plain_number("1 1/2"), plain_number("0,75"), plain_number("1/3")
    (('1.5', True), ('0.75', True), ('0.333333333333333', False))
    """
    value = read_number(written) or Fraction(0)
    text = decimal(value)
    return (text, True) if "/" not in text else (f"{float(value):.15f}", False)


def skill_names(question: Question) -> str:
    """The category of a question: its skill, or its skills together."""
    return " and ".join(question.skills)
