"""What a file may cost us before we have looked at it: size, depth, number of values."""

from pathlib import Path

from quaestor.errors import BankError, Problem

LARGEST_FILE = 50_000_000  # bytes
LARGEST_SHEET = 200_000_000  # bytes of an XLSX file when unpacked
DEEPEST = 20  # levels of nesting; a bank needs 7
MOST_VALUES = 5_000_000  # values in a file, counted after aliases are followed


def refusal(rule: str, value: object, hint: str = "", place: str = "file") -> BankError:
    """The error for a file that cannot be read as a whole."""
    return BankError([Problem(place, rule, str(value), hint)])


def read_bytes(path: Path) -> bytes:
    """A file's content, refused when it is missing or too large."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise refusal(f"a file has at most {LARGEST_FILE:,} bytes", f"{path.stat().st_size:,} bytes")
        return path.read_bytes()
    except OSError as error:
        raise refusal("the file can be read", error.strerror or "an error") from error


def read_text(data: bytes) -> str:
    """UTF-8 text, with or without a byte-order mark."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        hint = "save the file as UTF-8; in a spreadsheet program: CSV UTF-8"
        raise refusal("text is encoded as UTF-8", f"byte {data[error.start]:#04x} at position {error.start}", hint) from error


def check_nesting(value: object) -> None:
    """Refuse data that is nested too deeply or has too many values."""
    count, level = 0, [value]
    for _ in range(DEEPEST):
        count += len(level)
        if count > MOST_VALUES:
            raise refusal(f"a file has at most {MOST_VALUES:,} values", "more")
        level = [child for item in level if isinstance(item, (dict, list)) for child in (item.values() if isinstance(item, dict) else item)]
        if not level:
            return
    raise refusal(f"values are nested at most {DEEPEST} deep", "more")
