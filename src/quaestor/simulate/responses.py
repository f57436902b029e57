"""Answers of real people as a table: a row a person, a column a question."""

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError, is_among, nearest, several
from quaestor.extras import from_extra
from quaestor.model.question import Question

if TYPE_CHECKING:
    import pandas as pd

_NUMERAL = re.compile(r"[+-]?\d{1,12}([.,]\d{1,12})?")  # a column of numbers with empty cells is written as 1.0 and 0.0, or 1,0 and 0,0


def read_responses(bank: Bank, frame: "pd.DataFrame") -> NDArray[np.intp]:
    """Numbers of answer classes, (people, questions of the bank), -1 for no answer; people without any answer are refused.

    Cells hold class names, or points: 0 and 1 (also as 0.0 and 1,0) where there are two classes, 0, 1, 2 where there are three, and so on;
    an empty cell or NaN means no answer. Questions of the bank without a column have no answers.
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
    others = [column for column in frame.columns if column not in place]
    if others:
        hint = nearest(others[0], place) or (
            _of_people(others[0]) if len(others) == 1 < len(frame.columns) and isinstance(others[0], str) else ""
        )
        raise QuaestorError(f"responses: a column is a question of the bank, got '{others[0]}'" + (f" ({hint})" if hint else ""))
    if not frame.columns.is_unique:
        raise QuaestorError(f"responses: a question has one column, got two of '{frame.columns[frame.columns.duplicated()][0]}'")
    found = np.full((len(frame), len(place)), -1, dtype=np.int16)
    rows = np.arange(first, first + len(frame))
    for column in frame.columns:
        found[:, place[column]] = class_numbers(bank.questions[column], frame[column], rows)
    return found


def _of_people(column: object) -> str:
    return f"if it names the people, read the file with index_col='{column}' or take frame.set_index('{column}'), else drop it"


def as_responses(bank: Bank, asked: NDArray[np.int32], answers: NDArray[np.int32]) -> "pd.DataFrame":
    """The table that `read_responses` reads: class names, a row for each person and a column for each question, empty where none was given.

    `asked`, `answers`: numbers of questions and of answer classes, (people, steps), -1 for none.
    """
    with from_extra():
        import pandas as pd

    found = np.full((len(asked), len(bank.questions)), None, dtype=object)
    given = (asked >= 0) & (answers >= 0)
    classes = [question.classes for question in bank.questions.values()]
    found[np.nonzero(given)[0], asked[given]] = [classes[place][code] for place, code in zip(asked[given], answers[given], strict=True)]
    return pd.DataFrame(found, columns=list(bank.questions))


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
            points = "" if _by_points(question) else "".join(f", {code}" for code in range(len(question.classes)))
            allowed = f"{', '.join(question.classes)}{points} or nothing"
            shown = repr(value) + (f" ({_MORE_POINTS})" if as_points(value) in range(2, 13) else "")
            raise QuaestorError(f"responses: row {row}, {question.id}: an answer is one of {allowed}, got {shown}")
        found[number] = code
    if len(question.classes) > 2 and not _by_points(question):
        _check_points(question, [value for value in values if not isinstance(value, str) or value.strip() not in question.classes])
    return found[row_values]


_MORE_POINTS = "for more points state more classes, worst first, such as classes: [wrong, half, right]"


def _check_points(question: Question, values: list[Any]) -> None:
    """Refuse points that could mean two things: a column with 0 and 1 alone, where 1 may mean right or one point of several."""
    points = {as_points(value) for value in values} - {None}
    if 1.0 in points and points <= {0.0, 1.0}:
        best = len(question.classes) - 1
        cure = f"write the names, {', '.join(question.classes)}, or {best} where all is right"
        raise QuaestorError(
            f"responses: {question.id}: points from 0 to {best}, got 0 and 1 alone, which may mean wrong and right ({cure})"
        )


def as_points(value: Any) -> float | None:
    """The number of points in a cell, also as text with a decimal point or comma; None for anything else."""
    if isinstance(value, str):
        text = value.strip()
        return float(text.replace(",", ".")) if _NUMERAL.fullmatch(text) else None
    return float(value) if isinstance(value, bool | int | float | np.number | np.bool_) else None


def _by_points(question: Question) -> bool:
    """Whether the names of the classes are themselves numbers of points."""
    return all(as_points(name) is not None for name in question.classes)


def _different(cells: "pd.Series[Any]") -> tuple[list[Any], NDArray[np.intp]]:
    """The distinct values of a column, and the index of each row's value, (rows,), -1 where it is empty."""
    with from_extra():
        import pandas as pd

    try:
        numbers, values = pd.factorize(cells)
    except TypeError:  # values that cannot be hashed, such as lists: an error follows
        return cells.tolist(), np.arange(len(cells))
    return values.tolist(), numbers


def is_missing(value: Any) -> bool:
    """Whether a cell is empty: None, blank text, pandas.NA, or a value that is not equal to itself (NaN, NaT)."""
    return value is None or type(value).__name__ == "NAType" or (isinstance(value, str) and not value.strip()) or not _equals_itself(value)


def _equals_itself(value: Any) -> bool:
    return isinstance(value, str | list | dict) or bool(np.all(value == value))


def _class(question: Question, value: Any) -> int | None:
    """The number of an answer class; -1 for an empty cell, None for an invalid value."""
    if is_missing(value):
        return -1
    if isinstance(value, str) and value.strip() in question.classes:
        return question.classes.index(value.strip())
    points = as_points(value)
    if points is None or points != points:
        return None
    if _by_points(question):
        return next((code for code, name in enumerate(question.classes) if as_points(name) == points), None)
    if isinstance(value, bool | np.bool_) and len(question.classes) > 2:
        return None
    return int(points) if points in range(len(question.classes)) else None


def held_out(bank: Bank, questions: Sequence[str], columns: Collection[str] = ()) -> NDArray[np.intp] | None:
    """The positions of the held-out questions, which are predicted but never asked; each has a column in the responses."""
    place = {name: number for number, name in enumerate(bank.questions)}
    questions = several("holdout", questions, "a list of questions is expected")
    for name in questions:
        if not is_among(name, place):
            hint = nearest(name, place)
            raise QuaestorError(f"holdout: a question of the bank, got '{name}'" + (f" ({hint})" if hint else ""))
        if name not in columns:
            raise QuaestorError(f"holdout: a question with a column in the responses, got '{name}'")
    return np.array([place[name] for name in questions]) if questions else None
