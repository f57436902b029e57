"""The part of a form by which a teacher chooses rules in words; publishing and trying a bank have the same.

A pace (`quick`, `careful`, `thorough`) stands for a number of questions and how sure is enough; `own` leaves both to the teacher. Rules
written as in a rules file take the place of all that. Whatever is wrong is said beside its field.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from quaestor.bankfile.bank import Bank
from quaestor.errors import BankError, Problem
from quaestor.formats import yaml_text
from quaestor.i18n import say
from quaestor.selection.rules import Rules, RulesError
from quaestor.selection.rules_file import read_rules
from quaestor.selection.stopping.combined import all_of, any_of
from quaestor.selection.stopping.criteria import max_questions, min_questions, probability_above
from quaestor.session.sufficiency import asks_enough

SURE = {"80": 0.8, "90": 0.9, "95": 0.95, "no": None}
PACES = {"quick": (8, "80"), "careful": (15, "90"), "thorough": (30, "95")}  # questions at most, how sure is enough
OWN, FIRST, BOTH = "own", "first", "both"
MOST_QUESTIONS = 500
WRITTEN = "written"


def blank_rules(questions: int, pace: str = "careful") -> dict[str, str]:
    """This part of a form as it is shown first."""
    most, sure = PACES[pace]
    return {"pace": pace, "most": str(min(most, questions)), "sure": sure, "join": FIRST, "may_skip": "yes", "rules": ""}


def sent_rules(value: Callable[[str], str], prefix: str = "") -> dict[str, str]:
    """This part as it was sent; a form without paces means the fields of one's own."""
    filled = {name: value(prefix + name) for name in blank_rules(1)}
    return {**filled, "pace": filled["pace"] or OWN, "join": filled["join"] or FIRST, "may_skip": "yes" if filled["may_skip"] else ""}


@dataclass
class RulesForm:
    """What was filled in. `wrong`: what is wrong, by field; `problems`: what is wrong with the written rules."""

    filled: dict[str, str]
    wrong: dict[str, str] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    paces: ClassVar[Mapping[str, int]] = {pace: most for pace, (most, _) in PACES.items()}

    @property
    def good(self) -> bool:
        """Whether nothing is wrong."""
        return not self.wrong and not self.problems

    def rules(self, bank: Bank) -> Rules | None:
        """The rules, checked against the bank; None when something is wrong with them."""
        written = self.filled["rules"]
        try:
            is_written = bool(written.strip())
            made = read_rules(yaml_text.parse(written), "", yaml_text.locator(written)) if is_written else self._chosen(bank)
            made.check(bank)
        except (BankError, RulesError) as error:
            self.problems = error.problems
            return None
        return made

    def _chosen(self, bank: Bank) -> Rules:
        """Rules from what was chosen; a test that ends when it is sure asks enough of every skill first to name a level."""
        questions = len(bank.questions)
        pace = self._one_of("pace", (*PACES, OWN))
        if pace in PACES:
            most, sure = min(PACES[pace][0], questions), PACES[pace][1]
        else:
            most, sure = self._whole("most", 1, MOST_QUESTIONS) or questions, self._one_of("sure", SURE)
        enough = SURE.get(sure)
        both = self._one_of("join", (FIRST, BOTH)) == BOTH and pace == OWN
        if enough is None:
            stop: Any = max_questions(most)
        elif both:
            stop = all_of(min_questions(most), probability_above(enough))
        else:
            stop = any_of(max_questions(most), probability_above(enough))
        return Rules(stop=stop, content=asks_enough(bank) if enough is not None else (), may_skip=bool(self.filled["may_skip"]))

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
            self.wrong[name] = say("please choose one of these")
        return self.filled[name]


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
