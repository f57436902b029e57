"""Whether a skill was asked enough to name a level: a level that is only the prior is not a finding.

The answers that count for a skill are those to questions on it; for a skill without questions of its own, those to questions on skills that
are linked with it, through others or directly.
"""

from collections.abc import Iterable, Mapping

from quaestor.bankfile.bank import Bank
from quaestor.selection.rules import Content, Rules

LEAST = 2  # answers, unless the rules say otherwise; fewer where the bank has fewer questions


def questions_for(bank: Bank) -> Mapping[str, frozenset[str]]:
    """For each skill the ids of the questions that count for it; they are kept with the bank."""
    found: Mapping[str, frozenset[str]] | None = bank.__dict__.get("_questions_for")
    if found is None:
        found = bank.__dict__["_questions_for"] = _questions_for(bank)
    return found


def _questions_for(bank: Bank) -> Mapping[str, frozenset[str]]:
    own = {skill: {one.id for one in bank.questions.values() if skill in one.skills and not one.pilot} for skill in bank.skills}
    return {skill: frozenset(found or set().union(*(own[other] for other in _linked(bank, skill)))) for skill, found in own.items()}


def _linked(bank: Bank, skill: str) -> set[str]:
    """The skills that are linked with this one, itself included."""
    found, left = {skill}, [skill]
    while left:
        one = left.pop()
        near = {*bank.skills[one].parents, *(name for name, other in bank.skills.items() if one in other.parents)}
        left += near - found
        found |= near
    return found


def least_answers(bank: Bank, rules: Rules) -> dict[str, int]:
    """How many answers each skill needs before a level is named."""
    if rules.least_answers is not None:
        return dict.fromkeys(bank.skills, rules.least_answers)
    left = {skill: len(questions - set(rules.withdrawn)) for skill, questions in questions_for(bank).items()}
    return {skill: max(1, min(LEAST, count)) for skill, count in left.items()}


def asks_enough(bank: Bank) -> tuple[Content, ...]:
    """Rules by which a test that could end earlier asks enough of every skill first to name a level."""
    asked = {skill for question in bank.questions.values() for skill in question.skills if not question.pilot}
    return tuple(Content(skill, least=least) for skill, least in least_answers(bank, Rules()).items() if skill in asked)


def answers_for(bank: Bank, answered: Iterable[str]) -> dict[str, int]:
    """How many answers count for each skill; `answered`: the ids of the questions with an answer that counts."""
    given = set(answered)
    return {skill: len(questions & given) for skill, questions in questions_for(bank).items()}
