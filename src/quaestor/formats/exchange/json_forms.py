"""JSON of other systems: whether a file is of a kind, and its values, of which those of another type than expected count as empty."""

from collections.abc import Mapping
from typing import Any

from quaestor.errors import BankError
from quaestor.formats import json_text
from quaestor.formats.exchange.encoding import decoded


def parsed(data: bytes, key: str) -> Mapping[str, Any]:
    """The object of a file that has this key; empty where the file is something else."""
    if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") or f'"{key}"'.encode() not in data:
        return {}
    try:
        found = as_map(json_text.parse(decoded(data)[0]))
    except BankError:
        return {}
    return found if key in found else {}


def as_map(value: Any) -> Mapping[str, Any]:
    """An object."""
    return value if isinstance(value, dict) else {}


def as_maps(value: Any) -> list[Mapping[str, Any]]:
    """A list of objects."""
    return [as_map(one) for one in value] if isinstance(value, list) else []


def word(holder: Mapping[str, Any], name: str) -> str:
    """A text of an object."""
    value = holder.get(name, "")
    return value.strip() if isinstance(value, str) else ""
