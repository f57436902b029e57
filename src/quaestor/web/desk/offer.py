"""The form by which a test is published: what a teacher filled in, and what it means as rules and conditions.

The simple fields make a stopping rule: at most so many questions, earlier when every skill is sure enough. Rules written as in a rules
file take their place. Whatever is wrong is said beside its field, and the form comes back as it was filled in.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from quaestor.bank import Bank
from quaestor.errors import BankError, Problem, QuaestorError
from quaestor.formats import yaml_text
from quaestor.rules import Rules, RulesError
from quaestor.rules_file import read_rules
from quaestor.saying import said, say
from quaestor.stopping import any_of, max_questions, probability_above
from quaestor.store.clock import now
from quaestor.store.publishing import MODES, RETAKES, Conditions

SURE = {"80": 0.8, "90": 0.9, "95": 0.95, "no": None}
MOST_QUESTIONS, MOST_DAYS, FAR = 500, 3650, 20 * 60
TICKS = ("may_skip", "by_list")


def blank(bank: Bank, title: str) -> dict[str, str]:
    """The form as it is shown first."""
    return {
        "title": title,
        "most": str(min(20, len(bank.questions))),
        "sure": "90",
        "mode": "exam",
        "minutes": "",
        "opens": "",
        "closes": "",
        "retakes": "none",
        "may_skip": "yes",
        "by_list": "",
        "keep_days": "365",
        "rules": "",
    }


@dataclass
class Offer:
    """A form that was sent. `wrong`: what is wrong, by field; `problems`: what is wrong with the written rules."""

    filled: dict[str, str]
    offsets: dict[str, str]
    wrong: dict[str, str] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    @property
    def good(self) -> bool:
        """Whether nothing is wrong."""
        return not self.wrong and not self.problems

    def rules(self, bank: Bank) -> Rules | None:
        """The rules, checked against the bank; None when something is wrong with them."""
        written = self.filled["rules"]
        try:
            if written.strip():
                made = read_rules(yaml_text.parse(written), "", yaml_text.locator(written))
            else:
                made = self._simple(len(bank.questions))
            made.check(bank)
        except (BankError, RulesError) as error:
            self.problems = error.problems
            return None
        return made

    def _simple(self, questions: int) -> Rules:
        most = self._whole("most", 1, MOST_QUESTIONS) or questions
        sure = self._one_of("sure", SURE)
        stop = max_questions(most)
        level = SURE.get(sure)
        return Rules(stop=stop if level is None else any_of(stop, probability_above(level)), may_skip=bool(self.filled["may_skip"]))

    def conditions(self) -> Conditions | None:
        """The conditions; None when something is wrong with them."""
        mode, retakes = self._one_of("mode", MODES), self._one_of("retakes", RETAKES)
        minutes = self._whole("minutes", 1, 24 * 60)
        opens, closes = self._moment("opens"), self._moment("closes")
        days = self._whole("keep_days", 1, MOST_DAYS)
        if closes is not None and closes <= now():
            self.wrong["closes"] = "this time is over; please choose a later one"
        if self.wrong:
            return None
        try:
            return Conditions(mode, minutes, opens, closes, retakes, bool(self.filled["by_list"]), days)
        except QuaestorError as error:
            words = said(error)
            place, _, _ = words.partition(": ")
            if place == "closes":
                words = "please choose a time after it opens"
            self.wrong[place if place in self.filled else "title"] = words
            return None

    def _whole(self, name: str, least: int, most: int) -> int | None:
        """A whole number, or None where the field is empty."""
        written = self.filled[name]
        if not written:
            return None
        if not written.isdecimal() or len(written) > 6 or not least <= int(written) <= most:
            self.wrong[name] = say("please enter a whole number from {least} to {most}", least=least, most=most)
            return None
        return int(written)

    def _one_of(self, name: str, known: Any) -> str:
        if self.filled[name] not in known:
            self.wrong[name] = "please choose one of these"
        return self.filled[name]

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
            self.wrong[name] = "please enter a date and a time, such as 2026-09-01 08:00"
            return None


def sent(bank: Bank, title: str, value: Callable[[str], str]) -> Offer:
    """The form as it was sent; `value` gives the text of a field."""
    filled = {name: value(name) for name in blank(bank, title)}
    for name in TICKS:
        filled[name] = "yes" if filled[name] else ""
    return Offer(filled, {name: value(f"{name}_offset") for name in ("opens", "closes")})


def length(rules: Rules) -> str:
    """How long a test is, in words: those of the form where the rules came from it."""
    if rules.stop is None:
        return "it goes on until no question is left"
    match rules.stop.document:
        case {"max_questions": int(most)}:
            return say("{most} questions", most=most)
        case {"any_of": [{"max_questions": int(most)}, {"probability_above": float(sure)}]}:
            return say("at most {most} questions, fewer once the level of every skill is {sure} % sure", most=most, sure=f"{100 * sure:g}")
    return say("it stops when {criterion}", criterion=rules.stop.words)
