"""Rules as a file: the schema, and what each field becomes."""

from collections.abc import Mapping
from dataclasses import fields as dataclass_fields
from pathlib import Path
from typing import Any

from quaestor.bankfile.readers import Reader, Report, entries, fields, flag, items, list_or, map_or, name, number, one_of, word
from quaestor.bankfile.words import in_file
from quaestor.errors import BankError, Locate, Place, Problem, Words, format_value, located, nearest
from quaestor.formats.documents import read_document
from quaestor.i18n import say
from quaestor.registry import Named, Registry, SettingError
from quaestor.selection.own_rules import RULES
from quaestor.selection.rules import Content, Exposure, Robust, Rules, RulesError, Variety
from quaestor.selection.scores.known import BOUNDS, SCORES
from quaestor.selection.stopping.combined import COMBINED
from quaestor.selection.stopping.criteria import SIMPLE
from quaestor.selection.stopping.criterion import Criterion, CriterionError


def load_rules(path: str | Path) -> Rules:
    """Read and check rules from a YAML or JSON file; raises RulesError with every problem: file, place, rule, value."""
    try:
        document, locate = read_document(path)
    except BankError as error:
        raise RulesError(error.problems, str(path)) from error
    return read_rules(document, str(path), locate)


def read_rules(document: Mapping[str, Any], source: str = "", locate: Locate | None = None) -> Rules:
    """Rules from plain data: what a file holds, or `Rules.document`."""
    if document and not isinstance(document, Mapping):
        raise RulesError([Problem("rules", say("a map of fields is expected"), format_value(document))], source)
    report = Report()
    found = fields(FIELDS)(document, (), report) or {}
    if report.errors:
        raise RulesError(located(report.errors, locate), source)
    if found.get("then") == "none":
        found["then"] = None
    try:
        return Rules(**found)
    except RulesError as error:
        raise RulesError(located(error.problems, locate), source) from error


def _criterion(value: Any, place: Place, report: Report) -> Criterion | None:
    """A criterion by its name: alone (`dominant`), with its one setting, or with a map of them; or a combination."""
    if isinstance(value, str):
        value = {value: {}}
    if not isinstance(value, Mapping) or len(value) != 1:
        report.error(place, say("one criterion is expected, such as max_questions: 20"), value)
        return None
    (kind, setting), *_ = value.items()
    if kind in COMBINED:
        parts = items(_criterion)(setting, (*place, str(kind)), report)
        return COMBINED[kind](*parts) if parts is not None else None
    if not SIMPLE.knows(kind):
        known = [*SIMPLE.names, *COMBINED]
        hint = nearest(kind, known) or say("known: {words}; {hint}", words=", ".join(known), hint=SIMPLE.hint(kind))
        report.error(place, say("a known criterion is expected"), kind, hint)
        return None
    found: Criterion | None = made_of(SIMPLE, kind, setting, place, report)
    return found


def made_of(known: Registry[Any], kind: str, setting: Any, place: Place, report: Report) -> Any:
    """A named value from its one setting or from a map of them."""
    inside, made = (*place, kind), known[kind]
    listed = {one.name: one.type in (str, "str") for one in dataclass_fields(made)}
    try:
        if isinstance(setting, Mapping):
            return made(**{str(key): _setting(one, listed.get(str(key), False)) for key, one in setting.items()})
        return made(_setting(setting, next(iter(listed.values()), False)))
    except TypeError:
        names = ", ".join(listed)
        report.error(inside, say("the settings are {names}", names=names) if names else say("the settings are none"), setting)
    except CriterionError as error:
        report.error(inside, error.rule, error.value.strip("'"))
    except SettingError as error:
        report.error(inside, error.rule, Words(error.value))
    return None


def _setting(value: Any, is_word: bool) -> Any:
    """A number where one is written, else the word; a setting that holds words keeps them: a skill may be called 3."""
    if isinstance(value, list):
        return [_setting(one, is_word) for one in value]
    if is_word:
        return str(value)
    found = number(value, (), Report())
    return value if found is None else found


def _own_rule(value: Any, place: Place, report: Report) -> Named | None:
    """A rule of somebody's own by its name: alone, with its one setting, or with a map of them."""
    if isinstance(value, str):
        value = {value: {}}
    if not isinstance(value, Mapping) or len(value) != 1 or not RULES.knows(*value):
        given = next(iter(value)) if isinstance(value, Mapping) and len(value) == 1 else value
        report.error(place, say("a registered rule is expected"), given, RULES.hint(given))
        return None
    (kind, setting), *_ = value.items()
    found: Named | None = made_of(RULES, kind, setting, place, report)
    return found


def _score(*others: str) -> Reader:
    """A reader of the name of a score, also of one that somebody has registered, or of another word."""

    def read(value: Any, place: Place, report: Report) -> str | None:
        if isinstance(value, str) and not SCORES.knows(value):
            value = in_file(value, (*others, *SCORES))
        if value in others or SCORES.knows(value):
            return str(value)
        words = ", ".join((*others, *SCORES.names))
        report.error(place, say("one of {words} is expected", words=words), value, SCORES.hint(value))
        return None

    return read


def _made(kind: type, schema: dict[str, Reader]) -> Reader:
    """A reader of one part of the rules."""

    def read(value: Any, place: Place, report: Report) -> Any:
        before = report.count
        found = fields(schema)(value, place, report)
        if kind is Content and found is not None and "of" not in found and report.count == before:
            report.error(place, say("a skill or a group is named: of"), say("none"))
        return kind(**found) if found is not None and report.count == before else None

    return read


def _whole(value: Any, place: Place, report: Report) -> int | None:
    found = number(value, place, report)
    if found is not None and not isinstance(found, int):
        report.error(place, say("a whole number is expected"), found)
        return None
    return found


_ids = items(name, unique=True)
FIELDS: dict[str, Reader] = {
    "score": _score(),
    "then": _score("auto", "none"),
    "bound": one_of(*BOUNDS),
    "target": map_or(entries(name, number), list_or(one_of("scope", "all", "joint"), _ids)),
    "per": one_of("minute"),
    "stop": _criterion,
    "first": _ids,
    "first_among": _whole,
    "mandatory": _ids,
    "among": _whole,
    "progressive": number,
    "proportional": number,
    "exposure": _made(Exposure, {"most": number, "rates": entries(name, number), "chances": entries(name, number)}),
    "content": items(_made(Content, {"of": word, "least": _whole, "most": _whole, "share": number})),
    "exclude": items(_ids),
    "testlets": items(_ids),
    "pilots": _whole,
    "variety": _made(Variety, {"after": _whole, "give_up": number, "of": items(one_of("skill", "group", "template"), unique=True)}),
    "robust": _made(Robust, {"networks": _whole, "choose": one_of("most", "least exposed"), "seed": _whole}),
    "retire": _criterion,
    "skips": word,
    "may_skip": flag,
    "only_next": flag,
    "withdrawn": _ids,
    "least_answers": _whole,
    "ahead": _whole,
    "shadow": flag,
    "narrow": items(_own_rule),
}
