"""The form by which a bank is tried: rules in words, perhaps others to compare them with, how many students."""

from dataclasses import dataclass
from typing import Annotated, Any

from sqlalchemy.orm import Session as Work
from starlette.datastructures import FormData

from quaestor.bankfile.bank import Bank
from quaestor.i18n import say
from quaestor.simulate.trial import SEED, STUDENTS
from quaestor.store.job_queue import job_of
from quaestor.store.models import Teacher
from quaestor.store.publishing import MissingError
from quaestor.web.security.forms import Filled, Tick, attempt, whole
from quaestor.web.teacher.rules_form import RulesFields, blank_rules

KIND, OTHER = "trial", "other_"  # the kind of these jobs; what the fields of the second rules begin with
FEWEST, MOST = 10, 10_000
CREDAL_STUDENTS = 100  # credal banks take longer


class TrialFields(RulesFields):
    """The first rules and what else is asked."""

    compare: Tick = False
    students: Annotated[int, whole(FEWEST, MOST)] = STUDENTS
    seed: Annotated[int, whole(0, 999_999)] = SEED


@dataclass
class Trial:
    """A form as it is shown: the first rules with what else is asked, and the rules to compare with."""

    first: Filled
    other: Filled

    @property
    def good(self) -> bool:
        """Whether nothing is wrong with what is asked for."""
        return self.first.good and (self.other.good or not self.first.filled["compare"])


def blank(bank: Bank) -> Trial:
    """The form as it is shown first."""
    count = len(bank.questions)
    students = STUDENTS if bank.is_precise else CREDAL_STUDENTS
    filled = {**blank_rules(count), "compare": "", "students": str(students), "seed": str(SEED)}
    return Trial(Filled(filled), Filled(blank_rules(count, "thorough")))


def sent(form: FormData, bank: Bank) -> tuple[Trial, dict[str, Any]]:
    """The form as it was sent, and what the job is asked to do, where nothing is wrong."""
    asked, first = attempt(TrialFields, form, bank=bank)
    compares = bool(first.filled["compare"])
    rules, other = attempt(RulesFields, form, OTHER, bank=bank)
    shown = Trial(first, other)
    if asked is None or (compares and rules is None):
        return shown, {}
    pairs = [(asked, first), (rules, other)] if compares and rules is not None else [(asked, first)]
    sets = [{"filled": {name: form.filled[name] for name in blank_rules(1)}, "rules": one.rules_of(bank).document} for one, form in pairs]
    return shown, {"students": asked.students, "seed": asked.seed, "sets": sets}


def rules_of(work: Work, teacher: Teacher, trial: int, side: int) -> dict[str, str]:
    """The fields of the rules that were tried, for another form."""
    sets = job_of(work, teacher, trial, KIND).asked["sets"]
    if not 0 <= side < len(sets):
        raise MissingError(say("there is no such trial"))
    found: dict[str, str] = sets[side]["filled"]
    return found
