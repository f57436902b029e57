"""Rules made ready for a bank: what they name, as numbers and masks of questions. Made once for each bank and set of rules."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from quaestor.inference.layout import Layout, Numbers
from quaestor.lazy import lazy
from quaestor.model.question import Question
from quaestor.model.table import Array
from quaestor.selection.ranking import second_score
from quaestor.selection.rules import Content, Rules

Mask = NDArray[np.bool_]
_MOST_KEPT = 16  # sets of rules of one bank


class Plan:
    """What the rules of a test mean for the questions of a bank."""

    def __init__(self, rules: Rules, layout: Layout) -> None:
        self.rules, self.layout = rules, layout
        self.second = second_score(rules.score, rules.then)
        self.most = rules.stop.most_questions() if rules.stop is not None else None
        self.limits = list(rules.stop.limits()) if rules.stop is not None else []
        self.first = self._numbers(rules.first)
        self.exclude = [self._numbers(ids) for ids in rules.exclude]
        self.testlets = [self._numbers(ids) for ids in rules.testlets]
        self.mandatory = self._numbers(rules.mandatory)
        self.content = [(content, self.members(content.of)) for content in rules.content]

    def _numbers(self, ids: Sequence[str]) -> Numbers:
        return np.array([self.layout.number[question] for question in ids], dtype=np.intp)

    def members(self, of: str) -> Mask:
        """The questions of a skill or group, (questions,)."""
        return np.array([of in question.skills or question.group == of for question in self.layout.questions], dtype=bool)

    @property
    def holds_back(self) -> bool:
        """Whether something may have to be asked before a test may stop."""
        rules = self.rules
        return bool(rules.first or rules.testlets or rules.mandatory or any(content.least for content in rules.content))

    @property
    def shares(self) -> list[tuple[Content, Mask]]:
        """The contents that want a share of the questions."""
        return [(content, members) for content, members in self.content if content.share is not None]

    @lazy
    def testlet_of(self) -> dict[int, Numbers]:
        """For each mandatory question the testlet that it belongs to, which is asked in its order; alone where there is none."""
        found = {}
        for number in self.mandatory.tolist():
            found[number] = next((testlet for testlet in self.testlets if number in testlet), np.array([number]))
        return found

    @lazy
    def worn(self) -> Mask:
        """The questions that so many takers have seen that they rest, (questions,)."""
        most, rates = self.rules.exposure.most, self.rules.exposure.rates
        return np.array([most is not None and rates.get(question.id, 0.0) >= most for question in self.layout.questions], dtype=bool)

    @lazy
    def chances(self) -> Array:
        """The probability that a question, once chosen, is really asked, (questions,)."""
        return np.array([self.rules.exposure.chances.get(question.id, 1.0) for question in self.layout.questions])

    @lazy
    def rates(self) -> Array:
        """The share of takers that each question was asked, (questions,)."""
        return np.array([self.rules.exposure.rates.get(question.id, 0.0) for question in self.layout.questions])

    @lazy
    def pilots(self) -> Numbers:
        """The pilot questions."""
        return np.flatnonzero(~self.layout.is_scored)

    @lazy
    def kinds(self) -> dict[str, tuple[Numbers, list[tuple[str, ...]]]]:
        """For `skill`, `group` and `template` the kind of each question as a number, (questions,), 0 for none; and their names."""
        found = {}
        for of in ("skill", "group", "template"):
            numbers: dict[tuple[str, ...], int] = {(): 0}
            codes = [numbers.setdefault(_kind(question, of), len(numbers)) for question in self.layout.questions]
            found[of] = (np.array(codes, dtype=np.intp), list(numbers))
        return found


def _kind(question: Question, of: str) -> tuple[str, ...]:
    if of == "skill":
        return tuple(sorted(question.skills))
    value = question.group if of == "group" else question.template
    return (value,) if value else ()


def plan_of(rules: Rules, layout: Layout) -> Plan:
    """The plan of these rules for a bank, kept with the bank's layout."""
    plans: dict[int, Plan] = layout.kept.setdefault("plans", {})
    found = plans.get(id(rules))
    if found is None:
        if len(plans) >= _MOST_KEPT:
            plans.clear()
        found = plans[id(rules)] = Plan(rules, layout)  # the plan holds the rules, so their id stays theirs
    return found
