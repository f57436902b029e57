"""Which reader a file is for: told by its content, and by the ending of its name where the content leaves it open."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePath

from quaestor.bankfile.bank import Bank
from quaestor.errors import BankError, Problem, path_of
from quaestor.formats.exchange import (
    adapquest,
    adapquest_sheets,
    aiken,
    gift,
    gift_writer,
    google_forms,
    moodle_writer,
    moodle_xml,
    quiz_sheets,
    word,
)
from quaestor.formats.exchange.checking import checked
from quaestor.formats.exchange.exported import Exported, Media
from quaestor.formats.exchange.imported import Imported
from quaestor.formats.exchange.qti import packages, writer
from quaestor.formats.limits import read_bytes
from quaestor.i18n import say


@dataclass(frozen=True)
class QuestionFormat:
    """A format of questions: its name for people, the endings of its files, whether a file is of it, and how it is read.

    `recognise` gets the content and the name of the file; `read` gets the same and raises BankError where nothing can be read.
    """

    name: str
    endings: tuple[str, ...]
    recognise: Callable[[bytes, str], bool]
    read: Callable[[bytes, str], Imported]


READERS = (
    QuestionFormat("Moodle XML", (".xml",), moodle_xml.recognise, moodle_xml.read),
    QuestionFormat("QTI", (".xml", ".zip", ".imscc", ".qti"), packages.recognise, packages.read),
    QuestionFormat("AdapQuest", (".json",), adapquest.recognise, adapquest.read),
    QuestionFormat("AdapQuest (XLSX)", (".xlsx",), adapquest_sheets.recognise, adapquest_sheets.read),
    QuestionFormat("Kahoot, Quizizz", (".xlsx", ".csv"), quiz_sheets.recognise, quiz_sheets.read),
    QuestionFormat("Google Forms", (".json",), google_forms.recognise, google_forms.read),
    QuestionFormat("Word", (".docx",), word.recognise, word.read),
    QuestionFormat("Aiken", (".txt", ".aiken"), aiken.recognise, aiken.read),
    QuestionFormat("GIFT", (".gift", ".txt"), gift.recognise, gift.read),
)


QUESTION_ENDINGS = tuple(dict.fromkeys(ending for reader in READERS for ending in reader.endings))
WRITERS: dict[str, Callable[[Bank, Media], Exported]] = {  # by the ending of a file
    ".xml": moodle_writer.write,
    ".gift": gift_writer.write,
    ".zip": writer.write,
}


def recognised(data: bytes, name: str) -> QuestionFormat | None:
    """The format of a file of questions; None where it is of none that is known."""
    return next((reader for reader in READERS if reader.recognise(data, name)), None)


def read_questions_bytes(data: bytes, name: str) -> Imported:
    """What is understood of the content of a file with this name; BankError where it is of no known format, or broken as a whole."""
    try:
        reader = recognised(data, name)
        if reader is not None:
            return checked(reader.read(data, name))
    except BankError as error:
        raise BankError(error.problems, name) from error
    known = ", ".join(reader.name for reader in READERS)
    rule = say("questions are read from one of these formats: {known}", known=known)
    ending = PurePath(name).suffix.lower()
    hint = say("its name ends in {ending}, its content is something else", ending=ending) if data and ending in QUESTION_ENDINGS else ""
    raise BankError([Problem("file", rule, say("a file of none of them") if data.strip() else say("an empty file"), hint)], name)


def read_questions(path: str | Path) -> Imported:
    """Read the questions of another system's file, of any known format; every item is understood or refused with a reason."""
    try:
        data = read_bytes(path_of("path", path))
    except BankError as error:
        raise BankError(error.problems, str(path)) from error
    return read_questions_bytes(data, str(path))
