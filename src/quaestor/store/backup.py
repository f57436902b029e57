"""Back-up and restore in a portable format: a zip with a header and a file of JSON lines for each table, for both kinds of database.

A back-up is read in one unit of work, so it is a consistent snapshot although the server keeps running. It is restored only into an empty
database, in one unit of work, so completely or not at all. It contains keys, codes and hashes of secrets: protect it like the database.
"""

import base64
import errno
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZipFile

from sqlalchemy import Boolean, Column, DateTime, Float, Integer, LargeBinary, MetaData, String, Table, func, insert, select, text
from sqlalchemy.exc import IntegrityError, StatementError
from sqlalchemy.orm import Session as Work

from quaestor.errors import format_value
from quaestor.store import backup_header, soundness
from quaestor.store.backup_header import BackupError
from quaestor.store.clock import now
from quaestor.store.database import Database
from quaestor.store.models import Base

_ROWS, _LARGE_ROWS = 500, 10  # rows at a time; the second for tables with images
_KINDS: tuple[tuple[type[Any], tuple[type, ...]], ...] = ((Boolean, (bool,)), (Integer, (int,)), (Float, (int, float)), (String, (str,)))
_ANOTHER = "restore another back-up (`quaestor doctor --back-ups FOLDER` says whether the newest of a folder can be read)"
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


def back_up(database: Database, file: Path) -> dict[str, int]:
    """Write a back-up and return the number of rows of each table. The file appears only when it is complete.

    It may take the place of another back-up, and of nothing else.
    """
    _refuse_target(database, file)
    unfinished = file.with_name(f".{file.name}.unfinished")
    try:
        with database.read() as work, _private(unfinished) as stream, ZipFile(stream, "w", ZIP_DEFLATED) as archive:
            counts = {table.name: _write(work, table, archive) for table in Base.metadata.sorted_tables}
            header = {
                backup_header.KEY: backup_header.FORMAT,
                "revision": _revision(work),
                "made": f"{now().isoformat()}Z",
                "counts": counts,
            }
            archive.writestr(backup_header.NAME, json.dumps(header, indent=1))
        unfinished.replace(file)
    except OSError as error:
        raise BackupError(f"back-up: {file} can be written, got {_why(error, file)}") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return counts


def _refuse_target(database: Database, file: Path) -> None:
    """Refuse a file that a back-up would destroy: the database that is backed up, or anything that is no back-up."""
    for ours in soundness.files_of(database):
        if file.resolve() == ours.resolve() or (file.exists() and ours.exists() and file.samefile(ours)):
            raise BackupError(f"back-up: a file of its own, got {file}, which belongs to the database; name another one")
    if file.is_dir():
        raise BackupError(f"back-up: a file, got the folder {file}; name a file in it: {file / 'quaestor.zip'}")
    if file.exists() and not backup_header.is_back_up(file):
        found = f"{file}, which is there and is no back-up, or a damaged one; name another file, or move this one away"
        raise BackupError(f"back-up: a new file or an earlier back-up, got {found}")


def _why(error: OSError, file: Path) -> str:
    """Why a file could not be written, and what to do."""
    if error.errno in _NO_ROOM:
        return "no room on its disk; make room there, or name a file on another disk"
    if error.errno == errno.ENOENT:
        return f"no folder {file.parent}; make it, or name a file in another one"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"no right to write to {file.parent}; run this as a user who may, or name a file in another folder"
    return str(error.strerror or error)


def _private(path: Path) -> IO[bytes]:
    """A file that only its owner may read."""
    return open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")


def _write(work: Work, table: Table, archive: ZipFile) -> int:
    count = 0
    with archive.open(f"{table.name}.jsonl", "w", force_zip64=True) as lines:
        found = work.execute(select(table).order_by(*table.primary_key), execution_options={"yield_per": _at_once(table)})
        for row in found.mappings():
            lines.write(json.dumps({column.name: _to_json(row[column]) for column in table.columns}).encode() + b"\n")
            count += 1
    return count


def _at_once(table: Table) -> int:
    return _LARGE_ROWS if any(isinstance(column.type, LargeBinary) for column in table.columns) else _ROWS


def _to_json(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def _revision(work: Work) -> str:
    return str(work.scalar(text("select version_num from alembic_version")))


def restore(database: Database, file: Path) -> dict[str, int]:
    """Fill an empty database from a back-up; returns the number of rows of each table.

    One of an earlier version is read into the tables of that version, which are then migrated.
    """
    try:
        with ZipFile(file) as archive:
            header = _header(archive, file)
            with database.read() as work:
                _refuse(work, database, header)
                present = _revision(work)
            if header["revision"] != present:
                database.migrate(header["revision"])
            try:
                counts = _fill(database, archive, header)
            finally:
                database.migrate()
    except FileNotFoundError as error:
        raise BackupError(f"restore: a back-up is there, got no file {format_value(str(file))}") from error
    except backup_header.UNREADABLE as error:
        raise BackupError(f"restore: a whole back-up is expected, got {file}, which is damaged or none ({error}); {_ANOTHER}") from error
    except (IntegrityError, StatementError) as error:
        raise BackupError("restore: rows that fit together are expected, got some that do not") from error
    return counts


def _fill(database: Database, archive: ZipFile, header: Mapping[str, Any]) -> dict[str, int]:
    """Fill the tables as they are at this moment, all of them or none."""
    there = MetaData()
    there.reflect(database.engine)
    tables = [table for table in there.sorted_tables if table.name != "alembic_version"]
    with database.work() as work:
        counts = {table.name: _read(work, table, archive) for table in tables}
        for name, count in counts.items():
            if count != header["counts"].get(name):
                raise BackupError(f"restore: {name} has {header['counts'].get(name)} rows by the header, got {count}")
        _set_sequences(work, tables)
    return counts


def _header(archive: ZipFile, file: Path) -> Mapping[str, Any]:
    try:
        return backup_header.read(archive)
    except BackupError as error:
        raise BackupError(f"restore: {file}: {error}; {_ANOTHER}") from error


def _refuse(work: Work, database: Database, header: Mapping[str, Any]) -> None:
    known = database.revisions()
    if header.get("revision") not in known:
        found = format_value(header.get("revision"))
        upgrade = "upgrade Quaestor, or restore a back-up that this version made"
        raise BackupError(f"restore: a back-up of version {known[0]} of the tables or an earlier one is expected, got {found}; {upgrade}")
    full = [table.name for table in Base.metadata.sorted_tables if work.execute(select(table).limit(1)).first() is not None]
    if full:
        found = f"{soundness.file_of(database) or database.engine.url}, which has rows in {', '.join(full)}"
        elsewhere = "restore into an empty folder (--data FOLDER) or another empty database (--database ADDRESS)"
        raise BackupError(f"restore: an empty database is expected, got {found}; nothing is overwritten: {elsewhere}")


def _read(work: Work, table: Table, archive: ZipFile) -> int:
    name = f"{table.name}.jsonl"
    if name not in archive.namelist():
        raise BackupError(f"restore: a back-up has {name}, got none")
    count, rows = 0, []
    with archive.open(name) as lines:
        for number, row in _lines(table, lines):
            rows.append(row)
            count = number
            if len(rows) == _at_once(table):
                work.execute(insert(table), rows)
                rows = []
    if rows:
        work.execute(insert(table), rows)
    return count


def _lines(table: Table, lines: IO[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            if set(row) != set(table.columns.keys()):
                raise ValueError(f"columns {', '.join(map(str, row))}")
            yield number, {column.name: _from_json(column, row[column.name]) for column in table.columns}
        except (ValueError, TypeError, RecursionError) as error:
            raise BackupError(f"restore: {table.name}.jsonl, line {number}: a row of the table is expected, got {error}") from error


def _from_json(column: Column[Any], value: Any) -> Any:
    if value is None:
        return None
    if isinstance(column.type, DateTime):
        return datetime.fromisoformat(value)
    if isinstance(column.type, LargeBinary):
        return base64.b64decode(value, validate=True)
    for kind, allowed in _KINDS:
        if isinstance(column.type, kind) and (not isinstance(value, allowed) or (kind is not Boolean and isinstance(value, bool))):
            raise ValueError(f"{format_value(value)} in {column.name}")
    return value


def _set_sequences(work: Work, tables: Sequence[Table]) -> None:
    """Set the sequences of PostgreSQL to the largest ids, so that new rows get free ones."""
    if work.get_bind().dialect.name == "postgresql":
        for table in tables:
            if "id" in table.columns and isinstance(table.columns["id"].type, Integer):
                last = work.scalar(select(func.max(table.columns["id"])))
                if last is not None:
                    work.execute(select(func.setval(func.pg_get_serial_sequence(table.name, "id"), last)))
