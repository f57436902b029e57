"""Answers of real people as a table: a row a person, a column a question."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError, nearest
from quaestor.extras import from_extra
from quaestor.model.question import Question

if TYPE_CHECKING:
    import pandas as pd

_NUMBERS = {"0": 0, "1": 1, "0.0": 0, "1.0": 1}  # a column of numbers with empty cells is written as 1.0 and 0.0


def read_responses(bank: Bank, frame: "pd.DataFrame") -> NDArray[np.intp]:
    """Numbers of answer classes, (people, questions of the bank), -1 for no answer; people without any answer are refused.

    Cells hold class names, or 0 and 1 (also as 0.0 and 1.0) where there are two classes; an empty cell or NaN means no answer. Questions of
    the bank without a column have no answers.
    """
    found = read_cells(bank, frame)
    if not (found >= 0).any():
        raise QuaestorError("responses: a table has answers, got none at all")
    empty = np.flatnonzero((found < 0).all(axis=1))
    if len(empty):
        raise QuaestorError(f"responses: every person has an answer, got none in row {empty[0]}")
    return found.astype(np.intp)


def read_cells(bank: Bank, frame: "pd.DataFrame", first: int = 0) -> NDArray[np.int16]:
    """As `read_responses`, but people without any answer are allowed; `first`: the number of the first row, for error messages."""
    place = {name: number for number, name in enumerate(bank.questions)}
    if not hasattr(frame, "columns"):
        raise QuaestorError(f"responses: a table with a row a person and a column a question, got {type(frame).__name__}")
    for column in frame.columns:
        if column not in place:
            hint = nearest(column, place)
            raise QuaestorError(f"responses: a column is a question of the bank, got '{column}'" + (f" ({hint})" if hint else ""))
    if not frame.columns.is_unique:
        raise QuaestorError(f"responses: a question has one column, got two of '{frame.columns[frame.columns.duplicated()][0]}'")
    found = np.full((len(frame), len(place)), -1, dtype=np.int16)
    rows = np.arange(first, first + len(frame))
    for column in frame.columns:
        found[:, place[column]] = class_numbers(bank.questions[column], frame[column], rows)
    return found


def class_numbers(question: Question, cells: "pd.Series[Any]", rows: NDArray[np.intp]) -> NDArray[np.int16]:
    """The numbers of the answer classes in a column, (rows,), -1 for no answer; each distinct value is parsed once.

    `rows`: the row number of each cell, for error messages.
    """
    values, row_values = _different(cells)
    found = np.full(len(values) + 1, -1, dtype=np.int16)  # the last one is for empty cells, whose index is -1
    for number, value in enumerate(values):
        code = _class(question, value)
        if code is None:
            row = int(rows[np.argmax(row_values == number)])
            allowed = f"{', '.join(question.classes)}{', 0, 1' * (len(question.classes) == 2)} or nothing"
            raise QuaestorError(f"responses: row {row}, {question.id}: an answer is one of {allowed}, got {value!r}")
        found[number] = code
    return found[row_values]


def _different(cells: "pd.Series[Any]") -> tuple[list[Any], NDArray[np.intp]]:
    """The distinct values of a column, and the index of each row's value, (rows,), -1 where it is empty."""
    with from_extra():
        import pandas as pd

    try:
        numbers, values = pd.factorize(cells)
    except TypeError:  # values that cannot be hashed, such as lists: an error follows
        return cells.tolist(), np.arange(len(cells))
    return values.tolist(), numbers


def _is_missing(value: Any) -> bool:
    """Whether a cell is empty: None, blank text, pandas.NA, or a value that is not equal to itself (NaN, NaT)."""
    return value is None or type(value).__name__ == "NAType" or (isinstance(value, str) and not value.strip()) or not _equals_itself(value)


def _equals_itself(value: Any) -> bool:
    return isinstance(value, str | list | dict) or bool(np.all(value == value))


def _class(question: Question, value: Any) -> int | None:
    """The number of an answer class; -1 for an empty cell, None for an invalid value."""
    if _is_missing(value):
        return -1
    if isinstance(value, str):
        text = value.strip()
        if text in question.classes:
            return question.classes.index(text)
        return _NUMBERS.get(text) if len(question.classes) == 2 else None
    if isinstance(value, bool | np.bool_):
        return int(value) if len(question.classes) == 2 else None
    return int(value) if len(question.classes) == 2 and isinstance(value, int | float | np.number) and value in (0, 1) else None


def held_out(bank: Bank, questions: Sequence[str], columns: Collection[str] = ()) -> NDArray[np.intp] | None:
    """The positions of the held-out questions, which are predicted but never asked; each has a column in the responses."""
    place = {name: number for number, name in enumerate(bank.questions)}
    for name in questions:
        if name not in place:
            hint = nearest(name, place)
            raise QuaestorError(f"holdout: a question of the bank, got '{name}'" + (f" ({hint})" if hint else ""))
        if name not in columns:
            raise QuaestorError(f"holdout: a question with a column in the responses, got '{name}'")
    return np.array([place[name] for name in questions]) if questions else None
