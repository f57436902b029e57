"""Plain tests in which something is drawn for each student: a question among the best, or one that is not held back.

What is known depends on the answers alone and not on their order. So students who have given the same answers to the same questions are one
path, though they may have met the questions in another order, and gains are worked out for paths; then each student draws.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from quaestor.credal.vectors import parts
from quaestor.draws import Draws
from quaestor.inference.layout import Layout, Numbers
from quaestor.model.table import Array
from quaestor.selection.drawing import Ranked, among, how_many, not_held_back
from quaestor.selection.plan import plan_of
from quaestor.selection.rules import Rules
from quaestor.simulate.run import TOGETHER

Gains = Callable[[slice, str], Array]  # of some paths by a score, (paths, questions); -inf for what is closed


class Drawn:
    """What students of these seeds draw, and which of them are one path.

    `_weights`: a random number of 64 bits for each answer, (questions, classes + 1), a skip first; `_sums`: of these over the answers of
    each path. Two different sets of answers have one sum with a probability of 2^-64.
    """

    def __init__(self, layout: Layout, rules: Rules, seeds: NDArray[np.int64]) -> None:
        self._plan, self._rules, self._seeds = plan_of(rules, layout), rules, seeds
        shape = (len(layout.questions), int(layout.classes.max()) + 1)
        self._weights = np.random.default_rng(0).integers(2**64, size=shape, dtype=np.uint64)
        self._sums = np.zeros(1, dtype=np.uint64)

    def questions(self, running: Numbers, path: Numbers, asked: int, gains: Gains) -> Numbers:
        """The next question of those who are still at it, (students,), after so many questions; `path`: where each of them is."""
        blocks = list(parts(int(path.max()) + 1, max(1, TOGETHER // len(self._weights))))
        if len(blocks) == 1:
            return self._block(running, path, asked, blocks[0], gains)
        order = np.argsort(path, kind="stable")
        ends = np.searchsorted(path[order], [block.start for block in blocks[1:]])
        found = np.empty(len(path), dtype=np.intp)
        for block, students in zip(blocks, np.split(order, ends), strict=True):
            found[students] = self._block(running[students], path[students] - block.start, asked, block, gains)
        return found

    def _block(self, running: Numbers, path: Numbers, asked: int, block: slice, gains: Gains) -> Numbers:
        rules, seeds = self._rules, self._seeds[running]
        before = np.full(len(path), asked)

        def draws(some: Numbers, purpose: int) -> Draws:
            return Draws(seeds[some], before[some], purpose)

        second = self._plan.second
        ranked = Ranked(gains(block, rules.score), (lambda: gains(block, second)) if second else None)
        count = np.minimum(how_many(rules, before), len(self._weights) - asked)
        place = among(ranked, path, count, draws)
        if rules.exposure.chances:
            return not_held_back(ranked, path, place, draws, self._plan.chances)
        return ranked.at(place, path)

    def merged(self, path: Numbers, questions: Numbers, classes: Numbers, minutes: Array) -> tuple[Numbers, Numbers]:
        """Paths after an answer: for each new path one of those on it, and the new path of each; `minutes`: of the old paths.

        Minutes are sums that may round by the order, and a test may end by them: where they differ, paths do.
        """
        sums = self._sums[path] + self._weights[questions, classes + 1]
        spent = (minutes[path] + self._plan.layout.minutes[questions]).view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        _, first, number = np.unique(sums + spent, return_index=True, return_inverse=True)
        self._sums = sums[first]
        return first, number.reshape(-1)
