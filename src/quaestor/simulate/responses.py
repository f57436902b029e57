"""Answers of real people as a table: a row a person, a column a question."""

from collections.abc import Collection, Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from quaestor.bank import Bank
from quaestor.errors import QuaestorError, nearest
from quaestor.question import Question

if TYPE_CHECKING:
    import pandas as pd


def read_responses(bank: Bank, frame: "pd.DataFrame") -> NDArray[np.intp]:
    """Answer classes, (people, questions of the bank), -1 where there is none.

    Cells hold class names, or 0 and 1 where there are two classes; an empty cell or NaN means not answered. Questions of the bank that have
    no column were not answered by anybody.
    """
    place = {name: number for number, name in enumerate(bank.questions)}
    if not hasattr(frame, "columns"):
        raise QuaestorError(f"responses: a table with a row a person and a column a question, got {type(frame).__name__}")
    for column in frame.columns:
        if column not in place:
            hint = nearest(column, place)
            raise QuaestorError(f"responses: a column is a question of the bank, got '{column}'" + (f" ({hint})" if hint else ""))
    if not frame.columns.is_unique:
        raise QuaestorError(f"responses: a question has one column, got two of '{frame.columns[frame.columns.duplicated()][0]}'")
    found = np.full((len(frame), len(place)), -1)
    for column in frame.columns:
        question = bank.questions[column]
        codes: dict[Any, int] = {}
        for row, value in enumerate(frame[column].tolist()):
            code = codes.get(value) if isinstance(value, Hashable) else None
            if code is None:
                code = _class(question, value)
                if code is None:
                    allowed = f"{', '.join(question.classes)}{', 0, 1' * (len(question.classes) == 2)} or nothing"
                    raise QuaestorError(f"responses: row {row}, {column}: an answer is one of {allowed}, got {value!r}")
                codes[value] = code
            found[row, place[column]] = code
    if not (found >= 0).any():
        raise QuaestorError("responses: a table has answers, got none at all")
    empty = np.flatnonzero((found < 0).all(axis=1))
    if len(empty):
        raise QuaestorError(f"responses: every person has an answer, got none in row {empty[0]}")
    return found


def _is_missing(value: Any) -> bool:
    """Whether a cell is empty: nothing, no text, or one of the values that equal not even themselves (NaN, NaT) or nothing at all (NA)."""
    return value is None or type(value).__name__ == "NAType" or (isinstance(value, str) and not value.strip()) or not _equals_itself(value)


def _equals_itself(value: Any) -> bool:
    return isinstance(value, str | list | dict) or bool(np.all(value == value))


def _class(question: Question, value: Any) -> int | None:
    """The number of an answer class; -1 for none, None for what is no answer."""
    if _is_missing(value):
        return -1
    if isinstance(value, str):
        text = value.strip()
        if text in question.classes:
            return question.classes.index(text)
        return int(text) if len(question.classes) == 2 and text in ("0", "1") else None
    if isinstance(value, bool | np.bool_):
        return int(value) if len(question.classes) == 2 else None
    return int(value) if len(question.classes) == 2 and isinstance(value, int | float | np.number) and value in (0, 1) else None


def held_out(bank: Bank, questions: Sequence[str], columns: Collection[str] = ()) -> NDArray[np.intp] | None:
    """The places of questions that are never asked, only foretold; they are among the columns of the responses."""
    place = {name: number for number, name in enumerate(bank.questions)}
    for name in questions:
        if name not in place:
            hint = nearest(name, place)
            raise QuaestorError(f"holdout: a question of the bank, got '{name}'" + (f" ({hint})" if hint else ""))
        if name not in columns:
            raise QuaestorError(f"holdout: a question with a column in the responses, got '{name}'")
    return np.array([place[name] for name in questions]) if questions else None
