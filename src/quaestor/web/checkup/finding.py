"""What a check found."""

from dataclasses import dataclass

FINE, ADVICE, WRONG = "fine", "advice", "wrong"


@dataclass(frozen=True)
class Finding:
    """What a check found: `check` is its name, `words` a sentence, `mend` how to mend it where it is not fine."""

    check: str
    state: str
    words: str
    mend: str = ""


def fine(check: str, words: str) -> list[Finding]:
    """All is well."""
    return [Finding(check, FINE, words)]


def advice(check: str, words: str, mend: str) -> list[Finding]:
    """It works, but could be better."""
    return [Finding(check, ADVICE, words, mend)]


def wrong(check: str, words: str, mend: str) -> list[Finding]:
    """It does not work, or is not safe."""
    return [Finding(check, WRONG, words, mend)]


def in_words(count: float) -> str:
    """A number of bytes for people."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}" if unit != "bytes" else f"{count:.0f} bytes"
        count /= 1000
    return f"{count:.3g} TB"
