"""The result of learning: the new bank, its fit, and the data it was learnt from."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank
from quaestor.errors import Problem
from quaestor.html_tables import html_table
from quaestor.lazy import lazy
from quaestor.learn.expect import Expected
from quaestor.learn.layout import Layout, Tables, answered
from quaestor.learn.maximise import Aim, parameters, raw, rights
from quaestor.learn.order import levels_order
from quaestor.learn.people import People
from quaestor.model.question import Question
from quaestor.model.table import Array


@dataclass(frozen=True)
class HeldOut:
    """Held-out log P(answers) of each person, (people,), under the bank learnt without that person's fold; `folds`: their number."""

    by_person: Array
    folds: int

    @property
    def mean(self) -> float:
        """The mean over people."""
        return float(self.by_person.mean())

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return float(self.by_person.std(ddof=1) / np.sqrt(len(self.by_person)))


@dataclass(frozen=True)
class Violation:
    """Where the answers contradict the monotone rule: P(`answer` or a better class) falls by `fall` from `lower` to `higher`.

    `lower` and `higher` are levels of the question's skills. `error`: the standard error of the fall, a difference of two binomial
    proportions with the expected numbers of answers.
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
    after each EM step: the log-likelihood plus the logarithm of the prior (with weight 0 the log-likelihood itself). `restarts`: the final
    objective from each start, the bank's own first. `held_out`: None without folds. `warnings` say what could not be learnt. With
    intervals, `bank` is credal, `level` is the share of its predictions that hold, `draws` are plausible tables (see `augmentation`), and
    `unexplained` says how far pairs of answers are from what the bank predicts (see `residuals`).
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
    level: float | None = None
    draws: tuple[Tables, ...] = ()
    unexplained: float = 0.0

    def __repr__(self) -> str:
        answered = f"{len(self.people)} people, {self.people.answers} answers"
        return f"<Fit: {answered}, log-likelihood {self.log_likelihood:.1f}, {self.iterations} steps>"

    def _repr_html_(self) -> str:
        rows = [
            ("people", f"{len(self.people):,}"),
            ("answers", f"{self.people.answers:,}"),
            ("log-likelihood", f"{self.log_likelihood:,.1f}"),
            ("free parameters", f"{self.parameters:,}"),
            ("BIC", f"{self.bic:,.1f}"),
            *([("held-out log-likelihood a person", f"{self.held_out.mean:.3f}")] if self.held_out is not None else []),
            ("warnings", f"{len(self.warnings):,}"),
        ]
        return html_table(f"Learnt: {self.bank.title or 'a bank'}", ("", ""), rows, len(rows))

    @property
    def objective(self) -> float:
        """The final value of the objective."""
        return self.trace[-1]

    @property
    def iterations(self) -> int:
        """The number of EM steps from the start that was kept."""
        return len(self.trace) - 1

    @lazy
    def parameters(self) -> int:
        """The number of free parameters of skills and of questions with answers; where the monotone rule binds, fewer were really free."""
        return parameters(self.layout, self.expected.counts, self.aim)

    @property
    def bic(self) -> float:
        """Bayesian information criterion, -2 log-likelihood + parameters * log(people): less is better."""
        return -2 * self.log_likelihood + self.parameters * float(np.log(len(self.people)))

    @lazy
    def violations(self) -> tuple[Violation, ...]:
        """Where the expected counts contradict the monotone rule; the largest falls first.

        With `monotone` the learnt tables are flat there, without it they fall.
        """
        free = raw(self.layout, self.expected.counts, self.tables, self.aim)
        questions = list(self.bank.questions.values())
        found = []
        for number, (group, some) in enumerate(zip(self.layout.groups, answered(self.expected.counts), strict=True)):
            names = combinations(self.layout, group.scope)
            total = (self.expected.counts.groups[number] + self.aim.prior.groups[number]).sum(axis=2)
            shares = rights(free.groups[number], group)
            for one in np.flatnonzero(some).tolist():
                found += _falls(questions[int(group.positions[one])], shares[one], total[one], levels_order(group.sizes).covers, names)
        return tuple(sorted(found, key=lambda one: -one.fall))


def _falls(question: Question, shares: Array, total: Array, covers: NDArray[np.intp], names: list[str]) -> list[Violation]:
    """The violations of one question. `shares`: P(class or better), (classes - 1, configurations); `total`: answers, (configurations,)."""
    errors = np.sqrt(shares * (1 - shares) / np.maximum(total, 1e-9))
    found = []
    for answer, (share, error) in enumerate(zip(shares, errors, strict=True)):
        for low, high in covers.tolist():
            fall = float(share[low] - share[high])
            if fall > SMALLEST_FALL:
                apart = float(np.hypot(error[low], error[high]))
                found.append(Violation(question.id, question.classes[answer + 1], names[low], names[high], fall, apart))
    return found


SMALLEST_FALL = 0.005


def combinations(layout: Layout, scope: tuple[int, ...]) -> list[str]:
    """The names of a scope's configurations, in order, such as `algebra low, geometry high`; for a single skill its levels."""
    sizes = tuple(layout.sizes[skill] for skill in scope)
    found = []
    for levels in np.ndindex(*sizes):
        words = [layout.states[skill][level] for skill, level in zip(scope, levels, strict=True)]
        named = [f"{layout.names[skill]} {word}" for skill, word in zip(scope, words, strict=True)]
        found.append(", ".join(named) if len(scope) > 1 else words[0])
    return found
