"""Diagnoses of questions: those that carry no information, that do not fit the bank, that copy another, or whose key looks wrong.

Every answer is compared with its prediction from the *other* answers of the same person (leave one out): P(level | others) is proportional
to P(level | all answers) / P(answer | level), so no second inference is needed, except where the denominator is close to zero. The
thresholds are stated below. Findings of one kind are tested together over all questions, at a false discovery rate of 5 %.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, ndtr

from quaestor.i18n import say
from quaestor.learn.chance import discoveries
from quaestor.learn.dependence import Dependence, dependences, relearnt, spare
from quaestor.learn.expect import batch, beliefs
from quaestor.learn.fit import Fit
from quaestor.learn.layout import Group
from quaestor.learn.people import Patterns
from quaestor.learn.person_fit import strangers
from quaestor.learn.q_matrix import RowCheck, can_check, check_rows
from quaestor.model.question import Question
from quaestor.model.table import Array

CHANCE = 0.05  # false discovery rate for the findings of one kind
BITS = 0.01  # a question with less mutual information with its skills is flagged as `nothing`
GAP = 0.05  # a misfit has at least this difference between observed and predicted share right, in some fifth of the people
FEWEST = 20  # a question with fewer answers is not diagnosed
FIFTHS = 5
LEAST = 1e-6  # smaller probabilities of an answer are not divided by
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

    A person counts at each level with P(level | the person's other answers) as weight; `people` is the sum of these weights.
    """

    skill: str
    levels: tuple[str, ...]
    people: Array
    observed: Array
    expected: Array
    error: Array


@dataclass(frozen=True)
class Diagnosis:
    """One question: its mean score (0 for the worst class, 1 for the best), how the score correlates with other answers, and its fit.

    `rest`: the correlation of the score with that on the other questions of its skills; `with_level`: with the mean relative level of its
    skills, predicted from the other answers. `information`: mutual information of question and skills under the learnt bank, in bits.
    `misfit`: the p-value of the differences between observed and predicted scores, by fifths of the people from low to high; `gap`: the
    largest of these differences. `flags`: `key`, `nothing`, `misfit` (not beside `key`, which explains it), `skills`, `alike`; `words`: a
    sentence for each. `row`: whether it needs the skills that are stated (see `q_matrix`), where there are several. `pairs`: the questions
    it depends on beyond the skills, the strongest first.
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
    row: RowCheck | None = None
    pairs: tuple[Dependence, ...] = ()


def diagnose(fit: Fit) -> tuple[Diagnosis, ...]:
    """The diagnoses of all questions of a fit, in the order of the bank.

    Where questions copy one another, the others are diagnosed in a bank learnt without the copies, and misfits of these are not told.
    """
    pairs, found = _pairs(fit), _each(fit)
    left_out = spare(fit, pairs)
    if left_out:
        others = _each(relearnt(fit, left_out))
        found = tuple(_without_misfit(one) if one.question in left_out else other for one, other in zip(found, others, strict=True))
    rows = {row.question: row for row in check_rows(fit, np.random.default_rng(0))} if can_check(fit) else {}
    found = tuple(_with_row(one, rows.get(one.question)) for one in found)
    return tuple(_with_pairs(one, [pair for pair in pairs if one.question in (pair.first, pair.second)]) for one in found)


def _pairs(fit: Fit) -> tuple[Dependence, ...]:
    """The pairs that depend on one another also among the people whose answers fit: those who guess make easy questions go together."""
    pairs = dependences(fit)
    odd = [one.row for one in strangers(fit, np.random.default_rng(0))] if pairs else []
    if not odd:
        return pairs
    others = replace(fit.people, pattern_of=fit.people.pattern_of[~np.isin(fit.people.rows, odd)])
    still = {(one.first, one.second) for one in dependences(replace(fit, people=others))}
    return tuple(one for one in pairs if (one.first, one.second) in still)


def _without_misfit(one: Diagnosis) -> Diagnosis:
    kept = {flag: words for flag, words in zip(one.flags, one.words, strict=True) if flag != "misfit"}
    return replace(one, flags=tuple(kept), words=tuple(kept.values()))


def _with_row(one: Diagnosis, row: RowCheck | None) -> Diagnosis:
    if row is None or row.kind != "other" or "key" in one.flags:
        return replace(one, row=row)
    at = one.flags.index("misfit") if "misfit" in one.flags else len(one.flags)  # it may explain a misfit
    flags, words = (*one.flags[:at], "skills", *one.flags[at:]), (*one.words[:at], row.words, *one.words[at:])
    return replace(one, row=row, flags=flags, words=words)


def _with_pairs(one: Diagnosis, pairs: Sequence[Dependence]) -> Diagnosis:
    return replace(one, flags=(*one.flags, "alike"), words=(*one.words, pairs[0].words), pairs=tuple(pairs)) if pairs else one


def _each(fit: Fit) -> tuple[Diagnosis, ...]:
    found = _Sums(fit)
    step = batch(fit.layout)
    for weighed in (False, True):  # means first: the second pass subtracts them
        for start in range(0, len(fit.people.patterns), step):
            part = fit.people.patterns.part(start, start + step)
            weights = fit.people.weights()[start : start + step]
            if weighed:
                found.add(part, weights)
            else:
                found.add_means(part, weights)
    return found.diagnoses()


class _Sums:
    """Sums over people, accumulated batch by batch."""

    def __init__(self, fit: Fit) -> None:
        self.fit, self.layout = fit, fit.layout
        self.questions = list(fit.bank.questions.values())
        self.top = np.array([len(question.classes) - 1 for question in self.questions])
        count = len(self.questions)
        skills = [set(question.skills) for question in self.questions]
        self.alike = np.array([[float(bool(one & other)) for other in skills] for one in skills]) - np.eye(count)
        self.answers, self.score = np.zeros(count), np.zeros(count)
        self.moments = np.zeros((2, count, 6))  # for rest and level: weights, x, y, xx, yy, xy
        self.predictions: list[list[tuple[Array, ...]]] = [[] for _ in self.questions]
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
            for number, position in enumerate(group.positions.tolist()):
                rows = given[:, position]
                if not rows.any():
                    continue
                own, answer, weight = configurations[rows][:, group.block], classes[rows, position], weights[rows]
                posterior = self._leave_one_out(classes[rows], position, group, own, table[number][:, answer].T)
                score = np.arange(group.classes) / (group.classes - 1)
                chance = posterior @ table[number]
                mean, square = chance @ score, chance @ score**2
                x = scores[rows, position]
                self._moment(0, position, weight * (others[rows, position] > 0), x, rest[rows, position])
                self._moment(1, position, weight, x, posterior @ group.heights)
                self.predictions[position].append((mean, posterior @ group.heights, x, square - mean**2, weight))
                self._by_level(group, position, posterior, x, mean, square - mean**2, weight)

    def _leave_one_out(self, classes: NDArray[np.int16], position: int, group: Group, own: Array, chance: Array) -> Array:
        """P(configuration | all answers but the one to this question), (people, configurations).

        `own`: P(configuration | all answers); `chance`: P(the answer given | configuration). Where the latter is close to zero the
        quotient is useless, and the posterior without the answer is computed anew.
        """
        found = own / np.maximum(chance, LEAST)
        lost = (chance < LEAST).any(axis=1)
        if lost.any():
            others = classes[lost]
            others[:, position] = -1
            patterns = Patterns(tuple(others[:, one.positions] for one in self.layout.groups))
            found[lost] = beliefs(self.layout, self.fit.tables, patterns)[1][:, group.block]
        result: Array = found / found.sum(axis=1, keepdims=True)
        return result

    def _moment(self, kind: int, position: int, weight: Array, x: Array, y: Array) -> None:
        self.moments[kind, position] += [float(weight @ term) for term in (np.ones_like(x), x, y, x * x, y * y, x * y)]

    def _by_level(self, group: Group, position: int, posterior: Array, x: Array, mean: Array, variance: Array, weight: Array) -> None:
        shaped = posterior.reshape(-1, *group.sizes)
        question = self.questions[position]
        for number, name in enumerate(question.skills):
            axis = group.scope.index(self.layout.names.index(name))
            at = shaped.sum(axis=tuple(1 + other for other in range(len(group.sizes)) if other != axis))
            terms = (at, at * x[:, None], at * mean[:, None], at**2 * variance[:, None])
            self.levels[position][number] += np.array([weight @ term for term in terms])

    def diagnoses(self) -> tuple[Diagnosis, ...]:
        rest, with_level = (np.array([_correlation(moments) for moments in kind]) for kind in self.moments)
        enough = self.answers >= FEWEST
        falling = discoveries(np.where(enough, self._falls(rest, with_level), np.nan), CHANCE)
        fits = [_misfit(parts, rows) for parts, rows in zip(self.predictions, _fitted_rows(self.fit), strict=True)]
        unlike = discoveries(np.where(enough, [tail for tail, _, _ in fits], np.nan), CHANCE)
        bits = _information(self.fit)
        made = []
        for position, question in enumerate(self.questions):
            tail, gap, where = fits[position]
            found = {}
            if falling[position]:
                found["key"] = _key_sentence(float(rest[position]), float(with_level[position]))
            elif bits[position] < BITS and enough[position]:
                found["nothing"] = _nothing_sentence(question)
            if unlike[position] and abs(gap) >= GAP and not falling[position]:
                found["misfit"] = _misfit_sentence(gap, where)
            made.append(
                Diagnosis(
                    question=question.id,
                    answers=int(self.answers[position]),
                    score=float(self.score[position] / self.answers[position]) if self.answers[position] else np.nan,
                    rest=float(rest[position]),
                    with_level=float(with_level[position]),
                    information=float(bits[position]),
                    misfit=tail,
                    gap=gap,
                    by_level=tuple(_shares(question.skills, self.fit, self.levels[position])),
                    flags=tuple(found),
                    words=tuple(found.values()),
                )
            )
        return tuple(made)

    def _falls(self, rest: Array, with_level: Array) -> Array:
        """The p-value of the lower of the two correlations, (questions,), Bonferroni-corrected: twice the smaller one-sided p-value."""
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
    """The effective number of fitted rows of each question's table, (questions,): the sum of N / (N + weight) over its distinct rows.

    N is the expected number of answers at a row: a row that is decided by the prior counts little.
    """
    found = np.zeros(fit.layout.questions)
    for group, counts, prior, ties in zip(fit.layout.groups, fit.expected.counts.groups, fit.aim.prior.groups, fit.aim.ties, strict=True):
        for number, position in enumerate(group.positions.tolist()):
            labels = ties[number].labels if ties else np.arange(group.configurations)
            own, weight = (np.bincount(labels, table[number].sum(axis=1)) for table in (counts, prior))
            found[position] = np.divide(own, own + weight, out=np.zeros_like(own), where=own > 0).sum()
    return found


def _misfit(parts: Sequence[tuple[Array, ...]], rows: float) -> tuple[float, float, str]:
    """A chi-squared test over fifths of the people in the order of their predicted scores: p-value, largest gap, and in which fifth it is.

    People with equal predicted scores are ordered by their predicted level. `rows` (see `_fitted_rows`) of the question's table were
    fitted to the same answers, so the degrees of freedom are the number of fifths minus `rows`, but at least two.
    """
    if not parts:
        return float("nan"), 0.0, ""
    mean, height, x, variance, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((height, mean.round(9)))
    rank = np.cumsum(weight[order]) - weight[order] / 2
    fifth = np.minimum((rank / weight.sum() * FIFTHS).astype(int), FIFTHS - 1)
    total, gaps = 0.0, np.zeros(FIFTHS)
    for number in range(FIFTHS):
        chosen = order[fifth == number]
        apart, spread = weight[chosen] @ (x - mean)[chosen], weight[chosen] @ variance[chosen]
        total += apart**2 / max(spread, 1e-9)
        gaps[number] = apart / max(weight[chosen].sum(), 1e-9)
    worst = int(np.argmax(np.abs(gaps)))
    return float(chdtrc(max(FIFTHS - rows, 2), total)), float(gaps[worst]), FIFTH[worst]


def _key_sentence(rest: float, level: float) -> str:
    return say(
        "Check the key: those who do better elsewhere do worse here (correlation with the other questions {rest:+.2f},"
        " with the level {level:+.2f}).",
        rest=rest,
        level=level,
    )


def _nothing_sentence(question: Question) -> str:
    right = question.table.lower[..., -1].ravel()
    lowest, highest = f"{100 * right[0]:.0f}", f"{100 * right[-1]:.0f}"
    return say(
        "It tells next to nothing: at the lowest level {lowest} in 100 are right, at the highest {highest}.", lowest=lowest, highest=highest
    )


def _misfit_sentence(gap: float, where: str) -> str:
    count = f"{100 * abs(gap):.0f}"
    if gap > 0:
        return say("Answers do not fit the bank: {count} in 100 more are right than predicted among {where}.", count=count, where=where)
    return say("Answers do not fit the bank: {count} in 100 fewer are right than predicted among {where}.", count=count, where=where)


def _information(fit: Fit) -> Array:
    """I(question; its skills) in bits under the learnt bank, (questions,), from the prior of the skills: not from the people who were
    asked, since an adaptive test asks a question of people who are alike.
    """
    found = np.zeros(fit.layout.questions)
    nobody = Patterns(tuple(np.full((1, len(group.positions)), -1) for group in fit.layout.groups))
    shares = beliefs(fit.layout, fit.tables, nobody)[1][0]
    for group, table in zip(fit.layout.groups, fit.tables.groups, strict=True):
        for number, position in enumerate(group.positions.tolist()):
            joint = table[number] * shares[group.block, None]
            apart = joint.sum(axis=0) * joint.sum(axis=1, keepdims=True)
            positive = joint > 0
            found[position] = (joint[positive] * np.log2(joint[positive] / apart[positive])).sum()
    return found


def _shares(skills: Sequence[str], fit: Fit, sums: Sequence[Array]) -> list[ByLevel]:
    found = []
    for name, (weight, x, mean, variance) in zip(skills, sums, strict=True):
        people = np.maximum(weight, 1e-300)
        found.append(ByLevel(name, fit.bank.skills[name].levels, weight, x / people, mean / people, np.sqrt(variance) / people))
    return found
