"""Our own part of a file of another system: what its format has no room for, in a comment that others pass over, so that nothing is lost.

The comment of a question holds all of its fields, and a mark of what its visible part said when it was written. Where the visible part
still says so, the fields stand as they were; where somebody has changed it since, it stands, and of the fields only what it cannot say.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from quaestor.bankfile.keys import DEFAULT_CLASSES
from quaestor.bankfile.statements import STATEMENT_FIELDS
from quaestor.formats.exchange.credit import PARTS, SOME, in_classes
from quaestor.formats.exchange.imported import Fields
from quaestor.i18n import say

_MARK = "quaestor:"
_KEPT = STATEMENT_FIELDS | {"skill", "skills", "classes", "template", "minutes", "group", "pilot", "tags", "media", "alt"}


def bank_comment(document: Mapping[str, Any]) -> str:
    """What a comment says of the bank itself."""
    return _packed({"bank": {name: value for name, value in document.items() if name != "questions"}})


def question_comment(own: str, fields: Mapping[str, Any], visible: Mapping[str, Any]) -> str:
    """What a comment says of a question whose visible part is read as `visible`."""
    return _packed({"id": own, "fields": fields, "seen": _digest(visible)})


def bank_of(comments: Iterable[str]) -> Fields:
    """The fields of the bank that comments hold; empty where there are none."""
    found = _unpacked(comments).get("bank")
    return found if isinstance(found, dict) else {}


def merged(visible: Fields | None, comments: Iterable[str], notes: list[str]) -> tuple[Fields | None, str]:
    """The fields of a question, and its id if a comment has one (or an empty text); `notes` keep what still holds.

    `visible`: what other programs see of it; None where that is no question.
    """
    found = _unpacked(comments)
    fields = found.get("fields")
    if not isinstance(fields, dict):
        return visible, ""
    if found.get("seen") == _digest(visible or {}):
        notes.clear()
        return fields, str(found.get("id", ""))
    if visible is None:
        return None, ""
    notes[:] = [note for note in notes if note not in (PARTS, SOME)]
    notes.append(say("it was changed since Quaestor wrote it: its text and key are those of the file, its numbers and skills stay"))
    kept = {name: value for name, value in fields.items() if name in _KEPT}
    return {**in_classes(visible, kept.get("classes", DEFAULT_CLASSES)), **kept}, str(found.get("id", ""))


def _packed(value: Mapping[str, Any]) -> str:
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return f"{_MARK} " + text.replace("--", "-\\u002d").replace(">", "\\u003e")  # XML comments have no two hyphens


def _unpacked(comments: Iterable[str]) -> Fields:
    for comment in comments:
        text = comment.strip()
        if text.startswith(_MARK):
            try:
                found = json.loads(text.removeprefix(_MARK))
            except (ValueError, RecursionError):
                continue
            if isinstance(found, dict):
                return found
    return {}


def _digest(fields: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(fields, sort_keys=True, default=str).encode()).hexdigest()[:16]
