"""The words of the interface in several languages.

English is written in the pages and is the key of the other catalogues, `words/<language>.yaml`: a text without a translation stays
English, and a test finds it. `{name}` in a text is filled in after translation.
"""

from functools import cache
from importlib import resources

from quaestor.formats import yaml_text

LANGUAGES = {"en": "English", "de": "Deutsch"}


@cache
def catalogue(language: str) -> dict[str, str]:
    """English texts and what they are in a language."""
    if language == "en":
        return {}
    text = (resources.files("quaestor.web") / "words" / f"{language}.yaml").read_text(encoding="utf-8")
    return {str(key): str(value) for key, value in yaml_text.parse(text).items()}


def translate(language: str, text: str, **values: object) -> str:
    """A text in a language, with its values filled in."""
    found = catalogue(language).get(text, text)
    return found.format(**values) if values else found


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
