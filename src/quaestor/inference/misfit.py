"""Answers that do not fit together: how much they contradict one another, and how often chance alone contradicts as much.

Two measures, each compared with takers drawn from the bank's centre who answer the same questions:

- the *conflict* log( P(q_1) ... P(q_n) / P(q_1, ..., q_n) ): answers that support one another are likelier together than apart (below
  0), contradicting ones rarer (above 0);
- the *strangeness* of the answers for somebody at the levels they point to: the sum of -log P(q_i | levels), less its mean and divided
  by its standard deviation. Easy questions wrong and hard ones right are strange even when the levels are clear.

The rarer of the two counts: how rare that is, is found on the same drawn takers, so that those who follow the bank are pointed at just
as often as stated. A hint for a person to look, never a verdict.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank
from quaestor.credal.intervals import pick
from quaestor.inference.chooser import Chooser
from quaestor.inference.evidence import multiplied
from quaestor.inference.layout import Answers, Layout, Numbers, layout_of
from quaestor.model.table import Array

ALARM = 0.05  # the share of takers that follow the bank exactly and are pointed at all the same
DRAWS = 2000
_LEAST = 1e-9  # probabilities and variances below this count as this


@dataclass(frozen=True)
class Misfit:
    """`share`: how often takers drawn from the bank contradict themselves as much. `surprises`: P(answer | the other answers)."""

    conflict: float
    strangeness: float
    share: float
    surprises: dict[str, float]

    @property
    def is_hint(self) -> bool:
        """Whether so large a conflict is rare enough to be pointed at."""
        return self.share <= ALARM


def misfit(bank: Bank, answers: Answers, draws: int = DRAWS, seed: int = 0) -> Misfit | None:
    """How well the answers fit together; None for fewer than two that count, or when the centre of the bank excludes them."""
    layout = layout_of(_centre(bank))
    questions = np.array([layout.question_number(name) for name in answers], dtype=np.intp)
    counted = questions[layout.is_scored[questions]] if len(questions) else questions
    if len(counted) < 2:
        return None
    names = [layout.questions[number].id for number in counted]
    given = np.array([[layout.class_number(number, answers[name]) for number, name in zip(counted.tolist(), names, strict=True)]])
    drawn = np.concatenate([given, draw(layout, counted, draws, np.random.default_rng(seed))])
    everyone = _chooser(layout, counted, drawn)
    with np.errstate(invalid="ignore"):  # answers that cannot be given at all
        conflict = _apart(layout, counted, drawn) - everyone.precise.log_probability
    if not np.isfinite(conflict[0]):
        return None
    strangeness = _strangeness(layout, everyone, counted, drawn)
    rarer = np.minimum(_rarity(conflict), _rarity(strangeness))
    share = float((rarer[1:] <= rarer[0] + 1e-12).mean())
    without = np.where(np.eye(len(counted), dtype=bool), -1, given)  # one answer after another left out
    surprises = np.exp(everyone.precise.log_probability[0] - _chooser(layout, counted, without).precise.log_probability)
    return Misfit(float(conflict[0]), float(strangeness[0]), share, dict(zip(names, surprises.tolist(), strict=True)))


def _rarity(values: Array) -> Array:
    """For each taker the share of the drawn ones (all but the first) whose value is at least as large, (takers,)."""
    ordered = np.sort(values[1:])
    found: Array = 1 - np.searchsorted(ordered, values - 1e-12) / len(ordered)
    return found


def _centre(bank: Bank) -> Bank:
    kept = layout_of(bank).kept
    if "centre" not in kept:
        kept["centre"] = bank.centre()
    centre: Bank = kept["centre"]
    return centre


def draw(layout: Layout, questions: Numbers, draws: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Answer classes of takers drawn from a precise bank, (draws, questions)."""
    levels: list[NDArray[np.intp]] = []
    for parents, table in zip(layout.model.parents, layout.model.tables, strict=True):
        rows = np.broadcast_to(table.lower[tuple(levels[p] for p in parents)], (draws, table.shape[-1]))
        levels.append(pick(rows, rng.random(draws)))
    found = []
    for number in questions.tolist():
        question = layout.questions[number]
        found.append(pick(question.table.lower[tuple(levels[layout.position[skill]] for skill in question.skills)], rng.random(draws)))
    return np.stack(found, axis=1)


def _chooser(layout: Layout, questions: Numbers, classes: NDArray[np.intp]) -> Chooser:
    """Inference from the answers of many takers to the same questions, (takers, questions), -1 for none."""
    takers = np.repeat(np.arange(len(classes)), len(questions))
    boxes = multiplied(layout, {}, len(classes), takers, np.tile(questions, len(classes)), classes.reshape(-1))
    return Chooser(layout.model.with_boxes(boxes), len(classes))


def _strangeness(layout: Layout, chooser: Chooser, questions: Numbers, classes: NDArray[np.intp]) -> Array:
    """How unlikely answers are at the most probable level of each skill given all of them, in standard deviations, (takers,)."""
    levels = [chooser.now(variable).lower.argmax(axis=1) for variable in range(len(layout.model.sizes))]
    surprise, mean, variance = np.zeros(len(classes)), np.zeros(len(classes)), np.zeros(len(classes))
    for number, column in zip(questions.tolist(), classes.T, strict=True):
        question = layout.questions[number]
        at = tuple(levels[layout.position[skill]] for skill in question.skills)
        p = question.table.lower
        bits = -np.log(np.maximum(p, _LEAST))
        expected = (p * bits).sum(axis=-1)
        surprise += bits[(*at, column)]
        mean += expected[at]
        variance += ((p * bits**2).sum(axis=-1) - expected**2)[at]
    return (surprise - mean) / np.sqrt(np.maximum(variance, _LEAST))


def _apart(layout: Layout, questions: Numbers, classes: NDArray[np.intp]) -> Array:
    """sum of log P(answer), (takers,)."""
    prior = Chooser(layout.model)
    total = np.zeros(len(classes))
    for number, column in zip(questions.tolist(), classes.T, strict=True):
        batch, table = layout.batch_of(number)
        with np.errstate(divide="ignore"):
            total = total + np.log(prior.answers(batch).lower[0, table])[column]
    return total
