"""Questions and skills as forms: a field of a form holds what a cell of a sheet would, so there is one way of writing lists and intervals.

Options have rows of their own. How likely a right answer is can be said in several ways; the form shows the one that the entry uses, and
what it has no fields for it shows as it stands in a file.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from quaestor.bank import Bank
from quaestor.errors import BankError, Problem
from quaestor.fields import QUESTION_FIELDS
from quaestor.formats import yaml_text
from quaestor.formats.cells import read_cell, write_cell
from quaestor.statements import STATEMENT_FIELDS

Entry = dict[str, Any]
WORDS, SHARES, NEEDS, WRITTEN, TEMPLATE = "words", "shares", "needs", "written", "template"
WAYS: dict[str, tuple[str, ...]] = {
    WORDS: ("difficulty", "discrimination", "confidence"),
    SHARES: ("right", "confidence"),
    NEEDS: ("needs", "slip", "guess", "confidence"),
    WRITTEN: (),
    TEMPLATE: (),
}
CHOICES = ("choice", "choices")
PLAIN = ("text", "kind", "correct", "accept", "tolerance", "classes", "explanation", "media", "alt", "minutes", "group", "tags", "template")
SKILL_PLAIN = ("title", "description", "levels", "prior", "shares", "strength", "confidence", "abilities", "table")
ROWS = 4  # rows for options that a new question has


def question_form(entry: Mapping[str, Any]) -> dict[str, Any]:
    """What a form shows of a question: texts by field, rows of options, the skills ticked, the way its chances are said."""
    form: dict[str, Any] = {name: _text(name, entry[name]) if name in entry else "" for name in (*PLAIN, *STATEMENT_FIELDS)}
    form["kind"] = form["kind"] or "choice"
    form["skills"] = skills_of(entry)
    form["pilot"] = entry.get("pilot") in (True, "true")
    form["way"] = _way(entry)
    stated = {name: value for name, value in entry.items() if name in STATEMENT_FIELDS}
    form["statement"] = yaml_text.write(stated) if form["way"] == WRITTEN else ""
    form["options"] = _rows(entry)
    if form["kind"] in CHOICES:
        form["correct"] = ""
    return form


def _text(name: str, value: Any) -> str:
    if name == "accept" and isinstance(value, list):
        return "\n".join(str(one) for one in value)
    return str(write_cell(name, value)).replace("True", "true")


def skills_of(entry: Mapping[str, Any]) -> list[str]:
    """The skills that an entry names."""
    named = entry.get("skills", entry.get("skill", []))
    return [str(name) for name in named] if isinstance(named, list) else [str(named)]


def _way(entry: Mapping[str, Any]) -> str:
    """The way in which an entry states its chances, as far as the form has fields for it."""
    stated = {name for name in STATEMENT_FIELDS if name in entry}
    if not stated - {"confidence"}:
        return TEMPLATE if entry.get("template") else WORDS
    return next((way for way in (WORDS, SHARES, NEEDS) if stated <= set(WAYS[way])), WRITTEN)


def _rows(entry: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Options, each with its class; `right` and `wrong` where the entry lists the correct ones."""
    options, correct = entry.get("options") or [], entry.get("correct") or []
    good = {str(one) for one in (correct if isinstance(correct, list) else [correct])}
    if isinstance(options, Mapping):
        rows = [(str(option), str(kind)) for option, kind in options.items()]
    else:
        rows = [(str(option), "right" if str(option) in good else "wrong") for option in options]
    return rows + [("", "wrong")] * max(2, ROWS - len(rows))


def read_question(fields: Mapping[str, str], rows: Sequence[tuple[str, str]], skills: Sequence[str]) -> tuple[Entry, list[Problem]]:
    """The question that a form says, and what cannot be read in it. `rows`: options with their classes."""
    problems: list[Problem] = []
    kind = fields.get("kind") or "choice"
    names = [name for name in PLAIN if name not in (("correct", "accept", "tolerance") if kind in CHOICES else ())]
    entry = _read({name: fields.get(name, "") for name in names}, problems)
    if entry.get("kind") == "choice":
        del entry["kind"]
    written = [(text, group) for text, group in rows if text]
    if kind in CHOICES and written:
        _put_options(entry, written, kind)
    if len(skills) == 1:
        entry["skill"] = skills[0]
    elif skills:
        entry["skills"] = list(skills)
    if fields.get("pilot"):
        entry["pilot"] = True
    way = fields.get("way", WORDS)
    if way == WRITTEN:
        entry |= _written(fields.get("statement", ""), problems)
    else:
        entry |= _read({name: fields.get(name, "") for name in WAYS.get(way, ())}, problems)
    return {name: entry[name] for name in QUESTION_FIELDS if name in entry}, problems


def _put_options(entry: Entry, rows: Sequence[tuple[str, str]], kind: str) -> None:
    classes = entry.get("classes") or ["wrong", "right"]
    if kind == "choice" and classes != ["wrong", "right"]:
        entry["options"] = {text: group if group in classes else classes[0] for text, group in rows}
        return
    entry["options"] = [text for text, _ in rows]
    right = [text for text, group in rows if group == classes[-1]]
    if right:
        entry["correct"] = right[0] if len(right) == 1 and kind == "choice" else right


def _written(text: str, problems: list[Problem]) -> Entry:
    try:
        found = yaml_text.parse(text) if text.strip() else {}
    except BankError as error:
        problems += error.problems
        return {}
    return {name: value for name, value in found.items() if name in STATEMENT_FIELDS} if isinstance(found, Mapping) else {}


def skill_form(entry: Mapping[str, Any]) -> dict[str, Any]:
    """What a form shows of a skill."""
    form: dict[str, Any] = {name: _text(name, entry[name]) if name in entry else "" for name in SKILL_PLAIN}
    form["parents"] = [str(name) for name in entry.get("parents") or []]
    return form


def read_skill(fields: Mapping[str, str], parents: Sequence[str]) -> tuple[Entry, list[Problem]]:
    """The skill that a form says, and what cannot be read in it."""
    problems: list[Problem] = []
    told = ("strength", "table") if parents else ("prior", "shares")
    names = [name for name in SKILL_PLAIN if name not in ("prior", "shares", "strength", "table") or name in told]
    entry = _read({name: fields.get(name, "") for name in names}, problems)
    if parents:
        entry["parents"] = list(parents)
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


def alone(document: Mapping[str, Any], section: str, name: str, entry: Entry) -> Bank:
    """The bank of one entry with all skills and templates: as quick to check with a thousand questions as with one."""
    skills, templates = document.get("skills") or {}, document.get("templates") or {}
    questions: Any = {}
    if section == "questions":
        questions = {name: entry}
    elif section == "skills":
        skills = {**skills, name: entry}
    else:
        templates = {**templates, name: entry}
    fields = {field: document[field] for field in ("imprecision",) if field in document}
    placeholder = {"-": {"skill": next(iter(skills), "-"), "difficulty": "medium"}}
    return Bank({**fields, "skills": skills, "templates": templates, "questions": questions or placeholder})
