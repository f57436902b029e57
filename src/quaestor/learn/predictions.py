"""What a learnt bank predicts for new people, with intervals that hold as often as they say.

A prediction is made with each of the plausible tables of a fit, and its interval holds the middle of what they say: of 200 numbers, 180 for
a level of 0.9. Since plausible tables vary together, this is narrower than what a credal bank of the same level can say of many predictions
at once: its intervals are chosen number by number. docs/learnt-intervals.md has the coverage of both.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quaestor.errors import QuaestorError
from quaestor.inference.evidence import Evidence
from quaestor.inference.layout import Answers
from quaestor.learn.calibration import central, quantiles
from quaestor.learn.expect import beliefs, expect
from quaestor.learn.fit import Fit
from quaestor.learn.layout import Tables, as_tables
from quaestor.learn.options import is_count
from quaestor.learn.people import Patterns
from quaestor.model.table import Array, Table

_LUCK = 25  # classes drawn for each plausible table


@dataclass(frozen=True)
class Share:
    """The share of new people at each level of a skill, or with each answer to a question: (levels,) or (classes,) each."""

    lower: Array
    upper: Array


@dataclass(frozen=True)
class Predictions:
    """Intervals of the shares of new people, by the ids of `skills` and `questions`; `level`: how often they hold."""

    level: float
    skills: Mapping[str, Share]
    questions: Mapping[str, Share]


def predict(fit: Fit, answers: Answers | None = None, people: int | None = None) -> Predictions:
    """Which share of new people is at each level, and gives each answer to each question.

    `answers`: of those new people only who have answered so, as in `qs.posterior`; questions then have wider intervals, by as much as pairs
    of answers were far from what the bank predicts. `people`: the shares in a class of so many new people,
    which chance adds to; without it the shares in the whole population that the learnt people come from.
    """
    draws, level = region_of(fit)
    if people is not None and not is_count(people, 1):
        raise QuaestorError(f"predict: people are a whole number of at least 1, got {people!r}")
    given = np.maximum(Evidence.of(fit.given, answers or {}).answers, -1)
    layout = fit.layout
    patterns = Patterns(tuple(given[:, group.positions] for group in layout.groups))
    skills: list[list[Array]] = []
    groups: list[list[Array]] = []
    for tables in draws:
        skills.append([count.sum(axis=0) for count in expect(layout, tables, patterns, np.ones(1)).counts.skills])
        at = beliefs(layout, tables, patterns)[1][0]
        groups.append([np.tensordot(at[group.block], table, (0, 1)) for group, table in zip(layout.groups, tables.groups, strict=True)])
    rng = np.random.default_rng(0)
    by_skill = [_share(np.stack(one), level, people, rng) for one in zip(*skills, strict=True)]
    misfit = fit.unexplained if answers else 0.0
    by_group = [_share(misfitting(np.stack(one), misfit, rng), level, people, rng) for one in zip(*groups, strict=True)]
    questions: list[Share | None] = [None] * layout.questions
    for group, share in zip(layout.groups, by_group, strict=True):
        for position, low, high in zip(group.positions.tolist(), share.lower, share.upper, strict=True):
            questions[position] = Share(low, high)
    named = {name: share for name, share in zip(fit.given.questions, questions, strict=True) if share is not None}
    return Predictions(level, {name: by_skill[layout.names.index(name)] for name in fit.given.skills}, named)


def rows(fit: Fit) -> dict[str, Table]:
    """The interval of each number of each table by itself, by the id of the skill or question."""
    draws, level = region_of(fit)
    return as_tables(fit.given, fit.layout, *quantiles(draws, level))


def region_of(fit: Fit) -> tuple[tuple[Tables, ...], float]:
    """The plausible tables of a fit and their level."""
    if fit.level is None:
        raise QuaestorError("predict: the bank is learnt with intervals, as in learn(bank, responses, intervals=0.9), got none")
    return fit.draws, fit.level


def _share(drawn: Array, level: float, people: int | None, rng: np.random.Generator) -> Share:
    """The middle of drawn shares, (draws, ...); of shares of a class the fewest neighbouring counts that hold so many."""
    if people is None:
        return Share(*central(drawn, level))
    return class_share(drawn, level, np.full(drawn.shape[1:], people), rng)


def misfitting(drawn: Array, misfit: float, rng: np.random.Generator) -> Array:
    """Drawn shares, (draws, questions, classes), with what the bank leaves unexplained: a normal error for every draw and question."""
    error = misfit * rng.standard_normal((len(drawn), drawn.shape[1], 1)) * np.sqrt(drawn * (1 - drawn))
    return np.clip(drawn + error * np.where(np.arange(drawn.shape[2]) == 0, -1, 1), 0, 1)


def class_share(drawn: Array, level: float, people: NDArray[np.intp], rng: np.random.Generator) -> Share:
    """The shares, (...), in classes of these numbers of `people`, (...), from plausible shares in the population, (draws, ...)."""
    counts = np.sort(rng.binomial(people, np.clip(np.repeat(drawn, _LUCK, axis=0), 0, 1)), axis=0)
    number = int(np.ceil(level * len(counts)))
    first = (counts[number - 1 :] - counts[: len(counts) - number + 1]).argmin(axis=0)[None]
    ends = (np.take_along_axis(counts, first + more, axis=0)[0] / people for more in (0, number - 1))
    return Share(*ends)
