"""How probable it is that further questions would leave the result as it is: the same-decision probability, for precise banks.

The result is the most probable level of every skill (of tied ones the lowest). With E the answers so far and H those to further questions,

    SDP = sum over h of P(h | E) [the result after E and h is that after E]

(Choi, Xue and Darwiche 2012, International Journal of Approximate Reasoning 53, 1415-1428; Chen, Choi and Darwiche 2014, Journal of
Artificial Intelligence Research 49, 601-633). To stop a test by it is stochastic curtailment (Finkelman 2008, Journal of Educational and
Behavioral Statistics 33, 442-463).

Questions with equal tables are exchangeable: how many of them get which answer is all that counts. Where that leaves few enough sets of
answers they are all looked at, and the probability is exact; else answers are drawn, with a seed, and it has a standard error.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import comb, lgamma, prod, sqrt

import numpy as np
from numpy.typing import NDArray

from quaestor.credal.decisions import best
from quaestor.errors import QuaestorError
from quaestor.inference.evidence import Evidence
from quaestor.inference.joint import LARGEST, Joint, joint_of
from quaestor.inference.layout import Numbers
from quaestor.model.table import Array

MOST = 2_000_000  # sets of answers times joint states that are looked at
_DRAWS, _FEWEST = 4000, 400
_TINY = 1e-300  # added to what a logarithm is taken of


@dataclass(frozen=True)
class SameDecision:
    """The `probability` that the result stays the same if so many further `questions` are answered, and `by_skill`.

    `error`: its standard error, 0 where it is exact; `draws`: from how many drawn sets of answers it comes, 0 where it is exact.
    """

    probability: float
    by_skill: Mapping[str, float]
    questions: int
    error: float = 0.0
    draws: int = 0


def same_decision(evidence: Evidence, taker: int, questions: Numbers, seed: int = 0) -> SameDecision:
    """The probability that answers to these questions would leave the result of one taker as it is."""
    layout = evidence.layout
    if not layout.is_precise:
        raise QuaestorError("the same-decision probability is for precise banks, got a credal one")
    if layout.model.joint_size > LARGEST:
        raise QuaestorError(f"the same-decision probability is for at most {LARGEST} joint states, got {layout.model.joint_size:.3g}")
    joint = joint_of(layout.model)
    now = np.asarray(joint.posterior({scope: box[0][taker] for scope, box in evidence.boxes.items()}))
    tables = list(_tables(evidence, joint, questions))
    sets = prod(comb(count + len(table) - 1, count) for count, table in tables)
    if sets * len(now) <= MOST:
        weights, draws = _every(now, tables), 0
    else:
        draws = max(_FEWEST, min(_DRAWS, MOST // len(now)))
        weights = _drawn(now, tables, draws, np.random.default_rng([seed, 5]))
    chance = weights.sum(axis=1)
    share = chance / chance.sum() if not draws else np.full(draws, 1 / draws)
    after = joint.marginals(weights / np.where(chance > 0, chance, 1)[:, None])
    same = [best(then, then) == best(before, before) for then, before in zip(after, joint.marginals(now), strict=True)]
    by_skill = {name: float(share @ is_same) for name, is_same in zip(layout.model.names, same, strict=True)}
    p = float(share @ np.logical_and.reduce(same))
    in_order = {skill: min(by_skill[skill], 1.0) for skill in layout.bank.skills}
    return SameDecision(min(p, 1.0), in_order, len(questions), sqrt(p * (1 - p) / draws) if draws and p < 1 else 0.0, draws)


def _tables(evidence: Evidence, joint: Joint, questions: Numbers) -> Iterator[tuple[int, Array]]:
    """How many of the questions have a table, and log P(class | joint state), (classes, states), for each table."""
    layout = evidence.layout
    batches, rows = layout.batch_numbers(questions)
    for number, row in sorted(set(zip(batches.tolist(), rows.tolist(), strict=True))):
        batch = layout.batches[number]
        flat = batch.low[row].reshape(batch.low.shape[1], -1)[:, joint.index(batch.scope)]
        yield int(((batches == number) & (rows == row)).sum()), np.log(flat + _TINY)


def _every(now: Array, tables: list[tuple[int, Array]]) -> Array:
    """P(set of answers, joint state) for every set of answers, (sets, states)."""
    total = np.log(now + _TINY)[None]
    for count, table in tables:
        counts = _counts(count, len(table))
        ways = lgamma(count + 1) - np.array([sum(lgamma(n + 1) for n in row) for row in counts.tolist()])
        told = counts @ table + ways[:, None]
        total = (total[:, None] + told[None]).reshape(-1, len(now))
    return np.exp(total)


def _counts(count: int, classes: int) -> NDArray[np.intp]:
    """Every way in which so many answers fall into classes, (ways, classes)."""
    bars = np.array(list(combinations(range(count + classes - 1), classes - 1)), dtype=np.intp).reshape(-1, classes - 1)
    ends = np.concatenate([np.full((len(bars), 1), -1), bars, np.full((len(bars), 1), count + classes - 1)], axis=1)
    return np.asarray(np.diff(ends, axis=1) - 1)


def _drawn(now: Array, tables: list[tuple[int, Array]], draws: int, rng: np.random.Generator) -> Array:
    """P(joint state | answers) up to a factor, for drawn sets of answers, (draws, states)."""
    states = rng.choice(len(now), draws, p=now / now.sum())
    total = np.broadcast_to(np.log(now + _TINY), (draws, len(now)))
    for count, table in tables:
        chances = np.exp(table[:, states].T)
        total = total + rng.multinomial(count, chances / chances.sum(axis=1, keepdims=True)) @ table
    weights: Array = np.exp(total - total.max(axis=1, keepdims=True))
    return weights
