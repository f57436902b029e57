"""Questions and findings as a taker may see them.

A question is told field by field, never as a whole: the classes of its options, what is correct, the explanation and its table stay here
until it is answered.
"""

from typing import Any

from fastapi import Request

from quaestor.model.question import Question
from quaestor.report.advice import Finding, findings, practise, stored_findings
from quaestor.report.marking import right_answers, worth
from quaestor.session.explain.reasons import Change
from quaestor.session.log import Answer
from quaestor.store.attempts.shown_images import image_of
from quaestor.store.attempts.taking import State
from quaestor.store.outcomes.outcome import Outcome
from quaestor.web.render.pages import url


def state(request: Request, stands: State) -> dict[str, Any]:
    """Where a session stands."""
    over = stands.over
    asked = None if over else stands.session.next
    return {
        "session": stands.attempt.id,
        "step": stands.step,
        "over": bool(over),
        "reason": over,
        "question": None if asked is None else question(request, stands, asked),
        "may_skip": not over and stands.session.rules.may_skip,
        "seconds_left": None if stands.left is None or over else round(max(0.0, stands.left), 1),
        "most_left": 0 if over else stands.session.most_left,
    }


def question(request: Request, stands: State, asked: Question) -> dict[str, Any]:
    """A question, with its options in the order of this session."""
    image = image_of(stands.attempt, asked)
    shown = url(request, "api-image", session=stands.attempt.id, image=image) if image else None
    parts = [{"name": part.name, "kind": part.kind, "options": list(stands.options(asked, part))} for part in asked.parts]
    told = {"id": asked.id, "kind": asked.kind, "text": asked.text, "options": list(stands.options(asked)), "parts": parts}
    return {**told, "image": None if asked.has_sound else shown, "sound": shown if asked.has_sound else None, "alt": asked.alt}


def feedback(asked: Question, line: Answer) -> dict[str, Any]:
    """What an answer was worth, and what would have been right."""
    told = {"value": worth(asked, line), "correct": right_answers(asked), "explanation": asked.explanation}
    marks = zip(asked.parts, asked.marks(line.entry), strict=True) if asked.parts and line.entry is not None else ()
    return {"question": asked.id, **told, "parts": {part.name: right for part, right in marks}}


def result(stands: State, stored: Outcome | None = None) -> dict[str, Any]:
    """What was found, as it is stored if it is."""
    found = findings(stands.session) if stored is None else stored_findings(stands.session.bank, stored.skills)
    return {
        "session": stands.attempt.id,
        "test": stands.attempt.test_id,
        "over": bool(stands.over),
        "reason": stands.over,
        "asked": len(stands.session.log),
        "skills": [finding(one) for one in found],
        "practise": [one.skill for one in practise(stands.session.bank, [one for one in found if one.enough])],
    }


def finding(one: Finding, always: bool = False) -> dict[str, Any]:
    """What was found of a skill; nothing where there are too few answers, unless what is known is `always` to be told."""
    told = one.enough or always
    ends = zip(one.bounds.states, one.bounds.lower, one.bounds.upper, strict=True) if told else ()
    return {
        "skill": one.skill,
        "title": one.title,
        "enough": one.enough,
        "level": one.level if told else None,
        "lower": _proper(one.low) if told else None,
        "upper": _proper(one.high) if told else None,
        "sure": one.sure,
        "cut": one.cut,
        "others": list(one.others) if told else [],
        "levels": [{"level": level, "lower": _proper(low), "upper": _proper(high)} for level, low, high in ends],
    }


def change_of(one: Change) -> dict[str, Any]:
    """What an answer changed of a skill: bounds of one level before and after."""
    (low, high), (new_low, new_high) = ((bounds.lower[one.place], bounds.upper[one.place]) for bounds in (one.before, one.after))
    return {
        "skill": one.skill,
        "before": {"level": one.level, "lower": _proper(low), "upper": _proper(high)},
        "after": {"level": one.level, "lower": _proper(new_low), "upper": _proper(new_high)},
        "text": one.text,
    }


def _proper(probability: float) -> float:
    """Never outside of 0 and 1 by a rounding error, and not rounded: bounds stay safe."""
    return min(1.0, max(0.0, float(probability)))
