"""Files of plain data, YAML or JSON: rules and studies."""

from pathlib import Path
from typing import Any

from quaestor.errors import BankError, Locate, Problem, path_of
from quaestor.formats import json_text, yaml_text
from quaestor.formats.limits import read_bytes, read_text
from quaestor.i18n import say


def read_document(path: str | Path) -> tuple[Any, Locate | None]:
    """The plain data of a YAML or JSON file, and a function from a place in it to its line (None for JSON)."""
    ending = path_of("path", path).suffix.lower()
    try:
        if ending not in (".yaml", ".yml", ".json"):
            raise BankError([Problem("file", say("a file ends in one of .yaml, .yml, .json"), f"'{ending}'")])
        text = read_text(read_bytes(Path(path)))
        return (json_text.parse(text), None) if ending == ".json" else (yaml_text.parse(text), yaml_text.locator(text))
    except BankError as error:
        raise BankError(error.problems, str(path)) from error
