"""Texts as people send them, made fit for every database: no control characters, no halves of letters, not too long."""


def clean(text: str, most: int | None = None) -> str:
    """A text of several lines: PostgreSQL takes no NUL, and no database takes half a letter (a lone surrogate)."""
    whole = text.encode("utf-8", "replace").decode() if not text.isascii() else text
    return "".join(letter for letter in whole if letter.isprintable() or letter in "\n\t" or letter.isspace())[:most]


def line(text: str, most: int | None = None) -> str:
    """A text of one line, such as a name: spaces are made alike too."""
    return " ".join(clean(text).split())[:most].rstrip()
