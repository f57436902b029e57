"""Answers of real people as a table: a row a person, a column a question."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from quaestor.bank import Bank
from quaestor.errors import QuaestorError, nearest
from quaestor.question import Question


def read_responses(bank: Bank, frame: pd.DataFrame) -> NDArray[np.intp]:
    """Answer classes, (people, questions of the bank), -1 where there is none.

    Cells hold class names, or 0 and 1 where there are two classes; an empty cell or NaN means not answered. Questions of the bank that have
    no column were not answered by anybody.
    """
    place = {name: number for number, name in enumerate(bank.questions)}
    for column in frame.columns:
        if column not in place:
            hint = nearest(column, place)
            raise QuaestorError(f"responses: a column is a question of the bank, got '{column}'" + (f" ({hint})" if hint else ""))
    found = np.full((len(frame), len(place)), -1)
    for column in frame.columns:
        question = bank.questions[column]
        codes = {value: _class(question, value) for value in pd.unique(frame[column])}
        wrong = [value for value, code in codes.items() if code is None]
        if wrong:
            row = next(number for number, value in enumerate(frame[column]) if value == wrong[0])
            allowed = f"{', '.join(question.classes)}{', 0, 1' * (len(question.classes) == 2)} or nothing"
            raise QuaestorError(f"responses: row {row}, {column}: an answer is one of {allowed}, got {wrong[0]!r}")
        found[:, place[column]] = [codes[value] if not _is_missing(value) else -1 for value in frame[column]]
    if not (found >= 0).any():
        raise QuaestorError("responses: a table has answers, got none at all")
    empty = np.flatnonzero((found < 0).all(axis=1))
    if len(empty):
        raise QuaestorError(f"responses: every person has an answer, got none in row {empty[0]}")
    return found


def _is_missing(value: Any) -> bool:
    return value is None or value is pd.NA or value == "" or (isinstance(value, float) and math.isnan(value))


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
    return int(value) if len(question.classes) == 2 and value in (0, 1) else None


def held_out(bank: Bank, questions: Sequence[str]) -> NDArray[np.intp] | None:
    """The places of questions that are never asked, only foretold."""
    place = {name: number for number, name in enumerate(bank.questions)}
    for name in questions:
        if name not in place:
            hint = nearest(name, place)
            raise QuaestorError(f"holdout: a question of the bank, got '{name}'" + (f" ({hint})" if hint else ""))
    return np.array([place[name] for name in questions]) if questions else None
