"""What a learnt bank leaves unexplained: pairs of answers that go together more, or less, than the skills say.

For every question q and every answer to another question r, the observed share of right answers to q among those who gave that answer to r
is compared with the one that the learnt tables predict. Of the squared differences, in units of the standard deviation of one answer,
chance explains (1 / n - 1 / N) f where n of the N people gave that answer to r. For the share of right answers to q among all N is learnt,
so that the differences of those with either answer to r cancel, and only the covariance of the two answers is left to chance; and the other
free numbers of the tables are fitted to the covariances: f is the share of degrees of freedom that these leave. The mean of the rest is
the square of what is returned. In a bank of the kind of the truth it is near 0; where no degrees of freedom are left, nothing can be told,
and it is 0. It is what a prediction from an answer misses, however many people a bank was learnt from.
"""

import numpy as np

from quaestor.learn.expect import JOINT, batch, members, prior
from quaestor.learn.layout import Layout, Tables
from quaestor.learn.people import People
from quaestor.model.table import Array

FEWEST = 10  # people with an answer to both questions, for a pair to count
_LEAST = 1e-3  # shares nearer to 0 or 1 are not divided by their own standard deviation


def unexplained(layout: Layout, tables: Tables, people: People, parameters: int) -> float:
    """The standard deviation of the misfit of pairs, in units of the standard deviation of an answer; 0 where there is no joint table.

    `parameters`: the number of free numbers of the tables.
    """
    free = _free(layout, parameters)
    if layout.profiles > JOINT or free <= 0:
        return 0.0
    both, right, one_right = _observed(layout, people)
    chances = np.empty((layout.questions, int(layout.profiles)))
    member = members(layout)
    for group, table in zip(layout.groups, tables.groups, strict=True):
        chances[group.positions] = table[..., -1] @ member[group.block]
    share = prior(layout, tables)
    joint, single = (chances * share) @ chances.T, chances @ share
    total, count = 0.0, 0
    others = ~np.eye(layout.questions, dtype=bool)
    for number, observed, expected in (
        (one_right, right, joint / np.maximum(single, _LEAST)),
        (both - one_right, one_right.T - right, (single[:, None] - joint) / np.maximum(1 - single, _LEAST)),
    ):
        counted = others & (number >= FEWEST)
        p, n = np.clip(expected[counted], _LEAST, 1 - _LEAST), number[counted]
        total += float(((observed[counted] / n - p) ** 2 / (p * (1 - p)) - free * (1 / n - 1 / both[counted])).sum())
        count += int(counted.sum())
    return float(np.sqrt(max(total / count, 0.0))) if count else 0.0


def _free(layout: Layout, parameters: int) -> float:
    """The share of degrees of freedom of all covariances that is left after the shares and covariances of answers are fitted."""
    classes = np.concatenate([np.full(len(group.positions), group.classes - 1) for group in layout.groups])
    shares = int(classes.sum())
    covariances = (shares**2 - int((classes**2).sum())) / 2
    return min(1 - (parameters - shares) / covariances, 1.0) if covariances else 0.0


def _observed(layout: Layout, people: People) -> tuple[Array, Array, Array]:
    """Numbers of people for pairs (q, r), (questions, questions) each: with both answers, with both right, and with both and r right."""
    best = np.empty(layout.questions, dtype=np.int16)
    for group in layout.groups:
        best[group.positions] = group.classes - 1
    both, right, one_right = (np.zeros((layout.questions, layout.questions)) for _ in range(3))
    weights, size = people.weights(), batch(layout)
    for start in range(0, len(people.patterns), size):
        classes = people.patterns.part(start, start + size).classes(layout)
        is_there, is_right = (classes >= 0).astype(float), (classes == best).astype(float)
        own = weights[start : start + size, None]
        both += (is_there * own).T @ is_there
        right += (is_right * own).T @ is_right
        one_right += (is_there * own).T @ is_right
    return both, right, one_right
