"""The conditional deviation from the mode where rows hold tiny numbers, against programs solved by looking at all their vertices."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import quaestor as qs
from quaestor.model.table import Table
from quaestor.selection.scores.conditional_mode import lower_mode, upper_mode

TINY = (0.0, 1e-15, 1e-12, 1e-10, 9.99e-10, 1e-9, 1.001e-9, 2e-9, 1e-8, 1e-7, 1e-4)


def precise(p, rows):
    """M(S|Q) of one distribution of the levels (levels,) and one row a level (levels, classes)."""
    return len(p) * (1 - (np.asarray(p)[:, None] * rows).max(axis=0).sum()) / (len(p) - 1)


def case(sets, rows):
    """The arguments for one case: the set of the levels and a row a level, each a pair of ends."""
    low, high = (np.array([end]) for end in sets)
    return low, high, *(np.array([[row[end] for row in rows]]).transpose(0, 2, 1) for end in (0, 1))


def random_row(rng, states):
    """An interval row, or a precise one, with some tiny numbers."""
    p = rng.dirichlet(np.ones(states))
    small = rng.choice(states, rng.integers(1, states), replace=False)
    p[small] = rng.choice(TINY, len(small))
    largest = np.setdiff1d(np.arange(states), small)[0]
    p[largest] += 1 - p.sum()
    if rng.random() < 0.5:
        return p, p
    low, high = (rng.choice([0.0, 1.0, 0.5], states) * rng.choice([*TINY, 0.05], states) for _ in range(2))
    table = Table(np.maximum(p - low, 0), np.minimum(p + high, 1))
    return table.lower, table.upper


@pytest.mark.parametrize("tiny", TINY)
@pytest.mark.parametrize("score", ["mode", "entropy"])
def test_a_bank_with_a_tiny_number_in_a_row_of_three_classes_is_ranked(tiny, score):
    table = {"no": [tiny, 0.5, 0.5 - tiny], "yes": [0.2, 0.3, 0.5]}
    question = {"skill": "a", "classes": ["wrong", "half", "right"], "table": table}
    bank = qs.Bank({"skills": {"a": {"prior": [[0.4, 0.6], [0.4, 0.6]]}}, "questions": {"q": question}})
    found = qs.rank(bank, score=score).gains
    assert np.isfinite(found).all()


@pytest.mark.parametrize("tiny", TINY)
def test_width_zero_is_the_precise_value(tiny):
    rng = np.random.default_rng(0)
    for levels in (2, 3):
        p = rng.dirichlet(np.ones(levels))
        rows = np.array([[tiny, 0.5, 0.5 - tiny], [0.5 - tiny, tiny, 0.5], [0.2, 1 - 0.2 - tiny, tiny]])[:levels]
        arguments = case((p, p), [(row, row) for row in rows])
        assert upper_mode(*arguments)[0] == pytest.approx(precise(p, rows), abs=1e-10)
        assert lower_mode(*arguments)[0] == pytest.approx(precise(p, rows), abs=1e-12)


@pytest.mark.parametrize("seed", range(60))
def test_both_bounds_are_those_of_exact_programs(seed):
    rng = np.random.default_rng([5, seed])
    levels, classes = rng.choice([(2, 3), (3, 2), (3, 3), (2, 4)])
    sets, rows = random_row(rng, levels), [random_row(rng, classes) for _ in range(levels)]
    arguments = case(sets, rows)
    lower, upper = lower_mode(*arguments)[0], upper_mode(*arguments)[0]
    vertices = [Table(*ends).row_vertices(0) for ends in (sets, *rows)]
    seen = [precise(p, np.array(chosen)) for p, *chosen in product(*vertices)]
    assert lower == pytest.approx(min(seen), abs=1e-11)  # the sum of largest x_ij is convex: its maximum is at vertices
    assert max(seen) <= upper + 1e-11
    assert upper == pytest.approx(exact_upper(sets, rows), abs=1e-11)


def test_many_questions_at_once_are_those_alone():
    rng = np.random.default_rng(6)
    sets = random_row(rng, 3)
    cases = [case(sets, [random_row(rng, 3) for _ in range(3)]) for _ in range(30)]
    together = upper_mode(*(np.concatenate(parts) for parts in zip(*cases, strict=True)))
    assert together == pytest.approx([upper_mode(*one)[0] for one in cases], abs=1e-11)


def exact_upper(sets, rows):
    """Upper M in fractions: the least sum_i t_i such that every level finds room below t.

    Level j finds room, x_ij <= min(u_ij p_j, t_i) with sum p_j, where sum over A of t >= p_j lower P(A | s_j) for every set A of answers.
    """
    levels, classes = len(rows), len(rows[0][0])
    room = Fraction(1, 2**50)  # rows and sets sum to one but for rounding
    needs, ends = [], []
    for chosen in product((0, 1), repeat=classes):
        for j, (low, high) in enumerate(rows):
            inside = sum(Fraction(float(low[i])) for i in range(classes) if chosen[i])
            outside = sum(Fraction(float(high[i])) for i in range(classes) if not chosen[i])
            needs.append(
                [*map(Fraction, chosen), *(-max(inside, 1 - outside - room) if other == j else Fraction(0) for other in range(levels))]
            )
            ends.append(Fraction(0))
    for j in range(levels):
        unit = [Fraction(0)] * classes + [Fraction(int(other == j)) for other in range(levels)]
        needs += [unit, [-one for one in unit]]
        ends += [Fraction(float(sets[0][j])), -Fraction(float(sets[1][j]))]
    total = [Fraction(0)] * classes + [Fraction(1)] * levels
    needs += [total, [-one for one in total]]
    ends += [1 - room, -1 - room]
    value = least([Fraction(1)] * classes + [Fraction(0)] * levels, needs, ends)
    return float(levels * (1 - value) / (levels - 1))


def least(costs, needs, ends):
    """The least costs . x with needs x >= ends and x >= 0, for costs that are not negative: the dual simplex method in fractions."""
    objective = [Fraction(0), *costs]
    slacks = [[-end, *row] for row, end in zip(needs, ends, strict=True)]  # each slack in terms of the variables outside the basis
    outside, inside = list(range(len(costs))), [len(costs) + number for number in range(len(slacks))]
    while True:
        short = [number for number, row in enumerate(slacks) if row[0] < 0]
        if not short:
            return objective[0]
        leaves = min(short, key=lambda number: inside[number])
        row = slacks[leaves]
        enters = min((k for k in range(1, len(row)) if row[k] > 0), key=lambda k: (objective[k] / row[k], outside[k - 1]))
        solved = [-one / row[enters] for one in row]
        solved[enters] = 1 / row[enters]
        for other in (objective, *(one for number, one in enumerate(slacks) if number != leaves)):
            factor = other[enters]
            other[enters] = Fraction(0)
            if factor:
                other[:] = [one + factor * added for one, added in zip(other, solved, strict=True)]
        slacks[leaves] = solved
        inside[leaves], outside[enters - 1] = outside[enters - 1], inside[leaves]
