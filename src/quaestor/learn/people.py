"""Answer patterns: equal rows of answers are merged, since inference depends on the pattern only, and each person has one pattern.

Patterns are sparse where most cells are empty.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank
from quaestor.bankfile.sentences import class_word
from quaestor.errors import Problem, QuaestorError, format_value
from quaestor.i18n import say
from quaestor.learn.answers import Responses, read_answers
from quaestor.learn.layout import Group, Layout
from quaestor.model.table import Array

__all__ = ["Patterns", "People", "Responses", "read_people", "sparse_patterns"]


@dataclass(frozen=True)
class Patterns:
    """Rows of answers, by group of a layout. `answers`: for each group class numbers (patterns, questions), -1 for no answer; or sparse
    indicators (patterns, questions * classes).
    """

    answers: tuple[Any, ...]

    def __len__(self) -> int:
        return int(self.answers[0].shape[0])

    def part(self, start: int, stop: int) -> "Patterns":
        """The patterns from `start` up to `stop`."""
        return Patterns(tuple(answers[start:stop] for answers in self.answers))

    def classes(self, layout: Layout) -> NDArray[np.int16]:
        """Class numbers, (patterns, questions of the bank), -1 for no answer."""
        found = np.full((len(self), layout.questions), -1, dtype=np.int16)
        for group, answers in zip(layout.groups, self.answers, strict=True):
            if scipy.sparse.issparse(answers):
                entries = answers.tocoo()
                found[entries.row, group.positions[entries.col // group.classes]] = entries.col % group.classes
            else:
                found[:, group.positions] = answers
        return found

    def without(self, layout: Layout, positions: Sequence[int]) -> "Patterns":
        """The patterns with no answers to the questions at these positions in the bank."""
        return Patterns(tuple(_emptied(answers, group, positions) for answers, group in zip(self.answers, layout.groups, strict=True)))


def _emptied(answers: Any, group: Group, positions: Sequence[int]) -> Any:
    within = np.flatnonzero(np.isin(group.positions, positions))
    if scipy.sparse.issparse(answers):
        kept = ~np.isin(np.arange(answers.shape[1]) // group.classes, within)
        return scipy.sparse.csr_array(answers @ scipy.sparse.diags_array(kept.astype(float)))
    found = answers.copy()
    found[:, within] = -1
    return found


@dataclass(frozen=True)
class People:
    """All people with at least one answer: `patterns`; for each person the number of the pattern, and the name and number of the row in the
    table, (people,) each; `answers`: the number of all answers; `table_rows`: that of all rows, also of people without answers.
    """

    patterns: Patterns
    pattern_of: NDArray[np.intp]
    names: NDArray[Any]
    rows: NDArray[np.intp]
    answers: int
    warnings: tuple[Problem, ...] = ()
    table_rows: int = 0

    def __len__(self) -> int:
        return len(self.pattern_of)

    def weights(self, chosen: NDArray[np.intp] | NDArray[np.bool_] | slice = slice(None)) -> Array:
        """How often each pattern occurs among the chosen people, (patterns,)."""
        return np.bincount(self.pattern_of[chosen], minlength=len(self.patterns)).astype(float)


def read_people(bank: Bank, layout: Layout, responses: "Responses") -> People:
    """Read and check the answers to a bank's questions; equal rows are merged unless they are sparse."""
    answers = read_answers(bank, responses)
    some = answers.counts > 0
    if not some.any():
        raise QuaestorError("responses: a table has answers, got none at all")
    left_out = _without_answers(len(some) - int(some.sum()), answers.names[~some])
    kept = answers.chosen(some)
    if scipy.sparse.issparse(kept.cells):
        entries = kept.cells.tocoo()
        patterns = sparse_patterns(layout, entries.row, entries.col, entries.data - 1, len(kept))
        pattern_of: NDArray[np.intp] = np.arange(len(kept))
    else:
        merged, found = np.unique(kept.cells, axis=0, return_inverse=True)
        patterns = Patterns(tuple(np.ascontiguousarray(merged[:, group.positions]) for group in layout.groups))
        pattern_of = found.reshape(-1)
    people = People(patterns, pattern_of, kept.names, np.flatnonzero(some), int(kept.counts.sum()), left_out, len(answers))
    return replace(people, warnings=(*people.warnings, *_warnings(bank, layout, people)))


def sparse_patterns(layout: Layout, row: NDArray[Any], position: NDArray[Any], answer: NDArray[np.int16], people: int) -> Patterns:
    """Sparse patterns from single answers, given by row, position of the question in the bank, and class number, (answers,) each."""
    group_of, within = np.empty(layout.questions, dtype=np.intp), np.empty(layout.questions, dtype=np.intp)
    for number, group in enumerate(layout.groups):
        group_of[group.positions], within[group.positions] = number, np.arange(len(group.positions))
    found = []
    for number, group in enumerate(layout.groups):
        own = group_of[position] == number
        column = within[position[own]] * group.classes + answer[own]
        shape = (people, len(group.positions) * group.classes)
        found.append(scipy.sparse.csr_array((np.ones(int(own.sum())), (row[own], column)), shape=shape))
    return Patterns(tuple(found))


def _without_answers(count: int, names: NDArray[Any]) -> tuple[Problem, ...]:
    if not count:
        return ()
    rule = say("people without any answer are left out")
    shown = say("{count} of them, the first in row {row}", count=count, row=format_value(names[0]))
    return (Problem("responses", rule, shown, severity="warning"),)


def _warnings(bank: Bank, layout: Layout, people: People) -> list[Problem]:
    found = []
    levels = max(layout.sizes)
    if len(people) < levels:
        rule = say("to learn levels, more people than levels are needed; so few tell hardly anything of them")
        found.append(Problem("responses", rule, say("{people} for {levels} levels", people=len(people), levels=levels), severity="warning"))
    weights, listed = people.weights(), list(bank.questions.values())
    for group, answers in zip(layout.groups, people.patterns.answers, strict=True):
        for number, position in enumerate(group.positions.tolist()):
            question = listed[position]
            if scipy.sparse.issparse(answers):
                own = answers[:, [number * group.classes + answer for answer in range(group.classes)]]
                counts = np.asarray(own.T @ weights)
            else:
                column = answers[:, number]
                counts = np.bincount(column[column >= 0], weights[column >= 0], group.classes)
            if counts.sum() == 0:
                rule = say("to learn a table, answers are needed; it stays as it is")
                found.append(Problem(f"responses.{question.id}", rule, say("none"), severity="warning", path=("responses", question.id)))
            elif (counts > 0).sum() == 1:
                same = class_word(question.classes[int(counts.argmax())])
                shown = say("'{answer}' from all {count}", answer=same, count=round(float(counts.sum())))
                rule = say("only answers that differ tell something of the levels")
                found.append(Problem(f"responses.{question.id}", rule, shown, severity="warning", path=("responses", question.id)))
    return found
