"""Whether a database can be used by this version. If not, a sentence says what was found and what to do, and nothing is written.

A file that is missing or empty is not opened: SQLite would make a new database of it, and delete the write-ahead log beside it. So that a
file that was lost is told from one that never was, a note is left beside each database (`leave_note`).
"""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import inspect, text
from sqlalchemy.exc import InterfaceError, OperationalError

from quaestor.errors import QuaestorError, format_value
from quaestor.store.database import Database, UnavailableError

ROOM = 100_000  # bytes that SQLite needs at least beside a file
_NOTE = """\
Quaestor keeps its database beside this note, in {name}.
If that file is missing, `quaestor serve` does not begin with an empty one in its place: restore a back-up with `quaestor restore`.
To begin anew with an empty database, delete this note too.
"""


class UnusableError(QuaestorError):
    """A database that is missing, empty, damaged, foreign or of a later version: what was found, and what to do."""

    def __init__(self, found: str, remedy: str) -> None:
        self.found, self.remedy = found, remedy
        super().__init__(f"{found}; {remedy}")


def file_of(database: Database) -> Path | None:
    """The file of an SQLite database; None for another kind."""
    return Path(database.engine.url.database or "") if database.is_file else None


def files_of(database: Database) -> tuple[Path, ...]:
    """The file of an SQLite database and all that belongs to it, whether it is there or not; none for another kind."""
    file = file_of(database)
    return () if file is None else (file, *(file.with_name(file.name + end) for end in ("-wal", "-shm", "-journal")), _note(file))


def has_no_room(file: Path) -> bool:
    """Whether the disk of a file is full: SQLite then cannot even read, as it notes beside the file that it does."""
    return shutil.disk_usage(file.parent).free < ROOM


def leave_note(database: Database) -> None:
    """Leave a note beside the file that there is a database."""
    file = file_of(database)
    if file is not None and not _note(file).exists():
        _note(file).write_text(_NOTE.format(name=file.name))


def _note(file: Path) -> Path:
    return file.with_name(f"{file.name}.txt")


def check(database: Database, flag: str, restores: bool = False) -> bool:
    """Whether there is a database that can be used; False if it can be made here, UnusableError if neither.

    `flag`: how commands are told of it, such as `--data folder`. `restores`: whether a back-up is to take the place of one that is gone.
    """
    file = file_of(database)
    remedy = f"restore the last back-up: quaestor restore BACK-UP.zip {flag}"
    if file is None:
        revision = _revision_of_server(database)
    elif not file.exists():
        return _is_new(file, remedy, restores)
    else:
        aside = f"move it away, with {file.name}-wal and {file.name}-shm where they are there, and {remedy}"
        revision = _revision_of_file(file, aside)
        if revision is None and _note(file).exists():
            raise UnusableError(f"{file}: a database of Quaestor is expected, got one without tables", aside)
    known = database.revisions()
    if revision not in (None, *known):
        found = (
            f"a database of version {known[0]} or earlier is expected, got {format_value(revision)}, which a later version of Quaestor made"
        )
        raise UnusableError(f"{file or 'database'}: {found}", "upgrade Quaestor, or restore a back-up that this version made")
    return revision is not None


def _is_new(file: Path, remedy: str, restores: bool) -> bool:
    """False where no database was; UnusableError where one was lost."""
    log = file.with_name(f"{file.name}-wal")
    if log.exists() and log.stat().st_size:
        found = f"{file}: a database is expected, got only its log {log}, which may hold the last answers"
        raise UnusableError(found, f"bring {file.name} back beside it, or move the log away and {remedy}")
    if _note(file).exists() and not restores:
        found = f"{file}: a database is expected, got no such file, though there was one"
        raise UnusableError(found, f"bring it back, or {remedy}. To begin anew, delete {_note(file)}")
    return False


def _revision_of_file(file: Path, aside: str) -> str | None:
    """The version of the tables of an SQLite file, all pages of which are read once; None if it has no tables."""
    if not file.stat().st_size:
        raise UnusableError(f"{file}: a database is expected, got an empty file", aside)
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            ((found,),) = connection.execute("pragma quick_check(1)").fetchall()
            if found != "ok":
                raise sqlite3.DatabaseError(" ".join(found.split()))
            tables = sorted(name for (name,) in connection.execute("select name from sqlite_master where type = 'table'"))
            if "alembic_version" in tables:
                row = connection.execute("select version_num from alembic_version").fetchone()
                return str(row[0]) if row is not None else None
    except sqlite3.OperationalError as error:
        why = f"no room on its disk ({error}); make room there" if has_no_room(file) else error
        raise UnavailableError(f"database: it can be reached, got {why}") from error
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorname", "") == "SQLITE_NOTADB":
            raise UnusableError(f"{file}: a database is expected, got another kind of file", aside) from error
        raise UnusableError(f"{file}: a whole database is expected, got a damaged one ({error})", aside) from error
    if tables:
        found = f"one of another program, with the table {tables[0]}"
        raise UnusableError(f"{file}: a database of Quaestor is expected, got {found}", aside)
    return None


def _revision_of_server(database: Database) -> str | None:
    try:
        with database.engine.connect() as connection:
            is_there = inspect(connection).has_table("alembic_version")
            return connection.scalar(text("select version_num from alembic_version")) if is_there else None
    except (OperationalError, InterfaceError) as error:
        raise UnavailableError(f"database: it can be reached, got {error.orig}") from error
