"""Scores the slow way: every definition of the mathematics written out, from linear programs and from every network of vertices.

Nothing here knows of the package's fast forms: linear functions go to a solver, even distributions are found by bisection, lower indices
at the vertices of a row, and the pieces of a gain by enumeration of networks.
"""

from collections.abc import Mapping
from functools import lru_cache
from itertools import product

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import block_diag

from quaestor import Bank, Network, Table, Variable
from quaestor.inference.engines.enumeration import combinations, joints
from quaestor.inference.model import Model, reduce

TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
UNCERTAINTY = ("entropy", "mode", "gini")
BOUNDS = ("upper", "lower")


# Interval sets


def interval_set(rng: np.random.Generator, states: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """A reachable interval row: `point`, `corner` (one state is certain), `vacuous`, `zeros` (some states impossible), `thin` or `some`."""
    centre = rng.dirichlet(np.ones(states))
    if kind == "corner":
        centre = np.eye(states)[rng.integers(states)]
    if kind == "zeros":
        kept = rng.random(states) < 0.6
        kept[rng.integers(states)] = True
        centre = centre * kept / (centre * kept).sum()
    reach = {"point": 0.0, "corner": 0.0, "vacuous": 1.0, "zeros": 0.3, "thin": 1e-6, "some": 0.4}[kind]
    away = np.ones((2, states)) if kind == "vacuous" else rng.random((2, states))
    high = np.minimum(centre + reach * away[1] * ((centre > 0) | (kind != "zeros")), 1)
    table = Table(np.maximum(centre - reach * away[0], 0), high)
    return table.lower.copy(), table.upper.copy()


KINDS = ("point", "corner", "vacuous", "zeros", "thin", "some", "some")


def linear(c: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[float, float]:
    """The smallest and the largest c . p over an interval set, by a solver."""
    ends = []
    for sign in (1, -1):
        box = list(zip(low, np.maximum(low, high), strict=True))
        solved = linprog(sign * np.asarray(c), A_eq=np.ones((1, len(c))), b_eq=[1.0], bounds=box, options=TIGHT)
        assert solved.status == 0, solved.message
        ends.append(sign * solved.fun)
    return ends[0], ends[1]


def even(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """clip(t, l, u) with the t that makes it sum to one, by bisection."""
    below, above = 0.0, 1.0
    for _ in range(80):
        t = (below + above) / 2
        below, above = (t, above) if np.clip(t, low, high).sum() < 1 else (below, t)
    return np.clip(above, low, high)


# Indices of uncertainty


def index_of(name: str, p: np.ndarray) -> np.ndarray:
    """H, M or G of distributions along the last axis."""
    levels = p.shape[-1]
    if name == "entropy":
        return -np.where(p > 0, p * np.log(np.where(p > 0, p, 1)), 0).sum(axis=-1) / np.log(levels)
    if name == "mode":
        return 1 - (p.max(axis=-1, keepdims=True) - p).sum(axis=-1) / (levels - 1)
    return levels / (levels - 1) * (1 - (p**2).sum(axis=-1))


def index_bound(name: str, bound: str, low: np.ndarray, high: np.ndarray) -> float:
    """The upper value at the most even distribution, the lower one at a vertex."""
    points = even(low, high)[None] if bound == "upper" else Table(low, high).row_vertices(0)
    values = index_of(name, points)
    return float(values.max() if bound == "upper" else values.min())


def theorem_one(low: np.ndarray, high: np.ndarray, rows_low: np.ndarray, rows_high: np.ndarray) -> dict[str, float]:
    """The bounds of M(S|Q) by the m^r linear programs of the paper's Theorem 1, corrected: (c5) has the upper P(s_j), max gives lower M.

    K(S): (levels,); rows: P(class | level), (classes, levels). Variables x_ij = P(s_j, q_i).
    """
    classes, levels = rows_low.shape
    number = np.arange(classes * levels).reshape(classes, levels)
    fixed, ends = [], []
    for j in range(levels):
        total = np.isin(np.arange(classes * levels), number[:, j]).astype(float)
        fixed += [-total, total]  # (c4), (c5)
        ends += [-low[j], high[j]]
        for i in range(classes):
            cell = (np.arange(classes * levels) == number[i, j]).astype(float)
            fixed += [rows_low[i, j] * total - cell, cell - rows_high[i, j] * total]  # (c6), (c7)
            ends += [0.0, 0.0]
    values = []
    for chosen in product(range(levels), repeat=classes):
        largest = []  # (c3)
        for i, j in product(range(classes), range(levels)):
            if j != chosen[i]:
                row = np.zeros(classes * levels)
                row[number[i, j]], row[number[i, chosen[i]]] = 1, -1
                largest.append(row)
        goal = np.zeros(classes * levels)
        goal[[number[i, chosen[i]] for i in range(classes)]] = 1
        for sign in (1, -1):
            solved = linprog(
                sign * goal,
                A_ub=np.array(fixed + largest),
                b_ub=np.array(ends + [0.0] * len(largest)),
                A_eq=np.ones((1, classes * levels)),  # (c1); (c2) is the solver's default
                b_eq=[1.0],
                options=TIGHT,
            )
            assert solved.status in (0, 2), solved.message
            if solved.status == 2:  # no distribution has its largest x_ij there
                break
            values.append(sign * solved.fun)
    return {bound: levels * (1 - value) / (levels - 1) for bound, value in (("upper", min(values)), ("lower", max(values)))}


def one_program(low: np.ndarray, high: np.ndarray, rows_low: np.ndarray, rows_high: np.ndarray) -> np.ndarray:
    """Upper M(S|Q) of many questions, (n,): the least sum_i t_i with t_i >= x_ij is one linear program, a block a question.

    K(S): (n, levels); rows: (n, classes, levels). The variables of a block are p_j, x_ij and t_i.
    """
    n, classes, levels = rows_low.shape
    cells = classes * levels
    p, x, t = np.tile(np.eye(levels), (classes, 1)), np.eye(cells), np.repeat(np.eye(classes), levels, axis=0)
    none = np.zeros((cells, classes))
    above = [
        np.block([[-upper.reshape(-1, 1) * p, x, none], [lower.reshape(-1, 1) * p, -x, none], [0 * p, x, -t]])
        for lower, upper in zip(rows_low, rows_high, strict=True)
    ]
    equal = np.block([[-np.eye(levels), p.T, none[:levels]], [np.ones(levels), np.zeros(cells + classes)]])
    least, most = np.zeros((n, len(equal[0]))), np.ones((n, len(equal[0])))
    least[:, :levels], most[:, :levels] = low, np.maximum(low, high)
    goal = np.concatenate([np.zeros(levels + cells), np.ones(classes)])
    solved = linprog(
        np.tile(goal, n),
        A_ub=block_diag(above),
        b_ub=np.zeros(3 * n * cells),
        A_eq=block_diag([equal] * n),
        b_eq=np.tile([0.0] * levels + [1.0], n),
        bounds=np.stack([least.ravel(), most.ravel()], axis=1),
        options=TIGHT,
    )
    assert solved.status == 0, solved.message
    return levels * (1 - solved.x.reshape(n, -1)[:, -classes:].sum(axis=1)) / (levels - 1)


# The pieces of a gain, from every network of vertices


class Pieces:
    """P(skills, answer to a question | evidence) of every network of vertices, and the bounds of everything that a score is made of."""

    def __init__(self, bank: Bank, answers: Mapping[str, int], question: str) -> None:
        model, self._axis = question_model(bank, answers, question)
        self.joints = np.stack([joint / joint.sum() for joint in joints(model) if joint.sum() > 0])
        self._question = question
        self._mode: dict[str, dict[str, float]] = {}

    def of(self, skill: str) -> np.ndarray:
        """P(level, class | evidence), (networks, levels, classes)."""
        kept = (self._axis[skill] + 1, self._axis[self._question] + 1)
        summed = self.joints.sum(axis=tuple(axis for axis in range(1, self.joints.ndim) if axis not in kept))
        return summed if kept[0] < kept[1] else np.swapaxes(summed, 1, 2)

    def everything(self) -> np.ndarray:
        """P(joint state of the skills, class | evidence), (networks, states, classes)."""
        last = np.moveaxis(self.joints, self._axis[self._question] + 1, -1)
        return last.reshape(len(last), -1, last.shape[-1])

    def now(self, skill: str) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of P(level | evidence), (levels,)."""
        return _bounds(self.of(skill).sum(axis=2))

    def answers(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of P(class | evidence), (classes,)."""
        return _bounds(self.everything().sum(axis=1))

    def after(self, skill: str) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of P(level | class, evidence), (classes, levels); [0, 1] for a class that no network allows."""
        joint = np.swapaxes(self.of(skill), 1, 2)
        return _bounds(joint, joint.sum(axis=2, keepdims=True))

    def rows(self, skill: str) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of P(class | level, evidence), (classes, levels); [0, 1] for a level that no network allows."""
        joint = np.swapaxes(self.of(skill), 1, 2)
        return _bounds(joint, joint.sum(axis=1, keepdims=True))

    def mode(self, skill: str) -> dict[str, float]:
        """The bounds of M(S|Q,e) by Theorem 1."""
        if skill not in self._mode:
            self._mode[skill] = theorem_one(*self.now(skill), *self.rows(skill))
        return self._mode[skill]

    def left(self, name: str, skill: str) -> np.ndarray:
        """U(S|Q,e) of every network, (networks,)."""
        return left(name, self.of(skill))


def left(name: str, joint: np.ndarray) -> np.ndarray:
    """sum_q P(q) U(S|q) of joints of shape (networks, levels, classes)."""
    chance = joint.sum(axis=1)
    given = joint / np.where(chance > 0, chance, 1)[:, None]
    return (chance * index_of(name, np.swapaxes(given, 1, 2))).sum(axis=1)


def _bounds(parts: np.ndarray, wholes: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The smallest and largest part of a whole over networks (first axis), those with no such whole left out."""
    wholes = np.ones(parts.shape) if wholes is None else np.broadcast_to(wholes, parts.shape)
    share = parts / np.where(wholes > 0, wholes, 1)
    some = (wholes > 0).any(axis=0)
    low, high = np.where(wholes > 0, share, 2).min(axis=0), np.where(wholes > 0, share, -1).max(axis=0)
    return np.clip(np.where(some, low, 0), 0, 1), np.clip(np.where(some, high, 1), 0, 1)  # rounding may leave a share above one


def question_model(bank: Bank, answers: Mapping[str, int], question: str) -> tuple[Model, dict[str, int]]:
    """The skills and one open question as hidden variables, given the answers; and the number of each by its name."""
    skills = [Variable(skill.id, skill.levels, skill.parents, skill.table) for skill in bank.skills.values()]
    leaves = [Variable(q.id, q.classes, q.skills, q.table) for q in bank.questions.values() if q.id in (*answers, question)]
    network = Network((*skills, *leaves))
    model, number = reduce(network, {network.index(name): answer for name, answer in answers.items()})
    return model, {network.names[old]: new for old, new in number.items()}


def work(bank: Bank, answers: Mapping[str, int]) -> int:
    """The largest number of networks that any open question needs."""
    return max(combinations(question_model(bank, answers, question)[0]) for question in bank.questions if question not in answers)


@lru_cache(maxsize=1000)
def _pieces(bank: Bank, answers: tuple[tuple[str, int], ...], question: str) -> Pieces:
    return Pieces(bank, dict(answers), question)


def pieces_of(bank: Bank, answers: Mapping[str, int], question: str) -> Pieces:
    """The pieces of a question, kept for the ones asked for last."""
    return _pieces(bank, tuple(sorted(answers.items())), question)


def remaining(name: str, bound: str, pieces: Pieces, skill: str) -> float:
    """The upper or lower U(S|Q,e): Theorem 1 for the mode, outer bounds for the others."""
    if name == "mode":
        return pieces.mode(skill)[bound]
    answers, (low, high) = pieces.answers(), pieces.after(skill)
    values = [index_bound(name, bound, low[q], high[q]) if answers[1][q] > 0 else 0.0 for q in range(len(low))]
    return linear(np.array(values), *answers)[1 if bound == "upper" else 0]


def gain_on(name: str, bound: str, pieces: Pieces, skill: str) -> float:
    """U(S|e) - U(S|Q,e), both upper or both lower."""
    return index_bound(name, bound, *pieces.now(skill)) - remaining(name, bound, pieces, skill)
