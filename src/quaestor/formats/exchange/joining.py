"""Questions of another system added to a bank that is there: nothing of it is changed, and what would clash gets another name."""

import json
from collections.abc import Collection, Mapping
from typing import Any

from quaestor.formats.exchange.imported import Fields
from quaestor.formats.exchange.names import unique


def joined(bank: Mapping[str, Any], more: Mapping[str, Any]) -> Fields:
    """The document of a bank with the questions of another one; a skill or template of the same name is the one that is there.

    A template that says something else under the same name is added under another one.
    """
    skills, templates, questions = ({**(bank.get(name) or {})} for name in ("skills", "templates", "questions"))
    called: dict[str, str] = {}
    for name, fields in (more.get("templates") or {}).items():
        called[name] = name if templates.get(name, fields) == fields else unique(name, templates)
        templates[called[name]] = fields
    measured: dict[str, str] = {}
    for name, fields in more["skills"].items():
        measured[name] = name if name in skills or name not in questions else unique(name, {**skills, **questions})
        skills.setdefault(measured[name], fields)
    for name, fields in more["questions"].items():
        own = {**fields, **({"skill": measured.get(fields["skill"], fields["skill"])} if "skill" in fields else {})}
        if "skills" in fields:
            own["skills"] = [measured.get(one, one) for one in fields["skills"]]
        if "template" in fields:
            own["template"] = called.get(fields["template"], fields["template"])
        questions[unique(name, {**questions, **skills})] = own
    parts = {"skills": skills, **({"templates": templates} if templates else {}), "questions": questions}
    return {**bank, **parts}


def renamed_media(document: Fields, media: Mapping[str, bytes], taken: Collection[str]) -> tuple[Fields, dict[str, bytes]]:
    """A document and its pictures and sounds, with other names for those that are taken."""
    made: dict[str, bytes] = {}
    text = json.dumps(document, ensure_ascii=False)
    for name, content in media.items():
        stem, dot, ending = name.rpartition(".")
        free = name if name not in taken else unique(stem or name, [one.rpartition(".")[0] or one for one in (*taken, *made)], "-{number}")
        if free != name:
            free += dot + ending
            text = text.replace(f"]({name})", f"]({free})").replace(f'"media": "{name}"', f'"media": "{free}"')
        made[free] = content
    found: Fields = json.loads(text)
    return found, made
