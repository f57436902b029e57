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
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank
from quaestor.credal.intervals import pick
from quaestor.inference.layout import Answers, BankModel, bank_model
from quaestor.inference.model import Scope
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
    compiled = bank_model(_centre(bank))
    counted = [name for name in answers if not compiled.bank.questions[name].pilot]
    if len(counted) < 2:
        return None
    given = np.array([[compiled.answer_class(name, answers[name]) for name in counted]])
    drawn = np.concatenate([given, _draw(compiled, counted, draws, np.random.default_rng(seed))])
    with np.errstate(invalid="ignore"):  # answers that cannot be given at all
        conflict = _apart(compiled, counted, drawn) - _together(compiled, counted, drawn)
    if not np.isfinite(conflict[0]):
        return None
    strangeness = _strangeness(compiled, counted, drawn)
    rarer = np.minimum(_rarity(conflict), _rarity(strangeness))
    share = float((rarer[1:] <= rarer[0] + 1e-12).mean())
    total = _together(compiled, counted, given)[0]
    surprises = np.exp(total - _without_each(compiled, counted, given[0]))
    return Misfit(float(conflict[0]), float(strangeness[0]), share, dict(zip(counted, surprises.tolist(), strict=True)))


def _rarity(values: Array) -> Array:
    """For each taker the share of the drawn ones (all but the first) whose value is at least as large, (takers,)."""
    ordered = np.sort(values[1:])
    found: Array = 1 - np.searchsorted(ordered, values - 1e-12) / len(ordered)
    return found


@lru_cache(maxsize=16)
def _centre(bank: Bank) -> Bank:
    return bank.centre()


def _draw(compiled: BankModel, questions: list[str], draws: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Answer classes of takers drawn from a precise bank, (draws, questions)."""
    levels: list[NDArray[np.intp]] = []
    for parents, table in zip(compiled.model.parents, compiled.model.tables, strict=True):
        rows = np.broadcast_to(table.lower[tuple(levels[p] for p in parents)], (draws, table.shape[-1]))
        levels.append(pick(rows, rng.random(draws)))
    found = []
    for name in questions:
        question = compiled.bank.questions[name]
        found.append(pick(question.table.lower[tuple(levels[compiled.position[skill]] for skill in question.skills)], rng.random(draws)))
    return np.stack(found, axis=1)


def _evidence(compiled: BankModel, questions: list[str], classes: NDArray[np.intp]) -> dict[Scope, Array]:
    """Log-likelihoods by scope of answers (takers, questions): shapes (takers, *scope's sizes)."""
    evidence: dict[Scope, Array] = {}
    for name, column in zip(questions, classes.T, strict=True):
        scope, place = compiled.scope_of(name)
        logs = compiled.logs[scope][0][place][column]
        evidence[scope] = evidence[scope] + logs if scope in evidence else logs
    return evidence


def _together(compiled: BankModel, questions: list[str], classes: NDArray[np.intp]) -> Array:
    """log P(all answers), (takers,)."""
    found = compiled.junction.log_probability(_evidence(compiled, questions, classes))
    return np.broadcast_to(found, len(classes))


def _without_each(compiled: BankModel, questions: list[str], classes: NDArray[np.intp]) -> Array:
    """log P(all answers but one), for each one left out, (questions,)."""
    evidence: dict[Scope, Array] = {}
    for number, (name, answer) in enumerate(zip(questions, classes, strict=True)):
        scope, place = compiled.scope_of(name)
        logs = np.repeat(compiled.logs[scope][0][place][answer][None], len(questions), axis=0)
        logs[number] = 0
        evidence[scope] = evidence[scope] + logs if scope in evidence else logs
    return compiled.junction.log_probability(evidence)


def _strangeness(compiled: BankModel, questions: list[str], classes: NDArray[np.intp]) -> Array:
    """How unlikely answers are at the most probable level of each skill given all of them, in standard deviations, (takers,)."""
    calibrated = compiled.junction.calibrate(_evidence(compiled, questions, classes))
    takers = len(classes)
    levels = [
        np.broadcast_to(compiled.junction.marginal(calibrated, (v,)).argmax(axis=1), takers) for v in range(len(compiled.model.sizes))
    ]
    surprise, mean, variance = np.zeros(takers), np.zeros(takers), np.zeros(takers)
    for name, column in zip(questions, classes.T, strict=True):
        question = compiled.bank.questions[name]
        at = tuple(levels[compiled.position[skill]] for skill in question.skills)
        p = question.table.lower
        bits = -np.log(np.maximum(p, _LEAST))
        expected = (p * bits).sum(axis=-1)
        surprise += bits[(*at, column)]
        mean += expected[at]
        variance += ((p * bits**2).sum(axis=-1) - expected**2)[at]
    return (surprise - mean) / np.sqrt(np.maximum(variance, _LEAST))


def _apart(compiled: BankModel, questions: list[str], classes: NDArray[np.intp]) -> Array:
    """sum of log P(answer), (takers,)."""
    calibrated = compiled.junction.calibrate({})
    total = np.zeros(len(classes))
    for name, column in zip(questions, classes.T, strict=True):
        scope, place = compiled.scope_of(name)
        prior = compiled.junction.marginal(calibrated, scope)[0]
        chances = (np.exp(compiled.logs[scope][0][place]) * prior).reshape(compiled.logs[scope][0].shape[1], -1).sum(axis=1)
        with np.errstate(divide="ignore"):
            total = total + np.log(chances)[column]
    return total
