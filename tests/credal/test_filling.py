"""Greedy filling in fractions, expectations over rows against their vertices, and small numbers in chains of skills."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import quaestor as qs
from quaestor.credal.intervals import fill, largest, smallest
from quaestor.credal.rows import expectations, extreme_rows
from quaestor.model.table import Table

SMALL = (0.0, 1e-15, 1e-12, 1e-9, 0.25)


def by_hand(room, spare):
    """One state after another, in fractions."""
    left, given = Fraction(spare), []
    for one in map(Fraction, room):
        given.append(min(one, max(left, Fraction(0))))
        left -= given[-1]
    return [float(one) for one in given]


@given(st.lists(st.sampled_from(SMALL), min_size=1, max_size=5), st.sampled_from([0.0, 1e-15, 3e-15, 1e-12, 1e-9, 0.2, 0.25, 0.5, 1.0]))
def test_states_take_what_they_have_room_for(room, spare):
    assert fill(np.array(room), np.array(spare)) == pytest.approx(by_hand(room, spare), rel=1e-12, abs=4.5e-16)


def test_what_rounding_leaves_goes_to_nobody():
    """1 - .53 - .47 leaves rounding: a state that may be impossible stays so."""
    rng = np.random.default_rng(0)
    for p in rng.dirichlet(np.ones(4), 500).round(2):
        p[-1] = 1 - p[:-1].sum()
        if p[-1] < 0:
            continue
        given = fill(np.append(p, 0.3), np.array(1.0))
        assert given[-1] == 0
        assert given[:-1].tolist() == p.tolist()


def tiny_table(rng, rows, states):
    """Rows with a wide state, a fixed one of two decimals and small ones."""
    lower, upper = np.zeros((rows, states)), np.zeros((rows, states))
    for row in range(rows):
        fixed, wide, *others = rng.permutation(states)
        lower[row, fixed] = upper[row, fixed] = round(rng.random() * 0.9, 2)
        upper[row, wide] = 1
        for state in others:
            lower[row, state], upper[row, state] = sorted(rng.choice(SMALL[:-1], 2))
    return Table(lower, upper)


@pytest.mark.parametrize("states", [2, 3, 4])
def test_expectations_and_extreme_rows_are_those_of_the_vertices(states):
    rng = np.random.default_rng(states)
    for _ in range(30):
        table = tiny_table(rng, 3, states)
        vectors = np.concatenate([rng.random((4, states)), np.eye(states), 1 - np.eye(states)])
        low, high = expectations(table, vectors)
        choices = np.stack(extreme_rows(table))
        for row in range(table.rows):
            values = vectors @ table.row_vertices(row).T
            assert low[:, row] == pytest.approx(values.min(axis=1), rel=1e-3, abs=1e-30)
            assert high[:, row] == pytest.approx(values.max(axis=1), rel=1e-3, abs=1e-30)
            assert choices[:, row].min(axis=0) == pytest.approx(table.lower[row], rel=1e-3, abs=1e-30)
            assert choices[:, row].max(axis=0) == pytest.approx(table.upper[row], rel=1e-3, abs=1e-30)
            assert largest(vectors, table.lower[row], table.upper[row]) == pytest.approx(high[:, row], abs=1e-15)
            assert smallest(vectors, table.lower[row], table.upper[row]) == pytest.approx(low[:, row], abs=1e-15)


@pytest.mark.parametrize("levels", [2, 3])
@pytest.mark.parametrize("seed", range(25))
def test_small_numbers_in_a_chain_of_skills_are_those_of_enumeration(seed, levels):
    """An answer that only some levels give leaves what is tiny in all networks: the odds of tiny numbers count, not their rounding."""
    rng = np.random.default_rng([seed, levels])
    names = [f"level {place}" for place in range(levels)]
    prior, table = tiny_table(rng, 1, levels), tiny_table(rng, levels, levels)
    rows = [[list(pair) for pair in zip(low, high, strict=True)] for low, high in zip(table.lower, table.upper, strict=True)]
    skills = {
        "a": {"levels": names, "prior": [list(pair) for pair in zip(prior.lower[0], prior.upper[0], strict=True)]},
        "b": {"levels": names, "parents": ["a"], "table": dict(zip(names, rows, strict=True))},
    }
    right = [[1.0, 0.0] if rng.random() < 0.6 else [0.4, 0.6] for _ in names]
    question = {"skill": "b", "classes": ["wrong", "right"], "table": dict(zip(names, right, strict=True))}
    bank = qs.Bank({"skills": skills, "questions": {"q": question}})
    if all(row[1] == 0 for row in right):
        return
    try:
        expected = qs.posterior(bank, {"q": "right"}, method="enumeration")
    except qs.QuaestorError:
        with pytest.raises(qs.QuaestorError, match="probability zero"):
            qs.posterior(bank, {"q": "right"})
        return
    found = qs.posterior(bank, {"q": "right"}, method="odds" if levels == 2 else "hulls")
    for skill in ("a", "b"):
        assert found[skill].lower == pytest.approx(expected[skill].lower, abs=1e-6)
        assert found[skill].upper == pytest.approx(expected[skill].upper, abs=1e-6)
