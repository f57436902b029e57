"""The form by which a test is published: what a teacher filled in, and what it means as rules and conditions.

Its part on rules is `rules_form`. Whatever is wrong is said beside its field, and the form comes back as it was filled in.
"""

from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field, ValidationInfo, field_validator, model_validator

from quaestor.bankfile.bank import Bank
from quaestor.i18n import say
from quaestor.selection.rules import MISSING, WRONG, Rules
from quaestor.store import limits
from quaestor.store.clock import now
from quaestor.store.outcomes.grades import POINTS
from quaestor.store.publishing import AT_ONCE, CLOSED, LONGEST_HALF_LIFE, MODES, RETAKES, Conditions
from quaestor.web.security.forms import CHOOSE, Moment, Needed, WrongError, at_clock, checked, one_of, whole
from quaestor.web.teacher.grades_form import Grading
from quaestor.web.teacher.rules_form import RulesFields, blank_rules, known_to

MOST_DAYS, LONGEST = 3650, 24 * 60
TOO_EARLY = say("please choose a time after it opens")
EXAM = "exam"  # a skip counts as wrong in exams and says nothing in practice; exams are for a class list, practice for everybody
YES, NO = "yes", "no"
SAFE = "safe"  # results at once, but where an exam can be begun again and again only once it is closed
AMONG = 5  # in exams the next question is drawn from so many that tell most, so that it tells less about the answer before
MOST_BEGUN = 100_000


def is_over(closes: datetime | None) -> str:
    """What is wrong with a moment of closing that has passed."""
    return say("this time is over; please choose a later one") if closes is not None and closes <= now() else ""


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
        "grades_by": POINTS,
    }


class Publishing(RulesFields, Grading):
    """How a test is published. What its checks know: the `bank`, and the `classes` that can be chosen, their titles by number."""

    title: Annotated[str, Needed(say("please enter a title"))]
    mode: Annotated[str, one_of(MODES), Needed(CHOOSE)]
    minutes: Annotated[int | None, whole(1, LONGEST)] = None
    opens: Moment = None
    opens_offset: str = ""
    closes: Annotated[Moment, checked(is_over)] = None
    closes_offset: str = ""
    retakes: Annotated[str, one_of(RETAKES), Needed(CHOOSE)]
    by_list: Annotated[str, one_of((EXAM, YES, NO))] = NO
    of_class: str = Field("", alias="class")
    half_life: Annotated[int | None, whole(1, LONGEST_HALF_LIFE)] = None
    results: Annotated[str, one_of((SAFE, AT_ONCE, CLOSED))] = SAFE
    per_browser: Annotated[int | None, whole(1, MOST_BEGUN)] = None
    per_address: Annotated[int | None, whole(1, MOST_BEGUN)] = None
    practised: Annotated[int | None, whole(1, MOST_BEGUN)] = None
    keep_days: Annotated[int | None, whole(1, MOST_DAYS)] = None
    skips: Annotated[str, one_of((EXAM, WRONG, MISSING))] = EXAM
    once: str = ""

    @model_validator(mode="before")
    @classmethod
    def _timed(cls, sent: dict[str, Any]) -> dict[str, Any]:
        return at_clock(sent, "opens", "closes")

    @field_validator("closes")
    @classmethod
    def _after_it_opens(cls, closes: datetime | None, info: ValidationInfo) -> datetime | None:
        opens = info.data.get("opens")
        if closes is not None and opens is not None and closes <= opens:
            raise WrongError(TOO_EARLY)
        return closes

    @field_validator("of_class")
    @classmethod
    def _own_class(cls, chosen: str, info: ValidationInfo) -> str:
        if chosen not in known_to(info)["classes"]:
            raise WrongError(say("please choose one of your classes"))
        return chosen

    @field_validator("half_life")
    @classmethod
    def _of_a_class(cls, days: int | None, info: ValidationInfo) -> int | None:
        if days is not None and info.data.get("of_class") == "":
            raise WrongError(say("only pupils of a class have earlier tests to start from; choose a class above"))
        return days

    def rules_of(self, bank: Bank) -> Rules:
        """The rules with what a skip means, and in exams with a draw; rules that were written say both themselves."""
        found = super().rules_of(bank)
        if self.rules:
            return found
        if self.mode == EXAM:
            found = replace(found, among=AMONG)
        is_wrong = self.skips == WRONG or (self.skips == EXAM and self.mode == EXAM)
        return replace(found, skips=WRONG) if is_wrong and found.may_skip else found

    @property
    def conditions(self) -> Conditions:
        """The conditions."""
        by_list = self.by_list == YES or (self.by_list == EXAM and self.mode == EXAM)
        results = self.results
        if results == SAFE:
            results = AT_ONCE if self.mode == "practice" or (by_list and self.retakes == "none") else CLOSED
        most = (None, None) if by_list else (self.per_browser, self.per_address) if self.mode == EXAM else (self.practised, None)
        of_class = int(self.of_class) if self.of_class else None
        times = (self.minutes, self.opens, self.closes)
        return Conditions(self.mode, *times, self.retakes, by_list, self.keep_days, results, *most, of_class, self.half_life)
