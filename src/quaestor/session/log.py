"""The lines of an answer log, and a saved log read and checked."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from sys import float_info
from typing import Any

from quaestor.errors import AnswerError, QuaestorError, format_value, got
from quaestor.i18n import say

FORMAT, WITH_START = 1, 2  # of a saved session; one that starts from what was known is no session for those who know format 1 only
Weight = float | tuple[float, float]


class SessionError(QuaestorError):
    """A session that cannot go on so: nothing to undo, a stopped test, a saved session that does not fit."""


@dataclass(frozen=True)
class Answer:
    """One question put to the taker: the answer class (None: skipped), what was typed, and the minutes it took, if recorded."""

    question: str
    answer: str | None
    entry: str | None = None
    minutes: float | None = None


@dataclass(frozen=True)
class Late:
    """What somebody saw otherwise: how likely that is at each level of a skill, numbers or pairs, and why, in words."""

    skill: str
    likelihood: tuple[Weight, ...]
    note: str = ""


def read_document(text: str) -> dict[str, Any]:
    """The fields of a saved session, each of the right kind."""
    try:
        document = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:  # ValueError: also a number of thousands of digits
        raise SessionError(got(say("a saved session is JSON"), str(error))) from error
    if not isinstance(document, dict) or document.get("session") not in (FORMAT, WITH_START):
        found = document.get("session") if isinstance(document, dict) else document
        raise SessionError(got(say("a saved session of format {format} is expected", format=FORMAT), format_value(found)))
    for name, kind in (("bank", dict), ("rules", dict), ("seed", int), ("log", list)):
        if not isinstance(document.get(name), kind):
            rule = say("a saved session has it as {kind}", kind=kind.__name__)
            raise SessionError.at(name, got(rule, format_value(document.get(name))))
    if (document["session"] == WITH_START) != isinstance(document.get("start"), list):
        rule = say("a saved session of format {format} has it as {kind}, one of another format has none", format=WITH_START, kind="list")
        raise SessionError.at("start", got(rule, format_value(document.get("start"))))
    return document


def checked_minutes(minutes: Any) -> float | None:
    """The minutes that an answer took, if they were recorded."""
    good = minutes is None or (isinstance(minutes, int | float) and not isinstance(minutes, bool) and 0 <= minutes <= float_info.max)
    if not good:
        raise AnswerError(got(say("minutes are a number of at least 0"), format_value(minutes)))
    return None if minutes is None else float(minutes)


def checked_weight(skill: str, weight: Any) -> Weight:
    """How likely something seen is at one level: a number, or a pair of bounds."""
    ends = tuple(weight) if isinstance(weight, Sequence) and not isinstance(weight, str) else (weight, weight)
    good = len(ends) == 2 and all(isinstance(end, int | float) and not isinstance(end, bool) for end in ends)
    if not good or not 0 <= ends[0] <= ends[1] <= 1:
        rule = say("a weight is a number between 0 and 1, or a pair of them in rising order")
        raise AnswerError.at(skill, got(rule, format_value(weight)))
    return float(ends[0]) if ends[0] == ends[1] else (float(ends[0]), float(ends[1]))
