"""What is tied and what comes first: choosing and ranking say the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaestor.credal.decisions import TIED
from quaestor.selection.ties import best, ordered, tied_best

NEAR = st.sampled_from([0.0, 0.3 * TIED, 0.7 * TIED, 0.99 * TIED, 1.5 * TIED, 3 * TIED, 1.0, -1.0])


def one_after_another(gains, second, index):
    """The definition: the best of those left, again and again."""
    left, found = np.full(len(gains), -np.inf), []
    left[index] = gains[index]
    for _ in index:
        chosen = int(best(left[None], None if second is None else lambda: second[None])[0])
        found.append(chosen)
        left[chosen] = -np.inf
    return found


@given(st.lists(st.tuples(NEAR, NEAR, st.booleans()), min_size=1, max_size=9), st.booleans())
def test_a_ranking_is_the_best_question_again_and_again(rows, with_second):
    """Also where gains form chains, each within the tolerance of the next, that are longer than it."""
    gains, second = np.cumsum([row[0] for row in rows]), np.array([row[1] for row in rows])
    index = np.array([number for number, row in enumerate(rows) if row[2]], dtype=np.intp)
    found = ordered(gains, (lambda: second) if with_second else None, index)
    assert found.tolist() == one_after_another(gains, second if with_second else None, index)


def test_the_second_gain_is_worked_out_only_for_ties():
    calls = []

    def second():
        calls.append(1)
        return np.array([[0.0, 1.0, 2.0]])

    assert best(np.array([[1.0, 2.0, 3.0]]), second).tolist() == [2]
    assert not calls
    assert best(np.array([[3.0, 3.0 - TIED / 2, 1.0]]), second).tolist() == [1]
    assert len(calls) == 1


@pytest.mark.parametrize("gains", [[[-np.inf, -np.inf]], [[-np.inf, 0.0]]])
def test_what_is_not_there_is_never_chosen(gains):
    found = best(np.array(gains))
    assert found.tolist() == [-1 if np.isinf(gains[0][1]) else 1]
    assert not tied_best(np.array(gains))[0, 0]
