"""The answers of people, read once: equal rows of answers merged into *patterns*, and which pattern each person has.

A table comes wide (a row a person, a column a question), long (columns person, question, answer), or as several wide tables one after
another, so that a file of a million people need not be read at once. Where most cells are empty, patterns are kept sparse.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from quaestor.bank import Bank
from quaestor.errors import Problem, QuaestorError, format_value, nearest
from quaestor.learn.layout import Layout
from quaestor.simulate.responses import class_numbers, read_cells
from quaestor.table import Array

if TYPE_CHECKING:
    import pandas as pd

Responses: TypeAlias = "pd.DataFrame | Iterable[pd.DataFrame]"
LONG = ("person", "question", "answer")
SPARSE = 0.25  # a smaller share of answered cells is kept sparse
SMALL = 2**20  # cells; smaller tables are never sparse


@dataclass(frozen=True)
class Patterns:
    """Rows of answers. `answers`: for each group of a layout class numbers (patterns, questions), -1 for none; or, sparse, ones where
    a class was the answer (patterns, questions * classes).
    """

    answers: tuple[Any, ...]

    def __len__(self) -> int:
        return int(self.answers[0].shape[0])

    def part(self, start: int, stop: int) -> "Patterns":
        """Some of them."""
        return Patterns(tuple(answers[start:stop] for answers in self.answers))

    def classes(self, layout: Layout) -> NDArray[np.int16]:
        """Class numbers, (patterns, questions of the bank), -1 for none."""
        found = np.full((len(self), layout.questions), -1, dtype=np.int16)
        for group, answers in zip(layout.groups, self.answers, strict=True):
            if sparse.issparse(answers):
                entries = answers.tocoo()
                found[entries.row, group.places[entries.col // group.classes]] = entries.col % group.classes
            else:
                found[:, group.places] = answers
        return found


@dataclass(frozen=True)
class People:
    """Everybody who answered something: the patterns, the number of each person's pattern, and what the person is called in the table."""

    patterns: Patterns
    pattern_of: NDArray[np.intp]
    names: NDArray[Any]
    answers: int
    warnings: tuple[Problem, ...] = ()

    def __len__(self) -> int:
        return len(self.pattern_of)

    def weights(self, chosen: NDArray[np.intp] | NDArray[np.bool_] | slice = slice(None)) -> Array:
        """How often each pattern occurs among some people, (patterns,)."""
        return np.bincount(self.pattern_of[chosen], minlength=len(self.patterns)).astype(float)


def read_people(bank: Bank, layout: Layout, responses: "Responses") -> People:
    """Read and check the answers to a bank's questions."""
    if isinstance(responses, str | bytes) or not isinstance(responses, Iterable):
        raise QuaestorError(f"responses: a table with a row a person and a column a question, got {type(responses).__name__}")
    frames: Any = [responses] if hasattr(responses, "columns") else responses
    if hasattr(responses, "columns") and set(LONG) == set(responses.columns) and not set(LONG) & set(bank.questions):
        people = _read_long(bank, layout, responses)
    else:
        people = _read_wide(bank, layout, frames)
    if not len(people):
        raise QuaestorError("responses: a table has answers, got none at all")
    return replace(people, warnings=(*people.warnings, *_warnings(bank, layout, people)))


def _read_wide(bank: Bank, layout: Layout, frames: "Iterable[pd.DataFrame]") -> People:
    parts, names = [], []
    for frame in frames:
        parts.append(read_cells(bank, frame))
        names.append(np.asarray(frame.index))
    if not parts:
        raise QuaestorError("responses: a table has answers, got none at all")
    cells, called = np.concatenate(parts), np.concatenate(names)
    some: NDArray[np.bool_] = np.any(cells >= 0, axis=1)
    warnings = _without_answers(len(some) - int(some.sum()), called[~some])
    cells, called = cells[some], called[some]
    answers = int((cells >= 0).sum())
    if cells.size > SMALL and answers < SPARSE * cells.size:
        row, place = np.nonzero(cells >= 0)
        return People(_sparse(layout, row, place, cells[row, place], len(cells)), np.arange(len(cells)), called, answers, warnings)
    merged, pattern_of = np.unique(cells, axis=0, return_inverse=True)
    patterns = Patterns(tuple(np.ascontiguousarray(merged[:, group.places]) for group in layout.groups))
    return People(patterns, pattern_of.reshape(-1), called, answers, warnings)


def _read_long(bank: Bank, layout: Layout, frame: Any) -> People:
    import pandas as pd

    place = {name: number for number, name in enumerate(bank.questions)}
    questions = np.full(len(frame), -1)
    classes = np.full(len(frame), -1, dtype=np.int16)
    columns, listed = pd.factorize(frame["question"])
    for number, name in enumerate(listed):
        if name not in place:
            hint = nearest(name, place)
            rule = f"responses: row {int(np.argmax(columns == number))}: 'question' names a question of the bank"
            raise QuaestorError(f"{rule}, got {format_value(name)}" + (f" ({hint})" if hint else ""))
        rows = columns == number
        questions[rows] = place[name]
        classes[rows] = class_numbers(bank.questions[name], frame["answer"][rows])
    person, names = pd.factorize(frame["person"])
    for column, codes in (("question", columns), ("person", person)):
        if (codes < 0).any():
            raise QuaestorError(f"responses: row {int(np.argmax(codes < 0))}: '{column}' is not empty, got nothing")
    kept = classes >= 0
    cells = person[kept] * len(place) + questions[kept]
    if len(np.unique(cells)) < len(cells):
        one = np.sort(cells)[:-1][np.diff(np.sort(cells)) == 0][0]
        twice = f"two answers of {format_value(names[one // len(place)])} to {list(place)[one % len(place)]}"
        raise QuaestorError(f"responses: a person answers a question once, got {twice}")
    some = np.zeros(len(names), bool)
    some[person[kept]] = True
    row = np.cumsum(some) - 1
    patterns = _sparse(layout, row[person[kept]], questions[kept], classes[kept], int(some.sum()))
    warnings = _without_answers(int((~some).sum()), np.asarray(names)[~some])
    return People(patterns, np.arange(int(some.sum())), np.asarray(names)[some], int(kept.sum()), warnings)


def _sparse(layout: Layout, row: NDArray[np.intp], place: NDArray[np.intp], answer: NDArray[np.int16], people: int) -> Patterns:
    group_of, within = np.empty(layout.questions, dtype=np.intp), np.empty(layout.questions, dtype=np.intp)
    for number, group in enumerate(layout.groups):
        group_of[group.places], within[group.places] = number, np.arange(len(group.places))
    found = []
    for number, group in enumerate(layout.groups):
        own = group_of[place] == number
        column = within[place[own]] * group.classes + answer[own]
        shape = (people, len(group.places) * group.classes)
        found.append(sparse.csr_array((np.ones(int(own.sum())), (row[own], column)), shape=shape))
    return Patterns(tuple(found))


def _without_answers(count: int, names: NDArray[Any]) -> tuple[Problem, ...]:
    if not count:
        return ()
    rule = "people without any answer are left out"
    shown = f"{count} of them, the first in row {format_value(names[0])}"
    return (Problem("responses", rule, shown, severity="warning"),)


def _warnings(bank: Bank, layout: Layout, people: People) -> list[Problem]:
    """What cannot be learnt from these answers, and what may be a mistake in them."""
    found = []
    levels = max(layout.sizes)
    if len(people) < levels:
        rule = "there are at least as many people as a skill has levels; the bank's own numbers decide"
        found.append(Problem("responses", rule, f"{len(people)} for {levels} levels", severity="warning"))
    weights, listed = people.weights(), list(bank.questions.values())
    for group, answers in zip(layout.groups, people.patterns.answers, strict=True):
        for number, place in enumerate(group.places.tolist()):
            question = listed[place]
            if sparse.issparse(answers):
                own = answers[:, [number * group.classes + answer for answer in range(group.classes)]]
                counts = np.asarray(own.T @ weights)
            else:
                column = answers[:, number]
                counts = np.bincount(column[column >= 0], weights[column >= 0], group.classes)
            if counts.sum() == 0:
                rule = "a question has answers; its table stays as it is"
                found.append(Problem(f"responses.{question.id}", rule, "none", severity="warning"))
            elif (counts > 0).sum() == 1:
                same = question.classes[int(counts.argmax())]
                rule = "answers to a question differ; constant ones tell nothing of its levels"
                found.append(Problem(f"responses.{question.id}", rule, f"'{same}' from all {counts.sum():.0f}", severity="warning"))
    return found
