"""A bank laid out as arrays: its skills as a model, its questions as batches of one scope and class count, equal tables once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank, check_bank
from quaestor.errors import AnswerError, format_value, got, nearest
from quaestor.i18n import say
from quaestor.inference.model import Model, Scope
from quaestor.lazy import lazy
from quaestor.model.network import topological_order
from quaestor.model.question import Question
from quaestor.model.table import Array, centre

Answers = Mapping[str, str | int]
Numbers = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Batch:
    """Questions of one scope and class count. `index`: their numbers in the bank; `row`: for each the number of its table.

    `low`, `high`: P(class | configuration), shape (tables, classes, *levels of the scope), the scope in rising order; one array where all
    numbers are exact. `skills`: the scope by name.
    """

    scope: Scope
    skills: tuple[str, ...]
    index: Numbers
    row: Numbers
    low: Array
    high: Array

    @lazy
    def logs(self) -> tuple[Array, Array]:
        """Logarithms of `low` and `high`."""
        with np.errstate(divide="ignore"):
            low = np.log(self.low)
            return low, low if self.high is self.low else np.log(self.high)

    @lazy
    def are_different(self) -> bool:
        """Whether every question has a table of its own."""
        return len(self.row) == len(self.low)

    @lazy
    def columns(self) -> Numbers | slice:
        """`index`, as a slice where the questions stand at equal distances: quicker to write to."""
        steps = np.diff(self.index)
        even = len(self.index) > 1 and bool((steps == steps[0]).all())
        return slice(int(self.index[0]), int(self.index[-1]) + 1, int(steps[0])) if even else self.index

    @lazy
    def flat(self) -> Array:
        """`low` as a matrix, (tables x classes, configurations)."""
        return np.ascontiguousarray(self.low.reshape(self.low.shape[0] * self.low.shape[1], -1))

    @lazy
    def is_silent(self) -> NDArray[np.bool_]:
        """Which tables tell nothing, (tables,): their rows are exact and all equal."""
        flat = (len(self.low), self.low.shape[1], -1)
        low, high = self.low.reshape(flat), self.high.reshape(flat)
        return np.asarray(((low == high) & (low == low[:, :, :1])).all(axis=(1, 2)))

    @lazy
    def centre(self) -> "Batch":
        """The questions with the centre of each row."""
        if self.high is self.low:
            return self
        table = np.moveaxis(centre(np.moveaxis(self.low, 1, -1), np.moveaxis(self.high, 1, -1)), -1, 1)
        return Batch(self.scope, self.skills, self.index, self.row, table, table)

    @lazy
    def kept(self) -> dict[str, Any]:
        """What engines work out of the tables alone, kept by name."""
        return {}

    def without(self, skill: int, level: int) -> "Batch":
        """The questions as put to takers who have a skill at one level: the skill leaves the scope."""
        if skill not in self.scope:
            return self
        axis = self.scope.index(skill)
        low = np.take(self.low, level, axis=2 + axis)
        high = low if self.high is self.low else np.take(self.high, level, axis=2 + axis)
        scope, skills = self.scope[:axis] + self.scope[axis + 1 :], self.skills[:axis] + self.skills[axis + 1 :]
        return Batch(scope, skills, self.index, self.row, low, high)

    def some(self, tables: Numbers) -> "Batch":
        """Some of the tables, without their questions."""
        low = self.low[tables]
        return Batch(self.scope, self.skills, self.index, self.row, low, low if self.high is self.low else self.high[tables])


class Layout:
    """The skills of a bank as a model (in a topological order) and its questions as batches."""

    def __init__(self, bank: Bank) -> None:
        self.bank = bank
        order = topological_order({skill.id: skill.parents for skill in bank.skills.values()})
        self.position = {skill: number for number, skill in enumerate(order)}
        self.order = [self.position[skill] for skill in bank.skills]  # the skills of the bank by their numbers in the model
        self.questions: list[Question] = list(bank.questions.values())
        self.batches, is_precise = self._batches(order)
        skills = [bank.skills[skill] for skill in order]
        parents = tuple(tuple(self.position[parent] for parent in skill.parents) for skill in skills)
        scopes = tuple(dict.fromkeys(batch.scope for batch in self.batches))
        tables = tuple(skill.table for skill in skills)
        levels = tuple(skill.levels for skill in skills)
        self.model = Model(tuple(order), levels, parents, tables, {}, scopes, not is_precise)
        self.is_precise = self.model.is_precise
        self._batch_of = np.empty(len(self.questions), dtype=np.intp)
        self._table_of = np.empty(len(self.questions), dtype=np.intp)
        for number, batch in enumerate(self.batches):
            self._batch_of[batch.index], self._table_of[batch.index] = number, batch.row

    def _batches(self, order: list[str]) -> tuple[list[Batch], bool]:
        """The questions grouped, and whether all their numbers are exact."""
        groups: dict[tuple[tuple[str, ...], int], list[int]] = {}
        for number, question in enumerate(self.questions):
            groups.setdefault((question.skills, len(question.classes)), []).append(number)
        stacks: dict[tuple[Scope, int], tuple[list[int], list[Array]]] = {}
        for (skills, classes), listed in groups.items():
            positions = [self.position[skill] for skill in skills]
            tables = [self.questions[number].table for number in listed]
            shape = (len(listed), *tables[0].shape)
            lower = np.concatenate([table.lower for table in tables])
            exact = all(table.lower is table.upper for table in tables)
            ends = (lower, lower if exact else np.concatenate([table.upper for table in tables]))
            axes = (0, 1, len(shape), *(2 + np.argsort(positions)))
            stacked = np.transpose(np.stack([end.reshape(shape) for end in ends], axis=1), axes)  # (questions, ends, classes, *levels)
            found = stacks.setdefault((tuple(sorted(positions)), classes), ([], []))
            found[0].extend(listed)
            found[1].append(stacked)
        made = [self._batch(scope, order, np.array(listed), np.concatenate(parts)) for (scope, _), (listed, parts) in stacks.items()]
        return made, all(batch.low is batch.high for batch in made)

    @staticmethod
    def _batch(scope: Scope, order: list[str], index: Numbers, stacked: Array) -> Batch:
        ranks = np.argsort(index)  # questions of one scope whose skills are written in another order
        index, stacked = index[ranks], stacked[ranks]
        rows = np.ascontiguousarray(stacked.reshape(len(index), -1))
        packed = rows.view(np.dtype((np.void, rows.shape[1] * rows.itemsize)))[:, 0]
        _, first, row = np.unique(packed, return_index=True, return_inverse=True)
        met = np.argsort(first)  # tables in the order in which they are met
        place = np.empty_like(met)
        place[met] = np.arange(len(met))
        low, high = (np.ascontiguousarray(stacked[first[met], end]) for end in (0, 1))
        return Batch(scope, tuple(order[v] for v in scope), index, place[row.reshape(-1)], low, _one(low, high))

    @lazy
    def ids(self) -> NDArray[np.object_]:
        """The questions' ids, (questions,)."""
        return np.array(list(self.bank.questions), dtype=object)

    @lazy
    def number(self) -> dict[str, int]:
        """The number of each question, by its id."""
        return {question: number for number, question in enumerate(self.bank.questions)}

    @lazy
    def classes(self) -> Numbers:
        """How many answer classes each question has, (questions,)."""
        found = np.empty(len(self.questions), dtype=np.intp)
        for batch in self.batches:
            found[batch.index] = batch.low.shape[1]
        return found

    @lazy
    def is_scored(self) -> NDArray[np.bool_]:
        """Which questions count, (questions,): all but the pilots."""
        return np.fromiter((not question.pilot for question in self.questions), bool, len(self.questions))

    @lazy
    def of_skill(self) -> NDArray[np.bool_]:
        """Which questions are on which skill, (questions, skills in the order of the bank)."""
        found = np.zeros((len(self.questions), len(self.order)), dtype=bool)
        for batch in self.batches:
            found[np.ix_(batch.index, np.array([self.order.index(v) for v in batch.scope], dtype=np.intp))] = True
        return found

    @lazy
    def minutes(self) -> Array:
        """How long each question takes, (questions,); one minute where nothing is stated."""
        return np.array([question.minutes or 1.0 for question in self.questions])

    @lazy
    def kept(self) -> dict[Any, Any]:
        """What others work out of the bank alone, kept by name."""
        return {}

    def batch_of(self, question: int) -> tuple[Batch, int]:
        """The batch of a question, and the number of its table there."""
        return self.batches[self._batch_of[question]], int(self._table_of[question])

    def batch_numbers(self, questions: Numbers) -> tuple[Numbers, Numbers]:
        """For each question the number of its batch and of its table there."""
        return self._batch_of[questions], self._table_of[questions]

    def question_number(self, question: object) -> int:
        """The number of a question, given its id."""
        if not isinstance(question, str) or question not in self.number:
            raise AnswerError(got(say("unknown question"), format_value(question), nearest(str(question), self.number)))
        return self.number[question]

    def class_number(self, question: int, answer: object) -> int:
        """The number of an answer class of a question, given its name or its number."""
        asked = self.questions[question]
        if isinstance(answer, str):
            if answer in asked.classes:
                return asked.classes.index(answer)
        elif isinstance(answer, int | np.integer) and not isinstance(answer, bool) and 0 <= answer < len(asked.classes):
            return int(answer)
        rule = say("an answer class is one of {words}", words=", ".join(asked.classes))
        raise AnswerError.at(asked.id, got(rule, format_value(answer)))


def _one(low: Array, high: Array) -> Array:
    """The upper ends; the array of the lower ends itself where both are equal."""
    return low if np.array_equal(low, high) else high


def layout_of(bank: Bank) -> Layout:
    """The layout of a bank; it is kept with the bank."""
    check_bank(bank)
    found: Layout | None = bank.__dict__.get("_layout")
    if found is None:
        found = bank.__dict__["_layout"] = Layout(bank)
    return found
