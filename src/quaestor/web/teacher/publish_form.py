"""The form by which a test is published: what a teacher filled in, and what it means as rules and conditions.

Its part on rules is `rules_form`. Whatever is wrong is said beside its field, and the form comes back as it was filled in.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError
from quaestor.i18n import said, say
from quaestor.selection.rules import MISSING, WRONG, Rules
from quaestor.store import limits
from quaestor.store.clock import now
from quaestor.store.outcomes import grades
from quaestor.store.publishing import AT_ONCE, CLOSED, LONGEST_HALF_LIFE, MODES, RETAKES, Conditions
from quaestor.web.teacher.rules_form import RulesForm, blank_rules, sent_rules

MOST_DAYS, FAR = 3650, 20 * 60
EXAM = "exam"  # a skip counts as wrong in exams and says nothing in practice; exams are for a class list, practice for everybody
YES, NO = "yes", "no"
SAFE = "safe"  # results at once, but where an exam can be begun again and again only once it is closed
AMONG = 5  # in exams the next question is drawn from so many that tell most, so that it tells less about the answer before
MOST_BEGUN = 100_000


def blank(bank: Bank, title: str) -> dict[str, str]:
    """The form as it is shown first."""
    return {
        **blank_rules(len(bank.questions)),
        "title": title,
        "mode": "exam",
        "minutes": "",
        "opens": "",
        "closes": "",
        "retakes": "none",
        "by_list": EXAM,
        "class": "",
        "half_life": "",
        "results": SAFE,
        "per_browser": str(limits.LIMITS["begun"].failures),
        "per_address": str(limits.LIMITS["begun by address"].failures),
        "practised": "",
        "keep_days": "365",
        "skips": EXAM,
        "grades": "",
        "grades_by": grades.POINTS,
    }


@dataclass
class PublishForm(RulesForm):
    """A form that was sent. `offsets`: by how many minutes the browser's clock is behind UTC, by field; `classes`: titles by number."""

    offsets: dict[str, str] = field(default_factory=dict)
    classes: dict[str, str] = field(default_factory=dict)

    def rules(self, bank: Bank) -> Rules | None:
        """The rules with what a skip means, and in exams with a draw; rules that were written say both themselves."""
        skips = self._one_of("skips", (EXAM, WRONG, MISSING))
        found = super().rules(bank)
        if found is None or self.filled["rules"].strip():
            return found
        if self.filled["mode"] == "exam":
            found = replace(found, among=AMONG)
        is_wrong = skips == WRONG or (skips == EXAM and self.filled["mode"] == "exam")
        return replace(found, skips=WRONG) if is_wrong and found.may_skip else found

    def scheme(self) -> grades.Scheme | None:
        """The scheme of grades, if one was written."""
        by = self._one_of("grades_by", (grades.POINTS, grades.LEVELS))
        if "grades_by" in self.wrong:
            return None
        try:
            return grades.read(self.filled["grades"], by)
        except QuaestorError as error:
            self.wrong["grades"] = said(error)
            return None

    def conditions(self) -> Conditions | None:
        """The conditions; None when something is wrong with them."""
        mode, retakes = self._one_of("mode", MODES), self._one_of("retakes", RETAKES)
        minutes = self._whole("minutes", 1, 24 * 60)
        opens, closes = self._moment("opens"), self._moment("closes")
        days = self._whole("keep_days", 1, MOST_DAYS)
        if closes is not None and closes <= now():
            self.wrong["closes"] = say("this time is over; please choose a later one")
        listed, results = self._one_of("by_list", (EXAM, YES, NO)), self._one_of("results", (SAFE, AT_ONCE, CLOSED))
        by_list = listed == YES or (listed == EXAM and mode == "exam")
        if results == SAFE:
            results = AT_ONCE if mode == "practice" or (by_list and retakes == "none") else CLOSED
        of_class, half_life = self._class(), self._whole("half_life", 1, LONGEST_HALF_LIFE)
        if half_life is not None and of_class is None and "class" not in self.wrong:
            self.wrong["half_life"] = say("only pupils of a class have earlier tests to start from; choose a class above")
        most = (None, None) if by_list else self.limits() if mode == "exam" else (self._whole("practised", 1, MOST_BEGUN), None)
        if self.wrong:
            return None
        try:
            return Conditions(mode, minutes, opens, closes, retakes, by_list, days, results, *most, of_class, half_life)
        except QuaestorError as error:
            words = said(error)
            place, _, _ = words.partition(": ")
            if place == "closes":
                words = say("please choose a time after it opens")
            self.wrong[place if place in self.filled else "title"] = words
            return None

    def _class(self) -> int | None:
        """The number of the class that takes it, one of those that were offered; None: no class yet."""
        chosen = self.filled["class"]
        if chosen and chosen not in self.classes:
            self.wrong["class"] = say("please choose one of your classes")
        return int(chosen) if chosen in self.classes else None

    def limits(self) -> tuple[int | None, int | None]:
        """How often the test may be begun within a day, in one browser and from one address."""
        return self._whole("per_browser", 1, MOST_BEGUN), self._whole("per_address", 1, MOST_BEGUN)

    def _moment(self, name: str) -> datetime | None:
        """A time as the browser's clock has it, in UTC: the browser says how many minutes it is behind, or else it is UTC."""
        written, offset = self.filled[name], self.offsets.get(name, "")
        if not written:
            return None
        try:
            behind = int(offset) if offset and len(offset) < 6 else 0
            read = datetime.fromisoformat(written)
            if read.tzinfo is not None or not 2000 <= read.year <= 2999 or abs(behind) > FAR:
                raise ValueError(written)
            return read + timedelta(minutes=behind)
        except ValueError:
            self.wrong[name] = say("please enter a date and a time, such as 2026-09-01 08:00")
            return None


def sent(bank: Bank, title: str, value: Callable[[str], str], classes: dict[str, str]) -> PublishForm:
    """The form as it was sent; `value` gives the text of a field, `classes`: the titles of those that can be chosen, by number."""
    filled = {**{name: value(name) for name in blank(bank, title)}, **sent_rules(value)}
    filled["by_list"], filled["results"] = filled["by_list"] or NO, filled["results"] or SAFE
    filled["skips"], filled["grades_by"] = filled["skips"] or EXAM, filled["grades_by"] or grades.POINTS
    return PublishForm(filled, offsets={name: value(f"{name}_offset") for name in ("opens", "closes")}, classes=classes)
