"""A trial of a bank: the same simulated students take a test by one or two sets of rules. The result is plain data.

The data are counts, so that they are small and every share has its number of students; `report.trial` puts them into words. A trial can be
ended early: its result is then the same as that of a trial with the number of students that were done.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank
from quaestor.credal.decisions import TIED, survivors
from quaestor.model.table import Array, centre
from quaestor.selection.rules import Rules
from quaestor.selection.sureness import sure_above
from quaestor.simulate.answering import Behaviour
from quaestor.simulate.cohort import Cohort
from quaestor.simulate.run import Record
from quaestor.simulate.work import taken

STUDENTS, SEED = 1000, 1
FIRST, QUICK = 10, 0.25  # students in the first batch; as long as a batch takes fewer seconds than this, the next is four times as large


def try_out(bank: Bank, sets: Sequence[Rules], students: int, seed: int, go_on: Callable[[float], bool] = lambda _: True) -> dict[str, Any]:
    """Let students take the test by each set of rules. `go_on` is called with the share done; False ends the trial after this batch."""
    for rules in sets:
        rules.check(bank)
    cohort = Cohort(bank, bank, students, seed)
    tallies = [_Tally(bank, sure_above(rules)) for rules in sets]
    start, size, steps, wanted = 0, FIRST, 0, True
    while start < students and wanted:
        began, some = perf_counter(), cohort.part(start, start + size)
        for rules, tally in zip(sets, tallies, strict=True):
            tally.add(taken(bank, rules, some, Behaviour()))
            steps += len(some.numbers)
            wanted = go_on(steps / (len(sets) * students)) and wanted
        start += size
        size *= 4 if perf_counter() - began < QUICK else 1
    return {
        "title": bank.title,
        "version": bank.version,
        "precise": bank.is_precise,
        "wanted": students,
        "students": steps // len(sets),
        "seed": seed,
        "skills": [{"id": skill.id, "title": skill.title or skill.id, "levels": list(skill.levels)} for skill in bank.skills.values()],
        "questions": list(bank.questions),
        "pilots": [question.id for question in bank.questions.values() if question.pilot],
        "same": alike(bank),
        "sets": [tally.plain() for tally in tallies],
        "difference": _difference(*tallies) if len(tallies) == 2 else None,
    }


def alike(bank: Bank) -> list[list[Any]]:
    """Pairs of levels, [skill, index, index], for which every question has the same table, so that no answer tells them apart."""
    found = []
    for skill in bank.skills.values():
        tables = [(one.table, one.skills.index(skill.id)) for one in bank.questions.values() if skill.id in one.skills]
        for a, b in combinations(range(len(skill.levels)), 2):
            ends = ((end, axis) for table, axis in tables for end in (table.lower, table.upper))
            if all(np.allclose(end.take(a, axis), end.take(b, axis), rtol=0, atol=TIED) for end, axis in ends):
                found.append([skill.id, a, b])
    return found


class _Tally:
    """The counts of one set of rules."""

    def __init__(self, bank: Bank, above: float) -> None:
        self._above = above
        levels = [len(skill.levels) for skill in bank.skills.values()]
        self.lengths: list[int] = []
        self.right: list[float] = []  # each student's share of skills whose level is found
        self._levels = [np.zeros((count, count)) for count in levels]
        self._sure = np.zeros((len(levels), 5))
        self._asked = np.zeros(len(bank.questions), dtype=int)
        self._stops: Counter[str] = Counter()

    def add(self, record: Record) -> None:
        """Count further students."""
        right = np.zeros(len(record.levels))
        last = record.node[:, -1]
        for skill, (low, high) in enumerate(record.nodes):
            found, chance, one_left = _ends(low[last], high[last])
            truth = record.levels[:, skill]
            own = found[np.arange(len(truth)), truth]
            np.add.at(self._levels[skill], truth, found)
            is_sure = chance >= self._above - TIED
            self._sure[skill] += chance.sum(), is_sure.sum(), own[is_sure].sum(), one_left.sum(), own[one_left].sum()
            right += own
        self.lengths += record.lengths.tolist()
        self.right += (right / len(record.nodes)).tolist()
        self._asked += np.bincount(record.asked[record.asked >= 0], minlength=len(self._asked))
        self._stops.update(record.rule.tolist())

    def plain(self) -> dict[str, Any]:
        """The counts as plain data.

        `lengths[n]`: students who were asked n questions. `right`: mean and standard error of the share of skills whose level is found.
        `levels[skill][true][found]`: students; one with tied levels counts for each of them in part. `sure[skill]`: the sum of the found
        levels' probabilities, and the numbers of sure results, of right ones among them, of determinate results, of right ones among them;
        `above`: the (lower) probability from which a result is sure.
        """
        return {
            "lengths": np.bincount(self.lengths).tolist(),
            "right": _mean(np.array(self.right)),
            "levels": [table.tolist() for table in self._levels],
            "sure": self._sure.tolist(),
            "above": self._above,
            "asked": self._asked.tolist(),
            "stops": dict(self._stops.most_common()),
        }


def _ends(low: Array, high: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
    """From final bounds, (students, levels): weights of the levels found, (students, levels), their (lower) probability, (students,), and
    whether only one level is undominated, (students,).
    """
    p = centre(low, high)
    best = p >= p.max(axis=1, keepdims=True) - TIED
    return best / best.sum(axis=1, keepdims=True), np.where(best, low, 0).max(axis=1), survivors(low, high).sum(axis=1) == 1


def _difference(one: _Tally, other: _Tally) -> dict[str, list[float]]:
    """Paired differences of the second rules to the first: mean and standard error of length and share right."""
    pairs = {"length": (one.lengths, other.lengths), "right": (one.right, other.right)}
    return {name: _mean(np.array(theirs) - np.array(mine)) for name, (mine, theirs) in pairs.items()}


def _mean(values: NDArray[Any]) -> list[float]:
    error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
    return [float(values.mean()), error]
