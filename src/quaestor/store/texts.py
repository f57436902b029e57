"""Texts from people made fit for every database: without control characters and lone surrogates, and not too long."""

from quaestor.errors import QuaestorError, got
from quaestor.i18n import say

LONGEST_EMAIL = 254


def clean(text: str, most: int | None = None) -> str:
    """A text of several lines, without control characters: PostgreSQL refuses NUL, and no database stores a lone surrogate."""
    whole = text.encode("utf-8", "replace").decode() if not text.isascii() else text
    return "".join(letter for letter in whole if letter.isprintable() or letter in "\n\t" or letter.isspace())[:most]


def line(text: str, most: int | None = None) -> str:
    """A text of one line, such as a name, with single spaces."""
    return " ".join(clean(text).split())[:most].rstrip()


def tidy_email(written: str) -> str:
    """An e-mail address in normal form, as accounts and rate limits use it."""
    return line(written).lower()


def checked_email(written: str) -> str:
    """An e-mail address in normal form; QuaestorError if it cannot be one."""
    tidy = tidy_email(written)
    name, _, host = tidy.rpartition("@")
    if not name or not host or " " in tidy or len(tidy) > LONGEST_EMAIL:
        raise QuaestorError.at("email", got(say("an address such as name@school.example"), f"'{written[:80]}'"))
    return tidy
