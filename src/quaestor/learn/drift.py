"""Has a question become easier (it may be known by now) or harder? A sequential test that may be looked at after every answer.

The log-odds of a right answer are those predicted from the taker's other answers plus a shift of the question, which nobody knows: the
bank's table may be wrong from the start, and that is no drift. Against "the shift has stayed the same" stands "it changed after the first c
answers", for every c. With m(answers) the probability of answers, averaged over a normal prior of the shift, the evidence for a change is

    E = sum over c of w(c) * m(first c) * m(the others) / m(all),

with weights w that sum to at most 1. As long as nothing changes, E is a martingale of mean 1 under the prior of the shift, so that it ever
exceeds 1 / a has probability at most a (Ville), however often one looks. Over q questions the alarm is raised at q / a: with `ALARM` = 0.05
at most one test in twenty has any false alarm, ever. A change must also be of at least `POINTS`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quaestor.learn.arrivals import Watched
from quaestor.model.table import Array

ALARM = 0.05
POINTS = 0.1  # smaller changes of the share right are not told
FEWEST = 8  # answers before and after
SHIFTS = np.linspace(-5, 5, 41)
SPREAD = 1.5  # of the prior of the shift


@dataclass(frozen=True)
class Drift:
    """A question that changed after `since` answers: the shares right `before` and `after`, had the takers been the same.

    `evidence`: E; `answers`: how many there are in all.
    """

    question: str
    evidence: float
    since: int
    answers: int
    before: float
    after: float

    @property
    def easier(self) -> bool:
        """Whether it became easier."""
        return self.after > self.before


def drifts(found: Mapping[str, Watched], alarm: float = ALARM, pilots: Iterable[str] = ()) -> dict[str, Drift]:
    """The questions that changed, by their ids; pilots are not watched."""
    some = {name: one for name, one in found.items() if name not in set(pilots) and len(one.best) >= 2 * FEWEST}
    raised = {}
    for name, one in some.items():
        drift = evidence(one.predicted, one.best, name)
        if drift.evidence >= len(some) / alarm and abs(drift.after - drift.before) >= POINTS:
            raised[name] = drift
    return raised


def evidence(predicted: Array, best: NDArray[np.bool_], name: str = "") -> Drift:
    """The evidence that a question changed, from predictions and answers in their order, (answers,) both; at least 2 * FEWEST of them."""
    logits = np.log(predicted / (1 - predicted)) if ((predicted > 0) & (predicted < 1)).all() else _logits(predicted)
    shifted = logits[:, None] + SHIFTS
    each = np.where(best[:, None], -np.logaddexp(0, -shifted), -np.logaddexp(0, shifted))
    sums = np.concatenate([np.zeros((1, len(SHIFTS))), np.cumsum(each, axis=0)])
    weight = -0.5 * (SHIFTS / SPREAD) ** 2
    weight -= np.logaddexp.reduce(weight)
    count = len(best)
    points = np.arange(FEWEST, count - FEWEST + 1)
    whole = np.logaddexp.reduce(sums[-1] + weight)
    parts = np.logaddexp.reduce(sums[points] + weight, axis=1) + np.logaddexp.reduce(sums[-1] - sums[points] + weight, axis=1) - whole
    chances = -np.log(points * (points + 1.0)) + np.log(FEWEST)  # sum over c >= FEWEST of FEWEST / (c (c + 1)) is 1
    total = float(np.exp(min(np.logaddexp.reduce(parts + chances), 700.0)))
    since = int(points[np.argmax(parts + chances)])
    before, after = (_share(logits, sums[since] + weight), _share(logits, sums[-1] - sums[since] + weight))
    return Drift(name, total, since, count, before, after)


def _logits(predicted: Array) -> Array:
    clipped = np.clip(predicted, 1e-6, 1 - 1e-6)
    return np.asarray(np.log(clipped / (1 - clipped)))


def _share(logits: Array, logs: Array) -> float:
    """The share right of all these takers, averaged over shifts with these log weights."""
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    return float((1 / (1 + np.exp(-(logits[:, None] + SHIFTS))) @ weights).mean())
