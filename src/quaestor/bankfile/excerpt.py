"""The bank of one entry of a document: as quick to check with a thousand questions as with one."""

from collections.abc import Mapping
from typing import Any

from quaestor.bankfile.bank import Bank


def alone(document: Mapping[str, Any], section: str, name: str, entry: Mapping[str, Any]) -> Bank:
    """The bank of one entry with all skills and templates."""
    skills, templates = document.get("skills") or {}, document.get("templates") or {}
    questions: Any = {}
    if section == "questions":
        questions = {name: entry}
    elif section == "skills":
        skills = {**skills, name: entry}
    else:
        templates = {**templates, name: entry}
    fields = {field: document[field] for field in ("quaestor", "imprecision") if field in document}
    placeholder = {"-": {"skill": next(iter(skills), "-"), "difficulty": "medium"}}
    return Bank({**fields, "skills": skills, "templates": templates, "questions": questions or placeholder})
