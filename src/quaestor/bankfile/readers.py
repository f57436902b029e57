"""Readers of plain data: each takes a raw value, reports what is wrong with it, and returns its normal form, or None.

Raw values come from YAML, JSON, sheets or Python, where numbers may arrive as text and text as numbers (an option `50`): a field of words
keeps them as written, a field of numbers reads them as numbers. Normal forms are plain data (dict, list, str, int, float, bool), so that
equal documents are equal.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from quaestor.bankfile.words import in_file
from quaestor.errors import Place, Problem, StatementError, format_place, format_value, is_among, nearest
from quaestor.i18n import say
from quaestor.model.table import RowFault
from quaestor.numerals import read_number

Reader = Callable[[Any, Place, "Report"], Any]
LONGEST_WORD, LONGEST_TEXT = 200, 20_000
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufeff\ufffe\uffff]")
_BREAK = re.compile("\r\n|[\r\u2028\u2029]")
DECIMAL = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?")
UNREADABLE = object()  # the value of a field whose fault was already told, such as that of a cell of a sheet


class Partial(dict[str, Any]):
    """The fields of an entry of which some have faults: `lost`. The others can still be checked, so that all faults are told together."""

    lost: frozenset[str] = frozenset()


class Report:
    """Collects the problems of one bank, each once."""

    def __init__(self) -> None:
        self._problems: dict[Problem, None] = {}

    def error(self, place: Place, rule: str, value: object, hint: str = "") -> None:
        """Note a broken rule."""
        self._problems.setdefault(Problem(format_place(place) or "bank", rule, format_value(value), hint, path=place))

    def fault(self, place: Place, found: StatementError | RowFault) -> None:
        """Note a broken rule that `elicit` or `table` found."""
        hint = found.hint if isinstance(found, StatementError) else ""
        self._problems.setdefault(Problem(format_place(place), found.rule, found.value, hint, path=place))

    def warning(self, place: Place, rule: str, value: object, hint: str = "") -> None:
        """Note something that is allowed but often a mistake."""
        self._problems.setdefault(Problem(format_place(place), rule, format_value(value), hint, "warning", path=place))

    @property
    def count(self) -> int:
        """The number of problems so far."""
        return len(self._problems)

    @property
    def errors(self) -> list[Problem]:
        """The broken rules."""
        return [problem for problem in self._problems if problem.severity == "error"]

    @property
    def warnings(self) -> list[Problem]:
        """The warnings."""
        return [problem for problem in self._problems if problem.severity == "warning"]


def text(value: Any, place: Place, report: Report) -> str | None:
    """Text of at most `LONGEST_TEXT` characters; line ends are unified, surrounding space is removed."""
    if isinstance(value, bool):
        value = "true" if value else "false"
    elif isinstance(value, (int, float)) and _finite(value):
        value = repr(value)
    if not isinstance(value, str):
        report.error(place, say("text is expected"), value)
        return None
    if _UNPRINTABLE.search(value):
        report.error(place, say("text has no control characters"), value)
        return None
    cleaned = _BREAK.sub("\n", value).strip()
    if len(cleaned) > LONGEST_TEXT:
        rule = say("a text has at most {most} characters", most=LONGEST_TEXT)
        report.error(place, rule, say("{count} {count:character|characters}", count=len(cleaned)))
        return None
    return cleaned


def word(value: Any, place: Place, report: Report) -> str | None:
    """A name, option or short answer: one line, kept as written."""
    cleaned = text(value, place, report)
    if cleaned is None:
        return None
    if not cleaned or "\n" in cleaned or "\t" in cleaned or len(cleaned) > LONGEST_WORD:
        report.error(place, say("one line of 1 to {most} characters is expected", most=LONGEST_WORD), cleaned)
        return None
    return cleaned


_ADDRESS = re.compile(r"https?://[^\s<>\"'`/][^\s<>\"'`]*")
LONGEST_LINK = 1000


def link(value: Any, place: Place, report: Report) -> str | None:
    """An address of the web, which pages show as a link: nothing else, such as `javascript:`, may be one."""
    cleaned = text(value, place, report)
    if cleaned is None:
        return None
    if not _ADDRESS.fullmatch(cleaned) or len(cleaned) > LONGEST_LINK or not cleaned.isprintable() or not _has_host(cleaned):
        report.error(place, say("an address that begins with https:// or http:// is expected"), cleaned)
        return None
    return cleaned


def _has_host(address: str) -> bool:
    try:
        return bool(urlsplit(address).hostname)
    except ValueError:
        return False


def name(value: Any, place: Place, report: Report) -> str | None:
    """A word without comma and equals sign, so that it can be written in lists and in `id=answer`."""
    cleaned = word(value, place, report)
    if cleaned is not None and ("," in cleaned or "=" in cleaned):
        report.error(place, say("names have no comma and no equals sign"), cleaned)
        return None
    return cleaned


def file_name(value: Any, place: Place, report: Report) -> str | None:
    """A relative path of a file below the bank's folder."""
    cleaned = word(value, place, report)
    if cleaned is not None and (re.match(r"[/\\]|[A-Za-z][\w+.-]*:", cleaned) or ".." in re.split(r"[/\\]", cleaned)):
        report.error(place, say("a media file is named by a path below the bank's folder"), cleaned)
        return None
    return cleaned


def flag(value: Any, place: Place, report: Report) -> bool | None:
    """`true` or `false`."""
    if is_among(value, (True, "true")):
        return True
    if is_among(value, (False, "false")):
        return False
    report.error(place, say("true or false is expected"), value)
    return None


def number(value: Any, place: Place, report: Report) -> float | int | None:
    """A finite number in the plain form: 3, 0.25, 1e-3."""
    if isinstance(value, str) and DECIMAL.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, str) and (exact := read_number(value)) is not None:
        value = float(exact)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not _finite(value):
        report.error(place, say("a number is expected"), value)
        return None
    value = float(value)  # an int and a float of the same value have one normal form
    return int(value) if value.is_integer() else value


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer too large for a float
        return False


def positive(value: Any, place: Place, report: Report) -> float | int | None:
    """A number above zero."""
    found = number(value, place, report)
    if found is not None and found <= 0:
        report.error(place, say("a number above 0 is expected"), found)
        return None
    return found


def items(reader: Reader, unique: bool = False) -> Reader:
    """A reader of a list, each item read by `reader`."""

    def read(value: Any, place: Place, report: Report) -> list[Any] | None:
        if not isinstance(value, (list, tuple)):
            report.error(place, say("a list is expected"), value)
            return None
        found = [reader(item, (*place, position), report) for position, item in enumerate(value)]
        if None in found:
            return None
        if not found:
            report.error(place, say("the list is not empty"), [])
            return None
        if unique and len(set(found)) < len(found):
            again = Counter(found).most_common(1)[0][0]
            report.error(place, say("each is listed once"), again)
            return None
        return found

    return read


def entries(key: Reader, reader: Reader) -> Reader:
    """A reader of a map, each key read by `key` and each value by `reader`."""

    def read(value: Any, place: Place, report: Report) -> dict[str, Any] | None:
        if not isinstance(value, Mapping):
            report.error(place, say("a map is expected"), value)
            return None
        found: dict[str, Any] = {}
        for raw_key, raw in value.items():
            read_key = key(raw_key, place, report)
            if read_key is None:
                continue
            if read_key in found:
                report.error(place, say("each is listed once"), read_key)
                continue
            found[read_key] = reader(raw, (*place, read_key), report)
        if not value:
            report.error(place, say("the map is not empty"), {})
        return None if not value or len(found) < len(value) or None in found.values() else found

    return read


def sections(reader: Reader) -> Reader:
    """A reader of a map from ids to entries; one that is no map of fields becomes None, so that the others can still be checked."""

    def read(value: Any, place: Place, report: Report) -> dict[str, Any] | None:
        if not isinstance(value, Mapping):
            report.error(place, say("a map from ids to fields is expected"), value)
            return None
        found: dict[str, Any] = {}
        for raw_id, raw in value.items():
            entry_id = name(raw_id, place, report)
            if entry_id is None:
                continue
            if entry_id in found:
                report.error(place, say("each id is used once"), entry_id)
            found[entry_id] = reader(raw, (*place, entry_id), report)
        return found

    return read


def list_or(single: Reader, several: Reader) -> Reader:
    """A reader of either a list, by `several`, or anything else, by `single`."""

    def read(value: Any, place: Place, report: Report) -> Any:
        return (several if isinstance(value, (list, tuple)) else single)(value, place, report)

    return read


def single(several: Reader) -> Reader:
    """A reader that replaces a list of one item, as read by `several`, by the item."""

    def read(value: Any, place: Place, report: Report) -> Any:
        found = several(value, place, report)
        return found[0] if found is not None and len(found) == 1 else found

    return read


def map_or(mapped: Reader, other: Reader) -> Reader:
    """A reader of either a map, by `mapped`, or anything else, by `other`."""

    def read(value: Any, place: Place, report: Report) -> Any:
        return (mapped if isinstance(value, Mapping) else other)(value, place, report)

    return read


def one_of(*words: str) -> Reader:
    """A reader of one word out of a list, in any language."""

    def read(value: Any, place: Place, report: Report) -> str | None:
        value = in_file(value, words) if isinstance(value, str) else value
        if is_among(value, words):
            return str(value)
        report.error(place, say("one of {words} is expected", words=", ".join(words)), value, nearest(value, words))
        return None

    return read


def fields(schema: Mapping[str, Reader]) -> Reader:
    """A reader of a map of known fields, returned in the schema's order; an empty field counts as left out. A `Partial` names
    those that have faults.
    """

    def read(value: Any, place: Place, report: Report) -> dict[str, Any] | None:
        if is_among(value, (None, "")):
            return {}
        if not isinstance(value, Mapping):
            report.error(place, say("a map of fields is expected"), value)
            return None
        found: dict[str, Any] = {}
        lost: set[str] = set()
        for field, raw in value.items():
            reader, before = schema.get(field), report.count
            if raw is UNREADABLE:
                lost.add(field)
            elif reader is None:
                lost |= set(schema)  # what was meant is not known
                hint = nearest(field, schema) or say("known fields: {fields}", fields=", ".join(schema))
                report.error((*place, field) if isinstance(field, str) else place, say("unknown field"), field, hint)
            elif not is_among(raw, (None, "")):
                found[field] = reader(raw, (*place, field), report)
                lost |= {field} if report.count > before else set()
        made = Partial({field: found[field] for field in schema if found.get(field) is not None})
        made.lost = frozenset(lost)
        return made if lost else dict(made)

    return read


def without_arrays(value: Any) -> Any:
    """Plain data with lists and numbers for what numpy has of them; the same thing where there is none."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if type(value) is dict:
        changed = {key: found for key, one in value.items() if (found := without_arrays(one)) is not one}
        return {**value, **changed} if changed else value
    if type(value) in (list, tuple):
        each = [without_arrays(one) for one in value]
        return each if any(found is not one for found, one in zip(each, value, strict=True)) else value
    return value
