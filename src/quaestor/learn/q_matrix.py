"""Which skills a question needs: every row of a Q-matrix is held against other rows, on people that neither has seen.

For a person let P(levels | others) be what the bank says of the levels from the person's *other* answers, without the one to the question
looked at. Under a row, a set of skills, P(answer) is the sum of P(levels of these skills | others) times the question's table on them. The
table that explains the answers best is found by EM; the log-likelihood is concave in it, so there is one maximum. Rows are compared by the
Bayesian information criterion (BIC), since larger ones have more numbers.

Where another row is better, people are held out: in each fold, bank and tables are learnt from the others, the best other row is chosen
among them, and both rows predict the answers of the fold. So nothing has to be corrected for the number of rows that were tried.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
import scipy
from numpy.typing import NDArray

from quaestor.errors import QuaestorError
from quaestor.i18n import listed, say
from quaestor.inference.model import Scope
from quaestor.learn.chance import discoveries
from quaestor.learn.em import run
from quaestor.learn.expect import profile_beliefs
from quaestor.learn.fit import Fit
from quaestor.learn.folds import fold_of
from quaestor.learn.layout import Layout, Tables
from quaestor.learn.people import Patterns, People
from quaestor.learn.work import steps
from quaestor.model.table import Array

FOLDS = 5
CHANCE = 0.05  # false discovery rate over all questions
FEWEST = 50  # answers to a question
PROFILES = 1024  # combinations of levels of all skills
PEOPLE = 2000  # of more people so many are looked at, drawn at random
ALL_PAIRS = 6  # with more skills only rows next to the stated one are tried
ROWS = 32  # of a table
LEAST = 1e-6  # the smallest probability of an answer
TURNS, NEAR = 100, 1e-7  # of EM for a table: at most so many steps, until an answer gains less log-likelihood
NEWTON, RIDGE, FARTHEST = 2, 0.05, 2.0  # steps, prior precision of a number, and how far a step goes at most
TOLERANCE, ITERATIONS = 0.01, 500  # of learning without a fold


@dataclass(frozen=True)
class RowCheck:
    """One row of a Q-matrix: the skills that are `stated`, and those of the row that explains the answers best, `found`.

    `gain`: by how much the best other row, chosen without them, predicts people held out better, in log loss an answer; `error`: its
    standard error; `chance`: the p-value of no gain. Where no other row is better by BIC, gain and error are NaN and `chance` is 1. `kind`:
    `stated` (nothing else is shown), `other` (another row is better beyond chance) or `fewer` (a part of the skills predicts the answers at
    least as well as all of them). `titles`: of the skills, for sentences.
    """

    question: str
    stated: tuple[str, ...]
    found: tuple[str, ...]
    gain: float
    error: float
    chance: float
    kind: str
    titles: Mapping[str, str] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """What was found, in a sentence; empty where the row stays."""
        stated, found = ([self.titles.get(skill) or skill for skill in row] for row in (self.stated, self.found))
        named = {"stated": listed(stated), "found": listed(found)}
        if self.kind == "other":
            return say(
                "It is said to need {stated}. Answers of people held out are predicted better if it needs {found}"
                " (log loss lower by {gain:.3f} ± {error:.3f}).",
                **named,
                gain=self.gain,
                error=self.error,
            )
        if self.kind == "fewer":
            return say("It is said to need {stated}. Its answers are predicted as well by {found} alone.", **named)
        return ""


@dataclass(frozen=True)
class RowFit:
    """A question's table on the skills of one row, (configurations, classes), and what it explains: `log_likelihood` and `bic`."""

    scope: Scope
    table: Array
    log_likelihood: float
    bic: float


def check_rows(fit: Fit, rng: np.random.Generator, folds: int = FOLDS) -> tuple[RowCheck, ...]:
    """All questions with at least `FEWEST` answers, in the order of the bank, each with the row that explains its answers best."""
    if not can_check(fit):
        got = f"{len(fit.layout.names)} and {fit.layout.profiles:,.0f}"
        raise QuaestorError(f"Q-matrix: at least two skills, and at most {PROFILES:,} combinations of their levels, got {got}")
    fit = _with_fewer(fit, rng)
    weights = fit.people.weights()
    stated = {position: group.scope for group in fit.layout.groups for position in group.positions.tolist()}
    best: dict[int, RowFit] = {}
    for one in _each(fit.layout, fit.tables, fit.people):
        if weights[one.given].sum() >= FEWEST:
            best[one.position] = max(_fits(one, weights[one.given]), key=lambda row: row.bic)
    doubtful = [position for position, row in best.items() if row.scope != stated[position]]
    gains = _held_out(fit, doubtful, fold_of(len(fit.people), folds, rng)) if doubtful else {}
    positions, names = sorted(best), list(fit.bank.questions)
    shown = {position: _gain(gains[position]) if position in gains else (np.nan, np.nan, 1.0) for position in positions}
    told = dict(zip(positions, discoveries(np.array([shown[position][2] for position in positions]), CHANCE), strict=True))
    made, titles = [], {skill.id: skill.title for skill in fit.bank.skills.values()}
    for position in positions:
        own, other = set(stated[position]), set(best[position].scope)
        kind = "stated"
        if own != other and (told[position] or (other < own and shown[position][0] >= 0)):
            kind = "other" if told[position] else "fewer"
        first, second = (tuple(fit.layout.names[skill] for skill in scope) for scope in (stated[position], best[position].scope))
        made.append(RowCheck(names[position], first, second, *shown[position], kind, titles))
    return tuple(made)


def can_check(fit: Fit) -> bool:
    """Whether rows can be compared: there are several skills, and not too many combinations of their levels."""
    return len(fit.layout.names) > 1 and fit.layout.profiles <= PROFILES


def _with_fewer(fit: Fit, rng: np.random.Generator) -> Fit:
    """The fit with at most `PEOPLE` of its people."""
    if len(fit.people) <= PEOPLE:
        return fit
    some = np.sort(rng.choice(len(fit.people), PEOPLE, replace=False))
    kept, pattern_of = np.unique(fit.people.pattern_of[some], return_inverse=True)
    patterns = Patterns(tuple(answers[kept] for answers in fit.people.patterns.answers))
    people = replace(fit.people, patterns=patterns, pattern_of=pattern_of, names=fit.people.names[some], rows=fit.people.rows[some])
    return replace(fit, people=people)


def best_rows(fit: Fit) -> dict[int, Scope]:
    """For the position of each question that has answers the row that explains them best by BIC, as numbers of skills in the layout."""
    weights = fit.people.weights()
    return {
        one.position: max(_fits(one, weights[one.given]), key=lambda row: row.bic).scope
        for one in _each(fit.layout, fit.tables, fit.people)
    }


@dataclass(frozen=True)
class _Question:
    """One question: the patterns with an answer to it, `given`, their answers as class numbers, (given,), and P(levels | other answers) of
    the skills of each row that is tried, (given, configurations). `sizes`: the number of levels of all skills.
    """

    position: int
    classes: int
    sizes: tuple[int, ...]
    given: NDArray[np.intp]
    answers: NDArray[np.int16]
    beliefs: Mapping[Scope, Array]


def _each(layout: Layout, tables: Tables, people: People, chosen: Sequence[int] | None = None) -> Iterator[_Question]:
    """Every question that has answers, or the chosen ones."""
    posterior = profile_beliefs(layout, tables, people.patterns)
    answers = people.patterns.classes(layout)
    states = np.unravel_index(np.arange(int(layout.profiles)), layout.sizes)
    members: dict[Scope, Array] = {}
    for group, table in zip(layout.groups, tables.groups, strict=True):
        rows = _candidates(group.scope, layout.sizes)
        for scope in rows:
            if scope not in members:
                sizes = tuple(layout.sizes[skill] for skill in scope)
                members[scope] = np.eye(int(np.prod(sizes)))[np.ravel_multi_index(tuple(states[skill] for skill in scope), sizes)]
        for number, position in enumerate(group.positions.tolist()):
            given = np.flatnonzero(answers[:, position] >= 0)
            if not len(given) or (chosen is not None and position not in chosen):
                continue
            own = answers[given, position]
            others = posterior[given] / (members[group.scope] @ np.maximum(table[number], LEAST))[:, own].T
            others /= others.sum(axis=1, keepdims=True)
            yield _Question(position, group.classes, layout.sizes, given, own, {scope: others @ members[scope] for scope in rows})


def _candidates(stated: Scope, sizes: Sequence[int]) -> list[Scope]:
    """The rows that are tried: all of one and two skills, unless there are many, and those next to the stated one: a skill more, a skill
    less, or another in the place of one. The stated one is among them.
    """
    skills = set(range(len(sizes)))
    found = {frozenset(stated)}
    if len(skills) <= ALL_PAIRS:
        found |= {frozenset(row) for size in (1, 2) for row in combinations(skills, size)}
    found |= {frozenset({*stated, more}) for more in skills}
    for less in stated:
        found |= {frozenset({*stated, other} - {less}) for other in skills}
    kept = [tuple(sorted(row)) for row in found if row]
    return sorted(row for row in kept if row == stated or np.prod([sizes[skill] for skill in row]) <= ROWS)


def _fits(one: _Question, weights: Array) -> list[RowFit]:
    return [_row_fit(one, scope, weights) for scope in one.beliefs]


def _row_fit(one: _Question, scope: Scope, weights: Array) -> RowFit:
    """The best table on these skills, by EM. `weights`: how often each pattern counts, (given,)."""
    beliefs, answers, shape = one.beliefs[scope], one.answers, _shape(scope, one.sizes)
    answered = np.eye(one.classes)[answers] * weights[:, None]
    prior = answered.sum(axis=0) / answered.sum()  # one answer more at each row, so that none is impossible
    curve = np.zeros((one.classes - 1, shape.shape[1]))
    counts = beliefs.T @ answered + prior
    before, total = -np.inf, float(weights.sum())
    for _ in range(TURNS):
        table, curve = _table(counts, shape, curve)
        joint = beliefs * table[:, answers].T
        chance = joint.sum(axis=1)
        now = float(weights @ np.log(chance))
        if now - before < NEAR * total:
            break
        before = now
        counts = (joint / chance[:, None]).T @ answered + prior
    return RowFit(scope, table, now, now - curve.size / 2 * np.log(total))


def _shape(scope: Scope, sizes: Sequence[int]) -> Array:
    """What the log-odds of reaching a class may be made of, (configurations, numbers): a number for every level of every skill, and one for
    every pair of skills, by the product of their relative levels. With two levels, and one or two skills, that is every table.
    """
    levels = np.indices([sizes[skill] for skill in scope]).reshape(len(scope), -1)
    columns = [np.ones(levels.shape[1])]
    columns += [(own == level).astype(float) for own, skill in zip(levels, scope, strict=True) for level in range(1, sizes[skill])]
    heights = [own / (sizes[skill] - 1) for own, skill in zip(levels, scope, strict=True)]
    return np.stack([*columns, *(one * other for one, other in combinations(heights, 2))], axis=1)


def _table(counts: Array, shape: Array, curve: Array) -> tuple[Array, Array]:
    """The table of this shape that explains the counts, (configurations, classes), best, and its numbers, (classes - 1, numbers): two steps
    of Newton's method from those before.
    """
    if shape.shape[0] == shape.shape[1]:
        return counts / counts.sum(axis=1, keepdims=True), curve
    reached, table, found = np.ones(len(counts)), np.empty_like(counts), curve.copy()
    for step in range(counts.shape[1] - 1):
        people, passed = counts[:, step:].sum(axis=1), counts[:, step + 1 :].sum(axis=1)
        for _ in range(NEWTON):
            chance = scipy.special.expit(shape @ found[step])
            slope = shape.T @ (passed - people * chance) - RIDGE * found[step]
            bend = (shape * (people * chance * (1 - chance))[:, None]).T @ shape + RIDGE * np.eye(shape.shape[1])
            found[step] += np.clip(np.linalg.solve(bend, slope), -FARTHEST, FARTHEST)
        chance = np.clip(scipy.special.expit(shape @ found[step]), LEAST, 1 - LEAST)
        table[:, step], reached = reached * (1 - chance), reached * chance
    table[:, -1] = reached
    return table, found


def _held_out(fit: Fit, positions: Sequence[int], fold: Array) -> dict[int, Array]:
    """For each of these questions by how much the log loss of everybody who answered is smaller under the best other row, (people,)."""
    people, found = fit.people, {position: np.full(len(fit.people), np.nan) for position in positions}
    stated = {position: group.scope for group in fit.layout.groups for position in group.positions.tolist()}
    with steps(fit.layout, people.patterns) as step:
        for number in range(int(fold.max()) + 1):
            weights = people.weights(fold != number)
            tables = run(fit.layout, fit.tables, fit.aim, step, weights, TOLERANCE, ITERATIONS).tables
            for one in _each(fit.layout, tables, people, positions):
                rows = {row.scope: row for row in _fits(one, weights[one.given])}
                own = rows.pop(stated[one.position])
                other = max(rows.values(), key=lambda row: row.bic)
                gain = np.full(len(people.patterns), np.nan)
                gain[one.given] = _log_chance(one, other) - _log_chance(one, own)
                held = fold == number
                found[one.position][held] = gain[people.pattern_of[held]]
    return found


def _log_chance(one: _Question, row: RowFit) -> Array:
    """log P(answer) of every pattern, (given,)."""
    return np.asarray(np.log((one.beliefs[row.scope] * row.table[:, one.answers].T).sum(axis=1)))


def _gain(gains: Array) -> tuple[float, float, float]:
    """The mean gain of those who answered, its standard error, and the p-value of none."""
    own = gains[np.isfinite(gains)]
    mean, error = float(own.mean()), float(own.std(ddof=1) / np.sqrt(len(own)))
    return mean, error, float(scipy.special.ndtr(-mean / error)) if error > 0 else 1.0
