"""People whose answers do not fit: easy questions missed and hard ones solved, more often than by chance in people who follow the bank.

The statistic is the standardised log-likelihood l_z (Drasgow, Levine and Williams 1985), averaged over the levels that a person's answers
point to: with q = P(levels | answers), L the log-likelihood of the answers at these levels, and e and v its mean and variance over answers
drawn there, - sum q (L - e) / sqrt(sum q v). So answers are strange if they are so at the levels that suit them best. (The strangeness of
`quaestor.inference.misfit`, for one session, takes the most probable levels only.)

With levels estimated from the same answers it is not standard normal. So it is compared with people drawn from the learnt bank, levels and
answers, who answer the same questions: if the bank is right, the p-values are uniform, whatever the questions. Where people answered
different questions, everybody is first compared with people drawn for all these sets of questions together, and those who then look strange
with people drawn for their own. Beyond the largest fortieth of the drawn values the tail is taken as exponential. Told are people at a
false discovery rate of 5 %. A test that chooses its questions by the answers makes p-values inexact.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quaestor.i18n import say
from quaestor.learn.chance import discoveries
from quaestor.learn.drawing import drawn
from quaestor.learn.expect import batch, beliefs, chosen_answers, scores_of
from quaestor.learn.fit import Fit
from quaestor.learn.layout import Layout, Tables
from quaestor.learn.people import Patterns
from quaestor.model.table import Array

CHANCE = 0.05  # false discovery rate over all people
FEWEST = 5  # answers of a person who is looked at
DRAWS = 20_000  # people drawn for all sets of questions together
OWN = (200, 2_000)  # and for one set, for people who look strange, at least and at most
CELLS = 5 * 10**8  # questions times people drawn for single sets
STRANGE = 0.02  # who are these: the p-value beside all
TAIL = 40  # of so many drawn values the largest are those by which the tail is continued
EASY, HARD = 0.75, 0.25  # P(best class | the other answers): at least, at most
NAMED = 5  # questions that a sentence names
LEAST = 1e-6  # the smallest probability of an answer
_EXCESS = 0.2  # standard deviations by which the tail is continued at least, where few questions give few values


@dataclass(frozen=True)
class Stranger:
    """A person whose answers do not fit. `row`: the number of the row in the table of answers; `size`: l_z with its sign turned, large if
    strange; `chance`: its p-value; `missed` and `solved`: questions missed although, by the person's other answers, at least three in four
    would solve them, and solved although at most one in four would.
    """

    person: Any
    row: int
    answers: int
    size: float
    chance: float
    missed: tuple[str, ...]
    solved: tuple[str, ...]

    @property
    def words(self) -> str:
        """What is odd, in a sentence."""
        return say(
            "{person}: of {answers} answers {missed} {missed:is|are} wrong where people with such answers are mostly right{these}, and"
            " {solved} {solved:is|are} right where they are mostly wrong{those}.",
            person=str(self.person),
            answers=self.answers,
            missed=len(self.missed),
            these=_listed(self.missed),
            solved=len(self.solved),
            those=_listed(self.solved),
        )


def _listed(questions: tuple[str, ...]) -> str:
    if not questions:
        return ""
    return f" ({', '.join(questions[:NAMED])}{', ...' if len(questions) > NAMED else ''})"


def strangers(fit: Fit, rng: np.random.Generator) -> tuple[Stranger, ...]:
    """The people whose answers do not fit, the least fitting first; `rng` draws those they are compared with."""
    sizes, chances = person_fit(fit, rng)
    told = np.flatnonzero(discoveries(chances, CHANCE))
    found = []
    for one in told[np.lexsort((-sizes[told], chances[told]))].tolist():
        pattern = fit.people.pattern_of[one]
        classes = fit.people.patterns.part(pattern, pattern + 1).classes(fit.layout)[0]
        missed, solved = _surprises(fit, classes)
        name, row = fit.people.names[one], int(fit.people.rows[one])
        found.append(Stranger(name, row, int((classes >= 0).sum()), float(sizes[one]), float(chances[one]), missed, solved))
    return tuple(found)


def person_fit(fit: Fit, rng: np.random.Generator) -> tuple[Array, Array]:
    """How strange the answers of each person are, and the p-value of as strange ones, (people,) each; NaN with few answers."""
    layout, tables, patterns = fit.layout, _inside(fit.tables), fit.people.patterns
    step = batch(layout)
    starts = range(0, len(patterns), step)
    sizes = np.concatenate([strangeness(layout, tables, patterns.part(start, start + step).classes(layout)) for start in starts])
    answers = np.concatenate([(patterns.part(start, start + step).classes(layout) >= 0).sum(axis=1) for start in starts])
    looked = answers >= FEWEST
    chances = np.full(len(patterns), np.nan)
    if not looked.any():
        return chances[fit.people.pattern_of], chances[fit.people.pattern_of]
    weights = fit.people.weights() * looked
    owners = np.sort(rng.choice(len(patterns), size=min(DRAWS, 32 * step), p=weights / weights.sum()))
    chances[looked] = tails(sizes[looked], _drawn_sizes(layout, tables, patterns, owners, rng))
    if (answers < layout.questions).any():
        strange = np.flatnonzero(looked & (chances <= STRANGE))
        draws = int(np.clip(CELLS // max(len(strange) * layout.questions, 1), *OWN))
        for one in strange.tolist():
            own = _drawn_sizes(layout, tables, patterns, np.full(draws, one), rng)
            chances[one] = tails(sizes[one : one + 1], own)[0]
    sizes = np.where(looked, sizes, np.nan)
    return sizes[fit.people.pattern_of], chances[fit.people.pattern_of]


def strangeness(layout: Layout, tables: Tables, classes: NDArray[np.int16]) -> Array:
    """How strange answers are at the levels they point to, (people,). `classes`: (people, questions), -1 for none."""
    patterns = Patterns(tuple(np.ascontiguousarray(classes[:, group.positions]) for group in layout.groups))
    apart, variance = scores_of(layout, tables, chosen_answers(layout, patterns)), np.zeros((len(classes), layout.width))
    for group, table, answers in zip(layout.groups, tables.groups, patterns.answers, strict=True):
        logs, given = np.log(table), (answers >= 0).astype(float)
        mean = (table * logs).sum(axis=2)
        apart[:, group.block] -= given @ mean
        variance[:, group.block] += given @ ((table * logs**2).sum(axis=2) - mean**2)
    levels = beliefs(layout, tables, patterns)[1]
    found: Array = -(levels * apart).sum(axis=1) / np.sqrt(np.maximum((levels * variance).sum(axis=1), LEAST))
    return found


def tails(sizes: Array, null: Array) -> Array:
    """P-values of sizes, (tests,), by the share of values of the null distribution that are at least as large."""
    ordered = np.sort(null)
    found = (1 + len(ordered) - np.searchsorted(ordered, sizes - 1e-9)) / (1 + len(ordered))
    largest = ordered[-max(len(ordered) // TAIL, 1) :]
    last = largest[0]
    excess = max(float((largest - last).mean()), _EXCESS * float(ordered.std()), 1e-12)
    beyond = len(largest) / len(ordered) * np.exp(-np.maximum(sizes - last, 0) / excess)
    return np.asarray(np.where(sizes > last, beyond, found))


def _drawn_sizes(layout: Layout, tables: Tables, patterns: Patterns, owners: NDArray[np.intp], rng: np.random.Generator) -> Array:
    """The strangeness of drawn people who answer the questions of the patterns `owners`, (people,)."""
    found, step = [], batch(layout)
    for start in range(0, len(owners), step):
        some = owners[start : start + step]
        asked = Patterns(tuple(answers[some] for answers in patterns.answers)).classes(layout) >= 0
        found.append(strangeness(layout, tables, np.where(asked, drawn(layout, tables, len(some), rng), np.int16(-1))))
    return np.concatenate(found)


def _inside(tables: Tables) -> Tables:
    kept = [np.maximum(table, LEAST) for table in tables.groups]
    return Tables(tables.skills, tuple(table / table.sum(axis=-1, keepdims=True) for table in kept))


def _surprises(fit: Fit, classes: NDArray[np.int16]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The easy questions missed and the hard ones solved, by P(best class | the other answers)."""
    asked = np.flatnonzero(classes >= 0)
    others = np.repeat(classes[None], len(asked), axis=0)
    others[np.arange(len(asked)), asked] = -1
    patterns = Patterns(tuple(np.ascontiguousarray(others[:, group.positions]) for group in fit.layout.groups))
    levels = beliefs(fit.layout, fit.tables, patterns)[1]
    best, top = np.zeros(fit.layout.questions), np.zeros(fit.layout.questions)
    row = {position: number for number, position in enumerate(asked.tolist())}
    for group, table in zip(fit.layout.groups, fit.tables.groups, strict=True):
        top[group.positions] = group.classes - 1
        for within, position in enumerate(group.positions.tolist()):
            if position in row:
                best[position] = levels[row[position], group.block] @ table[within][:, -1]
    names = np.array(list(fit.bank.questions))
    missed = asked[(best[asked] >= EASY) & (classes[asked] < top[asked])]
    solved = asked[(best[asked] <= HARD) & (classes[asked] == top[asked])]
    return tuple(names[missed].tolist()), tuple(names[solved].tolist())
