"""What stands between the columns of a CSV file: a comma, a semicolon (where numbers have a decimal comma) or a tab."""

from pathlib import Path

SEPARATORS = (",", ";", "\t")


def separator(path: str | Path) -> str:
    """The separator of a file, by its first line."""
    with open(path, "rb") as file:
        return separator_of(file.readline(2**20).decode("utf-8", "replace"))


def separator_of(line: str) -> str:
    """The separator that a line of names has most often outside quotation marks; the comma if it has none."""
    bare = "".join(line.split('"')[::2])
    return max(SEPARATORS, key=bare.count)
