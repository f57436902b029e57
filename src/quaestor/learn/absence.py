"""Sections that were not taken as a state of their own: a mixture model of an all-wrong section.

Let `chance` be the probability that all answers in a section are of the worst class, given the person's other answers. If a share u of the
people did not take the section, an all-wrong one has the probability u + (1 - u) * chance, and is untaken with u / (u + (1 - u) * chance).
u and the bank are estimated together by EM, starting with all of them untaken. An all-wrong section counts as answers with the probability
that it was taken, so that weak people who did take it stay in the data.

Whether people have this state is asked of people held out: `gains` compares log P(all answers) of those in a fold, under the bank with the
state and under the bank without it, both learnt from the other folds. Both predict the same cells, so they can be compared; a bank learnt
without the untaken sections, but used without the state, would be asked for zeros that it has never seen.
"""

from dataclasses import dataclass

import numpy as np

from quaestor.learn.em import Progress, run
from quaestor.learn.expect import log_likelihoods
from quaestor.learn.folds import fold_of
from quaestor.learn.layout import Layout, Tables
from quaestor.learn.maximise import Aim
from quaestor.learn.people import Patterns, People
from quaestor.learn.versions import Mask, Versions
from quaestor.learn.work import Step
from quaestor.model.table import Array

ROUNDS = 20
_TOLERANCE, _ITERATIONS = 0.1, 100  # of the runs of EM in a round


@dataclass(frozen=True)
class Model:
    """What is learnt: the structure of a bank, the tables to start from, and the objective."""

    layout: Layout
    start: Tables
    aim: Aim


@dataclass(frozen=True)
class Absence:
    """A bank with the state "untaken": the `tables` of those who took a section, and P(untaken) of each one, `shares`, (sections,).

    For the patterns with an all-wrong section, `chance` is P(all wrong | taken) and `probability` P(untaken | all wrong), (patterns,
    sections) both. `prior`: the log prior of the tables.
    """

    tables: Tables
    shares: Array
    chance: Array
    probability: Array
    prior: float


def estimated(model: Model, versions: Versions, possible: Mask, weights: Array, step: Step, progress: Progress | None) -> Absence:
    """EM of the mixture for people with these `weights`, (patterns,); `possible`: which sections can be told, (patterns, sections)."""
    worst = versions.worst
    probability, chance = worst.astype(float), np.ones(worst.shape)
    shares, total = np.zeros(worst.shape[1]), weights @ possible
    tables = model.start
    for _ in range(ROUNDS):
        found = run(model.layout, tables, model.aim, step, versions.counted(weights, probability), _TOLERANCE, _ITERATIONS, progress)
        tables, before = found.tables, probability
        probability = np.zeros(worst.shape)
        for number in np.flatnonzero(worst.any(axis=0) & (total > 0)).tolist():
            own = worst[:, number]
            chance[own, number] = _all_worst(model.layout, tables, versions, number)
            share = shares[number] = _share(chance[own, number], weights[versions.patterns[own]], float(total[number]))
            odds = share + (1 - share) * chance[own, number]
            probability[own, number] = share / np.maximum(odds, 1e-300)
        if np.abs(probability - before).max() < 0.01:
            break
    return Absence(tables, shares, chance, probability, found.trace[-1] - found.expected.log_likelihood)


def plain(model: Model, versions: Versions, possible: Mask, weights: Array, step: Step, progress: Progress | None) -> Absence:
    """The same without the state: all sections were taken."""
    none = np.zeros(versions.worst.shape)
    found = run(model.layout, model.start, model.aim, step, versions.counted(weights, none), _TOLERANCE, _ITERATIONS, progress)
    shares = np.zeros(possible.shape[1])
    return Absence(found.tables, shares, none + 1, none, found.trace[-1] - found.expected.log_likelihood)


def with_state(layout: Layout, tables: Tables, shares: Array, versions: Versions, possible: Mask) -> Array:
    """log P(answers) of each pattern, (patterns,), with the state: summed over which of its all-wrong sections were not taken.

    `shares`: P(untaken), (sections,); `possible`: which sections can be told, (patterns, sections). Who took nothing has no answer to
    predict: the weight of that version is what those of the others leave.
    """
    count = len(possible)
    weights = versions.counted(np.ones(count), np.where(versions.worst, shares, 0.0))
    right = possible.copy()
    right[versions.patterns] &= ~versions.worst
    rest = 1 - weights[:count][versions.patterns] - np.bincount(versions.source, weights[count:], len(versions.patterns))
    with np.errstate(divide="ignore"):
        logs = log_likelihoods(layout, tables, versions.all) + np.log(weights)
        each = logs[:count]
        np.logaddexp.at(each, versions.patterns[versions.source], logs[count:])
        each[versions.patterns] = np.logaddexp(each[versions.patterns], np.log(np.where(versions.alone, np.maximum(rest, 0), 0)))
    result: Array = each + right @ np.log1p(-np.minimum(shares, 1 - 1e-12))
    return result


def gains(model: Model, people: People, versions: Versions, possible: Mask, folds: int, step: Step, progress: Progress | None) -> Array:
    """log P(answers) of each person held out, (people,), with the state minus without, both learnt from the other folds."""
    fold = fold_of(len(people), folds, np.random.default_rng(0))
    found = np.empty(len(people))
    for number in range(folds):
        weights = people.weights(fold != number)
        logs = []
        for learnt in (estimated, plain):
            state = learnt(model, versions, possible, weights, step, progress)
            logs.append(with_state(model.layout, state.tables, state.shares, versions, possible))
        found[fold == number] = (logs[0] - logs[1])[people.pattern_of[fold == number]]
    return found


def _all_worst(layout: Layout, tables: Tables, versions: Versions, number: int) -> Array:
    """P(all answers of a section are of the worst class | answers outside all-wrong sections), for the patterns where they are."""
    own, positions = versions.worst[:, number], versions.positions[number]
    elsewhere = np.where(versions.cells()[own], np.int16(-1), versions.classes[own])
    both = elsewhere.copy()
    both[:, positions] = versions.classes[own][:, positions]
    logs = [log_likelihoods(layout, tables, Patterns(tuple(one[:, group.positions] for group in layout.groups)))
            for one in (both, elsewhere)]  # fmt: skip
    result: Array = np.exp(np.minimum(logs[0] - logs[1], 0))
    return result


def _share(chance: Array, weights: Array, possible: float) -> float:
    """The maximum likelihood share u of untaken sections, by EM on P(all wrong) = u + (1 - u) * chance.

    `chance` and `weights`: those of the patterns where the section is all wrong; `possible`: the number of people with enough answers.
    """
    share = 0.5 * float(weights.sum()) / possible
    for _ in range(200):
        share = float(weights @ (share / np.maximum(share + (1 - share) * chance, 1e-300))) / possible
    return share
