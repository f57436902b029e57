"""What takers enter, compared with what is right: an option, a number or a text; and the parts of a question that has several."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from quaestor.errors import AnswerError, format_value, got, placed
from quaestor.i18n import say, together
from quaestor.numerals import read_number

GAP = re.compile(r"\[\[([^\[\]\n]+)\]\]")  # where a gap stands in a text: [[name]]
PICTURE = re.compile(r"!\[([^\[\]\n]*)\]\(([^()\s<>\"]+)\)")  # a picture in a text: ![what it shows](file)
SOUNDS = (".mp3", ".ogg", ".wav", ".m4a")
_PUNCTUATION = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "„": '"', "–": "-", "−": "-", "⁄": "/"})


class PartsError(AnswerError):
    """Entries that the parts of a question cannot take: `faults` says of each part, by its name, what is wrong."""

    def __init__(self, question: str, faults: dict[str, str]) -> None:
        self.faults = faults
        super().__init__(placed(question, together([placed(name, words) for name, words in faults.items()], "; ")))


@dataclass(frozen=True)
class Part:
    """One of several things to be answered in a question: what stands on the left of a match, a place in an order, a gap in a text.

    `kind` is `choice`, `number` or `text`; `accept` holds the answers that are right, the key first.
    """

    name: str
    kind: str
    options: tuple[str, ...]
    accept: tuple[str, ...]
    tolerance: Fraction = Fraction(0)

    def read(self, entry: object) -> str:
        """The entry as a text, an option as it stands in the bank; an invalid one raises AnswerError."""
        written = one_text(entry)
        if self.kind == "choice":
            return chosen(written, self.options)
        if self.kind == "number":
            as_number(written)
        return written

    def is_right(self, read: str) -> bool:
        """Whether an entry, as `read`, is right."""
        return accepted(self.kind, read, self.accept, self.tolerance) is not None


def one_text(entry: object) -> str:
    """A single entry as a text that is not empty."""
    if isinstance(entry, int | float) and not isinstance(entry, bool):
        entry = str(entry)
    if not isinstance(entry, str):
        raise AnswerError(got(say("one entry is expected"), format_value(entry)))
    if not entry.strip():
        raise AnswerError(say("the entry is empty"))
    return entry


def chosen(entry: str, options: Iterable[str]) -> str:
    """The option with the same text as the entry, or the only one that is equal under `loose`."""
    known, exact = list(options), entry.strip()
    if exact in known:
        return exact
    alike = [option for option in known if loose(option) == loose(entry)]
    if len(alike) != 1:
        raise AnswerError(got(say("one of {words} is expected", words=" | ".join(known)), format_value(entry)))
    return alike[0]


def as_number(entry: str) -> Fraction:
    """The number that was entered."""
    value = read_number(entry)
    if value is None:
        raise AnswerError(got(say("a number is expected, such as 12, 0.75, 3/4 or 1 1/2"), format_value(entry)))
    return value


def accepted(kind: str, entry: str, answers: Iterable[str], tolerance: Fraction) -> str | None:
    """The first of these answers that the entry is equal to: the same option, a number within `tolerance`, or the same text."""
    if kind == "number":
        value = as_number(entry)
        targets = ((answer, read_number(answer)) for answer in answers)
        return next((answer for answer, target in targets if target is not None and abs(value - target) <= tolerance), None)
    if kind == "choice":
        return next((answer for answer in answers if answer == entry), None)
    wanted = as_text(entry)
    return next((answer for answer in answers if as_text(answer) == wanted), None)


def loose(entry: str) -> str:
    """A text normalised for comparison: Unicode compatibility form, lower case, plain quotes and dashes, single spaces."""
    return " ".join(unicodedata.normalize("NFKC", entry).translate(_PUNCTUATION).casefold().split())


def as_text(entry: str) -> str:
    """A typed answer normalised for comparison: two that are equal here are marked alike."""
    plain = loose(entry)
    return plain.rstrip(" .!?") or plain
