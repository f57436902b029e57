"""The words of the interface in several languages.

English is written in the pages and in the sentences of the engine (`saying.py`), and is the key of the other catalogues,
`words/<language>/*.yaml` (the words of bank files are in `bankfile/words.py`): a text without a translation stays English, and a test
finds it. `{name}` in a text is filled in after translation. Numbers and dates are written here too, in the way of each language; files,
forms and the API have ways of their own.
"""

from collections.abc import Callable
from datetime import datetime
from functools import cache
from importlib import resources

from quaestor.bankfile.words import ELSEWHERE
from quaestor.formats import yaml_text
from quaestor.i18n import Said

LANGUAGES = {"en": "English", "de": "Deutsch"}
MONTHS = {
    "en": ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"],
    "de": ["Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember"],
}
_DIGITS = {"de": str.maketrans(".,", ",.")}


@cache
def catalogue(language: str) -> dict[str, str]:
    """English texts and what they are in a language."""
    if language == "en":
        return {}
    files = sorted((resources.files("quaestor.web") / "words" / language).iterdir(), key=lambda file: file.name)
    texts = [ELSEWHERE[language], *(yaml_text.parse(file.read_text(encoding="utf-8")) for file in files if file.name.endswith(".yaml"))]
    return {str(key): str(value) for entries in texts for key, value in entries.items()}


def translate(language: str, text: str) -> str:
    """A text in a language: one of the interface, or a sentence that knows what it was made of."""
    known = catalogue(language)
    if not isinstance(text, Said):
        return _fixed(known.get(text, text))
    return _fixed(text.again(lambda pattern: known.get(pattern, pattern), digits(language)))


def _fixed(text: str) -> str:
    """A text in which no line ends before a per cent sign."""
    return text.replace(" %", "\u00a0%")


def digits(language: str) -> Callable[[str], str]:
    """How a number is written, given as `1,234.5`."""
    signs = _DIGITS.get(language, {})
    return lambda text: text.translate(signs)


def number(language: str, value: float, form: str = ".1f") -> str:
    """A number as people write it, with the digits that a format asks for."""
    return digits(language)(format(value, form))


def day(language: str, value: datetime) -> str:
    """A date as people write it: `15 November 2026`, `15. November 2026`."""
    return f"{value.day}{'.' if language == 'de' else ''} {MONTHS[language][value.month - 1]} {value.year}"


def moment(language: str, value: datetime | None) -> str:
    """A time as people read it; the server keeps UTC and says so."""
    return f"{day(language, value)}, {value:%H:%M} UTC" if value is not None else ""


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
