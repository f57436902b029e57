"""How languages write: numbers, per cent signs, dates, times and plural forms, as Unicode's CLDR has them, which comes with Babel.

What CLDR has no table of is here: where a space must not become the end of a line. In French one stands before `;`, `:`, `!`, `?` and
inside of quotes, and is narrow; translators write a plain space.
"""

import re
from datetime import datetime
from decimal import Decimal
from functools import cache
from math import isfinite
from numbers import Real

from babel import Locale
from babel.dates import format_date, format_skeleton

from quaestor import i18n

LOCALES = {"en": "en_GB"}  # where a language is written in more than one way; days before months, and hours up to 24
FORMS = ("zero", "one", "two", "few", "many", "other")
_WHOLE, _TENTHS = range(200), [Decimal(count) / 10 for count in range(200)]  # they have every form but that of whole millions
_NARROW = {"fr": (re.compile(r" (?=[;:!?»])|(?<=«) |(?<=\})(?=[;:](?:\s|$))"), "\u202f")}  # a value before `; ` and `: ` has no space


class Writing(i18n.Writing):
    """How one language writes."""

    def __init__(self, language: str) -> None:
        self._locale = Locale.parse(LOCALES.get(language, language))
        signs = self._locale.number_symbols["latn"]
        percent = str(self._locale.percent_formats[None].suffix[0])
        self._percent = percent if "%" in percent else "%"  # a few languages have the sign before the number
        self._signs = str.maketrans({".": signs["decimal"], ",": signs["group"], "-": signs["minusSign"], "%": self._percent})
        self._both = str(self._locale.datetime_formats["medium"])
        self._narrow = _NARROW.get(language)
        whole, tenths = ([self._locale.plural_form(one) for one in numbers] for numbers in (_WHOLE, _TENTHS))
        self.forms = sorted({*whole, *tenths}, key=FORMS.index)
        self._whole = [self.forms.index(name) for name in whole]

    def number(self, text: str) -> str:
        """A number that is given as `1,234.5` or `12%`."""
        return text.translate(self._signs)

    def form(self, value: Real) -> int:
        """The place of the form that goes with a number; whole millions take the last, as CLDR has it for a form that is not there."""
        if isinstance(value, int):
            return self._whole[value] if 0 <= value < len(self._whole) else self._place(value)
        found = float(value)
        if not isfinite(found):
            return len(self.forms) - 1
        return self._place(int(found) if found.is_integer() else Decimal(repr(found)))

    def _place(self, number: int | Decimal) -> int:
        name = self._locale.plural_form(number)
        return self.forms.index(name) if name in self.forms else len(self.forms) - 1

    def day(self, value: datetime) -> str:
        """A date: `15 November 2026`, `15. November 2026`, `15 novembre 2026`."""
        return format_date(value, "long", locale=self._locale)

    def moment(self, value: datetime) -> str:
        """A date and a time; the server keeps UTC and says so."""
        return self._both.format(f"{format_skeleton('Hm', value, locale=self._locale)} UTC", self.day(value))

    def spaced(self, text: str) -> str:
        """A text in which no line ends where it must not; per cent signs stand as far from their number as the language has it."""
        text = text.replace(" %", self._percent)
        return self._narrow[0].sub(self._narrow[1], text) if self._narrow else text


@cache
def writing(language: str) -> Writing:
    """How a language is written."""
    return Writing(language)
