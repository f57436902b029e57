"""What is wrong with a draft, as one goes: the problems that `quaestor check` would list, and what a single part means in words."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from markupsafe import Markup

from quaestor.bankfile.bank import Bank
from quaestor.bankfile.excerpt import alone
from quaestor.bankfile.sentences import question_sentence, skill_sentence
from quaestor.errors import BankError, Problem, format_place
from quaestor.model.question import Question
from quaestor.report.graph import Box, draw
from quaestor.store.memory import cached
from quaestor.store.models import Edition
from quaestor.store.parts import SECTIONS, with_part
from quaestor.store.sizes import size_of
from quaestor.web.editor.part_form import Entry
from quaestor.web.render import pictures


@dataclass(frozen=True)
class Checked:
    """A document that was checked: its bank, or its problems; `warnings` are problems that do not hinder."""

    bank: Bank | None
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]

    def faulty(self, document: Mapping[str, Any], section: str) -> set[str]:
        """The parts of a section that have problems or warnings."""
        owners = (part_of(one, document) for one in (*self.problems, *self.warnings))
        return {name for found, name, _ in filter(None, owners) if found == section}


def part_of(problem: Problem, document: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """The section, the id and the field that a problem is about; None where it is about no part that is there."""
    section, name = (str(step) for step in (*problem.path[:2], "", "")[:2])
    known = document.get(section) if section in SECTIONS else None
    return (section, name, format_place(problem.path[2:])) if isinstance(known, Mapping) and name in known else None


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
    found: Checked | None = cached.get(("draft", key))
    if found is None:
        found = check(document)
        cached.put(("draft", key), found, size_of(found))
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
    whole = with_part(document, (section, name), entry)
    try:
        bank = alone(document, section, name, entry)
    except BankError as error:
        own = _own(error.problems, whole, section, name)
        return Meaning(own or [one for one in error.problems if one.path[:1] not in (("questions",), ("templates",))])
    warnings = _own(bank.warnings, whole, section, name)
    if section == "skills":
        return Meaning(warnings, skill_sentence(bank.skills[name], bank.skills))
    if section == "templates":
        return Meaning(warnings)
    question = bank.questions[name]
    return Meaning(warnings, question_sentence(question, bank.skills), question, pictures.shares(bank, question))


def _own(problems: Iterable[Problem], document: Mapping[str, Any], section: str, name: str) -> list[Problem]:
    """The problems of one part, each with the place within it."""
    owners = [(one, part_of(one, document)) for one in problems]
    return [replace(one, place=found[2] or one.place) for one, found in owners if found is not None and found[:2] == (section, name)]


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
