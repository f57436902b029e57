"""The questions of a bank laid out as arrays: a batch for each scope and number of classes, equal tables once. Made once a bank."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from quaestor.bankfile.bank import Bank
from quaestor.inference.engines.odds import Interval, ratio
from quaestor.inference.layout import BankModel, bank_model
from quaestor.inference.lookahead import Asked
from quaestor.inference.model import Scope
from quaestor.model.table import Array


@dataclass(frozen=True)
class Batch(Asked):
    """Questions of one scope and class count, with what inference wants of their tables."""

    @cached_property
    def logs(self) -> tuple[Array, Array]:
        """Logarithms of `low` and `high`."""
        with np.errstate(divide="ignore"):
            return np.log(self.low), np.log(self.high)

    @cached_property
    def ratios(self) -> Interval:
        """For one two-level skill: the interval of the log-likelihood ratio of each answer, shapes (tables, classes)."""
        return ratio(*self.logs)

    def without(self, skill: int, level: int) -> "Batch":
        """The questions as those see them who have a skill at one level: the skill leaves the scope."""
        if skill not in self.scope:
            return self
        place = self.scope.index(skill)
        low, high = (np.take(end, level, axis=2 + place) for end in (self.low, self.high))
        scope, skills = self.scope[:place] + self.scope[place + 1 :], self.skills[:place] + self.skills[place + 1 :]
        return Batch(scope, skills, self.index, self.row, low, high)


def batches_of(compiled: BankModel) -> list[Batch]:
    """All questions of a bank, grouped."""
    places: dict[tuple[Scope, int], list[int]] = {}
    questions = list(compiled.bank.questions.values())
    for place, question in enumerate(questions):
        scope = tuple(sorted(compiled.position[skill] for skill in question.skills))
        places.setdefault((scope, len(question.classes)), []).append(place)
    made = []
    for (scope, _), listed in places.items():
        tables = []
        for place in listed:
            question = questions[place]
            axes = (len(scope), *np.argsort([compiled.position[skill] for skill in question.skills]))
            tables.append([np.transpose(bound, axes) for bound in (question.table.lower, question.table.upper)])
        stacked = np.array(tables)  # (questions, 2, classes, *levels)
        unique, row = np.unique(stacked.reshape(len(listed), -1), axis=0, return_inverse=True)
        different = unique.reshape(len(unique), *stacked.shape[1:])
        skills = tuple(compiled.model.names[v] for v in scope)
        low, high = np.ascontiguousarray(different[:, 0]), np.ascontiguousarray(different[:, 1])
        made.append(Batch(scope, skills, np.array(listed), row.reshape(-1), low, low if compiled.is_precise else high))
    return made


@lru_cache(maxsize=64)
def bank_batches(bank: Bank) -> list[Batch]:
    """The batches of a bank, kept for the banks used last."""
    return batches_of(bank_model(bank))
