"""The schema of a bank file: its fields and how each is read. The type is decided by the field, not by the form of the value."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from quaestor.bankfile.elicit import (
    A_DIFFICULTY,
    A_DISCRIMINATION,
    CHANCE,
    CONFIDENCE,
    DIFFICULTY,
    DISCRIMINATION,
    PRIOR,
    chance,
    word_value,
)
from quaestor.bankfile.readers import (
    DECIMAL,
    Reader,
    Report,
    entries,
    fields,
    file_name,
    flag,
    items,
    link,
    list_or,
    map_or,
    name,
    number,
    one_of,
    positive,
    sections,
    single,
    text,
    word,
)
from quaestor.bankfile.response_models import LINKS
from quaestor.bankfile.words import in_file
from quaestor.errors import Place, StatementError

KINDS = ("choice", "choices", "number", "text", "truefalse", "matching", "ordering", "gaps")
GAP_KINDS = ("choice", "number", "text")
NEEDS = ("all", "any")
IRT_MODELS = ("graded", "partial credit", "nominal")


def level_of(words: Collection[str]) -> Reader:
    """A reader of a number, or a word of this scale, in any language; texts such as `1/3` or `30%` stay as written."""

    def read(value: Any, place: Place, report: Report) -> float | int | str | None:
        if isinstance(value, str) and DECIMAL.fullmatch(value.strip()) is None:
            found = word(value, place, report)
            return None if found is None else in_file(found, words)
        return number(value, place, report)

    return read


_chance = level_of(CHANCE)


def prior_word(value: Any, place: Place, report: Report) -> str | None:
    """A word for a prior, in any language."""
    found = word(value, place, report)
    return None if found is None else in_file(found, PRIOR)


def probability(value: Any, place: Place, report: Report) -> Any:
    """A number in [0, 1], a word of the verbal scale, or a pair [lower, upper] of these."""
    if isinstance(value, (list, tuple)):
        ends = [_chance(end, (*place, position), report) for position, end in enumerate(value)]
        found: Any = None if None in ends else ends
    else:
        found = _chance(value, place, report)
    return _accepted(found, chance, place, report)


def exact_probability(value: Any, place: Place, report: Report) -> Any:
    """A number in [0, 1] or a word of the verbal scale, no pair."""
    return _accepted(_chance(value, place, report), chance, place, report)


def on_scale(words: Mapping[str, float], what: str) -> Reader:
    """A reader of a number or a word of this scale."""

    level = level_of(words)

    def read(value: Any, place: Place, report: Report) -> Any:
        return _accepted(level(value, place, report), lambda found: word_value(found, words, what), place, report)

    return read


def _accepted(found: Any, check: Callable[[Any], object], place: Place, report: Report) -> Any:
    """The value, or None when `check` raises a StatementError, which is reported."""
    try:
        if found is not None:
            check(found)
    except StatementError as error:
        report.fault(place, error)
        return None
    return found


row = map_or(fields({"vertices": items(items(exact_probability))}), items(probability))
table = entries(word, row)
_numbers = list_or(number, items(number))
gap = fields(
    {
        "kind": one_of(*GAP_KINDS),
        "options": items(word, unique=True),
        "correct": word,
        "accept": items(word),
        "tolerance": word,
    }
)
TEMPLATE_FIELDS: dict[str, Reader] = {
    "text": text,
    "kind": one_of(*KINDS),
    "options": map_or(entries(word, name), items(word, unique=True)),
    "pairs": entries(word, word),
    "gaps": entries(word, gap),
    "correct": list_or(word, single(items(word, unique=True))),
    "accept": map_or(entries(word, name), items(word)),
    "tolerance": word,
    "skill": name,
    "skills": items(name, unique=True),
    "classes": items(name, unique=True),
    "right": items(probability),
    "difficulty": on_scale(DIFFICULTY, A_DIFFICULTY),
    "discrimination": on_scale(DISCRIMINATION, A_DISCRIMINATION),
    "needs": one_of(*NEEDS),
    "at_least": entries(name, name),
    "slip": probability,
    "guess": probability,
    "irt": fields({"model": one_of(*IRT_MODELS), "a": _numbers, "b": _numbers, "c": _numbers}),
    "gdina": fields({"link": one_of(*LINKS), "intercept": number, "effects": entries(word, number)}),
    "rrum": fields({"pi": probability, "r": entries(name, probability)}),
    "table": table,
    "confidence": level_of(CONFIDENCE),
    "explanation": text,
    "media": file_name,
    "alt": text,
    "minutes": positive,
    "group": word,
    "tags": items(word, unique=True),
    "pilot": flag,
}
QUESTION_FIELDS: dict[str, Reader] = {"template": name, **TEMPLATE_FIELDS}
SKILL_FIELDS: dict[str, Reader] = {
    "title": word,
    "description": text,
    "link": link,
    "levels": items(name, unique=True),
    "abilities": items(number),
    "parents": items(name, unique=True),
    "prior": list_or(map_or(row, prior_word), row),
    "shares": items(number),
    "strength": number,
    "table": table,
    "confidence": level_of(CONFIDENCE),
}
BANK_FIELDS: dict[str, Reader] = {
    "quaestor": number,
    "title": word,
    "description": text,
    "language": word,
    "author": word,
    "licence": word,
    "imprecision": number,
    "skills": sections(fields(SKILL_FIELDS)),
    "templates": sections(fields(TEMPLATE_FIELDS)),
    "questions": sections(fields(QUESTION_FIELDS)),
}
