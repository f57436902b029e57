"""What is wrong with a draft, as one goes: the problems that `quaestor check` would list, and what a single part means in words."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from quaestor.bank import Bank
from quaestor.errors import BankError, Problem
from quaestor.question import Question
from quaestor.report.graph import Box, draw
from quaestor.sentences import question_sentence, skill_sentence
from quaestor.store.memory import Memory
from quaestor.store.models import Edition
from quaestor.web import pictures
from quaestor.web.workshop.entries import Entry, alone

_checked: Memory[bytes, "Checked"] = Memory(2_000_000)


@dataclass(frozen=True)
class Checked:
    """A document that was checked: its bank, or its problems; `warnings` are problems that do not hinder."""

    bank: Bank | None
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]

    def of(self, section: str, name: str) -> list[Problem]:
        """The problems and warnings of one part."""
        here = f"{section}.{name}"
        return [one for one in (*self.problems, *self.warnings) if one.place == here or one.place.startswith((f"{here}.", f"{here}["))]


def check(document: Mapping[str, Any]) -> Checked:
    """Check a whole document."""
    try:
        bank = Bank(document)
    except BankError as error:
        return Checked(None, error.problems, ())
    return Checked(bank, (), bank.warnings)


def checked(edition: Edition, document: Mapping[str, Any]) -> Checked:
    """The same for an edition, once for each content."""
    key = hashlib.sha256(edition.document).digest()
    found = _checked.get(key)
    if found is None:
        found = check(document)
        _checked.put(key, found, 1000 + 100 * len(document.get("questions") or ()))
    return found


@dataclass(frozen=True)
class Meaning:
    """What one part says, as far as it can be read: problems, a sentence, the question, shares right by combination of levels."""

    problems: list[Problem]
    sentence: str = ""
    question: Question | None = None
    shares: list[tuple[str, float, float]] = field(default_factory=list)


def meaning(document: Mapping[str, Any], section: str, name: str, entry: Entry) -> Meaning:
    """What a part says while it is being written."""
    try:
        bank = alone(document, section, name, entry)
    except BankError as error:
        here = f"{section}.{name}"
        own = [one for one in error.problems if one.place == here or one.place.startswith((f"{here}.", f"{here}["))]
        return Meaning(own or [one for one in error.problems if one.place.partition(".")[0] not in ("questions", "templates")])
    warnings = [one for one in bank.warnings if one.place.startswith(f"{section}.{name}")]
    if section == "skills":
        return Meaning(warnings, skill_sentence(bank.skills[name], bank.skills))
    if section == "templates":
        return Meaning(warnings)
    question = bank.questions[name]
    return Meaning(warnings, question_sentence(question, bank.skills), question, shares(bank, question))


def shares(bank: Bank, question: Question) -> list[tuple[str, float, float]]:
    """The bounds of the best answer for each combination of levels, with its name."""
    names = [""]
    for skill in question.skills:
        names = [f"{before}, {level}" if before else level for before in names for level in bank.skills[skill].levels]
    classes = len(question.classes)
    low, high = (ends.reshape(-1, classes)[:, -1].tolist() for ends in (question.table.lower, question.table.upper))
    return list(zip(names, low, high, strict=True))


def graph(document: Mapping[str, Any], translate: Callable[[str], str]) -> Markup:
    """The skills as far as they can be drawn: parents that are not there are left out, and so is a circle."""
    skills = document.get("skills") or {}
    boxes = []
    for name, entry in skills.items():
        fields = entry if isinstance(entry, Mapping) else {}
        levels = fields.get("levels") or ["no", "yes"]
        parents = [str(parent) for parent in fields.get("parents") or [] if parent in skills and parent != name]
        count = sum(_names(question, name) for question in (document.get("questions") or {}).values())
        listed = [str(level) for level in levels] if isinstance(levels, list) else [str(levels)]
        boxes.append(Box(name, str(fields.get("title") or name), tuple(listed), tuple(parents), count))
    picture = draw(boxes, str(document.get("title") or ""), styled=False, translate=translate) if len(boxes) > 1 else ""
    return pictures.graph(picture)


def _names(question: Any, skill: str) -> bool:
    if not isinstance(question, Mapping):
        return False
    return question.get("skill") == skill or skill in (question.get("skills") or [])
