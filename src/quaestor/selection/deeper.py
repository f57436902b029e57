"""Looking further than one question ahead: what the best questions after each one are expected to gain.

With U the uncertainty that a score counts, gain_1(q) = U(now) - E U(after q), and gains add up along a test, so

    gain_k(q) = gain_1(q) + sum over answers a of P(a | now) max over the questions q' left of gain_{k-1}(q' | now and a).

The first question of the best test of k questions is the one with the largest gain_k; looking as far as the end of a test is the optimal
test (`simulate.optimum`). Questions with equal tables are looked at once.
"""

from collections.abc import Callable

import numpy as np

from quaestor.inference.conflict import possible
from quaestor.inference.evidence import Evidence
from quaestor.inference.layout import Layout, Numbers
from quaestor.model.table import Array
from quaestor.selection.plan import Mask

TOGETHER = 4096  # sets of answers whose gains are worked out at once, so that memory stays flat


def gains_after(evidence: Evidence, is_open: Mask, chances: Array, best_gain: Callable[[Evidence, Numbers], Array]) -> Array:
    """What the best question after each open one is expected to gain, (takers, questions).

    `chances`: P(class | evidence), (takers, questions, classes); `best_gain`: the largest gain with some evidence of some takers.
    """
    layout = evidence.layout
    kinds = _kinds(layout)
    found = np.zeros(is_open.shape)
    taker, question = np.nonzero(is_open)
    _, first, row = np.unique(np.stack([taker, kinds[question]]), axis=1, return_index=True, return_inverse=True)
    pairs = np.stack([taker[first], question[first]], axis=1)
    weights = chances[pairs[:, 0], pairs[:, 1]]  # (pairs, classes)
    at, answer = np.nonzero(weights > 0)
    total = np.zeros(len(pairs))
    for start in range(0, len(at), TOGETHER):
        some, given = at[start : start + TOGETHER], answer[start : start + TOGETHER]
        then = evidence.take(pairs[some, 0]).put(pairs[some, 1], given)
        can_be = np.flatnonzero(possible(then.model, then.takers))
        np.add.at(total, some[can_be], weights[some[can_be], given[can_be]] * best_gain(then.take(can_be), pairs[some[can_be], 0]))
    found[taker, question] = total[row.reshape(-1)]
    return found


def _kinds(layout: Layout) -> Numbers:
    """A number for each table that questions have, (questions,)."""
    numbers, tables = layout.batch_numbers(np.arange(len(layout.questions)))
    return np.asarray(np.unique(np.stack([numbers, tables]), axis=1, return_inverse=True)[1].reshape(-1), dtype=np.intp)
