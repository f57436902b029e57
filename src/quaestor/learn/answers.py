"""Tables of answers, read once and stored compactly: class numbers, as a sparse matrix where most cells are empty.

A table is wide (a row a person, a column a question) or long (columns person, question, answer), and given whole or as an iterable of
parts. Each part is compressed as soon as it is read, so a file of a million people is never in memory as a whole.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError, format_value, nearest
from quaestor.extras import from_extra
from quaestor.simulate.responses import class_numbers, read_cells

if TYPE_CHECKING:
    import pandas as pd

Classes: TypeAlias = NDArray[np.int16]  # (people, questions), -1 for none
LONG = ("person", "question", "answer")
SPARSE = 0.25  # tables with a smaller share of answered cells are stored sparse
SMALL = 2**20  # cells; smaller tables are never sparse
ROWS = 2**16  # rows of a whole table that are read together
_NONE = "responses: a table has answers, got none at all"


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers of all people to the questions `columns`, in the order of a bank.

    `cells`, (people, questions): class numbers, -1 for no answer; or, sparse, class numbers plus one. `classes`: the class names of each
    question. `names`: the row names of the people, (people,).
    """

    columns: tuple[str, ...]
    classes: tuple[tuple[str, ...], ...]
    cells: Any
    names: NDArray[Any]

    def __len__(self) -> int:
        return int(self.cells.shape[0])

    @property
    def counts(self) -> NDArray[np.intp]:
        """The number of questions that each person answered, (people,)."""
        found: NDArray[np.intp] = np.diff(self.cells.indptr) if scipy.sparse.issparse(self.cells) else (self.cells >= 0).sum(axis=1)
        return found

    @property
    def class_numbers(self) -> Classes:
        """Class numbers, (people, questions), -1 for no answer."""
        return _dense(self.cells)

    def chosen(self, people: NDArray[np.bool_]) -> "Answers":
        """The answers of the people whose entry in the mask, (people,), is true."""
        return replace(self, cells=self.cells[np.flatnonzero(people)], names=self.names[people])

    def drawn(self, rng: np.random.Generator) -> "Answers":
        """The answers of as many people, drawn with replacement."""
        people = rng.integers(len(self), size=len(self))
        return replace(self, cells=self.cells[people], names=self.names[people])

    def without(self, rows: NDArray[np.intp], positions: NDArray[np.intp]) -> "Answers":
        """The answers with the cells (rows[i], positions[i]) emptied."""
        if not scipy.sparse.issparse(self.cells):
            cells = self.cells.copy()
            cells[rows, positions] = -1
            return replace(self, cells=cells)
        entries, questions = self.cells.tocoo(), len(self.columns)
        kept = ~np.isin(entries.row.astype(np.int64) * questions + entries.col, rows.astype(np.int64) * questions + positions)
        data = (entries.data[kept], (entries.row[kept], entries.col[kept]))
        return replace(self, cells=scipy.sparse.csr_array(data, shape=self.cells.shape))


Responses: TypeAlias = "pd.DataFrame | Iterable[pd.DataFrame] | Answers"


def is_long(frame: Any) -> bool:
    """Whether a table is long: a row an answer, with the columns person, question, answer."""
    return set(LONG) == set(frame.columns)


def read_answers(bank: Bank, responses: "Responses") -> Answers:
    """The checked answers to a bank's questions, from a table, several tables, or answers read for a bank with the same questions."""
    if isinstance(responses, Answers):
        return _fitted(bank, responses)
    if isinstance(responses, str | bytes) or not isinstance(responses, Iterable):
        raise QuaestorError(f"responses: a table with a row a person and a column a question, got {type(responses).__name__}")
    frames: Iterator[Any] = _parts(responses) if hasattr(responses, "columns") else iter(responses)
    first = next(frames, None)
    if first is None:
        raise QuaestorError(_NONE)
    together = chain([first], frames)
    if hasattr(first, "columns") and is_long(first) and not set(LONG) & set(bank.questions):
        return _read_long(bank, together)
    return _read_wide(bank, together)


def _parts(frame: Any) -> "Iterator[pd.DataFrame]":
    return (frame.iloc[start : start + ROWS] for start in range(0, max(len(frame), 1), ROWS))


def _fitted(bank: Bank, answers: Answers) -> Answers:
    """The answers reordered for another bank that has the same questions and classes."""
    wanted = tuple(question.classes for question in bank.questions.values())
    if answers.columns == tuple(bank.questions) and answers.classes == wanted:
        return answers
    position = {name: number for number, name in enumerate(answers.columns)}
    for name, classes in zip(answers.columns, answers.classes, strict=True):
        if name not in bank.questions:
            raise QuaestorError(f"responses: a column is a question of the bank, got '{name}'")
        if bank.questions[name].classes != classes:
            rule = f"responses: the classes of {name} are {', '.join(bank.questions[name].classes)}"
            raise QuaestorError(f"{rule}, got {', '.join(classes)}")
    for name in bank.questions:
        if name not in position:
            raise QuaestorError(f"responses: every question of the bank has a column, got none of '{name}'")
    cells = answers.cells[:, [position[name] for name in bank.questions]]
    return replace(answers, columns=tuple(bank.questions), classes=wanted, cells=cells)


def _read_wide(bank: Bank, frames: "Iterable[pd.DataFrame]") -> Answers:
    parts, names = [], []
    first = 0
    for frame in frames:
        parts.append(_small(read_cells(bank, frame, first)))
        names.append(np.asarray(frame.index))
        first += len(frame)
    return _answers(bank, _joined(parts), np.concatenate(names))


def _small(cells: Classes) -> Any:
    if (cells >= 0).sum() >= SPARSE * cells.size:
        return cells
    row, position = np.nonzero(cells >= 0)
    return scipy.sparse.csr_array(
        (cells[row, position] + np.int16(1), (row.astype(np.int32), position.astype(np.int32))), shape=cells.shape
    )


def _joined(parts: list[Any]) -> Any:
    """The parts stacked; whether the result is sparse depends on their common share of answered cells."""
    size = sum(part.shape[0] * part.shape[1] for part in parts)
    answered = sum(part.nnz if scipy.sparse.issparse(part) else int((part >= 0).sum()) for part in parts)
    if size > SMALL and answered < SPARSE * size:
        return scipy.sparse.csr_array(
            scipy.sparse.vstack([part if scipy.sparse.issparse(part) else scipy.sparse.csr_array(part + np.int16(1)) for part in parts])
        )
    return np.concatenate([_dense(part) for part in parts])


def _dense(part: Any) -> Classes:
    found: Classes = (part.toarray() - 1).astype(np.int16) if scipy.sparse.issparse(part) else part
    return found


def _read_long(bank: Bank, frames: Iterable[Any]) -> Answers:
    numbers: dict[Any, int] = {}
    read = []
    first = 0
    for frame in frames:
        if not hasattr(frame, "columns") or not is_long(frame):
            shown = ", ".join(map(str, frame.columns)) if hasattr(frame, "columns") else type(frame).__name__
            raise QuaestorError(f"responses: every part has the columns {', '.join(LONG)} as the first has, got {shown}")
        read.append(_long_part(bank, frame, numbers, first))
        first += len(frame)
    person, position, answer = (np.concatenate(part) for part in zip(*read, strict=True))
    names = np.empty(len(numbers), dtype=object)
    names[:] = list(numbers)
    _check_once(person.astype(np.int64) * len(bank.questions) + position, names, list(bank.questions))
    cells = scipy.sparse.csr_array((answer + np.int16(1), (person, position)), shape=(len(numbers), len(bank.questions)))
    return _answers(bank, _joined([cells]), names)


def _long_part(bank: Bank, frame: Any, numbers: dict[Any, int], first: int) -> tuple[NDArray[Any], NDArray[Any], Classes]:
    """For each answer the number of the person, the position of the question in the bank, and the class number, (answers,) each.

    `numbers` maps people to their numbers, over all parts; it is extended by people who have none yet.
    """
    with from_extra():
        import pandas as pd

    position = {name: number for number, name in enumerate(bank.questions)}
    rows = np.arange(first, first + len(frame))
    columns, listed = pd.factorize(frame["question"])
    person, names = pd.factorize(frame["person"])
    for column, codes in (("question", columns), ("person", person)):
        if (codes < 0).any():
            raise QuaestorError(f"responses: row {rows[np.argmax(codes < 0)]}: '{column}' is not empty, got nothing")
    questions, classes = np.full(len(frame), -1, dtype=np.int32), np.full(len(frame), -1, dtype=np.int16)
    for number, name in enumerate(listed):
        own = columns == number
        if name not in position:
            hint = nearest(name, position)
            rule = f"responses: row {rows[np.argmax(own)]}: 'question' names a question of the bank"
            raise QuaestorError(f"{rule}, got {format_value(name)}" + (f" ({hint})" if hint else ""))
        questions[own] = position[name]
        classes[own] = class_numbers(bank.questions[name], frame["answer"][own], rows[own])
    known = np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int32)
    kept = classes >= 0
    return known[person[kept]], questions[kept], classes[kept]


def _check_once(cells: NDArray[np.int64], names: NDArray[Any], questions: list[str]) -> None:
    ordered = np.sort(cells)
    twice = np.flatnonzero(np.diff(ordered) == 0)
    if len(twice):
        person, position = divmod(int(ordered[twice[0]]), len(questions))
        shown = f"two answers of {format_value(names[person])} to {questions[position]}"
        raise QuaestorError(f"responses: a person answers a question once, got {shown}")


def _answers(bank: Bank, cells: Any, names: NDArray[Any]) -> Answers:
    return Answers(tuple(bank.questions), tuple(question.classes for question in bank.questions.values()), cells, names)
