"""What a teacher should look at: questions that tell nothing, that the bank does not fit, or whose key looks wrong.

Every answer is compared with what the *other* answers of the same person foretell: P(level | others) is proportional to P(level | all
answers) / P(answer | level), so no second inference is needed, but where that is next to zero. Thresholds are stated below. A finding must
also stand among all questions, so that of the findings of one kind at most one in twenty is expected to be chance.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, ndtr

from quaestor.i18n import say
from quaestor.learn.chance import discoveries
from quaestor.learn.expect import batch, beliefs
from quaestor.learn.fit import Fit
from quaestor.learn.layout import Group
from quaestor.learn.people import Patterns
from quaestor.model.question import Question
from quaestor.model.table import Array

CHANCE = 0.05  # the share of findings of one kind that may be chance
BITS = 0.01  # a question that shares less information with its skills tells nothing
GAP = 0.05  # a share right that is off by less in every fifth of the people is no misfit
FEWEST = 20  # answers to a question; with fewer nothing is said of it
FIFTHS = 5
LEAST = 1e-6  # a smaller chance of an answer is not divided by
FIFTH = (
    say("the lowest fifth"),
    say("the second lowest fifth"),
    say("the middle fifth"),
    say("the second highest fifth"),
    say("the highest fifth"),
)


@dataclass(frozen=True)
class ByLevel:
    """The mean score of a question by the level of one skill, (levels,) each: `observed`, `expected` by the bank, standard `error`.

    Levels are weighed by what everybody's other answers say of them; `people` is the sum of these weights.
    """

    skill: str
    levels: tuple[str, ...]
    people: Array
    observed: Array
    expected: Array
    error: Array


@dataclass(frozen=True)
class Diagnosis:
    """One question: its mean score (0 for the worst class, 1 for the best), and how the score goes with everything else.

    `rest`: its correlation with the score on the other questions of its skills; `with_level`: with the height of its skills that the
    other answers foretell; `information` in bits between question and skills by the learnt bank; `misfit`: the tail probability of the
    differences between foretold and given answers, by fifths of the people from low to high, and `gap` the largest of them. `flags`: `key`,
    `nothing`, `misfit` (not besides `key`, which explains it); `words` say why.
    """

    question: str
    answers: int
    score: float
    rest: float
    with_level: float
    information: float
    misfit: float
    gap: float
    by_level: tuple[ByLevel, ...]
    flags: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


def diagnose(fit: Fit) -> tuple[Diagnosis, ...]:
    """All questions of a fit, in the order of the bank."""
    found = _Sums(fit)
    step = batch(fit.layout)
    for weighed in (False, True):  # means first: they are taken off
        for start in range(0, len(fit.people.patterns), step):
            part = fit.people.patterns.part(start, start + step)
            weights = fit.people.weights()[start : start + step]
            if weighed:
                found.add(part, weights)
            else:
                found.add_means(part, weights)
    return found.diagnoses()


class _Sums:
    """Sums over people, gathered part by part."""

    def __init__(self, fit: Fit) -> None:
        self.fit, self.layout = fit, fit.layout
        self.questions = list(fit.bank.questions.values())
        self.top = np.array([len(question.classes) - 1 for question in self.questions])
        count = len(self.questions)
        skills = [set(question.skills) for question in self.questions]
        self.alike = np.array([[float(bool(one & other)) for other in skills] for one in skills]) - np.eye(count)
        self.answers, self.score = np.zeros(count), np.zeros(count)
        self.moments = np.zeros((2, count, 6))  # for rest and level: weights, x, y, xx, yy, xy
        self.foretold: list[list[tuple[Array, ...]]] = [[] for _ in self.questions]
        self.levels = [[np.zeros((4, len(fit.bank.skills[name].levels))) for name in question.skills] for question in self.questions]

    def add_means(self, part: Patterns, weights: Array) -> None:
        classes = part.classes(self.layout)
        given = classes >= 0
        self.answers += weights @ given
        self.score += weights @ np.where(given, classes / self.top, 0)

    def add(self, part: Patterns, weights: Array) -> None:
        classes = part.classes(self.layout)
        given = classes >= 0
        scores = np.where(given, classes / self.top, 0.0)
        apart = np.where(given, scores - self.score / np.maximum(self.answers, 1), 0.0)
        others = given.astype(float) @ self.alike
        rest = np.divide(apart @ self.alike, others, out=np.zeros_like(others), where=others > 0)
        _, configurations = beliefs(self.layout, self.fit.tables, part)
        for group, table in zip(self.layout.groups, self.fit.tables.groups, strict=True):
            for number, place in enumerate(group.places.tolist()):
                rows = given[:, place]
                if not rows.any():
                    continue
                own, answer, weight = configurations[rows][:, group.block], classes[rows, place], weights[rows]
                before = self._before(classes[rows], place, group, own, table[number][:, answer].T)
                score = np.arange(group.classes) / (group.classes - 1)
                chance = before @ table[number]
                mean, square = chance @ score, chance @ score**2
                x = scores[rows, place]
                self._moment(0, place, weight * (others[rows, place] > 0), x, rest[rows, place])
                self._moment(1, place, weight, x, before @ group.heights)
                self.foretold[place].append((mean, before @ group.heights, x, square - mean**2, weight))
                self._by_level(group, place, before, x, mean, square - mean**2, weight)

    def _before(self, classes: NDArray[np.int16], place: int, group: Group, own: Array, chance: Array) -> Array:
        """P(configuration | all answers but the one to this question), (people, configurations), from that given all, `own`.

        `chance`: of the answer in each configuration; where it is next to zero, `own` holds nothing to divide.
        """
        found = own / np.maximum(chance, LEAST)
        lost = (chance < LEAST).any(axis=1)
        if lost.any():
            others = classes[lost]
            others[:, place] = -1
            patterns = Patterns(tuple(others[:, one.places] for one in self.layout.groups))
            found[lost] = beliefs(self.layout, self.fit.tables, patterns)[1][:, group.block]
        result: Array = found / found.sum(axis=1, keepdims=True)
        return result

    def _moment(self, kind: int, place: int, weight: Array, x: Array, y: Array) -> None:
        self.moments[kind, place] += [float(weight @ term) for term in (np.ones_like(x), x, y, x * x, y * y, x * y)]

    def _by_level(self, group: Group, place: int, before: Array, x: Array, mean: Array, variance: Array, weight: Array) -> None:
        shaped = before.reshape(-1, *group.sizes)
        question = self.questions[place]
        for position, name in enumerate(question.skills):
            axis = group.scope.index(self.layout.names.index(name))
            at = shaped.sum(axis=tuple(1 + other for other in range(len(group.sizes)) if other != axis))
            terms = (at, at * x[:, None], at * mean[:, None], at**2 * variance[:, None])
            self.levels[place][position] += np.array([weight @ term for term in terms])

    def diagnoses(self) -> tuple[Diagnosis, ...]:
        rest, with_level = (np.array([_correlation(moments) for moments in kind]) for kind in self.moments)
        enough = self.answers >= FEWEST
        falling = discoveries(np.where(enough, self._falls(rest, with_level), np.nan), CHANCE)
        fits = [_misfit(parts, rows) for parts, rows in zip(self.foretold, _fitted_rows(self.fit), strict=True)]
        unlike = discoveries(np.where(enough, [tail for tail, _, _ in fits], np.nan), CHANCE)
        bits = _information(self.fit)
        made = []
        for place, question in enumerate(self.questions):
            tail, gap, where = fits[place]
            found = {}
            if falling[place]:
                found["key"] = _turned(float(rest[place]), float(with_level[place]))
            elif bits[place] < BITS and enough[place]:
                found["nothing"] = _nothing(question)
            if unlike[place] and abs(gap) >= GAP and not falling[place]:
                found["misfit"] = _apart(gap, where)
            made.append(
                Diagnosis(
                    question=question.id,
                    answers=int(self.answers[place]),
                    score=float(self.score[place] / self.answers[place]) if self.answers[place] else np.nan,
                    rest=float(rest[place]),
                    with_level=float(with_level[place]),
                    information=float(bits[place]),
                    misfit=tail,
                    gap=gap,
                    by_level=tuple(_shares(question.skills, self.fit, self.levels[place])),
                    flags=tuple(found),
                    words=tuple(found.values()),
                )
            )
        return tuple(made)

    def _falls(self, rest: Array, with_level: Array) -> Array:
        """The tail probability of the lower of two correlations, (questions,): twice the smaller tail, since there are two."""
        tails = []
        for kind, values in enumerate((rest, with_level)):
            error = 1 / np.sqrt(np.maximum(self.moments[kind, :, 0] - 3, 1))
            tails.append(ndtr(np.arctanh(np.clip(values, -0.999, 0.999)) / error))
        return np.asarray(np.minimum(2 * np.fmin(*tails), 1))


def _correlation(moments: Array) -> float:
    count, x, y, xx, yy, xy = moments
    if count < 2:
        return float("nan")
    spread = (xx - x * x / count) * (yy - y * y / count)
    return float((xy - x * y / count) / np.sqrt(spread)) if spread > 1e-12 else 0.0


def _fitted_rows(fit: Fit) -> Array:
    """How many rows of each question's table were fitted to its answers, (questions,): the sum of N / (N + weight) over its distinct rows.

    N is the number of answers that a row is expected to have: a row that the bank's own numbers decide counts little.
    """
    found = np.zeros(fit.layout.questions)
    for group, counts, prior, ties in zip(fit.layout.groups, fit.expected.counts.groups, fit.aim.prior.groups, fit.aim.ties, strict=True):
        for number, place in enumerate(group.places.tolist()):
            labels = ties[number].labels if ties else np.arange(group.configurations)
            own, weight = (np.bincount(labels, table[number].sum(axis=1)) for table in (counts, prior))
            found[place] = np.divide(own, own + weight, out=np.zeros_like(own), where=own > 0).sum()
    return found


def _misfit(parts: Sequence[tuple[Array, ...]], rows: float) -> tuple[float, float, str]:
    """By fifths of the people in the order of what was foretold: the tail of the squared differences, the largest gap, and where it is.

    Where a question is as easy for all, the height of the level that their other answers foretell decides the order. So many `rows` of the
    question's table were fitted to the same answers, so the squares have fewer degrees of freedom than fifths, but two at least.
    """
    if not parts:
        return float("nan"), 0.0, ""
    mean, height, x, variance, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((height, mean.round(9)))
    place = np.cumsum(weight[order]) - weight[order] / 2
    fifth = np.minimum((place / weight.sum() * FIFTHS).astype(int), FIFTHS - 1)
    total, gaps = 0.0, np.zeros(FIFTHS)
    for number in range(FIFTHS):
        chosen = order[fifth == number]
        apart, spread = weight[chosen] @ (x - mean)[chosen], weight[chosen] @ variance[chosen]
        total += apart**2 / max(spread, 1e-9)
        gaps[number] = apart / max(weight[chosen].sum(), 1e-9)
    worst = int(np.argmax(np.abs(gaps)))
    return float(chdtrc(max(FIFTHS - rows, 2), total)), float(gaps[worst]), FIFTH[worst]


def _turned(rest: float, level: float) -> str:
    return say(
        "Check the key: those who do better elsewhere do worse here (correlation with the other questions {rest:+.2f},"
        " with the level {level:+.2f}).",
        rest=rest,
        level=level,
    )


def _nothing(question: Question) -> str:
    right = question.table.lower[..., -1].ravel()
    lowest, highest = f"{100 * right[0]:.0f}", f"{100 * right[-1]:.0f}"
    return say(
        "It tells next to nothing: at the lowest level {lowest} in 100 are right, at the highest {highest}.", lowest=lowest, highest=highest
    )


def _apart(gap: float, where: str) -> str:
    count = f"{100 * abs(gap):.0f}"
    if gap > 0:
        return say("Answers do not fit the bank: {count} in 100 more are right than foretold among {where}.", count=count, where=where)
    return say("Answers do not fit the bank: {count} in 100 fewer are right than foretold among {where}.", count=count, where=where)


def _information(fit: Fit) -> Array:
    """I(question; its skills) in bits by the learnt bank, (questions,): for people of whom nothing is known, not for those who were asked,
    as adaptive tests ask a question of people who are alike.
    """
    found = np.zeros(fit.layout.questions)
    nobody = Patterns(tuple(np.full((1, len(group.places)), -1) for group in fit.layout.groups))
    shares = beliefs(fit.layout, fit.tables, nobody)[1][0]
    for group, table in zip(fit.layout.groups, fit.tables.groups, strict=True):
        for number, place in enumerate(group.places.tolist()):
            joint = table[number] * shares[group.block, None]
            apart = joint.sum(axis=0) * joint.sum(axis=1, keepdims=True)
            positive = joint > 0
            found[place] = (joint[positive] * np.log2(joint[positive] / apart[positive])).sum()
    return found


def _shares(skills: Sequence[str], fit: Fit, sums: Sequence[Array]) -> list[ByLevel]:
    found = []
    for name, (weight, x, mean, variance) in zip(skills, sums, strict=True):
        people = np.maximum(weight, 1e-300)
        found.append(ByLevel(name, fit.bank.skills[name].levels, weight, x / people, mean / people, np.sqrt(variance) / people))
    return found
