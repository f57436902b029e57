"""Every network of a small bank, one after another, in plain loops: what no engine may get wrong.

Nothing here knows of boxes, messages or the package's own enumeration. A network picks one vertex of every row of the skills' tables, and
for every answer one end of the interval of its probability at each configuration of the question's skills (the rows of a question are
independent, so are the questions). Weights are sums of logarithms, so that thousands of answers do not vanish.
"""

from collections.abc import Iterator, Sequence
from math import exp, fsum, inf, log

import numpy as np

from quaestor import Bank, Table

Given = Sequence[tuple[str, int, int]]  # question, answer class, how many such answers
Ends = tuple[np.ndarray, np.ndarray]
_SNAP = 1e-12  # what is left for the last state is an end of its interval, but for rounding


def vertices_of(table: Table, row: tuple[int, ...]) -> list[list[float]]:
    """The vertices of one row: those stated, or all distributions of which every state but one is at an end of its interval."""
    number = int(np.ravel_multi_index(row, table.shape[:-1])) if row else 0
    if number in table.vertices:
        return [list(map(float, point)) for point in table.vertices[number]]
    low, high = table.lower[row].tolist(), table.upper[row].tolist()
    found: list[list[float]] = []
    for free in range(len(low)):
        others = [state for state in range(len(low)) if state != free]
        for ends in np.ndindex(*(2 if low[state] < high[state] else 1 for state in others)):
            point = list(low)
            for state, end in zip(others, ends, strict=True):
                point[state] = high[state] if end else low[state]
            rest = 1 - fsum(point[state] for state in others)
            if low[free] - _SNAP <= rest <= high[free] + _SNAP:
                point[free] = next((end for end in (low[free], high[free]) if abs(rest - end) <= _SNAP), rest)
                if not any(max(abs(one - other) for one, other in zip(point, known, strict=True)) < _SNAP for known in found):
                    found.append(point)
    return found


class EveryNetwork:
    """The bounds of one taker of a bank: of skills now, of answers, of skills after each answer.

    `apart`: every answer picks its ends by itself; otherwise all answers to questions on the same skills together are at their lower or
    at their upper end, which is as far as they go.
    """

    def __init__(self, bank: Bank, given: Given = (), apart: bool = False) -> None:
        self._bank, self._skills = bank, list(bank.skills)
        self._sizes = [len(bank.skills[skill].levels) for skill in self._skills]
        self._weights = list(self._networks(given, apart))

    def __len__(self) -> int:
        return len(self._weights)

    @property
    def is_possible(self) -> bool:
        """Whether some network allows the answers."""
        return any(max(weights.values()) > -inf for weights in self._weights)

    def _at(self, state: tuple[int, ...], skills: Sequence[str]) -> tuple[int, ...]:
        return tuple(state[self._skills.index(skill)] for skill in skills)

    def _networks(self, given: Given, apart: bool) -> Iterator[dict[tuple[int, ...], float]]:
        """For every network the logarithms of P(joint state, answers) by joint state."""
        tables = {skill: self._bank.skills[skill].table for skill in self._skills}
        rows = [(skill, row) for skill in self._skills for row in np.ndindex(*tables[skill].shape[:-1])]
        picks = [vertices_of(tables[skill], row) for skill, row in rows]
        said = self._likelihoods(given, apart)
        free = [(number, at) for number, (_, ends) in enumerate(said) for at in ends]
        ends = [sorted(set(said[number][1][at])) for number, at in free]
        for choice in np.ndindex(*map(len, picks), *map(len, ends)):
            chosen = {key: picks[n][choice[n]] for n, key in enumerate(rows)}
            likelihood = {key: ends[n][choice[len(rows) + n]] for n, key in enumerate(free)}
            weights = {}
            for state in np.ndindex(*self._sizes):
                total = 0.0
                for skill in self._skills:
                    row = self._at(state, self._bank.skills[skill].parents)
                    total += _log(chosen[skill, row][self._at(state, [skill])[0]])
                for number, (skills, _) in enumerate(said):
                    total += likelihood[number, self._at(state, skills)]
                weights[state] = total
            yield weights

    def _likelihoods(self, given: Given, apart: bool) -> list[tuple[tuple[str, ...], dict[tuple[int, ...], tuple[float, float]]]]:
        """By skills asked about: the ends of the logarithms of what was answered at each configuration."""
        said: dict[object, tuple[tuple[str, ...], dict[tuple[int, ...], tuple[float, float]]]] = {}
        for place, (name, answer, times) in enumerate(given):
            question = self._bank.questions[name]
            _, ends = said.setdefault(place if apart else question.skills, (question.skills, {}))
            for at in np.ndindex(*question.table.shape[:-1]):
                low, high = (_log(end[(*at, answer)]) for end in (question.table.lower, question.table.upper))
                before = ends.get(at, (0.0, 0.0))
                ends[at] = (before[0] + times * low, before[1] + times * high) if times else before
        return list(said.values())

    def now(self, skill: str) -> Ends:
        """P(level | answers), (levels,)."""
        return _extremes([self._marginal(weights, skill) for weights in self._weights], len(self._bank.skills[skill].levels))

    def answers(self, question: str) -> Ends:
        """P(class | answers), (classes,)."""
        found = [_extremes([[chance] for chance, _ in self._after(question, answer)], 1) for answer in self._classes(question)]
        return np.array([low[0] for low, _ in found]), np.array([high[0] for _, high in found])

    def after(self, question: str, skill: str) -> Ends:
        """P(level | answers, class), (classes, levels)."""
        levels = len(self._bank.skills[skill].levels)
        found = []
        for answer in self._classes(question):
            found.append(_extremes([self._marginal(weights, skill) for _, weights in self._after(question, answer)], levels))
        return np.array([low for low, _ in found]), np.array([high for _, high in found])

    def _classes(self, question: str) -> range:
        return range(len(self._bank.questions[question].classes))

    def _after(self, question: str, answer: int) -> Iterator[tuple[float, dict[tuple[int, ...], float]]]:
        """For every network with every way the question's own rows may be: P(class | answers), and the weights after that answer."""
        asked = self._bank.questions[question]
        configurations = list(np.ndindex(*asked.table.shape[:-1]))
        ends = [sorted({_log(end[(*at, answer)]) for end in (asked.table.lower, asked.table.upper)}) for at in configurations]
        for weights in self._weights:
            top = max(weights.values())
            if top == -inf:
                continue
            total = fsum(exp(weight - top) for weight in weights.values())
            for choice in np.ndindex(*map(len, ends)):
                chance = {at: ends[n][choice[n]] for n, at in enumerate(configurations)}
                after = {state: weight + chance[self._at(state, asked.skills)] for state, weight in weights.items()}
                yield fsum(exp(weight - top) for weight in after.values()) / total, after

    def _marginal(self, weights: dict[tuple[int, ...], float], skill: str) -> list[float] | None:
        """P(level) of one network, None where it excludes what was answered."""
        top = max(weights.values())
        if top == -inf:
            return None
        shares = [0.0] * len(self._bank.skills[skill].levels)
        for state, weight in weights.items():
            shares[self._at(state, [skill])[0]] += exp(weight - top)
        return [share / fsum(shares) for share in shares]


def _log(p: float) -> float:
    return log(p) if p > 0 else -inf


def _extremes(found: list[list[float] | None], size: int) -> Ends:
    """The smallest and the largest of each; infinities where no network says anything."""
    said = [one for one in found if one is not None]
    if not said:
        return np.full(size, inf), np.full(size, -inf)
    return np.min(said, axis=0), np.max(said, axis=0)
