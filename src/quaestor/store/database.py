"""The database: SQLite in a file by default, PostgreSQL when asked for; migrations are applied when it is opened.

Everything happens in units of work: `work()` may write, `read()` sees one moment and writes nothing. When the database cannot be reached,
is locked for too long or goes away in the middle, both raise `UnavailableError`, and what was begun is undone; the next unit of work
tries again, so nothing has to be restarted.

SQLite writes its log to the disk at every commit (`synchronous=FULL`), so that an acknowledged answer survives a power cut: a commit takes
0.2 ms on the machine of `benchmarks/`, against 0.01 ms without.
"""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import Engine, create_engine, event, inspect
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session as Work
from sqlalchemy.orm import sessionmaker

from quaestor.errors import QuaestorError
from quaestor.i18n import say

WAIT = 15  # seconds that a writer waits for another one
CONNECT = 3  # seconds that a connection may take
AGAIN = 5  # seconds after which somebody who was turned away may try again
QUIET = 5.0  # seconds between two lines of the log on a database that is away
_CALM = say("the database cannot be reached at the moment; nothing that was confirmed is lost, please try again in a few seconds")
_READS = "a unit of work that only reads writes nothing, got something to write"
_log = logging.getLogger("quaestor.store")
_noted = -QUIET  # when the log was last told


class UnavailableError(QuaestorError):
    """The database cannot be reached, or is busy for too long; `seconds` after which to try again."""

    def __init__(self, words: str = _CALM) -> None:
        self.seconds = AGAIN
        super().__init__(words)


class Database:
    """An engine and its units of work."""

    def __init__(self, url: str) -> None:
        try:
            self.engine = _engine(url)
        except (ArgumentError, ImportError) as error:
            shown = re.sub(r"//.*@", "//***@", url)  # never a password
            raise QuaestorError(f"database: an address such as sqlite:///file or postgresql+psycopg://..., got {shown!r}") from error
        self._work = sessionmaker(self.engine, expire_on_commit=False)
        self._prompt = sessionmaker(self.engine.execution_options(prompt=True), expire_on_commit=False)
        self._read = sessionmaker(_reading(self.engine), expire_on_commit=False, info={"reads": True})
        event.listen(self._read, "before_flush", _refuse_writing)
        self._writer = Lock() if self.is_file else None

    @property
    def is_file(self) -> bool:
        """Whether it is a file of this machine: then reading never waits."""
        return self.engine.dialect.name == "sqlite"

    def is_there(self) -> bool:
        """Whether it was made before; looking makes nothing."""
        file = self.engine.url.database or ""
        if self.is_file and not Path(file).exists():
            return False
        try:
            return inspect(self.engine).has_table("alembic_version")
        except (OperationalError, InterfaceError) as error:
            raise UnavailableError(f"database: it can be reached, got {error.orig}") from error

    def migrate(self) -> None:
        """Bring the tables to the present version; safe to do from several processes at once."""
        config = Config()
        config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
        try:
            with self.engine.begin() as connection:
                if self.engine.dialect.name == "postgresql":
                    connection.exec_driver_sql("set local lock_timeout = 0")
                    connection.exec_driver_sql("select pg_advisory_xact_lock(713)")
                config.attributes["connection"] = connection
                command.upgrade(config, "head")
        except (OperationalError, InterfaceError) as error:
            raise UnavailableError(f"database: it can be reached, got {error.orig}") from error

    @contextmanager
    def work(self, *, prompt: bool = False) -> Iterator[Work]:
        """A unit of work: committed at its end, undone by an error. On SQLite there is one at a time.

        It is opened in the function that does the work and closed there, as soon as possible, never around another one. `prompt`: on
        SQLite wait for nobody, for those who can come back.
        """
        open_one = self._prompt if prompt and self.is_file else self._work
        with _calmly(log=not prompt), self._turn(0 if prompt else WAIT), open_one() as session, session.begin():
            yield session

    @contextmanager
    def read(self) -> Iterator[Work]:
        """A unit of work that only reads: it sees one moment, waits for no writer and holds none up; an attempt to write is an error."""
        with _calmly(reads=True), self._read() as session:
            yield session

    @contextmanager
    def _turn(self, wait: float) -> Iterator[None]:
        """SQLite has one writer at a time: threads of this process queue here, not in SQLite, which sleeps between its tries."""
        if self._writer is None:
            yield
            return
        if not self._writer.acquire(timeout=wait):
            raise UnavailableError
        try:
            yield
        finally:
            self._writer.release()

    def close(self) -> None:
        """Let go of all connections."""
        self.engine.dispose()


@contextmanager
def _calmly(log: bool = True, reads: bool = False) -> Iterator[None]:
    """Turn the many ways in which a database can be away into one error; the log tells which it was."""
    try:
        yield
    except (OperationalError, InterfaceError, PoolTimeout) as error:
        if reads and _is_refused(error):
            raise QuaestorError(_READS) from error
        if log:
            _note(error)
        raise UnavailableError from error
    except (DataError, OverflowError) as error:
        raise QuaestorError(say("a value that the database can hold is expected, got one that is too large or no text")) from error
    except DBAPIError as error:
        if reads and _is_refused(error):
            raise QuaestorError(_READS) from error
        if error.connection_invalidated:
            _note(error)
            raise UnavailableError from error
        raise


def _is_refused(error: Exception) -> bool:
    """Whether a unit of work that only reads tried to write, as SQLite and PostgreSQL say it."""
    said = getattr(error, "orig", None)
    return getattr(said, "sqlite_errorname", "") == "SQLITE_READONLY" or getattr(said, "sqlstate", "") == "25006"


def _note(error: Exception) -> None:
    """Tell the log what the driver says, without statement and values; once in a while, as everybody who asks runs into it."""
    global _noted
    moment = monotonic()
    if moment - _noted >= QUIET:
        _noted = moment
        _log.error("database: it cannot be used, got %s", " ".join(str(getattr(error, "orig", None) or error).split()))


def _refuse_writing(work: Work, *_: Any) -> None:
    if work.new or work.deleted or any(work.is_modified(thing) for thing in work.dirty):
        raise QuaestorError(_READS)


def _reading(engine: Engine) -> Engine:
    if engine.dialect.name == "postgresql":
        return engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    return engine.execution_options(writes=False)


def _engine(url: str) -> Engine:
    if not url.startswith("sqlite"):
        waiting = {"connect_timeout": CONNECT, "tcp_user_timeout": CONNECT * 1000, "options": f"-c lock_timeout={WAIT * 1000}"}
        more = waiting if url.startswith("postgresql") else {}
        return create_engine(url, hide_parameters=True, pool_pre_ping=True, pool_size=10, pool_timeout=WAIT, connect_args=more)
    engine = create_engine(url, hide_parameters=True, connect_args={"timeout": WAIT}, pool_size=20, max_overflow=40, pool_timeout=WAIT)

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # the driver leaves transactions to us, so that a writer takes its lock at once
        for pragma in (f"busy_timeout={int(WAIT * 1000)}", "journal_mode=WAL", "foreign_keys=ON", "synchronous=FULL", "secure_delete=ON"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Any) -> None:
        options = connection.get_execution_options()
        writes = options.get("writes", True)
        _let_write(connection, writes)
        if not options.get("prompt"):
            connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
            return
        connection.exec_driver_sql("PRAGMA busy_timeout=0")
        try:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        finally:
            connection.exec_driver_sql(f"PRAGMA busy_timeout={int(WAIT * 1000)}")

    return engine


def _let_write(connection: Any, writes: bool) -> None:
    """Let a connection of SQLite write, or only read: units of work of both kinds take it in turn. It takes 3 µs, and mostly nothing."""
    if connection.info.get("writes", True) != writes:
        connection.connection.dbapi_connection.execute(f"PRAGMA query_only={'OFF' if writes else 'ON'}")
        connection.info["writes"] = writes
