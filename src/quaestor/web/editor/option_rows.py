"""Options of a question: as rows of a form, each with its answer class, and as a bank file says them, by a list with the key or a map."""

from collections.abc import Mapping, Sequence
from typing import Any

from quaestor.bankfile.keys import DEFAULT_CLASSES

Row = tuple[str, str]  # an option and its class
Mark = str | bool  # how a form says a class: by its name, or by a tick for the best one
ROWS = 4  # rows that a new question has


def classes_of(entry: Mapping[str, Any], template: Mapping[str, Any]) -> list[str]:
    """The answer classes of an entry, its template's where it has none; worst first."""
    found = entry.get("classes") or template.get("classes")
    return [str(one) for one in found] if isinstance(found, list) and len(found) > 1 else list(DEFAULT_CLASSES)


def rows_of(fields: Mapping[str, Any], classes: Sequence[str]) -> list[Row]:
    """The options that an entry has, its template's fields included; those listed as correct are of the best class, others of the worst."""
    options, correct = fields.get("options") or [], fields.get("correct") or []
    good = {str(one).strip() for one in (correct if isinstance(correct, list) else [correct])}
    if isinstance(options, Mapping):
        return [(str(option).strip(), str(kind)) for option, kind in options.items()]
    listed = [str(option).strip() for option in (options if isinstance(options, list) else [options])]
    return [(option, classes[-1] if option in good else classes[0]) for option in listed]


def empty_rows(rows: Sequence[Row], classes: Sequence[str]) -> list[Row]:
    """Rows to be filled in, after those that are."""
    return [("", classes[0])] * max(2, ROWS - len(rows))


def marked(rows: Sequence[tuple[str, Mark]], classes: Sequence[str], shown: Sequence[str]) -> list[Row]:
    """The rows that are filled in, with classes of these; `shown`: the classes that the form showed, should they have other names now."""
    return [(text.strip(), _class(mark, classes, shown)) for text, mark in rows if text.strip()]


def _class(mark: Mark, classes: Sequence[str], shown: Sequence[str]) -> str:
    if isinstance(mark, bool):
        return classes[-1] if mark else classes[0]
    if mark in classes:
        return mark
    if mark == shown[-1]:
        return classes[-1]
    return classes[min(shown.index(mark), len(classes) - 2)] if mark in shown else classes[0]


def options_said(rows: Sequence[Row], kind: str, classes: Sequence[str], before: Mapping[str, Any]) -> dict[str, Any]:
    """The fields `options` and `correct`; a map where a list would not do, and where there was one before."""
    best, worst = classes[-1], classes[0]
    right = [text for text, group in rows if group == best]
    was_map = isinstance(before.get("options"), Mapping)
    if kind == "choice" and (was_map or any(group not in (best, worst) for _, group in rows)):
        return {"options": dict(rows)}
    said: dict[str, Any] = {"options": [text for text, _ in rows]} if rows else {}
    if right:
        said["correct"] = right[0] if len(right) == 1 and kind == "choice" else right
    return said
