"""The part of a form by which a teacher chooses rules in words; publishing and trying a bank have the same.

A pace (`quick`, `careful`, `thorough`) stands for a number of questions and how sure is enough; `own` leaves both to the teacher. Rules
written as in a rules file take the place of all that. Whatever is wrong is said beside its field.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import ValidationInfo, field_validator, model_validator

from quaestor.bankfile.bank import Bank
from quaestor.errors import BankError
from quaestor.formats import yaml_text
from quaestor.i18n import say
from quaestor.selection.rules import Rules, RulesError
from quaestor.selection.rules_file import read_rules
from quaestor.selection.stopping.combined import all_of, any_of
from quaestor.selection.stopping.criteria import max_questions, min_questions, probability_above
from quaestor.session.sufficiency import asks_enough
from quaestor.web.security.forms import CHOOSE, Form, Needed, Tick, WrongError, one_of, whole

SURE = {"80": 0.8, "90": 0.9, "95": 0.95, "no": None}
PACES = {"quick": (8, "80"), "careful": (15, "90"), "thorough": (30, "95")}  # questions at most, how sure is enough
OWN, FIRST, BOTH = "own", "first", "both"
MOST_QUESTIONS = 500
WRITTEN = say("these rules cannot be followed")
PACE_LENGTHS = {pace: most for pace, (most, _) in PACES.items()}


def blank_rules(questions: int, pace: str = "careful") -> dict[str, str]:
    """This part of a form as it is shown first."""
    most, sure = PACES[pace]
    return {"pace": pace, "most": str(min(most, questions)), "sure": sure, "join": FIRST, "may_skip": "yes", "rules": ""}


class RulesFields(Form):
    """Rules in words; a form without paces means the fields of one's own."""

    pace: Annotated[str, one_of((*PACES, OWN))] = OWN
    most: Annotated[int | None, whole(1, MOST_QUESTIONS)] = None
    sure: Annotated[str, one_of(SURE), Needed(CHOOSE)]
    join: Annotated[str, one_of((FIRST, BOTH))] = FIRST
    may_skip: Tick = False
    rules: str = ""

    @model_validator(mode="before")
    @classmethod
    def _meant(cls, sent: dict[str, Any]) -> dict[str, Any]:
        """What a pace stands for; written rules take the place of all that."""
        if sent.get("rules"):
            return {**sent, "pace": OWN, "most": None, "sure": "no", "join": FIRST}
        most, sure = PACES.get(sent.get("pace", OWN), (None, ""))
        return {**sent, "most": most, "sure": sure, "join": FIRST} if sure else sent

    @field_validator("rules")
    @classmethod
    def _rules_are_readable(cls, written: str, info: ValidationInfo) -> str:
        try:
            if written:
                _written(written).check(known_to(info)["bank"])
        except (BankError, RulesError) as error:
            raise WrongError(WRITTEN, error.problems) from error
        return written

    def rules_of(self, bank: Bank) -> Rules:
        """The rules; a test that ends when it is sure asks enough of every skill first to name a level."""
        if self.rules:
            return _written(self.rules)
        questions, enough = len(bank.questions), SURE[self.sure]
        most = (self.most or questions) if self.pace == OWN else min(self.most or questions, questions)
        if enough is None:
            stop: Any = max_questions(most)
        elif self.join == BOTH:
            stop = all_of(min_questions(most), probability_above(enough))
        else:
            stop = any_of(max_questions(most), probability_above(enough))
        return Rules(stop=stop, content=asks_enough(bank) if enough is not None else (), may_skip=self.may_skip)


def _written(text: str) -> Rules:
    return read_rules(yaml_text.parse(text), "", yaml_text.locator(text))


def known_to(info: ValidationInfo) -> dict[str, Any]:
    """What a form has to know to be checked."""
    found: dict[str, Any] = info.context or {}
    return found


def named(filled: Mapping[str, str]) -> str:
    """What a teacher would call these rules."""
    if filled["rules"].strip():
        return say("Written rules")
    known = {"quick": say("Quick check"), "careful": say("Careful"), "thorough": say("Thorough")}
    return known.get(filled["pace"], say("Your own choice"))


def length(rules: Rules) -> str:
    """How long a test is, in words: those of the form where the rules came from it."""
    if rules.stop is None:
        return say("it goes on until no question is left")
    match rules.stop.document:
        case {"max_questions": int(most)}:
            return say("{most} {most:question|questions}", most=most)
        case {"any_of": [{"max_questions": int(most)}, {"probability_above": float(sure)}]}:
            return say(
                "at most {most} {most:question|questions}, fewer once the level of every skill is {sure:g} % sure",
                most=most,
                sure=100 * sure,
            )
        case {"all_of": [{"min_questions": int(least)}, {"probability_above": float(sure)}]}:
            return say(
                "at least {least} {least:question|questions}, more until the level of every skill is {sure:g} % sure",
                least=least,
                sure=100 * sure,
            )
    return say("it stops when {criterion}", criterion=rules.stop.words)
