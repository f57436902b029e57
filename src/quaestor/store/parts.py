"""Parts of a bank document: one skill, one question, one template, or a plain field such as the title.

A part is named by its path, `("questions", "Q1")` or `("title",)`. Changing one gives a new document, with the other parts unchanged and in
their order. Documents may have errors: nothing is checked here.
"""

from collections.abc import Mapping
from typing import Any

Path = tuple[str, ...]
Document = dict[str, Any]
SECTIONS = ("skills", "templates", "questions")


def part(document: Mapping[str, Any], path: Path) -> Any:
    """The value at a path, or None."""
    found: Any = document
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def with_part(document: Mapping[str, Any], path: Path, value: Any) -> Document:
    """The document with another value at a path; None removes it."""
    name, rest = path[0], path[1:]
    made = dict(document)
    if rest:
        below = made.get(name)
        value = with_part(below if isinstance(below, Mapping) else {}, rest, value)
    if value is None:
        made.pop(name, None)
    else:
        made[name] = value
    return made


def renamed(document: Mapping[str, Any], section: str, old: str, new: str) -> Document:
    """The document with another id of a skill, template or question, which is also replaced where others refer to it."""
    entries = document.get(section) or {}
    made = {**document, section: {new if name == old else name: value for name, value in entries.items()}}
    if section == "skills":
        made["skills"] = {name: _changed(value, ("parents",), old, new) for name, value in made["skills"].items()}
    if section in ("skills", "templates"):
        fields = ("skill", "skills") if section == "skills" else ("template",)
        for named in ("questions", "templates"):
            if isinstance(made.get(named), Mapping):
                made[named] = {name: _changed(value, fields, old, new) for name, value in made[named].items()}
    return made


def _changed(entry: Any, fields: tuple[str, ...], old: str, new: str) -> Any:
    if not isinstance(entry, Mapping):
        return entry

    def swap(value: Any) -> Any:
        return new if value == old else value

    return {
        key: ([swap(one) for one in value] if isinstance(value, list) else swap(value)) if key in fields else value
        for key, value in entry.items()
    }


def moved(document: Mapping[str, Any], section: str, name: str, index: int) -> Document:
    """The document with an entry of a section moved to another index."""
    entries = dict(document.get(section) or {})
    value = entries.pop(name)
    names = list(entries)
    names.insert(max(0, min(index, len(names))), name)
    return {**document, section: {one: value if one == name else entries[one] for one in names}}


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[tuple[Path, Any, Any]]:
    """The parts that differ, with their old and new values, in the order of the later document; removed ones come last."""
    found: list[tuple[Path, Any, Any]] = []
    for name in dict.fromkeys([*after, *before]):
        old, new = before.get(name), after.get(name)
        if name in SECTIONS and isinstance(old or {}, Mapping) and isinstance(new or {}, Mapping):
            olds, news = old or {}, new or {}
            found += [
                ((name, one), olds.get(one), news.get(one)) for one in dict.fromkeys([*news, *olds]) if olds.get(one) != news.get(one)
            ]
        elif old != new:
            found.append(((name,), old, new))
    return found
