"""Simulated students: their levels and answers are drawn before the test begins (common random numbers).

A student is a true level for every skill and one uniform number for every question, which decides the answer whenever that question is
asked. So all methods are compared on the same students, whatever they ask and in which order. Each student has an own generator, made from
the seed and the student's number, so results do not depend on the number of students.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank
from quaestor.credal.intervals import pick
from quaestor.inference.layout import Numbers
from quaestor.lazy import lazy
from quaestor.model.network import topological_order
from quaestor.model.table import Array, Table
from quaestor.simulate.answering import Asking
from quaestor.simulate.identity import Identity
from quaestor.streams import Factors, Streams, places, seeds_of

Levels = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Students:
    """Some students of a cohort: true `levels`, (students, skills), and how they answer, `asking`.

    `given`: answer classes of real people, (students, questions), who answer as they did.
    """

    numbers: NDArray[np.intp]
    levels: Levels
    streams: Streams
    seed_place: Factors
    asking: Asking | None
    given: NDArray[np.intp] | None = None

    @lazy
    def seeds(self) -> NDArray[np.int64]:
        """The seeds of their sessions."""
        count = len(self.numbers)
        return seeds_of(self.streams.bits(self.seed_place, np.arange(count), np.zeros(count, dtype=np.intp)))


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
        self.is_apart, self._levels, self._responses = apart and not source.is_precise, levels, responses
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
        streams = Streams.of(self._seed, numbers)
        if self._responses is not None:
            unknown = np.full((len(numbers), len(self._skills)), -1)
            return Students(numbers, unknown, streams, self._places[2], None, self._responses[numbers])
        own = self._networks(numbers) if self.is_apart else None
        known = self._levels[numbers] if self._levels is not None else None
        levels = self._draw(streams, own, known)
        measured = np.stack([levels[skill] for skill in self._skills], axis=1)
        return Students(numbers, measured, streams, self._places[2], self._asking(streams, levels, own))

    @lazy
    def _places(self) -> tuple[Factors, Factors, Factors]:
        """Where the numbers of the questions' luck stand in every stream, those of the moods, and the seed."""
        skills, questions = len(self._source.skills), len(self._bank.questions)
        found = places(range(skills, skills + 2 * questions + 1))
        return found[:, :questions], found[:, questions:-1], found[:, -1:]

    def _asking(self, streams: Streams, levels: dict[str, NDArray[np.intp]], own: list[dict[str, Array]] | None) -> Asking:
        """How students of these levels answer."""
        scopes, scope_of, first, classes, rows = self._questions
        sizes = {skill.id: len(skill.levels) for skill in self._source.skills.values()}
        at = [np.ravel_multi_index([levels[skill] for skill in scope], [sizes[skill] for skill in scope]) for scope in scopes]
        if own is not None:
            rows = np.stack([self._stacked(tables) for tables in own])
        luck, moods, _ = self._places
        return Asking(streams, rows, first, scope_of, classes, luck, moods, np.ascontiguousarray(np.stack(at, axis=1)))

    @lazy
    def _questions(self) -> tuple[list[tuple[str, ...]], Numbers, Numbers, Numbers, Array]:
        """The scopes of the questions, and for each question its scope, its first row, the number of its classes; and the rows."""
        asked = [self._source.questions[name] for name in self._bank.questions]
        number: dict[tuple[str, ...], int] = {}
        scope_of = np.array([number.setdefault(question.skills, len(number)) for question in asked])
        classes = np.array([len(question.classes) for question in asked])
        count = np.array([question.table.rows for question in asked])
        return list(number), scope_of, np.cumsum(count) - count, classes, self._stacked(self._centres)

    def _stacked(self, tables: Mapping[str, Array]) -> Array:
        """The rows of all questions, one after another, (rows, most classes); 0 beyond the last class."""
        found = [tables[name].reshape(-1, tables[name].shape[-1]) for name in self._bank.questions]
        most = max(rows.shape[1] for rows in found)
        if all(rows.shape[1] == most for rows in found):
            return np.concatenate(found)
        return np.concatenate([np.pad(rows, ((0, 0), (0, most - rows.shape[1]))) for rows in found])

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

    def _draw(self, streams: Streams, own: list[dict[str, Array]] | None, known: Levels | None) -> dict[str, NDArray[np.intp]]:
        """True levels of every skill of the source, (students,) each: the known ones, and the others drawn given their parents."""
        levels: dict[str, NDArray[np.intp]] = {}
        if known is not None:
            levels = {skill: known[:, place] for place, skill in enumerate(self._skills)}
        order = topological_order({skill.id: skill.parents for skill in self._source.skills.values()})
        count, factors = streams.states.shape[1], places(range(len(order)))
        for place, skill in enumerate(order):
            if skill not in levels:
                rows = self._rows(skill, tuple(levels[parent] for parent in self._source.skills[skill].parents), own)
                uniform = streams.uniform(factors, np.arange(count), np.full(count, place))
                levels[skill] = pick(np.broadcast_to(rows, (count, rows.shape[-1])), uniform)
        return levels


def _inside(table: Table, rng: np.random.Generator) -> Array:
    rows = [rng.dirichlet(np.ones(len(points))) @ points for points in (table.row_vertices(row) for row in range(table.rows))]
    return np.array(rows).reshape(table.shape)
