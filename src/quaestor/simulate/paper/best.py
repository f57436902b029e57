"""The largest accuracy that any test with a few questions can reach, by exhaustive search over questions.

The value of an answer set is the mean over skills of max_l P(level l, answers). The value of a test is the maximum over its next question
of the sum over the answers of the value of the rest of the test. No rule, credal or precise, exceeds it on average.
"""

import numpy as np

from quaestor.bankfile.bank import Bank
from quaestor.credal.decisions import survivors
from quaestor.inference.joint import joint_of
from quaestor.inference.layout import Numbers, layout_of
from quaestor.inference.posterior import posterior
from quaestor.model.table import Array


class BestTest:
    """The largest possible mean accuracy on a precise bank; `kinds`: one question for each distinct table, (profiles, classes)."""

    def __init__(self, bank: Bank) -> None:
        layout = layout_of(bank)
        joint = joint_of(layout.model)
        of_skill = {skill: joint.index((layout.position[skill],)) for skill in bank.skills}
        self._start = joint.posterior({})
        self._levels = [np.eye(len(skill.levels))[of_skill[name]] for name, skill in bank.skills.items()]  # (profiles, levels)
        names = list(bank.questions)
        alike = [batch.index[batch.row == row][0] for batch in layout.batches for row in range(len(batch.low))]
        self.kinds = {names[number]: self._answers(bank, names[number], of_skill) for number in sorted(alike)}  # (profiles, classes)

    @staticmethod
    def _answers(bank: Bank, name: str, of_skill: dict[str, Numbers]) -> Array:
        question = bank.questions[name]
        return np.asarray(question.table.lower[tuple(of_skill[skill] for skill in question.skills)])

    def chances(self, name: str) -> list[Array]:
        """P(level, answer) for each skill and the answer to one question, (levels, classes) each."""
        both = self._start[:, None] * self.kinds[name]
        return [levels.T @ both for levels in self._levels]

    def _value(self, weights: Array) -> Array:
        """The value of answer sets with weights P(answers, profile), (..., profiles) -> (...)."""
        return np.asarray(sum((weights @ levels).max(axis=-1) for levels in self._levels) / len(self._levels))

    def after(self, questions: int) -> float:
        """The largest possible accuracy after a number of questions, each chosen given the earlier answers."""
        return float(self._best(self._start[None], questions)[0])

    def _best(self, weights: Array, questions: int) -> Array:
        """The values of answer sets with so many questions left, (sets, profiles) -> (sets,). Questions may be repeated: an upper bound."""
        if questions == 0:
            return self._value(weights)
        found = np.full(len(weights), -np.inf)
        for answers in self.kinds.values():
            then = weights[:, None, :] * answers.T  # (sets, classes, profiles)
            left = self._best(then.reshape(-1, then.shape[2]), questions - 1)
            found = np.maximum(found, left.reshape(len(weights), -1).sum(axis=1))
        return found


def left_after_one(credal: Bank) -> dict[str, float]:
    """For each kind of question the exact expected share of skills whose true level is undominated after its answer."""
    test, found = BestTest(credal.centre()), {}
    for name in test.kinds:
        chances = test.chances(name)
        total = 0.0
        for answer in range(chances[0].shape[1]):
            beliefs = posterior(credal, {name: answer})
            kept = [survivors(beliefs[skill].lower, beliefs[skill].upper) for skill in credal.skills]
            total += sum(float(chance[:, answer] @ left) for chance, left in zip(chances, kept, strict=True))
        found[name] = total / len(credal.skills)
    return found
