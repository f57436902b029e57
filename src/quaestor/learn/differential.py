"""Questions that work differently for groups of people: differential item functioning (DIF).

A question works differently if people at the same levels of its skills answer it differently in one group than in another. That groups
differ in skill (impact) is no such difference: each group has its own distribution of skills (see `multigroup`), and the shift of a
question is estimated at equal levels (see `tilts`), which the person's other answers tell. These other questions, the anchors, have common
tables. One that works differently is no good anchor, and makes others look different the other way. So of those that differ the clearest
third is left out and all are tested again, until no further anchor differs (purification). That levels mean the same in all groups is what
the anchors say together: a difference that most questions share cannot be told from one of skill.

Told are differences beyond chance that are not small: class B or C by the scale of Educational Testing Service. Its classes are by
delta = 2.35 * log-odds: below 1 (A, negligible), 1 to 1.5 (B, moderate), from 1.5 on (C, large); for more than two answer classes by the
difference of mean scores at the same level over the standard deviation of all scores: below 0.17, to 0.25, from there on. What is not
beyond chance is A. Differences that depend on the level (non-uniform) are told, too, if they are of at least `UNEVEN` in the mean over the
group's people, whatever the sign. Both tests of all questions together have a false discovery rate of `CHANCE`.

Sources: Holland and Wainer, eds., Differential Item Functioning (1993), there Dorans and Holland on the scale, and Thissen, Steinberg and
Wainer on tests within a latent model; Zwick, Thayer and Mazzeo (1997) on more classes.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quaestor.learn.chance import discoveries
from quaestor.learn.expect import expect
from quaestor.learn.fit import Fit
from quaestor.learn.layout import Group, Tables
from quaestor.learn.membership import FEWEST, Membership, membership
from quaestor.learn.multigroup import Rows, learnt, of_group, posteriors, rows_of, stacked
from quaestor.learn.people import Patterns
from quaestor.learn.tilts import LEAST, Answered, Shifts, shifts
from quaestor.model.table import Array

CHANCE = 0.05  # false discovery rate over both tests of all questions
DELTA = 2.35  # a difference of log-odds on the delta scale
MODERATE, LARGE = 1.0, 1.5  # delta
MODERATE_SCORE, LARGE_SCORE = 0.17, 0.25  # standard deviations
PEOPLE = 20_000  # of more people so many are looked at, evenly spread over each group
UNEVEN = 0.1  # mean size of a difference of scores that depends on the level
APART = 0.1  # groups whose shares of people at the upper of two levels differ by as much differ in skill
ANCHORS = 0.5  # of the questions at least so many stay anchors


@dataclass(frozen=True)
class Difference:
    """One question: `group` against all `others`, with the numbers of their answers.

    Of two groups the second is told, by their names; of more, the one that differs most from all others. `points`: the difference of the
    mean score (the share right) at the same levels, those of the group; `log_odds`: that of log-odds (of the best class against the
    worst), with standard `error`; `chance`: the p-value of no difference between any groups, NaN where too few have answered; `size`: A,
    B or C. `uneven`: the p-value of a difference that is the same at all levels; `lowest` and `highest`: as `points`, at the lowest and the
    highest levels, if it may depend on them; `is_uneven`: whether it does.
    """

    question: str
    group: str
    others: str
    answers: int
    answers_of_others: int
    points: float
    log_odds: float
    error: float
    chance: float
    size: str
    uneven: float
    lowest: float
    highest: float
    is_uneven: bool
    classes: int

    @property
    def delta(self) -> float:
        """The difference of log-odds on the delta scale; below 0 the question is harder for the group."""
        return DELTA * self.log_odds

    @property
    def is_told(self) -> bool:
        """Whether it is beyond chance and not small."""
        return self.size != "A" or self.is_uneven

    @property
    def words(self) -> str:
        """What was found; empty if nothing was."""
        if not self.is_told:
            return ""
        if self.is_uneven:
            low, high = self._compared(self.lowest), self._compared(self.highest)
            return (
                f"It works differently for {self.group} than for {self.others}, by the level: at the lowest {low}, at the highest {high}."
            )
        return f"It works differently for {self.group} than for {self.others}: at the same level {self._compared(self.points)}."

    def _compared(self, points: float) -> str:
        count = round(100 * abs(points))
        if self.classes > 2:
            return f"the mean score is {count} in 100 {'higher' if points > 0 else 'lower'}"
        return f"{count} in 100 {'more' if points > 0 else 'fewer'} answer it right"


@dataclass(frozen=True)
class Differences:
    """All questions between groups: `labels` and numbers of `people`; `questions` in the order of the bank; `anchors`: those by which
    people were matched; `notes`: what a reader must know, in words.
    """

    labels: tuple[str, ...]
    people: tuple[int, ...]
    questions: tuple[Difference, ...]
    anchors: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def told(self) -> tuple[Difference, ...]:
        """The questions that work differently, the largest differences first."""
        return tuple(sorted((one for one in self.questions if one.is_told), key=lambda one: -abs(one.log_odds)))


def differences(fit: Fit, groups: Iterable[Any]) -> Differences:
    """Which questions work differently for groups of people: `groups` has a label for each row of the answers (see `membership`)."""
    member = membership(fit.people, groups)
    people = [rows_of(fit, _some(member, number)) for number in range(len(member.labels))]
    classes = np.concatenate([one.patterns.classes(fit.layout) for one in people])
    left_out: list[str] = []
    most = int((1 - ANCHORS) * len(fit.bank.questions))
    tables, notes = stacked(fit.tables, len(people)), list(member.notes)
    while True:
        tables = learnt(fit, [one.without(fit.layout, _positions(fit, left_out)) for one in people], tables)
        found = _tested(fit, member, people, classes, tables, left_out)
        further = [one for one in found if one.is_told and one.question not in left_out]
        if not further:
            break
        if len(left_out) >= most:
            notes.append(
                "Half of the questions work differently, so that hardly any are left by which people can be matched: do not rely on which."
            )
            break
        clearest = sorted(further, key=lambda one: min(one.chance, one.uneven))[: min(-(-len(further) // 3), most - len(left_out))]
        left_out += [one.question for one in clearest]
    if _is_coarse(fit, tables, len(people)):
        notes.append("With two levels only, groups that differ in skill can look as if questions differed: learn three levels or more.")
    sizes = np.bincount(member.group[member.group >= 0])
    anchors = tuple(name for name in fit.bank.questions if name not in left_out)
    return Differences(member.labels, tuple(sizes.tolist()), tuple(found), anchors, tuple(notes))


def _is_coarse(fit: Fit, tables: Tables, groups: int) -> bool:
    """Whether groups differ in a skill of two levels, whose people are too unlike within a level."""
    nobody = Patterns(tuple(np.full((1, len(group.positions)), -1) for group in fit.layout.groups))
    shares = [expect(fit.layout, of_group(tables, number, groups), nobody, np.ones(1)).counts.skills for number in range(groups)]
    upper = [[float(table[:, -1].sum()) for table in one if table.shape[1] == 2] for one in shares]
    return bool(upper[0]) and float(np.ptp(np.array(upper), axis=0).max()) >= APART


def _some(member: Membership, number: int) -> NDArray[np.intp]:
    """The people of a group who are looked at."""
    own = np.flatnonzero(member.group == number)
    most = max(PEOPLE // len(member.labels), FEWEST)
    return own if len(own) <= most else own[np.linspace(0, len(own) - 1, most).astype(np.intp)]


def _positions(fit: Fit, names: Iterable[str]) -> list[int]:
    listed = list(fit.bank.questions)
    return [listed.index(name) for name in names]


def _tested(
    fit: Fit, member: Membership, people: list[Rows], classes: NDArray[np.int16], tables: Tables, left_out: list[str]
) -> list[Difference]:
    """All questions, in the order of the bank; `classes`: all answers, (rows, questions)."""
    inside = Tables(tables.skills, tuple(_inside(table) for table in tables.groups))
    emptied = [one.without(fit.layout, _positions(fit, left_out)) for one in people]
    beliefs = np.concatenate([posteriors(fit.layout, of_group(inside, number, len(people)), one) for number, one in enumerate(emptied)])
    group_of = np.repeat(np.arange(len(people)), [len(one.weights) for one in people])
    weights = np.concatenate([one.weights for one in people])
    names = list(fit.bank.questions)
    made: list[tuple[Shifts, NDArray[np.intp], Array] | None] = [None] * len(names)
    for group, table, learnt_table in zip(fit.layout.groups, inside.groups, fit.tables.groups, strict=True):
        for within, position in enumerate(group.positions.tolist()):
            answer = classes[:, position]
            counts = np.bincount(group_of[answer >= 0], weights[answer >= 0], len(people))
            kept = np.flatnonzero(counts >= FEWEST)
            rows = np.flatnonzero((answer >= 0) & np.isin(group_of, kept))
            if len(kept) < 2 or len(np.unique(answer[rows])) < 2:
                continue
            at = beliefs[rows][:, group.block]
            if names[position] not in left_out:
                at = at / table[within][:, answer[rows]].T
                at = at / at.sum(axis=1, keepdims=True)
            own = np.searchsorted(kept, group_of[rows])
            one = Answered(at, own, answer[rows].astype(np.intp), weights[rows], _inside(learnt_table[within]), _heights(group))
            made[position] = shifts(one), kept, counts[kept].astype(float)
    chances = np.array([(np.nan, np.nan) if one is None else (one[0].chance, one[0].uneven) for one in made])
    beyond = discoveries(chances.reshape(-1), CHANCE).reshape(-1, 2).tolist()
    return [_difference(fit, member, name, one, *is_beyond) for name, one, is_beyond in zip(names, made, beyond, strict=True)]


def _inside(table: Array) -> Array:
    kept = np.maximum(table, LEAST)
    return np.asarray(kept / kept.sum(axis=-1, keepdims=True))


def _heights(group: Group) -> Array:
    """The relative level of each skill at each configuration, (configurations, skills), from 0 to 1."""
    grids = np.meshgrid(*(np.linspace(0, 1, size) for size in group.sizes), indexing="ij")
    return np.stack([grid.reshape(-1) for grid in grids], axis=1)


def _difference(
    fit: Fit, member: Membership, name: str, made: tuple[Shifts, NDArray[np.intp], Array] | None, beyond: bool, beyond_even: bool
) -> Difference:
    classes = len(fit.bank.questions[name].classes)
    if made is None:
        none = float("nan")
        return Difference(name, "", "", 0, 0, none, none, none, none, "A", none, none, none, False, classes)
    found, kept, counts = made
    number = 1 if len(kept) == 2 else int(np.argmax(np.abs(found.log_odds) / found.errors))
    log_odds, points = float(found.log_odds[number]), float(found.points[number])
    scale, bounds = abs(DELTA * log_odds), (MODERATE, LARGE)
    if classes > 2:
        scale, bounds = abs(points) / found.spread, (MODERATE_SCORE, LARGE_SCORE)
    return Difference(
        question=name,
        group=member.labels[kept[number]],
        others=member.labels[kept[0]] if len(kept) == 2 else "the others",
        answers=round(float(counts[number])),
        answers_of_others=round(float(counts.sum() - counts[number])),
        points=points,
        log_odds=log_odds,
        error=float(found.errors[number]),
        chance=found.chance,
        size="ABC"[beyond * sum(scale >= bound for bound in bounds)],
        uneven=found.uneven,
        lowest=float(found.lowest[number]),
        highest=float(found.highest[number]),
        is_uneven=beyond_even and float(found.unsigned[number]) >= UNEVEN,
        classes=classes,
    )
