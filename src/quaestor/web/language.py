"""The words of the interface in several languages.

English is written in the pages and in the sentences of the engine (`saying.py`), and is the key of the other catalogues,
`words/<language>/*.yaml`: a text without a translation stays English, and a test finds it. `{name}` in a text is filled in after
translation.
"""

from functools import cache
from importlib import resources

from quaestor.formats import yaml_text
from quaestor.saying import Said

LANGUAGES = {"en": "English", "de": "Deutsch"}


@cache
def catalogue(language: str) -> dict[str, str]:
    """English texts and what they are in a language."""
    if language == "en":
        return {}
    files = sorted((resources.files("quaestor.web") / "words" / language).iterdir(), key=lambda file: file.name)
    texts = [yaml_text.parse(file.read_text(encoding="utf-8")) for file in files if file.name.endswith(".yaml")]
    return {str(key): str(value) for entries in texts for key, value in entries.items()}


def translate(language: str, text: str) -> str:
    """A text in a language: one of the interface, or a sentence that knows what it was made of."""
    known = catalogue(language)
    if isinstance(text, Said):
        return text.again(lambda pattern: known.get(pattern, pattern))
    return known.get(text, text)


def chosen(by_hand: str | None, accepted: str) -> str:
    """The language chosen by hand, or the first one known of those that the browser accepts (`de-AT,de;q=0.9,en;q=0.8`)."""
    if by_hand in LANGUAGES:
        return str(by_hand)
    wanted = []
    for place, part in enumerate(accepted.split(",")[:20]):
        tag, _, weight = part.partition(";q=")
        name = tag.strip().lower().split("-")[0]
        try:
            wanted.append((-float(weight or 1), place, name))
        except ValueError:
            continue
    return next((name for _, _, name in sorted(wanted) if name in LANGUAGES), "en")
