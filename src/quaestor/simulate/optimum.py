"""The best test that there is: no adaptive choice of so many questions does better on average, whatever it looks at.

The order of answers does not matter, and among questions with equal tables only how many have which answer: so what was answered is a
state, n answers deep, and the value of a state is known from those one answer deeper (Bellman, 1957):

    V_L(state) = max over questions q of sum over answers a of V_L(state + (q, a)),    V_L(state of L answers) = what is known then,

with values weighted by the probability of their answers. One pass from the deepest states upwards finds the optimum of all lengths. The
difference to the exact curve of some rules (`expected`) is their regret.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank, check_bank
from quaestor.errors import QuaestorError, format_value, is_among
from quaestor.inference.joint import MOST, joint_of
from quaestor.inference.layout import layout_of
from quaestor.model.table import Array
from quaestor.selection.ties import tied_best
from quaestor.simulate.exact import alike

LIMIT = 5_000_000  # states of one depth
TOGETHER = 1 << 17  # states whose joint weights are worked out at once, so that memory stays flat
NEVER = -1e300  # the logarithm of a probability of 0: times a count of 0 it is 0

States = tuple[
    NDArray[np.int64], NDArray[np.int8]
]  # keys in rising order, (states,), and how often each answer was given, (states, answers)


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best mean that tests of 0, 1, ... questions can reach. `values`: (lengths,), in the units of the metric.

    `first`: for each length from 1 on the ids of the questions with which a best test may begin; of those with equal tables the first.
    `states`: how many sets of answers there are at each depth.
    """

    metric: str
    values: Array
    first: tuple[tuple[str, ...], ...]
    states: tuple[int, ...]


def optimal(bank: Bank, questions: int, metric: str = "accuracy", limit: int = LIMIT) -> Optimum:
    """The best tests of up to so many questions, for students of the bank itself, by dynamic programming.

    `metric`: `accuracy` (the mean over the skills of the probability of the most probable level), or `brier` or `log_loss`, which are to be
    small. `limit`: how many states there may be at one depth. For precise banks; a credal test is compared with the optimum of its truth.
    """
    _check(bank, questions, metric, limit)
    space = _Space(bank)
    layers = [space.root()]
    for _ in range(questions):
        layers.append(space.deeper(layers[-1], limit))
    sign = 1.0 if metric == "accuracy" else -1.0  # what is to be small is made large
    values = sign * space.known(layers[-1], metric)[:, None]
    asked = np.zeros((0, 0))
    for states, following in zip(layers[-2::-1], layers[:0:-1], strict=True):
        best = np.full((len(states[0]), values.shape[1]), -np.inf)
        if len(states[0]) == 1:  # the beginning: which question is best is of interest
            asked = np.concatenate([after for _, after in space.asked(states, following[0], values)])
        for which, after in space.asked(states, following[0], values):
            best[which] = np.maximum(best[which], after)
        values = np.concatenate([sign * space.known(states, metric)[:, None], best], axis=1)
    first = tuple(tuple(np.array(space.names)[one].tolist()) for one in tied_best(asked.T))
    return Optimum(metric, sign * values[0], first, tuple(len(keys) for keys, _ in layers))


def _check(bank: Bank, questions: int, metric: str, limit: int) -> None:
    check_bank(bank)
    if not bank.is_precise:
        raise QuaestorError("the optimal test is for precise banks, got a credal one; compare a credal test with that of bank.centre()")
    for name, value in (("questions", questions), ("limit", limit)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise QuaestorError(f"{name}: a whole number of at least 1, got {format_value(value)}")
    there = int(layout_of(bank).is_scored.sum())
    if questions > there:
        raise QuaestorError(f"questions: at most as many as the bank has that count, {there}, got {questions}")
    if not is_among(metric, KNOWN):
        raise QuaestorError(f"metric: one of {', '.join(KNOWN)}, got {format_value(metric)}")
    size = layout_of(bank).model.joint_size
    if size > MOST:
        raise QuaestorError(f"the optimal test takes at most {MOST} profiles of levels, got {size:.3g}")


def _accuracy(weights: Array, total: Array) -> Array:
    return np.asarray(weights.max(axis=1))


def _brier(weights: Array, total: Array) -> Array:
    return np.asarray(total - (weights * (weights / total[:, None])).sum(axis=1))


def _log_loss(weights: Array, total: Array) -> Array:
    share = weights / total[:, None]
    return np.asarray(-(weights * np.log(np.where(share > 0, share, 1.0))).sum(axis=1))


KNOWN = {"accuracy": _accuracy, "brier": _brier, "log_loss": _log_loss}  # of P(answers, level), (states, levels), and P(answers): (states,)


class _Space:
    """What may have been answered: how often each answer to each kind of question; a kind is a table that one or more questions have."""

    def __init__(self, bank: Bank) -> None:
        kinds = alike(bank)
        layout = layout_of(bank)
        joint = joint_of(layout.model)
        asked = [layout.questions[numbers[0]] for numbers in kinds]
        self.names = [question.id for question in asked]
        self._copies = [len(numbers) for numbers in kinds]
        self._ends = np.cumsum([0, *(len(question.classes) for question in asked)])  # where the answers of each kind begin
        rows = [q.table.lower[tuple(joint.index((layout.position[skill],)) for skill in q.skills)].T for q in asked]
        chances = np.concatenate(rows)  # P(answer | profile), (answers, profiles)
        self._logs = np.where(chances > 0, np.log(np.where(chances > 0, chances, 1.0)), NEVER)
        self._prior = joint.prior
        self._levels = [joint.indicator((layout.position[skill],)) for skill in bank.skills]
        # A state's key is a sum of these, one for each answer: one more answer moves all keys alike, so that their order stays.
        self._marks = np.random.default_rng(0).integers(1 << 40, 1 << 54, len(chances))

    def root(self) -> States:
        """Nothing is answered."""
        return np.zeros(1, dtype=np.int64), np.zeros((1, len(self._logs)), dtype=np.int8)

    def _open(self, counts: NDArray[np.int8], kind: int) -> NDArray[np.intp]:
        """The states in which a question of a kind is left."""
        start, end = self._ends[kind : kind + 2]
        return np.flatnonzero(counts[:, start:end].sum(axis=1) < self._copies[kind])

    def deeper(self, states: States, limit: int) -> States:
        """All states of one answer more: each is made once, from the one that lacks its last answer."""
        keys, counts = states
        width = counts.shape[1]
        last = np.where(counts.any(axis=1), width - 1 - (counts[:, ::-1] > 0).argmax(axis=1), 0)
        found, made, total = [], [], 0
        for kind in range(len(self._copies)):
            left = self._open(counts, kind)
            for answer in range(self._ends[kind], self._ends[kind + 1]):
                mine = left[last[left] <= answer]
                total += len(mine)
                if total > limit:
                    depth = int(counts[0].sum()) + 1
                    raise QuaestorError(
                        f"the optimal test follows at most {limit:,} states of one depth, got more after {depth} questions;"
                        f" ask for at most {depth - 1}, or raise the limit"
                    )
                more = counts[mine].copy()
                more[:, answer] += 1
                made.append(more)
                found.append(keys[mine] + self._marks[answer])
        all_keys, all_counts = np.concatenate(found), np.concatenate(made)
        order = np.argsort(all_keys)
        assert (np.diff(all_keys[order]) > 0).all(), "two states have one key"
        return all_keys[order], all_counts[order]

    def known(self, states: States, metric: str) -> Array:
        """What is known in each state, times the probability of its answers, mean over the skills, (states,)."""
        counts, found = states[1], []
        for start in range(0, len(counts), TOGETHER):
            weights = self._prior * np.exp(counts[start : start + TOGETHER].astype(float) @ self._logs)
            total = np.maximum(weights.sum(axis=1), np.finfo(float).tiny)
            found.append(np.mean([KNOWN[metric](weights @ levels, total) for levels in self._levels], axis=0))
        return np.concatenate(found)

    def asked(self, states: States, following: NDArray[np.int64], values: Array) -> Iterator[tuple[NDArray[np.intp], Array]]:
        """For each kind of question the states in which one can be asked, and the values then, (those states, lengths)."""
        keys, counts = states
        for kind in range(len(self._copies)):
            which = self._open(counts, kind)
            answers = range(self._ends[kind], self._ends[kind + 1])
            yield which, sum((values[np.searchsorted(following, keys[which] + self._marks[one])] for one in answers), np.zeros(()))
