"""From the result of an item to an answer class, and from what is known to outcome variables.

The delivery system scores items, we pick them. So an item's `SCORE` decides, as a share of its maximum: with k classes, worst first, the
class with index floor((k - 1) share). Where there is none, what the candidate answered is looked at, as the text of options or as an
entry. Nothing of both means that the item was not answered.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from math import floor, isfinite
from typing import Any

from quaestor.errors import QuaestorError
from quaestor.model.question import Question
from quaestor.session.log import Answer
from quaestor.session.session import Session
from quaestor.web.cat.payloads import ItemResult, OutcomeVariable

SCORE, MAXIMUM = "SCORE", "MAXSCORE"
_NEAR = 1e-9


def with_results(session: Session, results: Sequence[ItemResult]) -> Session:
    """The session after these results; one that it has already is passed over, so that a stage can be sent twice."""
    ordered = sorted(results, key=lambda one: one.sequenceIndex if one.sequenceIndex is not None else 0)
    for result in ordered:
        question = session.bank.questions.get(result.identifier)
        if question is None:
            raise QuaestorError(f"itemResult: an item of the section is expected, got {result.identifier[:80]!r}")
        found = answer_class(question, result)
        if question.id in session.asked:
            if _earlier(session, question.id) != found:
                raise QuaestorError(f"itemResult: each item has one result, got another one of {question.id}")
            continue
        session = session.skip(question.id) if found is None else session.answer(question.id, found)
    return session


def _earlier(session: Session, question: str) -> str | None:
    return next(line.answer for line in session.log if isinstance(line, Answer) and line.question == question)


def answer_class(question: Question, result: ItemResult) -> str | None:
    """The answer class of a result; None if the item was not answered."""
    outcomes = {one.identifier.upper(): one for one in result.outcomeVariables}
    score = _number(outcomes.get(SCORE))
    if score is not None:
        most = _number(outcomes.get(MAXIMUM)) or outcomes[SCORE].normalMaximum or 1.0
        if most <= 0:
            raise QuaestorError(f"{result.identifier}: a maximum above 0 is expected, got {most:g}")
        share = min(max(score / most, 0.0), 1.0)
        return question.classes[floor((len(question.classes) - 1) * share + _NEAR)]
    if result.sessionStatus.lower().startswith("pending"):
        raise QuaestorError(f"{result.identifier}: a result with a score is expected, got one that is {result.sessionStatus}")
    entries = [value.value for variable in result.responseVariables for value in variable.candidateResponse.value]
    if not entries:
        return None
    return question.classify(entries[0] if len(entries) == 1 else entries)


def _number(variable: OutcomeVariable | None) -> float | None:
    if variable is None or not variable.value:
        return None
    written = variable.value[0].value
    try:
        found = float(written)
    except ValueError:
        found = float("nan")
    if not isfinite(found):
        raise QuaestorError(f"{variable.identifier}: a number is expected, got {written[:80]!r}")
    return found


def stage(session: Session) -> dict[str, Any]:
    """The items to show before the next call: one, or none at the end."""
    following = session.next
    return {"itemIdentifiers": [following.id] if following is not None else [], "stageLength": 1 if following is not None else 0}


def assessment(session: Session, section: str, name: str) -> dict[str, Any]:
    """What is known by now: for each skill the most probable level, and the bounds of its probability."""
    outcomes = []
    for skill, bounds in session.beliefs.items():
        place = max(range(len(bounds.states)), key=lambda one: bounds.lower[one] + bounds.upper[one])
        outcomes += [
            _variable(f"LEVEL.{skill}", "string", bounds.states[place]),
            _variable(f"LOWER.{skill}", "float", f"{bounds.lower[place]:.6f}"),
            _variable(f"UPPER.{skill}", "float", f"{bounds.upper[place]:.6f}"),
        ]
    moment = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    test = {"identifier": section, "datestamp": moment, "outcomeVariables": outcomes}
    return {"context": {"sessionIdentifiers": [{"sourceID": "quaestor", "identifier": name}]}, "testResult": test, "itemResult": []}


def _variable(name: str, kind: str, value: str) -> dict[str, Any]:
    return {"identifier": name, "cardinality": "single", "baseType": kind, "value": [{"value": value}]}
