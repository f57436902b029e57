"""The words of the interface in several languages, and which of them a browser gets.

English is written in the pages and in the sentences of the engine (`i18n.py`), and is the key of the other catalogues, which are gettext's,
`locale/<language>/LC_MESSAGES/quaestor.po` (the words of bank files are in `bankfile/words.py`). A text without a translation stays
English, and a test finds it. `{name}` in a text is filled in after translation. Numbers and dates are written as each language does
(`writing.py`); files, forms and the API have ways of their own. `make translations` brings the catalogues up to date with the sources.
"""

from datetime import datetime
from functools import cache
from importlib import resources

from babel.messages.pofile import read_po

from quaestor.bankfile.words import ELSEWHERE
from quaestor.i18n import Said
from quaestor.web.render.writing import writing

LANGUAGES = {"en": "English", "de": "Deutsch", "fr": "Français"}


@cache
def catalogue(language: str) -> dict[str, str]:
    """English texts and what they are in a language; one that was translated before its English changed (fuzzy) does not count."""
    if language == "en":
        return {}
    file = resources.files("quaestor.web") / "locale" / language / "LC_MESSAGES" / "quaestor.po"
    with file.open("rb") as content:
        kept = read_po(content, locale=language)
    words = {str(one.id): str(one.string) for one in kept if one.id and one.string and not one.fuzzy}
    return {text: writing(language).spaced(said) for text, said in {**ELSEWHERE.get(language, {}), **words}.items()}


def read_catalogues() -> None:
    """Read every catalogue now, not when somebody opens the first page in its language."""
    for language in LANGUAGES:
        writing(language)
        catalogue(language)


def translate(language: str, text: str) -> str:
    """A text in a language: one of the interface, or a sentence that knows what it was made of."""
    known, way = catalogue(language), writing(language)

    def words(pattern: str) -> str:
        return known.get(pattern) or way.spaced(pattern)

    return text.again(words, way) if isinstance(text, Said) else words(text)


def number(language: str, value: float, form: str = ".1f") -> str:
    """A number as people write it, with the digits that a format asks for."""
    return writing(language).number(format(value, form))


def day(language: str, value: datetime) -> str:
    """A date as people write it."""
    return writing(language).day(value)


def moment(language: str, value: datetime | None) -> str:
    """A time as people read it."""
    return writing(language).moment(value) if value is not None else ""


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
