"""The curves of a test without sampling: all answer sets that can come up, each with its probability.

The order of answers does not matter, so paths that meet in the same answers are merged; questions with equal tables are merged too. For
each answer set the probability of having it and each profile of true levels is kept, so that every metric has its exact expectation.
"""

import numpy as np
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError, expect_number
from quaestor.inference.conflict import refuse_conflict
from quaestor.inference.evidence import OPEN, Evidence, distinct_rows
from quaestor.inference.joint import MOST, joint_of
from quaestor.inference.layout import layout_of
from quaestor.model.table import Array
from quaestor.selection.rules import Rules, rules_of
from quaestor.selection.step import Decision, step
from quaestor.simulate.curves import Curves
from quaestor.simulate.metrics import METRICS
from quaestor.simulate.run import PLAIN
from quaestor.simulate.truth import check_truth

LIMIT = 200_000  # answer sets at one step


def expected(bank: Bank, rules: Rules | None = None, truth: Bank | None = None, limit: int = LIMIT) -> Curves:
    """The exact means that `simulate` estimates: the same fields, no sampling. Rules with draws or with an order to keep have none.

    `truth`: the bank that the students come from, by default the centre of `bank`; a tie between levels counts 1 / (number tied).
    """
    rules = rules_of(rules)
    other = sorted(set(rules.document) - PLAIN)
    if other or rules.is_random:
        what = f"the rule '{other[0]}'" if other else "rules that draw at random"
        raise QuaestorError(f"exact expectations are for rules that look only at the answers, got {what}; simulate instead")
    rules.check(bank)
    if not isinstance(truth, Bank | None):
        raise QuaestorError(f"exact expectations are for students of one bank, got the truth {truth!r}; simulate instead")
    expect_number("limit", limit, 1)
    walk = _Walk(bank, rules, truth if truth is not None else bank, limit)
    while walk.step():
        pass
    return walk.curves()


def alike(bank: Bank) -> list[NDArray[np.intp]]:
    """Numbers of questions that are asked one after another as if they were one: equal tables, equal minutes, and all of them count."""
    layout = layout_of(bank)
    found: dict[tuple[int, int, float], list[int]] = {}
    for number, batch in enumerate(layout.batches):
        for question, table in zip(batch.index.tolist(), batch.row.tolist(), strict=True):
            if layout.is_scored[question]:
                found.setdefault((number, table, float(layout.minutes[question])), []).append(question)
    return [np.array(questions) for questions in found.values()]


class _Walk:
    """All answer sets after some steps: `states`, and `weights` (sets, profiles), P(answers, profile)."""

    def __init__(self, bank: Bank, rules: Rules, truth: Bank, limit: int) -> None:
        check_truth(bank, truth)
        self._bank, self._rules, self._limit = bank, rules, limit
        self._truth = truth.centre()
        model = layout_of(self._truth).model
        if model.joint_size > MOST:
            raise QuaestorError(f"exact expectations take at most {MOST} profiles of levels, got {model.joint_size:.3g}; simulate instead")
        joint = joint_of(model)
        self._position = {name: number for number, name in enumerate(model.names)}
        self._index = {skill: joint.index((self._position[skill],)) for skill in bank.skills}
        asked = [self._truth.questions[name] for name in bank.questions]
        levels = [tuple(joint.index((self._position[skill],)) for skill in question.skills) for question in asked]
        self._answers = [q.table.lower[at] for q, at in zip(asked, levels, strict=True)]  # P(class | profile), (profiles, classes)
        self._alike = alike(bank)
        self._sets = np.full((1, len(bank.questions)), OPEN, dtype=np.int16)
        self._weights = joint.posterior({})[None]
        self._done = {name: np.zeros((2, len(bank.skills))) for name in METRICS}  # sums and weights of the tests that are over
        self._means: dict[str, list[Array]] = {name: [] for name in METRICS}
        self._running = [1.0]

    def step(self) -> bool:
        """Note the metrics of all answer sets, and ask one more question of those that go on; False when none does."""
        evidence = Evidence.of_rows(self._bank, self._sets)
        refuse_conflict(evidence)  # a truth may allow more than the bank
        decision = step(self._rules, evidence)
        self._note(decision)
        on = np.flatnonzero(~decision.stopped)
        if not len(on):
            return False
        self._running.append(float(self._weights[on].sum()))
        sets, weights = [], []
        for question in np.unique(decision.question[on]):
            mine = on[decision.question[on] == question]
            for answer in range(self._answers[question].shape[1]):
                then = self._sets[mine].copy()
                then[:, question] = answer
                sets.append(then)
                weights.append(self._weights[mine] * self._answers[question][:, answer])
        self._sets, self._weights = self._merged(np.concatenate(sets), np.concatenate(weights))
        if len(self._sets) > self._limit:
            raise QuaestorError(
                f"exact expectations follow at most {self._limit:,} answer sets, got {len(self._sets):,} after {len(self._running) - 1}"
                " questions; simulate instead: 10,000 students tell an accuracy to about 0.005"
            )
        return True

    def _merged(self, sets: NDArray[np.int16], weights: Array) -> tuple[NDArray[np.int16], Array]:
        """Equal answer sets once; among questions with equal tables only how many have which answer matters."""
        possible = weights.sum(axis=1) > 0
        sets, weights = sets[possible], weights[possible]
        for questions in self._alike:
            if len(questions) > 1:
                sets[:, questions] = -np.sort(-sets[:, questions], axis=1)  # the open ones last: the first is always asked first
        first, row = distinct_rows(sets)
        summed = np.zeros((len(first), weights.shape[1]))
        np.add.at(summed, row, weights)
        return sets[first], summed

    def _note(self, decision: Decision) -> None:
        """The means of this step; what stopped tests have reached counts at all later steps as well."""
        for name, metric in METRICS.items():
            mean = np.full(len(self._bank.skills), np.nan)
            for number, (skill, bracket) in enumerate(zip(self._bank.skills, decision.bounds, strict=True)):
                low, high = bracket.ends
                levels = low.shape[1]
                mass = self._weights @ np.eye(levels)[self._index[skill]]  # P(answers, level), (sets, levels)
                truths = [np.full(len(low), level) for level in range(levels)]
                values = np.stack([metric(low[:, None], high[:, None], truth)[:, 0] for truth in truths], axis=1)
                counted = ~np.isnan(values) & (mass > 0)
                parts = np.stack([(mass * np.where(counted, values, 0)).sum(axis=1), (mass * counted).sum(axis=1)])  # (2, sets)
                total, weight = self._done[name][:, number] + parts.sum(axis=1)
                if weight > 0:
                    mean[number] = total / weight
                self._done[name][:, number] += parts[:, decision.stopped].sum(axis=1)
            self._means[name].append(mean)

    def curves(self) -> Curves:
        """The curves of all steps."""
        return Curves(tuple(self._bank.skills), {name: np.stack(values) for name, values in self._means.items()}, np.array(self._running))
