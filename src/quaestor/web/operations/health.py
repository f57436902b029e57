"""Whether the server can do its work: the database answers, and there is room to write."""

import tempfile
from pathlib import Path

from sqlalchemy import text

from quaestor.store.database import Database, UnavailableError

ROOM = bytes(1_000_000)  # what is written to see whether there is room for it


def wrong(database: Database) -> list[str]:
    """What is wrong, in words for whoever watches over the server; they tell nothing of addresses and folders."""
    found = []
    file = Path(database.engine.url.database or "") if database.is_file else None
    folders = {"temporary files": Path(tempfile.gettempdir()), **({"data": file.parent} if file is not None else {})}
    if file is not None and not file.exists():  # who has it open could go on, and lose everything
        found.append("database: a file that is there, got none")
    else:
        try:
            with database.read() as work:
                work.execute(text("select version_num from alembic_version"))
        except UnavailableError:
            found.append("database: one that answers, got none")
    for name, folder in folders.items():
        if problem := _unwritable(folder):
            found.append(f"{name}: a folder with room to write, got: {problem}")
    return found


def _unwritable(folder: Path) -> str:
    """Why nothing can be written to a folder; empty if something can. Nothing is left of it: the file has no name."""
    try:
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            if file.write(ROOM) < len(ROOM):
                return "no space left"
    except OSError as error:
        return str(error.strerror)
    return ""
