"""Questions from answers alone: a question for each column, with an answer class for each number of points.

Columns of 0 and 1 (or wrong and right) get the classes wrong and right. Columns of other numbers, such as 0, 1, 2 or 0, 0.5, 1, get a class
for each number that occurs, fewest points first. Other words cannot be put in order: their classes are stated in a bank.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError, format_value
from quaestor.learn.answers import Answers, is_long
from quaestor.learn.skeleton import one_skill
from quaestor.simulate.responses import as_points, is_missing

MOST = 12  # different numbers of points of one question
PLAIN = ("wrong", "right")


def questions_of(responses: Any) -> Bank:
    """The questions of a table of answers, or of several, on one skill of two levels."""
    if isinstance(responses, Answers):
        return _bank(dict(zip(responses.columns, responses.classes, strict=True)))
    frames: Iterable[Any] = [responses] if hasattr(responses, "columns") else responses
    values: dict[str, dict[Any, None]] = {}
    for frame in frames:
        if not hasattr(frame, "columns"):
            raise QuaestorError(f"responses: a table with a row a person and a column a question, got {type(frame).__name__}")
        if is_long(frame):
            pairs = frame[["question", "answer"]].drop_duplicates()
            for name, value in zip(pairs["question"], pairs["answer"], strict=True):
                values.setdefault(str(name), {})[value] = None
            continue
        for position, name in enumerate(frame.columns):
            column = frame.iloc[:, position]
            values.setdefault(str(name), {}).update(dict.fromkeys(column.drop_duplicates().tolist()))
    if not values:
        raise QuaestorError("responses: a table with a row a person and a column a question, got no column")
    return _bank({name: classes_of(name, list(found)) for name, found in values.items()})


def classes_of(name: str, values: list[Any]) -> tuple[str, ...]:
    """The answer classes of a column with these values."""
    some = [value for value in values if not is_missing(value)]
    if all(isinstance(value, str) and value.strip() in PLAIN for value in some):
        return PLAIN
    points: dict[float, None] = {}
    for value in some:
        number = as_points(value)
        if number is None:
            cure = (
                "if the column is no question, name it with --person or --group, or leave it out; if it is one, state its classes in a bank"
            )
            raise QuaestorError(f"responses: {name}: answers are numbers of points, or wrong and right, got {format_value(value)} ({cure})")
        points[number] = None
    if set(points) <= {0.0, 1.0}:
        return PLAIN
    if len(points) > MOST:
        cure = "fewer steps, such as wrong, half, right, or leave the column out"
        raise QuaestorError(f"responses: {name}: at most {MOST} different numbers of points, got {len(points)} ({cure})")
    if len(points) == 1:
        points[0.0] = None
    return tuple(np.format_float_positional(number, trim="-") for number in sorted(points))


def _bank(classes: dict[str, tuple[str, ...]]) -> Bank:
    skill = "ability" if "ability" not in classes else "ability of all"
    questions = {}
    for name, own in classes.items():
        even = [1 / len(own)] * len(own)
        questions[name] = {"skill": skill, "classes": list(own), "table": {"no": even, "yes": even}}
    return one_skill(Bank({"skills": {skill: {}}, "questions": questions}), 2)
