"""The database: SQLite in a file by default, PostgreSQL when asked for; migrations are applied when it is opened.

All access is in units of work (transactions): `work()` may write, `read()` sees a snapshot and cannot write, `glance()` is the same
without the snapshot, `single()` is one statement that writes. If the database cannot be reached, is locked for too long or is lost in the
middle, all raise `UnavailableError` and roll back; the next unit of work connects again, so nothing has to be restarted.

There are two ways to PostgreSQL, with the same units of work: a thread waits for it as for any call, and what runs `on_loop` leaves the
event loop to others whenever it would wait (greenlets of SQLAlchemy, asynchronous connections of psycopg), so that many take turns without
a change of threads. Each way has connections of its own, `CONNECTIONS` at most.

SQLite writes its log to the disk at every commit (`synchronous=FULL`), so that an acknowledged answer survives a power cut: a commit takes
0.2 ms on the machine of `benchmarks/`, against 0.01 ms without.
"""

import asyncio
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any, TypeVar

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError, DisconnectionError, InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.orm import ORMExecuteState, sessionmaker
from sqlalchemy.orm import Session as Work
from sqlalchemy.util.concurrency import greenlet_spawn, in_greenlet

from quaestor.errors import QuaestorError
from quaestor.i18n import say
from quaestor.store import counters, erasure
from quaestor.store import platform_tables as _platforms  # noqa: F401  theirs are tables of the database too

WAIT = 15  # seconds that a writer waits for another one
MOMENT = 3  # milliseconds that a prompt one waits: another process writes an answer in one or two
CONNECT = 3  # seconds that a connection may take
AGAIN = 5  # seconds after which a client may try again
PRAGMAS = ("journal_mode=WAL", "foreign_keys=ON", "synchronous=FULL", "secure_delete=ON", "temp_store=MEMORY")
QUIET = 5.0  # least seconds between two log lines about an unavailable database
CONNECTIONS = 10  # to PostgreSQL: of a process at most, for its threads and as many for its event loop
_UNREACHABLE = say("the database cannot be reached at the moment; nothing that was confirmed is lost, please try again in a few seconds")
_READS = "a unit of work that only reads writes nothing, got something to write"
_MIGRATIONS = str(Path(__file__).parent / "migrations")
_UNITS: dict[str, dict[str, bool]] = {
    "work": {},
    "prompt": {"prompt": True},
    "read": {"writes": False},
    "glance": {"writes": False, "transaction": False},
    "single": {"transaction": False},
}
T = TypeVar("T")
_log = logging.getLogger("quaestor.store")
_logged = -QUIET  # when the last such line was logged


class UnavailableError(QuaestorError):
    """The database cannot be reached, or is busy for too long; `seconds` after which to try again."""

    def __init__(self, words: str = _UNREACHABLE) -> None:
        self.seconds = AGAIN
        super().__init__(words)


class DamagedError(QuaestorError):
    """The file of the database was damaged while it was in use."""

    def __init__(self) -> None:
        super().__init__(say("the database of this server is damaged; please tell the people who run it"))


class Database:
    """A database and its units of work."""

    def __init__(self, url: str) -> None:
        try:
            self.engine = _engine(url)
            self._loop = None if self.is_file else _loop_engine(url)
        except (ArgumentError, ImportError) as error:
            shown = re.sub(r"//.*@", "//***@", url)  # never show a password
            raise QuaestorError(f"database: an address such as sqlite:///file or postgresql+psycopg://..., got {shown!r}") from error
        self._units = _units(self.engine)
        self._turns = asyncio.Semaphore(CONNECTIONS)
        self._on_loop = self._units if self._loop is None else _units(self._loop.sync_engine)
        self._writer = Lock() if self.is_file else None
        self._file = _identity(self.engine)  # what it was when it was first written to

    @property
    def is_file(self) -> bool:
        """Whether it is an SQLite file: reading then never waits."""
        return self.engine.dialect.name == "sqlite"

    def migrate(self, revision: str = "head") -> None:
        """Migrate the tables to the present version, or back to an earlier one; safe from several processes at once."""
        config = Config()
        config.set_main_option("script_location", _MIGRATIONS)
        try:
            with self.engine.connect() as connection, self._unchecked(connection), connection.begin():
                if self.engine.dialect.name == "postgresql":
                    connection.exec_driver_sql("set local lock_timeout = 0")
                    connection.exec_driver_sql("select pg_advisory_xact_lock(713)")
                config.attributes["connection"] = connection
                (command.upgrade if revision == "head" else command.downgrade)(config, revision)
        except (OperationalError, InterfaceError) as error:
            raise UnavailableError(f"database: it can be reached, got {error.orig}") from error

    @contextmanager
    def _unchecked(self, connection: Connection) -> Iterator[None]:
        """A connection by which SQLite lets a table be replaced: dropping one that others refer to would delete or change their rows."""
        driver = connection.connection.dbapi_connection
        if not self.is_file or driver is None:
            yield
            return
        driver.execute("PRAGMA foreign_keys=OFF")
        try:
            yield
        finally:
            driver.execute("PRAGMA foreign_keys=ON")

    def revisions(self) -> list[str]:
        """The versions of the tables, the present one first."""
        config = Config()
        config.set_main_option("script_location", _MIGRATIONS)
        return [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()]

    @contextmanager
    def work(self, *, prompt: bool = False, scrub: bool = True) -> Iterator[Work]:
        """A unit of work: committed at its end, rolled back by an error. On SQLite there is one at a time.

        Open it in the function that does the work, keep it short, and never nest it. `prompt`: on SQLite raise `UnavailableError` instead
        of waiting longer than a moment for another writer. `scrub`: what it erased is made unreadable in the files at once; else the caller
        calls `scrub`.
        """
        kind = "prompt" if prompt else "work"
        with _as_unavailable(log=not prompt), self._write_lock(0 if prompt else WAIT), self._open(kind) as session, session.begin():
            yield session
        if scrub and erasure.has_erased(session):
            self.scrub()

    @contextmanager
    def read(self) -> Iterator[Work]:
        """A unit of work that only reads: it sees a snapshot, neither waits for writers nor blocks them, and writing raises an error."""
        with _as_unavailable(reads=True), self._open("read") as session:
            yield session

    def scrub(self) -> bool:
        """Make what was erased unreadable in the files; False, and a line in the log, if it has to be tried again (`housekeeping`)."""
        try:
            with self._write_lock(WAIT):
                held_up = "" if erasure.scrub(self.engine) else "others read it at this moment"
        except (QuaestorError, SQLAlchemyError) as error:  # what was committed stays so
            held_up = _driver_words(error)
        if held_up:
            _log.warning("what was erased can still be read in the files of the database, got %s; it is tried again in a minute", held_up)
        return not held_up

    @contextmanager
    def glance(self) -> Iterator[Work]:
        """The same without a snapshot, and without its two round trips: each statement sees what is there when it is made."""
        with _as_unavailable(reads=True), self._open("glance") as session:
            yield session

    @contextmanager
    def single(self) -> Iterator[Work]:
        """A unit of work of one statement that writes: it is a transaction by itself, which spares PostgreSQL two round trips."""
        with _as_unavailable(), self._write_lock(WAIT), self._open("single") as session:
            yield session

    def _open(self, kind: str) -> Work:
        return (self._on_loop if in_greenlet() else self._units)[kind]()

    async def on_loop(self, do: Callable[[], T]) -> T:
        """Do something on the event loop: at once with a file; else others have their turn while it waits for the database.

        All wait for their turn in a queue (those who wait in SQLAlchemy's pool are overtaken), and whatever lasts too long is cut off.
        """
        if self._loop is None:
            return do()
        try:
            async with asyncio.timeout(WAIT) as limit, self._turns:
                limit.reschedule(asyncio.get_running_loop().time() + 2 * WAIT)
                return await greenlet_spawn(do)
        except TimeoutError as error:
            _log_error(TimeoutError("it takes too long"))
            raise UnavailableError from error

    async def get_ready(self) -> None:
        """Make the first connection of the event loop before anybody waits for it: that takes 0.2 s, in which nobody else is served."""

        def connect() -> None:
            with self.glance() as work:
                work.connection()

        if self._loop is not None:
            with suppress(UnavailableError):  # it may be there later
                await self.on_loop(connect)

    @contextmanager
    def _write_lock(self, wait: float) -> Iterator[None]:
        """A lock for SQLite, which has one writer at a time: threads of this process queue here, since SQLite itself polls with sleeps.

        Nothing is written to a file that was moved away or replaced meanwhile: nobody would find it again.
        """
        if self._writer is None:
            yield
            return
        present = _identity(self.engine)
        if self._file is None:
            self._file = present
        elif self._file != present:
            _log_error(FileNotFoundError("another file in its place: stop the server, put the one that it had back, start it again"))
            raise UnavailableError
        if not self._writer.acquire(timeout=wait):
            raise UnavailableError
        try:
            yield
        finally:
            self._writer.release()

    def close(self) -> None:
        """Close all connections; where an event loop runs, call it in a thread."""
        self.engine.dispose()
        if self._loop is not None:
            asyncio.run(self._loop.dispose())


@contextmanager
def _as_unavailable(log: bool = True, reads: bool = False) -> Iterator[None]:
    """Turn all errors of an unavailable database into `UnavailableError`, and log the original one."""
    try:
        yield
    except (OperationalError, InterfaceError, PoolTimeout) as error:
        if reads and _is_refused(error):
            raise QuaestorError(_READS) from error
        if log:
            _log_error(error)
        raise UnavailableError from error
    except (DataError, OverflowError) as error:
        raise QuaestorError(say("a value that the database can hold is expected, got one that is too large or no text")) from error
    except DBAPIError as error:
        if reads and _is_refused(error):
            raise QuaestorError(_READS) from error
        if error.connection_invalidated:
            _log_error(error)
            raise UnavailableError from error
        if getattr(error.orig, "sqlite_errorname", "").startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
            _log_error(error)
            raise DamagedError from error
        raise


def _is_refused(error: Exception) -> bool:
    """Whether the error of SQLite or PostgreSQL means that a unit of work that only reads tried to write."""
    said = getattr(error, "orig", None)
    return getattr(said, "sqlite_errorname", "") == "SQLITE_READONLY" or getattr(said, "sqlstate", "") == "25006"


def _log_error(error: Exception) -> None:
    """Log the driver's message, without statement and values, at most every `QUIET` seconds: every request meets the same error."""
    global _logged
    counters.DATABASE_ERRORS.inc()
    moment = monotonic()
    if moment - _logged >= QUIET:
        _logged = moment
        _log.error("database: it cannot be used, got %s", _driver_words(error))


def _driver_words(error: Exception) -> str:
    """The driver's message, without statement and values."""
    return " ".join(str(getattr(error, "orig", None) or error).split())


def _refuse_writing(work: Work, *_: Any) -> None:
    if work.new or work.deleted or any(work.is_modified(thing) for thing in work.dirty):
        raise QuaestorError(_READS)


def _refuse_statement(asked: ORMExecuteState) -> None:
    if asked.is_insert or asked.is_update or asked.is_delete:
        raise QuaestorError(_READS)


def _units(engine: Engine) -> dict[str, sessionmaker[Work]]:
    """What opens the units of work of each kind."""
    made = {}
    for kind, how in _UNITS.items():
        reads = not how.get("writes", True)
        made[kind] = sessionmaker(engine.execution_options(**how), expire_on_commit=False, info={"reads": reads})
        if reads:
            event.listen(made[kind], "before_flush", _refuse_writing)
            event.listen(made[kind], "do_orm_execute", _refuse_statement)
    return made


def _engine(url: str) -> Engine:
    if not url.startswith("sqlite"):
        return _postgresql(create_engine(_address(url), **_settings()))
    engine = create_engine(url, hide_parameters=True, connect_args={"timeout": WAIT}, pool_size=20, max_overflow=40, pool_timeout=WAIT)

    known: set[str] = set()

    @event.listens_for(engine, "do_connect")
    def _look(dialect: Any, _: Any, given: Sequence[Any], __: Any) -> None:
        """Make no new file in the place of one that is gone."""
        if Path(given[0]).exists():
            known.add(given[0])
        elif given[0] in known:
            raise dialect.loaded_dbapi.OperationalError("its file is gone")

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # the driver leaves transactions to us, so that a writer takes its lock at once
        for pragma in (f"busy_timeout={int(WAIT * 1000)}", *PRAGMAS):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Any) -> None:
        options = connection.get_execution_options()
        writes = options.get("writes", True)
        _let_write(connection, writes)
        if not options.get("transaction", True):
            return
        if not options.get("prompt"):
            connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
            return
        connection.exec_driver_sql(f"PRAGMA busy_timeout={MOMENT}")
        try:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        finally:
            connection.exec_driver_sql(f"PRAGMA busy_timeout={int(WAIT * 1000)}")

    return engine


def _identity(engine: Engine) -> tuple[int, int] | None:
    """Which file an SQLite database is; None where there is none."""
    try:
        found = Path(engine.url.database or "").stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _let_write(connection: Any, writes: bool) -> None:
    """Make a pooled SQLite connection writable or read-only; skipped if it is so already, else it takes 3 µs."""
    if connection.info.get("writes", True) != writes:
        connection.connection.dbapi_connection.execute(f"PRAGMA query_only={'OFF' if writes else 'ON'}")
        connection.info["writes"] = writes


def _loop_engine(url: str) -> AsyncEngine:
    made = create_async_engine(_address(url), **_settings())
    _postgresql(made.sync_engine)
    return made


def _address(url: str) -> URL:
    """The address of a PostgreSQL, for the one driver that threads and the event loop share."""
    found = make_url(url)
    if found.drivername not in ("postgresql", "postgresql+psycopg"):
        raise ArgumentError(found.drivername)
    return found.set(drivername="postgresql+psycopg")


def _settings() -> dict[str, Any]:
    """What an engine needs to know of PostgreSQL: transactions are left to us, and nothing is waited for too long."""
    settings = f"-c lock_timeout={int(WAIT * 1000)}"
    connection = {"autocommit": True, "connect_timeout": CONNECT, "tcp_user_timeout": CONNECT * 1000, "options": settings}
    return {"hide_parameters": True, "connect_args": connection, "pool_size": CONNECTIONS, "max_overflow": 0, "pool_timeout": WAIT}


def _postgresql(engine: Engine) -> Engine:
    """An engine that begins its transactions itself, so that a `glance` and a `single` have none."""

    @event.listens_for(engine, "checkout")
    def _check(_: Any, record: Any, __: Any) -> None:
        """Let the pool open another connection where PostgreSQL has closed this one: the socket knows, without a question and an answer."""
        try:
            for _ in ("a last message", "the end"):
                record.driver_connection.pgconn.consume_input()
        except engine.dialect.loaded_dbapi.Error as error:
            raise DisconnectionError from error

    @event.listens_for(engine, "begin")
    def _begin(connection: Any) -> None:
        options = connection.get_execution_options()
        if options.get("transaction", True):
            connection.exec_driver_sql("BEGIN" if options.get("writes", True) else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    return engine
