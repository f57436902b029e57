"""Surveys of AdapQuest as JSON: skills, questions whose answers are states of a variable, and the model with all tables.

A survey knows no right answers: the answers of a question are its answer classes, in the order of the states. The model is a list of
variables, in whose tables the variable that was declared first runs fastest, or a text in the UAI format (`modelData`, which wins).
"""

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np

from quaestor.bankfile.bank import table_rows
from quaestor.errors import NetworkError, format_value
from quaestor.formats import json_text, uai
from quaestor.formats.exchange.encoding import decoded
from quaestor.formats.exchange.html import from_html
from quaestor.formats.exchange.imported import Collection, Fields, Imported
from quaestor.formats.exchange.json_forms import as_map, as_maps, parsed, word
from quaestor.formats.exchange.keys import Refused
from quaestor.formats.exchange.markdown import line_starts, prose_of
from quaestor.formats.exchange.marking import as_number, check_options
from quaestor.formats.exchange.names import clean_name, unique
from quaestor.formats.limits import MOST_NUMBERS, refusal
from quaestor.i18n import said, say
from quaestor.model.table import Table

NO_KEY = say("a survey has no right answers: its questions have answer classes in the order of the file, none of them right")
_MODELS = ("model", "modelData")
_LEFT_OUT = ("mandatory", "weight", "example", "randomAnswers", "yesOnly", "multipleChoice", "multipleSkills")
_ANSWER_LEFT_OUT = ("correct", "hidden", "directEvidence", "directEvidenceVariables", "directEvidenceStates")
_Tables = dict[str, tuple[tuple[str, ...], Table]]  # the parents of a variable, and its table


def recognise(data: bytes, name: str) -> bool:
    """Whether this is JSON with a survey."""
    return {"survey", "skills", "questions"} <= parsed(data, "survey").keys()


def read(data: bytes, name: str) -> Imported:
    """The skills and questions of a survey."""
    survey = json_text.parse(decoded(data)[0])
    about = as_map(survey["survey"])
    found = Collection(word(about, "accessCode") or PurePath(name).stem)
    tables = _tables(survey, found)
    levels, variables = _skills(survey, tables, found)
    description = from_html(word(about, "description"), lambda _: "")
    found.bank |= {"description": text} if (text := str(description)) else {}
    found.bank |= {"language": word(about, "language")} if word(about, "language") else {}
    found.note("survey", NO_KEY)
    kept = {"accessCode", "description", "language"}
    if others := [key for key in about if key not in kept]:
        found.note("survey", say("settings of the survey were left out: {names}", names=", ".join(others)))
    for number, question in enumerate(as_maps(survey["questions"]), 1):
        notes: list[str] = []
        place, title = say("question {number}", number=number), word(question, "name")
        try:
            fields = _question(question, tables, levels, variables, notes)
        except Refused as refused:
            found.refuse(title, place, said(refused))
        else:
            found.add(title, fields, place, notes)
    return found.finished()


def _tables(survey: Mapping[str, Any], found: Collection) -> _Tables:
    """The tables of the model; a variable whose table is none is told and left out."""
    if text := word(survey, "modelData"):
        try:
            network = uai.read(text)
        except NetworkError as error:
            raise refusal(say("the model is a network in the UAI format"), said(error), where="modelData") from error
        return {variable.name: (variable.parents, variable.table) for variable in network.variables}
    sizes: dict[str, int] = {}
    made: _Tables = {}
    for number, variable in enumerate(as_maps(as_map(survey.get("model")).get("variables")), 1):
        name, place = word(variable, "name"), say("variable {number} of the model", number=number)
        try:
            sizes[name] = _size(variable)
            made[name] = _declared(variable, sizes)
        except (Refused, NetworkError) as error:
            found.note(place, say("{name}: {words}", name=name, words=said(error)))
    return made


def _size(variable: Mapping[str, Any]) -> int:
    size = as_number(str(variable.get("states", "")))
    if size.denominator != 1 or not 1 <= size <= MOST_NUMBERS:
        raise Refused(say("a variable has a number of states, got {value}", value=format_value(str(variable.get("states")))))
    return int(size)


def _declared(variable: Mapping[str, Any], sizes: Mapping[str, int]) -> tuple[tuple[str, ...], Table]:
    """The parents of a variable in the order of their declaration, and its table."""
    given = variable.get("parents") or []
    wanted = [str(parent) for parent in given] if isinstance(given, list) else []
    if unknown := [parent for parent in wanted if parent not in sizes]:
        raise Refused(say("parents are declared before their children, got {names}", names=", ".join(unknown)))
    parents = tuple(name for name in sizes if name in wanted)
    data = variable.get("data")
    numbers = [float(as_number(str(one))) for one in data] if isinstance(data, list) else []
    shape = [*(sizes[parent] for parent in parents), _size(variable)]
    if len(numbers) != np.prod(shape, dtype=object):
        raise Refused(say("a table has {count:,} numbers, got {found:,}", count=int(np.prod(shape, dtype=object)), found=len(numbers)))
    return parents, Table.precise(np.array(numbers).reshape(shape, order="F"))


def _skills(survey: Mapping[str, Any], tables: _Tables, found: Collection) -> tuple[dict[str, list[str]], dict[str, str]]:
    """The levels of the skills, and the skill that a variable stands for; their tables become fields of the bank."""
    levels: dict[str, list[str]] = {}
    variables: dict[str, str] = {}
    for skill in as_maps(survey["skills"]):
        own = unique(clean_name(word(skill, "name")), levels)
        states: list[str] = []
        for state in as_maps(skill.get("states")):
            states.append(unique(clean_name(word(state, "name")), states))
        levels[own] = states
        variables[_variable(skill, word(skill, "name"))] = own
    stated: dict[str, Fields] = {}
    for variable, own in variables.items():
        parents, table = tables.get(variable, ((), None))
        if table is None or table.shape[-1] != len(levels[own]) or any(parent not in variables for parent in parents):
            rule = say("a skill has a table over its states, with skills as parents")
            raise refusal(rule, say("none that fits"), where=own)
        rows = table_rows(table, [levels[variables[parent]] for parent in parents])
        above = {"parents": [variables[parent] for parent in parents], "table": rows} if parents else {"prior": rows[""]}
        stated[own] = {"levels": levels[own], **above}
    found.bank["skills"] = stated
    return levels, variables


def _variable(holder: Mapping[str, Any], name: str) -> str:
    """The variable of the model that a skill, or the answers of a question, stand for."""
    return str(holder["variable"]) if "variable" in holder else name


def _question(
    question: Mapping[str, Any], tables: _Tables, levels: dict[str, list[str]], skills: dict[str, str], notes: list[str]
) -> Fields:
    answers = as_maps(question.get("answers"))
    names = list(dict.fromkeys(_variable(answer, word(question, "name")) for answer in answers))
    if len(names) != 1:
        raise Refused(say("all answers of a question are states of one variable, got {count}", count=len(names)))
    if names[0] not in tables:
        raise Refused(say("the model has no table for {name} that sums to one", name=format_value(names[0])))
    parents, table = tables[names[0]]
    if not parents or any(parent not in skills for parent in parents):
        raise Refused(say("a question depends on skills, got {names}", names=", ".join(parents) or say("none")))
    texts = [prose_of(word(answer, "text")) for answer in answers]
    states = [as_number(str(answer.get("state", ""))) for answer in answers]
    if sorted(states) != list(range(table.shape[-1])):
        raise Refused(say("each state of a question has one answer, got {states}", states=", ".join(map(str, states))))
    check_options(dict.fromkeys(texts))
    classes: list[str] = []
    for state in range(table.shape[-1]):
        classes.append(unique(clean_name(texts[states.index(state)]), classes))  # type: ignore[arg-type]
    if lost := [key for key in _LEFT_OUT if question.get(key) not in (None, False, "")]:
        notes.append(say("settings of the question were left out: {names}", names=", ".join(lost)))
    if lost := [key for key in _ANSWER_LEFT_OUT if any(answer.get(key) not in (None, False, "", []) for answer in answers)]:
        notes.append(say("settings of the question were left out: {names}", names=", ".join(lost)))
    explanation = word(question, "explanation")
    return {
        "text": line_starts(prose_of(word(question, "question"))),
        "options": {text: classes[int(state)] for text, state in zip(texts, states, strict=True)},
        **({"explanation": line_starts(prose_of(explanation))} if explanation else {}),
        "skills": [skills[parent] for parent in parents],
        "classes": classes,
        "table": table_rows(table, _names_of(parents, skills, levels)),
    }


def _names_of(parents: Sequence[str], skills: dict[str, str], levels: dict[str, list[str]]) -> list[list[str]]:
    return [levels[skills[parent]] for parent in parents]
