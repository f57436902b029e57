"""Words of a bank file that forms show: whoever writes a bank reads and writes them in their own language; the file keeps its own.

The file's words are understood in every language too, so what somebody copies out of a file can be pasted into a form.
"""

from collections.abc import Callable
from typing import Any

from quaestor.elicit import CONFIDENCE, DIFFICULTY, DISCRIMINATION, PRIOR
from quaestor.fields import KINDS

Translate = Callable[[str], str]
WORDS: dict[str, tuple[str, ...]] = {
    "difficulty": tuple(DIFFICULTY),
    "discrimination": tuple(DISCRIMINATION),
    "confidence": tuple(CONFIDENCE),
    "prior": PRIOR,
    "kind": KINDS,
}
LEVELS = ("no", "yes")  # the levels of a skill that names none


def spoken(field: str, value: Any, translate: Translate) -> Any:
    """What a field holds, as people read it: a word of the file in their language, anything else as it is."""
    return translate(value) if isinstance(value, str) and value in WORDS.get(field, ()) else value


def written(field: str, text: str, translate: Translate) -> str:
    """What somebody wrote into a field, as the file has it."""
    plain = _plain(text)
    return next((word for word in WORDS.get(field, ()) if plain in (_plain(translate(word)), word)), text)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
