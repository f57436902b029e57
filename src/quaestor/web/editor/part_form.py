"""Questions and skills as forms: a field of a form holds what a cell of a sheet would, so there is one way of writing lists and intervals.

Options have rows of their own. How likely a right answer is can be said in several ways; the form shows the one that the entry uses, and
what it has no fields for it shows as it stands in a file.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from quaestor.bankfile.document import merged
from quaestor.bankfile.excerpt import alone
from quaestor.bankfile.schema import QUESTION_FIELDS
from quaestor.bankfile.statements import STATEMENT_FIELDS
from quaestor.errors import BankError, Problem, format_value, nearest
from quaestor.formats import yaml_text
from quaestor.formats.cells import read_cell, write_cell
from quaestor.i18n import say
from quaestor.web.editor.option_rows import Mark, Row, classes_of, empty_rows, marked, options_said, rows_of
from quaestor.web.editor.part_rows import FIELDS, Parts, parts_of, read_parts

Entry = dict[str, Any]
WORDS, SHARES, NEEDS, WRITTEN, TEMPLATE = "words", "shares", "needs", "written", "template"
WAYS: dict[str, tuple[str, ...]] = {
    WORDS: ("difficulty", "discrimination", "guess", "confidence"),
    SHARES: ("right", "confidence"),
    NEEDS: ("needs", "slip", "guess", "confidence"),
    WRITTEN: (),
    TEMPLATE: ("confidence",),
}
CHOICES, TYPED = ("choice", "choices"), ("number", "text")
PLAIN = ("text", "kind", "correct", "accept", "tolerance", "classes", "explanation", "media", "alt", "minutes", "group", "tags", "template")
SKILL_PLAIN = ("title", "description", "link", "levels", "prior", "shares", "strength", "confidence", "abilities", "table")
NOTHING: Mapping[str, Any] = {}


def question_form(entry: Mapping[str, Any], template: Mapping[str, Any] = NOTHING) -> dict[str, Any]:
    """What a form shows of a question: texts by field, rows of options, the skills ticked, the way its chances are said.

    The kind and the options are those of its template where it has none of its own.
    """
    form: dict[str, Any] = {name: _text(name, entry[name]) if name in entry else "" for name in (*PLAIN, *STATEMENT_FIELDS)}
    form["kind"] = form["kind"] or kind_of(template)
    form["skills"] = skills_of(entry)
    form["pilot"] = _is_pilot(entry)
    form["way"] = _way(entry)
    stated = {name: value for name, value in entry.items() if name in STATEMENT_FIELDS}
    form["statement"] = yaml_text.write(stated) if form["way"] == WRITTEN else ""
    classes = classes_of(entry, template)
    rows = rows_of(merged(entry, template), classes)
    form["options"] = rows + empty_rows(rows, classes)
    if form["kind"] not in TYPED:
        form["correct"] = ""
    form["parts"] = parts_of({"kind": form["kind"], **merged(entry, template)}).with_empty_rows()
    return form


def _text(name: str, value: Any) -> str:
    if name == "accept" and isinstance(value, list) and not any("->" in str(one) for one in value):
        return "\n".join(str(one) for one in value)
    return str(write_cell(name, value))


def kind_of(entry: Mapping[str, Any]) -> str:
    """How a question is answered."""
    return str(entry.get("kind") or "choice")


def skills_of(entry: Mapping[str, Any]) -> list[str]:
    """The skills that an entry names."""
    named = entry.get("skills", entry.get("skill", []))
    return [str(name) for name in named] if isinstance(named, list) else [str(named)]


def _is_pilot(entry: Mapping[str, Any]) -> bool:
    return entry.get("pilot") in (True, "true")


def _way(entry: Mapping[str, Any]) -> str:
    """The way in which an entry states its chances, as far as the form has fields for it."""
    stated = {name for name in STATEMENT_FIELDS if name in entry}
    if not stated - {"confidence"}:
        return TEMPLATE if entry.get("template") else WORDS
    ways = [NEEDS] if "needs" in stated else [SHARES] if "right" in stated else [WORDS] if stated & {"difficulty", "discrimination"} else []
    return next((way for way in ways if stated <= set(WAYS[way])), WRITTEN)


def read_question(
    fields: Mapping[str, str],
    rows: Sequence[tuple[str, Mark]],
    skills: Sequence[str],
    template: Mapping[str, Any] = NOTHING,
    before: Mapping[str, Any] = NOTHING,
    parts: Parts | None = None,
) -> tuple[Entry, list[Problem]]:
    """The question that a form says, and what cannot be read in it.

    `rows`: options with their classes; `parts`: pairs, items and gaps; `before`: the entry that the form showed. What can be said in
    several ways and was not changed stays as it was written there, so that saving an untouched form changes nothing.
    """
    problems: list[Problem] = []
    kind = fields.get("kind") or kind_of(template)
    names = [name for name in PLAIN if name not in (("correct", "accept", "tolerance") if kind not in TYPED else ())]
    entry = _read({name: fields.get(name, "") for name in names}, problems)
    if kind == kind_of(template) and kind != before.get("kind"):
        entry.pop("kind", None)
    if kind in CHOICES:
        entry |= _read_options(entry, rows, kind, template, before, problems)
    if kind in FIELDS:
        entry |= read_parts(parts or Parts(), kind, entry, template, before, problems)
    entry |= _scope(skills, before)
    entry |= _pilot(bool(fields.get("pilot")), template, before)
    way = fields.get("way", WORDS)
    if way == WRITTEN:
        entry |= _written(fields.get("statement", ""), problems)
    else:
        entry |= _read({name: fields.get(name, "") for name in WAYS.get(way, ())}, problems)
    return {name: entry[name] for name in QUESTION_FIELDS if name in entry}, problems


def _read_options(
    entry: Entry,
    rows: Sequence[tuple[str, Mark]],
    kind: str,
    template: Mapping[str, Any],
    before: Mapping[str, Any],
    problems: list[Problem],
) -> Entry:
    """The fields `options` and `correct`: as they were where no row was changed, without those that the template says."""
    classes, shown = classes_of(entry, template), classes_of(before, template)
    found = marked(rows, classes, shown)
    whole = merged(before, template)
    if (classes, kind, entry.get("template")) == (shown, kind_of(whole), before.get("template")) and found == rows_of(whole, shown):
        return {name: before[name] for name in ("options", "correct") if name in before}
    texts = [text for text, _ in found]
    again = next((text for place, text in enumerate(texts) if text in texts[:place]), None)
    if again is not None:
        problems.append(Problem("options", say("each is listed once"), format_value(again)))
    said = options_said(found, kind, classes, before)
    return {name: value for name, value in said.items() if name in before or value != template.get(name)}


def typed_rows(
    rows: Sequence[tuple[str, Mark]], entry: Mapping[str, Any], template: Mapping[str, Any], before: Mapping[str, Any]
) -> list[Row]:
    """The rows of a form as they were typed, to be shown again."""
    classes = classes_of(entry, template)
    found = marked(rows, classes, classes_of(before, template))
    return found + empty_rows(found, classes)


def _scope(skills: Sequence[str], before: Mapping[str, Any]) -> Entry:
    """The skills that are ticked, in the order they had: rows of a table follow it."""
    named = skills_of(before)
    if sorted(named) == sorted(skills):
        return {name: before[name] for name in ("skill", "skills") if name in before}
    ordered = _in_order(skills, named)
    return {"skill": ordered[0]} if len(ordered) == 1 else {"skills": ordered} if ordered else {}


def _pilot(ticked: bool, template: Mapping[str, Any], before: Mapping[str, Any]) -> Entry:
    if ticked == _is_pilot(before):
        return {"pilot": before["pilot"]} if "pilot" in before else {}
    return {"pilot": ticked} if ticked or _is_pilot(template) else {}


def _in_order(ticked: Sequence[str], before: Sequence[str]) -> list[str]:
    return [*(name for name in before if name in ticked), *(name for name in ticked if name not in before)]


def _written(text: str, problems: list[Problem]) -> Entry:
    try:
        found = yaml_text.parse(text) if text.strip() else {}
    except BankError as error:
        problems += error.problems
        return {}
    if not isinstance(found, Mapping):
        problems.append(Problem("statement", say("a map of fields is expected"), format_value(found)))
        return {}
    known = sorted(STATEMENT_FIELDS)
    for name in found:
        if name not in STATEMENT_FIELDS:
            hint = nearest(name, known) or say("known fields: {fields}", fields=", ".join(known))
            problems.append(Problem("statement", say("unknown field"), format_value(name), hint))
    return {name: value for name, value in found.items() if name in STATEMENT_FIELDS}


def skill_form(entry: Mapping[str, Any]) -> dict[str, Any]:
    """What a form shows of a skill."""
    form: dict[str, Any] = {name: _text(name, entry[name]) if name in entry else "" for name in SKILL_PLAIN}
    form["parents"] = _parents(entry)
    return form


def _parents(entry: Mapping[str, Any]) -> list[str]:
    found = entry.get("parents") or []
    return [str(name) for name in found] if isinstance(found, list) else [str(found)]


def read_skill(fields: Mapping[str, str], parents: Sequence[str], before: Mapping[str, Any] = NOTHING) -> tuple[Entry, list[Problem]]:
    """The skill that a form says, and what cannot be read in it; `before`: the entry that the form showed."""
    problems: list[Problem] = []
    told = ("strength", "table") if parents else ("prior", "shares")
    names = [name for name in SKILL_PLAIN if name not in ("prior", "shares", "strength", "table") or name in told]
    entry = _read({name: fields.get(name, "") for name in names}, problems)
    if parents:
        entry["parents"] = _in_order(parents, _parents(before))
    return entry, problems


def _read(texts: Mapping[str, str], problems: list[Problem]) -> Entry:
    entry: Entry = {}
    for name, text in texts.items():
        written = text.replace("\r\n", "\n").strip()
        if not written:
            continue
        try:
            entry[name] = _accepted(written) if name == "accept" else read_cell(name, written)
        except BankError as error:
            problems += [Problem(name, problem.rule, problem.value, problem.hint) for problem in error.problems]
    return entry


def _accepted(text: str) -> Any:
    """Further answers, one a line, or `answer -> class`."""
    return read_cell("accept", text) if "->" in text else [line.strip() for line in text.split("\n") if line.strip()]


def normal(document: Mapping[str, Any], section: str, name: str, entry: Entry) -> Entry:
    """An entry as a checked bank keeps it (`0.3`, not `"30%"`), so that equal ones look equal; as written when it has faults."""
    try:
        found: Entry = alone(document, section, name, entry).document[section][name]
        return found
    except BankError:
        return entry
