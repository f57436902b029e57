"""The database: SQLite in a file by default, PostgreSQL when asked for; migrations are applied when it is opened."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.exc import ArgumentError, OperationalError
from sqlalchemy.orm import Session as Work
from sqlalchemy.orm import sessionmaker

from quaestor.errors import QuaestorError

WAIT = 15  # seconds that a writer waits for another one


class Database:
    """An engine and its units of work."""

    def __init__(self, url: str) -> None:
        try:
            self.engine = _engine(url)
        except (ArgumentError, ImportError) as error:
            raise QuaestorError(
                f"database: an address such as sqlite:///file or postgresql+psycopg://..., got {url!r} ({error})"
            ) from error
        self._work = sessionmaker(self.engine, expire_on_commit=False)

    def migrate(self) -> None:
        """Bring the tables to the present version; safe to do from several processes at once."""
        config = Config()
        config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
        try:
            with self.engine.begin() as connection:
                if self.engine.dialect.name == "postgresql":
                    connection.exec_driver_sql("select pg_advisory_xact_lock(713)")
                config.attributes["connection"] = connection
                command.upgrade(config, "head")
        except OperationalError as error:
            raise QuaestorError(f"database: it can be reached, got {error.orig}") from error

    @contextmanager
    def work(self) -> Iterator[Work]:
        """A unit of work: committed at its end, undone by an error."""
        with self._work() as session, session.begin():
            yield session

    def close(self) -> None:
        """Let go of all connections."""
        self.engine.dispose()


def _engine(url: str) -> Engine:
    if not url.startswith("sqlite"):
        return create_engine(url, pool_pre_ping=True, pool_size=10)
    engine = create_engine(url, connect_args={"timeout": WAIT})

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # the driver leaves transactions to us, so that a writer takes its lock at once
        for pragma in ("journal_mode=WAL", "foreign_keys=ON", "synchronous=NORMAL", f"busy_timeout={WAIT * 1000}"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Any) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get("writes", True) else "BEGIN")

    return engine
