"""The header of a back-up: by it a file is known as a back-up of Quaestor, before anything else of it is read."""

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from quaestor.errors import QuaestorError, format_value

FORMAT = 1
NAME, KEY = "header.json", "quaestor-backup"
UNREADABLE = (BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError)  # what a damaged or foreign zip file raises


class BackupError(QuaestorError):
    """A file that is not a back-up, or not one for this database."""


def read(archive: ZipFile) -> Mapping[str, Any]:
    """The header of an open back-up; BackupError where it is none."""
    try:
        header = json.loads(archive.read(NAME))
    except (KeyError, ValueError) as error:
        raise BackupError("the file is a back-up of Quaestor, got one without its header") from error
    if not isinstance(header, dict) or header.get(KEY) != FORMAT or not isinstance(header.get("counts"), dict):
        found = header.get(KEY) if isinstance(header, dict) else header
        raise BackupError(f"a back-up of format {FORMAT} is expected, got {format_value(found)}")
    return header


def is_back_up(file: Path) -> bool:
    """Whether a file is a back-up of Quaestor, as far as its header tells."""
    try:
        with ZipFile(file) as archive:
            read(archive)
    except (BackupError, *UNREADABLE):
        return False
    return True
