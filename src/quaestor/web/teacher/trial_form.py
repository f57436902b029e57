"""The form by which a bank is tried: rules in words, perhaps others to compare them with, how many students."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session as Work

from quaestor.bankfile.bank import Bank
from quaestor.i18n import say
from quaestor.simulate.trial import SEED, STUDENTS
from quaestor.store.job_queue import job_of
from quaestor.store.models import Teacher
from quaestor.store.publishing import MissingError
from quaestor.web.teacher.rules_form import RulesForm, blank_rules, sent_rules

KIND, OTHER = "trial", "other_"  # the kind of these jobs; what the fields of the second rules begin with
FEWEST, MOST = 10, 10_000
CREDAL_STUDENTS = 100  # credal banks take longer


@dataclass
class TrialForm(RulesForm):
    """The first rules and what else is asked; `other`: the rules to compare with."""

    other: RulesForm = field(default_factory=lambda: RulesForm({}))

    @property
    def compares(self) -> bool:
        """Whether two sets of rules are to be compared."""
        return bool(self.filled["compare"])

    def asked(self, bank: Bank) -> dict[str, Any] | None:
        """What the job is asked to do; None when something is wrong."""
        students, seed = self._whole("students", FEWEST, MOST), self._whole("seed", 0, 999_999)
        forms = [self, self.other] if self.compares else [self]
        made = [(form, form.rules(bank)) for form in forms]
        sets = [{"filled": chosen_of(form), "rules": rules.document} for form, rules in made if rules is not None]
        if not all(form.good for form in forms):
            return None
        return {"students": students or STUDENTS, "seed": SEED if seed is None else seed, "sets": sets}


def chosen_of(form: RulesForm) -> dict[str, str]:
    """The fields of a form that are about rules."""
    return {name: form.filled[name] for name in blank_rules(1)}


def blank(bank: Bank) -> TrialForm:
    """The form as it is shown first."""
    count = len(bank.questions)
    students = STUDENTS if bank.is_precise else CREDAL_STUDENTS
    filled = {**blank_rules(count), "compare": "", "students": str(students), "seed": str(SEED)}
    return TrialForm(filled, other=RulesForm(blank_rules(count, "thorough")))


def sent(value: Callable[[str], str]) -> TrialForm:
    """The form as it was sent."""
    filled = {**sent_rules(value), **{name: value(name) for name in ("compare", "students", "seed")}}
    return TrialForm(filled, other=RulesForm(sent_rules(value, OTHER)))


def rules_of(work: Work, teacher: Teacher, trial: int, side: int) -> dict[str, str]:
    """The fields of the rules that were tried, for another form."""
    sets = job_of(work, teacher, trial, KIND).asked["sets"]
    if not 0 <= side < len(sets):
        raise MissingError(say("there is no such trial"))
    found: dict[str, str] = sets[side]["filled"]
    return found
