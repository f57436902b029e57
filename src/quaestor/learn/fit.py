"""What was learnt: the new bank, how well it fits, and what it was learnt from."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from quaestor.bank import Bank
from quaestor.errors import Problem
from quaestor.learn.expect import Expected
from quaestor.learn.layout import Layout, Tables
from quaestor.learn.maximise import Aim, parameters, raw, rights
from quaestor.learn.order import levels_order
from quaestor.learn.people import People
from quaestor.table import Array


@dataclass(frozen=True)
class HeldOut:
    """log P(answers) of people who were not learnt from, (people,), each under a bank learnt from the other `folds`."""

    by_person: Array
    folds: int

    @property
    def mean(self) -> float:
        """Mean over people."""
        return float(self.by_person.mean())

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return float(self.by_person.std(ddof=1) / np.sqrt(len(self.by_person)))


@dataclass(frozen=True)
class Violation:
    """Where the answers alone would make a better level less likely to reach a class: by how much, and the standard error of that.

    `lower` and `higher` are the levels of the question's skills; the error is that of two shares of the expected numbers of answers.
    """

    question: str
    answer: str
    lower: str
    higher: str
    fall: float
    error: float


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """A bank learnt from answers.

    `bank` has the learnt tables, `given` is the bank before. `log_likelihood` is that of the answers under `bank`; `trace` the objective
    after each EM step: the log-likelihood plus the logarithm of the prior (with weight 0 the log-likelihood itself). `restarts`: where the
    objective ended from each start, the bank's own first. `held_out` is there if folds were asked for. `warnings` hold what could not be
    learnt.
    """

    given: Bank
    bank: Bank
    log_likelihood: float
    trace: tuple[float, ...]
    converged: bool
    restarts: tuple[float, ...]
    weight: float
    held_out: HeldOut | None
    warnings: tuple[Problem, ...]
    people: People
    layout: Layout
    aim: Aim
    tables: Tables
    expected: Expected

    def __repr__(self) -> str:
        answered = f"{len(self.people)} people, {self.people.answers} answers"
        return f"<Fit: {answered}, log-likelihood {self.log_likelihood:.1f}, {self.iterations} steps>"

    @property
    def objective(self) -> float:
        """Where the objective ended."""
        return self.trace[-1]

    @property
    def iterations(self) -> int:
        """The number of EM steps from the start that was kept."""
        return len(self.trace) - 1

    @cached_property
    def parameters(self) -> int:
        """How many numbers were free to be learnt; where the monotone rule binds, fewer were."""
        return parameters(self.layout, self.tables, self.aim)

    @property
    def bic(self) -> float:
        """Bayesian information criterion, -2 log-likelihood + parameters * log(people): less is better."""
        return -2 * self.log_likelihood + self.parameters * float(np.log(len(self.people)))

    @cached_property
    def violations(self) -> tuple[Violation, ...]:
        """Where the answers, counted by the levels that the learnt bank expects, go against the monotone rule; the largest falls first.

        With the rule on the learnt tables are flat there; with it off they fall.
        """
        free = raw(self.layout, self.expected.counts, self.tables, self.aim)
        questions = list(self.bank.questions.values())
        found = []
        for group, table, counts, own in zip(
            self.layout.groups, free.groups, self.expected.counts.groups, self.aim.prior.groups, strict=True
        ):
            names = combinations(self.layout, group.scope)
            shares, total = rights(table, group), (counts + own).sum(axis=2)
            covers = levels_order(group.sizes).covers
            for number, place in enumerate(group.places.tolist()):
                errors = np.sqrt(shares[number] * (1 - shares[number]) / np.maximum(total[number], 1e-9))
                for answer in range(group.classes - 1):
                    for low, high in covers.tolist():
                        fall = float(shares[number, answer, low] - shares[number, answer, high])
                        if fall > SMALLEST_FALL:
                            error = float(np.hypot(errors[answer, low], errors[answer, high]))
                            question = questions[place]
                            found.append(Violation(question.id, question.classes[answer + 1], names[low], names[high], fall, error))
        return tuple(sorted(found, key=lambda one: -one.fall))


SMALLEST_FALL = 0.005


def combinations(layout: Layout, scope: tuple[int, ...]) -> list[str]:
    """The configurations of a scope in words, in order: `algebra low, geometry high`; of one skill its levels."""
    sizes = tuple(layout.sizes[skill] for skill in scope)
    found = []
    for levels in np.ndindex(*sizes):
        words = [layout.states[skill][level] for skill, level in zip(scope, levels, strict=True)]
        named = [f"{layout.names[skill]} {word}" for skill, word in zip(scope, words, strict=True)]
        found.append(", ".join(named) if len(scope) > 1 else words[0])
    return found
