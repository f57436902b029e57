"""Limits on the size of files, checked before their content is processed: bytes, nesting, number of values."""

from collections.abc import Sequence
from math import prod
from pathlib import Path

from quaestor.errors import BankError, NetworkError, Problem, format_value
from quaestor.i18n import say

LARGEST_FILE = 50_000_000  # bytes
LARGEST_SHEET = 200_000_000  # bytes of an XLSX file when unpacked
MOST_CELLS = 500_000  # cells of an XLSX file, which takes long to read: some 20 µs each
WIDEST_SHEET = 500  # the last column of an XLSX file that may hold a value
DEEPEST = 20  # levels of nesting; a bank needs 7
MOST_VALUES = 5_000_000  # values in a file, counted after aliases are followed
MOST_NUMBERS = 10_000_000  # numbers in one table of a network
MOST_PARENTS = 60  # an array has at most 64 axes


def refusal(rule: str, value: object, hint: str = "", where: str = "") -> BankError:
    """The error for a file that cannot be read as a whole."""
    return BankError([Problem("file", rule, value if isinstance(value, str) else str(value), hint, where=where)])


def read_bytes(path: Path) -> bytes:
    """A file's content, refused when it is missing or too large."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            size = path.stat().st_size
            raise refusal(say("a file has at most {most:,} bytes", most=LARGEST_FILE), say("{count:,} {count:byte|bytes}", count=size))
        return path.read_bytes()
    except FileNotFoundError as error:
        raise refusal(say("a file that exists is expected"), say("none")) from error
    except (OSError, ValueError) as error:  # ValueError: a name with a null character
        raise refusal(say("the file can be read"), getattr(error, "strerror", None) or error) from error


def read_text(data: bytes) -> str:
    """UTF-8 text, with or without a byte-order mark."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        hint = say("save the file as UTF-8; in a spreadsheet program: CSV UTF-8")
        found = say("byte {byte:#04x} at position {position}", byte=data[error.start], position=error.start)
        raise refusal(say("text is encoded as UTF-8"), found, hint) from error


def check_nesting(value: object) -> None:
    """Refuse data that is nested too deeply or has too many values."""
    count, level = 0, [value]
    for _ in range(DEEPEST + 1):  # the outermost value is not nested
        count += len(level)
        if count > MOST_VALUES:
            raise refusal(say("a file has at most {most:,} values", most=MOST_VALUES), say("more"))
        level = [child for item in level if isinstance(item, (dict, list)) for child in (item.values() if isinstance(item, dict) else item)]
        if not level:
            return
    raise refusal(say("values are nested at most {most} deep", most=DEEPEST), say("more"))


def check_table_size(sizes: Sequence[int]) -> None:
    """Refuse a table of a network that is too large to build; `sizes`: numbers of states of the parents and the child."""
    if len(sizes) - 1 > MOST_PARENTS:
        raise NetworkError(f"a variable has at most {MOST_PARENTS} parents, got {len(sizes) - 1}")
    if (numbers := prod(sizes)) > MOST_NUMBERS:
        raise NetworkError(f"a table has at most {MOST_NUMBERS:,} numbers, got {format_value(numbers)}")
