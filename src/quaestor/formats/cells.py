"""The notation for lists, maps and tables in one cell of a sheet.

A list is `a | b | c`; a map is `key -> value; key -> value`, entries also divided by line breaks; an interval is `0.35..0.45`. So a
table for two skills reads `no, no -> 0.9 | 0.1; no, yes -> 0.8 | 0.2; ...`. A cell that starts with `[` or `{` is JSON. Values that
have no short form are written as JSON.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from quaestor.errors import BankError, Problem
from quaestor.formats import yaml_text
from quaestor.i18n import say

LISTS = {"levels", "abilities", "parents", "shares", "skills", "classes", "tags", "right", "options", "accept", "prior"}
WORDS_OR_LISTS = {"correct", "prior"}  # a single item is read as a word, not as a list
MAPS = {"table", "at_least", "irt", "pairs"}
LISTS_OR_MAPS = {"options", "accept"}
JSON = {"gaps", "gdina", "rrum"}
CHANCES = {"right", "prior", "slip", "guess", "table"}
_STRUCTURED = LISTS | WORDS_OR_LISTS | MAPS | CHANCES | JSON


def read_cell(field: str, text: str) -> Any:
    """The raw value of a cell, for the field named by its column."""
    if field not in _STRUCTURED:
        return text
    if text.startswith(("[", "{")):
        try:
            return yaml_text.parse(text)
        except BankError as error:
            rule = say("a cell that starts with [ or {{ is JSON")
            found = (replace(p, rule=rule) if p.rule == "the file is valid YAML" else p for p in error.problems)
            raise BankError(found) from error
    if field in JSON:
        return text
    if field in MAPS or (field in LISTS_OR_MAPS and "->" in text):
        return _read_map(field, text)
    return _read_list(field, text, single=field not in LISTS or field in WORDS_OR_LISTS)


def _read_map(field: str, text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for entry in re.split(r"[;\n]", text):
        key, arrow, value = (part.strip() for part in entry.partition("->"))
        if not key and not arrow:
            continue
        if not arrow:
            raise BankError([Problem(field, say("an entry of a map is 'key -> value'"), f"'{key}'")])
        if key in found:
            raise BankError([Problem(field, say("each key is used once"), f"'{key}'")])
        found[key] = _read_list(field, value, single=field != "table")
    return found


def _read_list(field: str, text: str, single: bool) -> Any:
    items = [item.strip() for item in text.split("|")]
    read = [_read_chance(item) if field in CHANCES else item for item in items]
    return read[0] if single and len(read) == 1 else read


def _read_chance(text: str) -> Any:
    low, dots, high = text.partition("..")
    return [low.strip(), high.strip()] if dots else text


def write_cell(field: str, value: Any) -> str | int | float:
    """A value of a document as a cell that `read_cell` reads back as the same value."""
    if field not in _STRUCTURED:
        return _scalar(value)
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        return value if not isinstance(value, str) or _reads_back(field, value, value) else json.dumps([value], ensure_ascii=False)
    short = _write_short(field, value)
    return short if _reads_back(field, short, value) else json.dumps(value, ensure_ascii=False)


def _scalar(value: Any) -> str | int | float:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, (int, float)) else str(value)


def _write_short(field: str, value: Any) -> str:
    if isinstance(value, Mapping):
        divider = "\n" if field in ("table", "options", "accept", "pairs") else "; "
        return divider.join(f"{key} -> {_write_short(field, entry)}" for key, entry in value.items())
    if not isinstance(value, list):
        return str(_scalar(value))
    if field in ("slip", "guess"):
        return _write_chance(value)
    return " | ".join(_write_chance(item) for item in value)


def _write_chance(value: Any) -> str:
    return "..".join(str(end) for end in value) if isinstance(value, list) else str(value)


def _reads_back(field: str, text: str, value: Any) -> bool:
    try:
        return bool(read_cell(field, text) == _as_text(value))
    except BankError:
        return False


def _as_text(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _as_text(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_as_text(item) for item in value]
    return str(_scalar(value))
