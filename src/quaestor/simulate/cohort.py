"""Simulated students: their levels and answers are drawn before the test begins (common random numbers).

A student is a true level for every skill and one uniform number for every question, which decides the answer whenever that question is
asked. So all methods are compared on the same students, whatever they ask and in which order. Each student has an own generator, made from
the seed and the student's number, so results do not depend on the number of students.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank
from quaestor.credal.intervals import pick
from quaestor.errors import QuaestorError
from quaestor.lazy import lazy
from quaestor.model.network import topological_order
from quaestor.model.table import Array, Table
from quaestor.simulate.identity import Identity

Levels = NDArray[np.intp]


@dataclass(frozen=True)
class Behaviour:
    """Deviations of the students' answers from the bank's model; they can be combined.

    `fatigue`: with each earlier question, this share of the answers is given as by somebody at the lowest levels. `guessing`: this share of
    the answers is drawn uniformly from the classes. `slips`: this share is of the worst class. `skipping`: this share is skipped.
    `reveals`: a question, once asked, reveals the best answer to other questions to a share of the students.
    """

    fatigue: float = 0.0
    guessing: float = 0.0
    slips: float = 0.0
    skipping: float = 0.0
    reveals: Mapping[str, Mapping[str, float]] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        shares = {name: getattr(self, name) for name in ("fatigue", "guessing", "slips", "skipping")}
        shares |= {f"reveals.{one}.{other}": share for one, given in self.reveals.items() for other, share in given.items()}
        for name, share in shares.items():
            if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
                raise QuaestorError(f"behaviour.{name}: a share between 0 and 1, got {share!r}")


@dataclass(frozen=True)
class Students:
    """Some students of a cohort: true `levels`, (students, skills), uniform numbers `luck` for their answers and `moods` for their
    behaviour, (students, questions) each, and the `seeds` of their sessions.

    `tables`: for each question P(class | true levels), (students, classes); `lowest`: at the lowest levels. `given`: answer classes of real
    people, (students, questions).
    """

    numbers: NDArray[np.intp]
    levels: Levels
    luck: Array
    moods: Array
    seeds: tuple[int, ...]
    tables: tuple[Array, ...]
    lowest: tuple[Array, ...]
    given: NDArray[np.intp] | None = None


class Cohort:
    """Students drawn from the network of a `source` bank, or from its centre if it is credal; `apart`: each from a random network of the
    credal set.

    `levels`: true levels, (students, skills), instead of drawn ones. `responses`: answer classes of real people, (students, questions), -1
    for no answer; their levels are unknown (-1).
    """

    def __init__(
        self,
        bank: Bank,
        source: Bank,
        students: int,
        seed: int,
        apart: bool = False,
        levels: Levels | None = None,
        responses: NDArray[np.intp] | None = None,
    ) -> None:
        self._bank, self._source, self._count, self._seed = bank, source, students, seed
        self._apart, self._levels, self._responses = apart and not source.is_precise, levels, responses
        self._skills = tuple(bank.skills)

    def __len__(self) -> int:
        return self._count

    @property
    def fingerprint(self) -> str:
        """A hash of the given levels or responses; empty for drawn students."""
        given = [array for array in (self._levels, self._responses) if array is not None]
        return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in given)).hexdigest()[:16] if given else ""

    @property
    def identity(self) -> Identity:
        """The identity of these students, to compare simulations only on the same ones."""
        questions = tuple(self._bank.questions)
        if self._responses is not None:
            return Identity.of_people(questions, self._responses)
        return Identity.drawn(self._count, self._seed, questions, len(self._source.skills))

    def part(self, start: int, stop: int) -> Students:
        """The students from number `start` up to `stop`."""
        numbers = np.arange(start, min(stop, self._count))
        skills, questions = len(self._source.skills), len(self._bank.questions)
        uniform = np.empty((len(numbers), skills + 2 * questions))
        seeds = []
        for row, number in enumerate(numbers.tolist()):
            rng = np.random.default_rng([self._seed, number])
            uniform[row] = rng.random(uniform.shape[1])
            seeds.append(int(rng.integers(2**31)))
        own = self._networks(numbers) if self._apart else None
        luck, moods = uniform[:, skills : skills + questions], uniform[:, skills + questions :]
        if self._responses is not None:
            unknown = np.full((len(numbers), len(self._skills)), -1)
            return Students(numbers, unknown, luck, moods, tuple(seeds), (), (), self._responses[numbers])
        known = self._levels[numbers] if self._levels is not None else None
        levels = self._draw(uniform[:, :skills], own, known)
        asked = [self._source.questions[name] for name in self._bank.questions]
        columns = [tuple(levels[skill] for skill in question.skills) for question in asked]
        bottom = [tuple(np.zeros_like(column) for column in listed) for listed in columns]
        tables = tuple(self._rows(question.id, at, own) for question, at in zip(asked, columns, strict=True))
        lowest = tuple(self._rows(question.id, at, own) for question, at in zip(asked, bottom, strict=True))
        measured = np.stack([levels[skill] for skill in self._skills], axis=1)
        return Students(numbers, measured, luck, moods, tuple(seeds), tables, lowest)

    @lazy
    def _centres(self) -> dict[str, Array]:
        return {name: table.centre().lower for name, table in self._tables.items()}

    @lazy
    def _tables(self) -> dict[str, Table]:
        return {variable.name: variable.table for variable in self._source.network.variables}

    def _networks(self, numbers: NDArray[np.intp]) -> list[dict[str, Array]]:
        """For each student precise tables of a network of the credal set: a random mixture of the vertices of every row."""
        found = []
        for number in numbers.tolist():
            rng = np.random.default_rng([self._seed, number, 1])
            found.append({name: _inside(table, rng) for name, table in self._tables.items()})
        return found

    def _rows(self, name: str, at: tuple[NDArray[np.intp], ...], own: list[dict[str, Array]] | None) -> Array:
        """P(. | parents' levels) for each student, (students, states)."""
        if own is None:
            return self._centres[name][at]
        return np.stack([tables[name][tuple(column[row] for column in at)] for row, tables in enumerate(own)])

    def _draw(self, uniform: Array, own: list[dict[str, Array]] | None, known: Levels | None) -> dict[str, NDArray[np.intp]]:
        """True levels of every skill of the source, (students,) each: the known ones, and the others drawn given their parents."""
        levels: dict[str, NDArray[np.intp]] = {}
        if known is not None:
            levels = {skill: known[:, place] for place, skill in enumerate(self._skills)}
        order = topological_order({skill.id: skill.parents for skill in self._source.skills.values()})
        for place, skill in enumerate(order):
            if skill not in levels:
                rows = self._rows(skill, tuple(levels[parent] for parent in self._source.skills[skill].parents), own)
                levels[skill] = pick(np.broadcast_to(rows, (len(uniform), rows.shape[-1])), uniform[:, place])
        return levels


def _inside(table: Table, rng: np.random.Generator) -> Array:
    rows = [rng.dirichlet(np.ones(len(points))) @ points for points in (table.row_vertices(row) for row in range(table.rows))]
    return np.array(rows).reshape(table.shape)
