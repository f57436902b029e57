"""What strangers upload, read in processes with limits: banks, questions of other systems, class lists and images."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from quaestor.bankfile.bank import FORMATS, Bank
from quaestor.errors import BankError, Problem, QuaestorError, got
from quaestor.formats.exchange.imported import Imported
from quaestor.formats.exchange.registry import read_questions_bytes
from quaestor.formats.files import load_bytes
from quaestor.formats.name_lists import from_file
from quaestor.formats.oneroster import Roster, read_roster
from quaestor.i18n import say
from quaestor.store.media import MediaError
from quaestor.store.pixels import drawn_anew
from quaestor.web.security.sandbox import LimitsError, apart, prepare

SECONDS, MEGABYTES = 30.0, 1_000
T = TypeVar("T")
prepare("quaestor.formats.files", "quaestor.formats.oneroster", "quaestor.store.pixels", "openpyxl")


def read_bank(content: bytes, ending: str, unmarked: int = FORMATS[0]) -> Bank:
    """The bank in a file with this ending, as `load_bytes` reads it."""
    try:
        return apart(load_bytes, content, ending, "", unmarked, seconds=SECONDS, megabytes=MEGABYTES)
    except LimitsError as error:
        raise BankError([Problem("file", error.rule, error.value, say("split the file into several smaller ones"))]) from error


def read_questions(content: bytes, name: str) -> Imported:
    """The questions in a file of another system with this name."""
    try:
        return apart(read_questions_bytes, content, name, seconds=SECONDS, megabytes=MEGABYTES)
    except LimitsError as error:
        raise BankError([Problem("file", error.rule, error.value, say("split the file into several smaller ones"))]) from error


def read_names(content: bytes) -> list[str]:
    """The names in an XLSX file."""
    return _within(from_file, "names.xlsx", content)


def read_classes(content: bytes) -> Roster:
    """The classes of a OneRoster file."""
    return _within(read_roster, content)


def _within(read: Callable[..., T], *given: object) -> T:
    try:
        return apart(read, *given, seconds=SECONDS, megabytes=MEGABYTES)
    except LimitsError as error:
        raise QuaestorError(got(error.rule, error.value, say("split the file into several smaller ones"))) from error


def draw_anew(images: Mapping[str, bytes]) -> dict[str, bytes]:
    """Images by name, each drawn anew from its pixels: nothing else that was in its file is kept."""
    if not images:
        return {}
    try:
        return apart(drawn_anew, dict(images), seconds=SECONDS, megabytes=MEGABYTES)
    except LimitsError as error:
        raise MediaError(got(error.rule, error.value, say("send fewer or smaller images at a time"))) from error
