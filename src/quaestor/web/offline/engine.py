"""What the engine in the file needs to know: a precise bank as numbers, and rules that it can follow.

`engine.js` does what `selection.step` does, for precise banks with a small joint table and for the rules that teachers use. Other tests, if
they are small, are written as their decision graph (`simulate.policy`), which is worked out beforehand.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError
from quaestor.i18n import say
from quaestor.inference.joint import joint_of
from quaestor.inference.layout import layout_of
from quaestor.selection.ranking import second_score
from quaestor.selection.rules import MISSING, WRONG, Rules
from quaestor.selection.stopping.combined import AllOf, AnyOf
from quaestor.selection.stopping.criteria import (
    Dominant,
    EntropyBelow,
    GainBelow,
    GiniBelow,
    MaxQuestions,
    MinQuestions,
    ModeBelow,
    ProbabilityAbove,
    RightAnswers,
)
from quaestor.selection.stopping.criterion import Criterion

MOST_STATES = 4096  # of all skills together; a step then takes about a tenth of a second in a browser
SCORES = ("entropy", "mode", "gini", "right", "order")
RULES = {"score", "then", "bound", "target", "stop", "first", "content", "skips", "may_skip", "only_next", "withdrawn", "least_answers"}


class UnsupportedError(QuaestorError):
    """A bank or a rule that the engine in the file does not know."""


def engine_of(bank: Bank, rules: Rules) -> dict[str, Any]:
    """The bank and the rules as `engine.js` reads them; UnsupportedError names the first thing that it cannot do."""
    for reason in _unsupported(bank, rules):
        raise UnsupportedError(reason)
    layout, place = layout_of(bank), {skill: number for number, skill in enumerate(bank.skills)}
    model = layout.model
    joint = joint_of(model).prior.reshape(model.sizes)
    prior = np.transpose(joint, [layout.position[skill] for skill in bank.skills])
    return {
        "sizes": [len(skill.levels) for skill in bank.skills.values()],
        "prior": prior.reshape(-1).tolist(),
        "questions": [
            {
                "scope": [place[skill] for skill in question.skills],
                "table": np.moveaxis(question.table.lower, -1, 0).reshape(len(question.classes), -1).tolist(),
                "pilot": question.pilot,
                "closed": question.pilot or question.id in rules.withdrawn,
            }
            for question in bank.questions.values()
        ],
        "score": rules.score,
        "second": second_score(rules.score, rules.then),
        "target": rules.target,
        "stop": None if rules.stop is None else _criterion(rules.stop, place),
        "limits": [limit.n for limit in rules.stop.limits() if isinstance(limit, MaxQuestions)] if rules.stop is not None else [],
        "most": rules.stop.most_questions() if rules.stop is not None else None,
        "first": [layout.number[question] for question in rules.first],
        "content": [
            {
                "members": [number for number, one in enumerate(layout.questions) if content.of in one.skills or one.group == content.of],
                "least": content.least,
                "most": content.most,
            }
            for content in rules.content
        ],
    }


def skipped(question: str, bank: Bank, rules: Rules) -> int:
    """The number of the class that a skip of a question counts as, -1 where it says nothing."""
    classes = bank.questions[question].classes
    return -1 if rules.skips == MISSING else 0 if rules.skips == WRONG else classes.index(rules.skips)


def _unsupported(bank: Bank, rules: Rules) -> Iterator[str]:
    if not bank.is_precise:
        yield say("the bank is credal")
    states = float(np.prod([len(skill.levels) for skill in bank.skills.values()], dtype=float))
    if states > MOST_STATES:
        yield say("its skills have {states:g} joint states, more than {most}", states=states, most=MOST_STATES)
    for name in rules.document:
        if name not in RULES:
            yield say("the rule '{name}'", name=name)
    if rules.score not in SCORES:
        yield say("the score '{name}'", name=rules.score)
    if (second := second_score(rules.score, rules.then)) is not None and second not in SCORES:
        yield say("the score '{name}'", name=second)
    if rules.target not in ("scope", "all"):
        yield say("the rule '{name}'", name="target")
    if any(content.share is not None for content in rules.content):
        yield say("the rule '{name}'", name="content: share")
    if any(bank.questions[question].pilot for question in rules.first):
        yield say("the rule '{name}'", name="first")
    known = (MaxQuestions, MinQuestions, EntropyBelow, ModeBelow, GiniBelow, ProbabilityAbove, Dominant, GainBelow, RightAnswers)
    for criterion in rules.stop.simple() if rules.stop is not None else ():
        if type(criterion) not in known or getattr(criterion, "over", "") == "joint":
            yield say("the rule '{name}'", name=f"stop: {criterion.name}")


def _criterion(criterion: Criterion, place: dict[str, int]) -> list[Any]:
    """A criterion as `engine.js` reads it: its name and what it is set to."""
    match criterion:
        case AnyOf(parts) | AllOf(parts):
            return [criterion.name, [_criterion(part, place) for part in parts]]
        case MaxQuestions(n, skill) | MinQuestions(n, skill):
            return [criterion.name, n, None if not skill else list(place.values()) if skill == "each" else [place[skill]]]
        case EntropyBelow(limit, over) | ModeBelow(limit, over) | GiniBelow(limit, over):
            return [criterion.name, limit, over]
        case ProbabilityAbove(limit) | GainBelow(limit) | RightAnswers(limit):
            return [criterion.name, limit]
    return [criterion.name]
