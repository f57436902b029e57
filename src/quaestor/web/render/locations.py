"""Where something stands in a bank, as people read it: `questions.Q1.right[0]` is `Question Q1 · right 1`."""

import re
from collections.abc import Collection

from markupsafe import Markup, escape

from quaestor.bankfile.schema import BANK_FIELDS, QUESTION_FIELDS, SKILL_FIELDS, TEMPLATE_FIELDS
from quaestor.i18n import Said, say, together

FIELDS = {"skills": SKILL_FIELDS, "templates": TEMPLATE_FIELDS, "questions": QUESTION_FIELDS}


def place(text: str) -> str:
    """A problem's place in words; one that is no part of a bank stays as it is."""
    section, _, rest = text.partition(".")
    if section in FIELDS and rest:
        name, steps = _divided(rest, FIELDS[section])
        return together([_entry(section, name), *steps], " · ")
    steps = _steps(text, {*BANK_FIELDS, *QUESTION_FIELDS, *SKILL_FIELDS})  # a form names its fields alone
    return together(steps, " · ") if steps else Markup("<code>{}</code>").format(escape(text))


def _entry(section: str, name: str) -> Said:
    if section == "skills":
        return say("Skill {name}", name=name)
    return say("Template {name}", name=name) if section == "templates" else say("Question {name}", name=name)


def _divided(rest: str, fields: Collection[str]) -> tuple[str, list[str]]:
    """The id, which may have a dot in it, and the steps below it."""
    for dot in re.finditer(r"\.", rest):
        steps = _steps(rest[dot.end() :], fields)
        if steps:
            return rest[: dot.start()], steps
    return rest, []


def _steps(text: str, fields: Collection[str]) -> list[str]:
    """A field and what lies in it; nothing when it is no field. Items of lists are counted from one."""
    field = re.match(r"\w*", text)
    if field is None or field.group() not in fields:
        return []
    rest = re.sub(r"\[(\d+)\]", lambda found: f" {int(found.group(1)) + 1}", text[field.end() :])
    own, *below = rest.split(".")
    return [together((Said(field.group(), {}), own), ""), *below]
