"""From the fields of a document to skills and questions; every broken rule is added to the report."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from quaestor.bankfile import elicit
from quaestor.bankfile.keys import DEFAULT_CLASSES, KEY_FIELDS, by_chance, points_by_chance, read_key
from quaestor.bankfile.readers import Partial, Report
from quaestor.bankfile.sentences import percent
from quaestor.bankfile.statements import STATEMENT_FIELDS, STATEMENTS, Draft, FieldPlace, build_tables, draft_question, draft_skill
from quaestor.errors import Place, Words, nearest
from quaestor.i18n import say
from quaestor.model.entries import loose
from quaestor.model.network import find_cycle, topological_order
from quaestor.model.question import Question
from quaestor.model.skill import Skill

DEFAULT_LEVELS = ("no", "yes")
_SKILL_NEEDS = frozenset({"levels", "abilities", "parents", "prior", "shares", "strength", "table", "confidence"})
_ENTRY_FIELDS = frozenset({"kind", *KEY_FIELDS, "classes"})
_PLAIN_FIELDS = ("text", "kind", "explanation", "media", "alt", "minutes", "group", "pilot", "template")
_FAR_BELOW = 0.5  # of chance: wrong options that stand for typical mistakes attract beginners, but not nearly all of them
_SAME = 1e-9  # probabilities that differ by less count as equal in warnings


def read_skills(section: Mapping[str, Any] | None, imprecision: float, report: Report) -> dict[str, Skill | None]:
    """The skills by id, in the order written; None for one that has a problem."""
    if not section:
        report.error(("skills",), say("a bank has at least one skill"), say("none"))
        return {}
    found: dict[str, Skill | None] = dict.fromkeys(section)
    parents = {skill_id: tuple((fields or {}).get("parents", ())) for skill_id, fields in section.items()}
    for skill_id, names in parents.items():
        for name in names:
            if name not in section:
                report.error(("skills", skill_id, "parents"), say("unknown skill"), name, nearest(name, section))
    known = {skill_id: [name for name in names if name in section] for skill_id, names in parents.items()}
    cycle = find_cycle(known)
    if cycle:
        place: Place = ("skills", cycle[0], "parents")
        report.error(place, say("skills do not depend on themselves"), Words(" -> ".join(reversed(cycle))))
        return found
    for skill_id in topological_order(known):
        lost = lost_of(section[skill_id])
        if not lost & _SKILL_NEEDS and all(found.get(name) for name in parents[skill_id]):
            above = [skill for name in parents[skill_id] if (skill := found[name]) is not None]
            found[skill_id] = _read_skill(skill_id, section[skill_id], above, imprecision, report)
    return found


def lost_of(entry: Mapping[str, Any] | None) -> frozenset[str]:
    """The fields of an entry that have faults: all of them where nothing of it could be read."""
    if entry is None:
        return _SKILL_NEEDS | _ENTRY_FIELDS | STATEMENT_FIELDS | {"skill", "skills"}
    return entry.lost if isinstance(entry, Partial) else frozenset()


def _read_skill(skill_id: str, fields: Mapping[str, Any], parents: Sequence[Skill], imprecision: float, report: Report) -> Skill | None:
    place: Place = ("skills", skill_id)
    levels = tuple(fields.get("levels", DEFAULT_LEVELS))
    if len(levels) < 2:
        report.error((*place, "levels"), say("a skill has at least two levels"), list(levels))
        return None
    abilities = tuple(fields.get("abilities", elicit.abilities(len(levels))))
    if len(abilities) != len(levels) or any(low >= high for low, high in pairwise(abilities)):
        report.error((*place, "abilities"), say("{count} levels have {count} rising abilities", count=len(levels)), list(abilities))
        return None
    table = build_tables([draft_skill(fields, levels, parents, imprecision, place, report)], report)[0]
    if table is None:
        return None
    parent_ids = tuple(parent.id for parent in parents)
    words = {name: fields[name] for name in ("title", "description", "link") if name in fields}
    return Skill(skill_id, levels, parent_ids, table, abilities, **words)


def read_questions(
    section: Mapping[str, Any] | None,
    templates: Mapping[str, Any],
    skills: Mapping[str, Skill | None],
    imprecision: float,
    knows_chance: bool,
    report: Report,
) -> list[Question]:
    """The questions that have no problem, in the order written; `knows_chance`: difficulties in words are not below chance."""
    if not section:
        report.error(("questions",), say("a bank has at least one question"), say("none"))
        return []
    made: list[dict[str, Any]] = []
    drafts = []
    for question_id, own in section.items():
        place: Place = ("questions", question_id)
        if question_id in skills:
            report.error(place, say("questions and skills have different ids"), question_id)
        if own is None or "template" in lost_of(own):
            continue
        name = own.get("template")
        if name is not None and name not in templates:
            report.error((*place, "template"), say("unknown template"), name, nearest(name, templates))
        elif name is None or templates[name] is not None:
            content, draft = _read_question(question_id, own, templates[name] if name else {}, skills, imprecision, knows_chance, report)
            made.append(content)
            drafts.append(draft)
    tables = build_tables(drafts, report)
    return [Question(**content, table=table) for content, table in zip(made, tables, strict=True) if table is not None]


def merged(own: Mapping[str, Any], template: Mapping[str, Any]) -> dict[str, Any]:
    """A question's fields merged with its template's: its own fields win, its own statement replaces the template's whole statement, and
    its own scope the template's scope.
    """
    hidden: set[str] = set()
    if any(field in own for field in STATEMENTS):
        hidden |= STATEMENT_FIELDS
    if "skill" in own or "skills" in own:
        hidden |= {"skill", "skills"}
    return {**{field: value for field, value in template.items() if field not in hidden}, **own}


def _read_question(
    question_id: str,
    own: Mapping[str, Any],
    template: Mapping[str, Any],
    skills: Mapping[str, Skill | None],
    imprecision: float,
    knows_chance: bool,
    report: Report,
) -> tuple[dict[str, Any], Draft | None]:
    """The content of a question without its table, and the draft of the table."""
    fields = merged(own, template) if template else own

    def at(field: str) -> Place:
        """The place where a field was written: in the question or in its template."""
        if field and field not in own and field in template:
            return ("templates", own["template"], field)
        return ("questions", question_id, field) if field else ("questions", question_id)

    lost = lost_of(own) | lost_of(template)
    classes = tuple(fields.get("classes", DEFAULT_CLASSES))
    if len(classes) < 2:
        report.error(at("classes"), say("a question has at least two answer classes"), list(classes))
        return {}, None
    scope = None if lost & {"skill", "skills"} else _read_scope(fields, skills, at, report)
    content = {
        "id": question_id,
        "skills": tuple(skill.id for skill in scope or ()),
        "classes": classes,
        "tags": tuple(fields.get("tags", ())),
        **{field: fields[field] for field in _PLAIN_FIELDS if field in fields},
        **({} if lost & (_ENTRY_FIELDS | ({"text"} if "gaps" in fields else set())) else read_key(fields, classes, at, report)),
    }
    chosen = content.get("kind", "choice"), content.get("option_classes", {}), classes, content.get("parts", ())
    guess = points_by_chance(*chosen) if knows_chance else 0.0
    if scope is None or lost & (STATEMENT_FIELDS | {"classes"}):
        return content, None
    return content, draft_question(fields, scope, classes, guess, imprecision, at, report)


def _read_scope(fields: Mapping[str, Any], skills: Mapping[str, Skill | None], at: FieldPlace, report: Report) -> list[Skill] | None:
    if "skill" in fields and "skills" in fields:
        report.error(at("skills"), say("a question names its skill or its skills"), say("both"))
        return None
    names = [fields["skill"]] if "skill" in fields else fields.get("skills", [])
    if not names:
        report.error(at(""), say("a question has a skill or skills that it measures"), say("none"))
        return None
    for name in names:
        if skills and name not in skills:
            report.error(at("skill" if "skill" in fields else "skills"), say("unknown skill"), name, nearest(name, skills))
    scope = [skill for name in names if (skill := skills.get(name)) is not None]
    return scope if len(scope) == len(names) else None


def warn_of_questions(questions: Sequence[Question], knows_chance: bool, report: Report) -> None:
    """Warn of questions with equal rows, with answers that get worse at a higher level, are impossible or far below chance, or with equal
    options.
    """
    alike: dict[tuple[int, ...], list[Question]] = {}
    for question in questions:
        alike.setdefault(question.table.shape, []).append(question)
    for shape, group in alike.items():
        bounds = np.stack([[question.table.lower, question.table.upper] for question in group])
        rows = bounds.reshape(len(group), 2, -1, shape[-1])
        same = (np.abs(rows - rows[:, :, :1]) < _SAME).all(axis=(1, 2, 3))
        for number in np.flatnonzero(same):
            if not group[number].table.vertices:
                rule = say("a question tells something: its rows differ between levels")
                report.warning(("questions", group[number].id), rule, say("the same row for every level"))
        for number in np.flatnonzero((rows[:, 1] == 0).any(axis=(1, 2))):
            rule = say("an answer is possible at every level: one that the answers before rule out is refused, which tells the key")
            report.warning(("questions", group[number].id), rule, say("a probability of 0"))
        best = bounds[..., -1]
        for axis in range(len(shape) - 1):
            rises = np.diff(best, axis=2 + axis)
            falls = (rises < _SAME).all(axis=1) & (rises < -_SAME).any(axis=1)
            for number in np.flatnonzero(falls.reshape(len(group), -1).any(axis=1)):
                skill = group[number].skills[axis]
                rule = say("the best answer is not less likely at a higher level of {skill}: check the key", skill=skill)
                report.warning(("questions", group[number].id), rule, say("a falling probability"))
    for question in questions:
        guess = by_chance(question.kind, question.option_classes, question.classes[-1], question.parts)
        least = float(question.table.upper[..., -1].min())
        if least < _FAR_BELOW * guess - _SAME:
            shown = percent(guess, guess)
            rule = (
                say("a guess is right in {guess} of cases; less than half of that is rare", guess=shown)
                if question.parts
                else say(
                    "with {count} options a guess is right in {guess} of cases; less than half of that is rare",
                    count=len(question.options),
                    guess=shown,
                )
            )
            hint = "" if knows_chance else say("in a file that begins with 'quaestor: 2' a difficulty in words is not below chance")
            report.warning(("questions", question.id), rule, percent(least, least), hint)
        offered: dict[Place, Sequence[str]] = {("options",): question.options}
        if question.kind == "matching":
            offered[("pairs",)] = [part.name for part in question.parts]
        if question.kind == "gaps":
            offered |= {("gaps", part.name, "options"): part.options for part in question.parts}
        for place, options in offered.items():
            forms = [loose(option) for option in options]
            if len(set(forms)) < len(forms):
                twins = [option for option, form in zip(options, forms, strict=True) if forms.count(form) > 1]
                report.warning(("questions", question.id, *place), say("options differ by more than case and spaces"), " | ".join(twins))
