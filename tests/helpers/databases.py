"""Databases for tests: the fixture `database` is a fresh, migrated one, on SQLite and on PostgreSQL.

PostgreSQL is a temporary cluster of the programs of Debian's package, made once for each pytest process, reached by a socket in its own
folder, and removed at the end. Root hands it to the user `postgres`, as PostgreSQL does not run as root. To make a database takes longer
than most tests do, so one that a test leaves as it was made, but for its rows, is emptied for another test.
"""

import os
import shutil
import subprocess
import tempfile
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine

from quaestor.store.database import Database

KINDS = ("sqlite", "postgresql")
LARGEST = 1_000_000  # bytes of the tables of a database that is used again: what was deleted stays in their files
_number = count()
_SHAPE = """
select md5(string_agg(one, ',' order by one)) from (
  select attrelid::regclass || '.' || attname || ' ' || format_type(atttypid, atttypmod) || attnotnull from pg_attribute
    join pg_class on pg_class.oid = attrelid where relnamespace = 'public'::regnamespace and not attisdropped
  union all select conrelid::regclass || ' ' || pg_get_constraintdef(oid) from pg_constraint where connamespace = 'public'::regnamespace
  union all select tgname from pg_trigger where not tgisinternal
  union all select setconfig::text from pg_db_role_setting
  union all select version_num from alembic_version
) as all_of_it (one)
"""
_TABLES = "select oid::regclass::text from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace"
_SIZE = "select sum(pg_relation_size(oid)) from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace"


class Cluster:
    """A PostgreSQL of one's own, that can be stopped and started."""

    def __init__(self, programs: Path) -> None:
        self.programs = programs
        self._emptied: list[str] = []
        self._shape: object = None
        self.folder = Path(tempfile.mkdtemp(prefix="quaestor-"))
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres")
        self._run("initdb", "-D", self.folder / "data", "-U", "postgres", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8")
        self.start()

    def _run(self, program: str, *arguments: object) -> None:
        user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        command = [*user, str(self.programs / program), *map(str, arguments)]
        with open(os.devnull, "w") as nowhere:  # no pipe: the server would hold it open
            subprocess.run(command, check=True, stdout=nowhere, stderr=nowhere, cwd=self.folder, timeout=60)

    def start(self) -> None:
        options = f"-k {self.folder} -c listen_addresses='' -c fsync=off -c full_page_writes=off -c shared_buffers=32MB"
        self._run("pg_ctl", "-D", self.folder / "data", "-l", self.folder / "log", "-w", "-o", options, "start")

    def stop(self) -> None:
        self._run("pg_ctl", "-D", self.folder / "data", "-m", "immediate", "-w", "stop")

    def url(self, name: str) -> str:
        return f"postgresql+psycopg://postgres@/{name}?host={self.folder}"

    def execute(self, statement: str) -> None:
        engine = create_engine(self.url("postgres"), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.exec_driver_sql(statement)
        engine.dispose()

    def fresh(self) -> str:
        """The name of a migrated database without rows."""
        if self._emptied:
            return self._emptied.pop()
        name = f"test_{next(_number)}"
        self.execute(f"create database {name} template migrated")
        return name

    def put_back(self, name: str) -> None:
        """Empty a database for another test, if nothing but its rows was changed, and drop it if not."""
        if self._empty(name):
            self._emptied.append(name)
        else:
            self.execute(f"drop database {name} with (force)")

    def _empty(self, name: str) -> bool:
        with self._connected(name) as connection:
            ask = connection.execute
            ask("select pg_terminate_backend(pid, 1000) from pg_stat_activity where datname = %s and pid <> pg_backend_pid()", [name])
            if ask(_SHAPE).fetchone() != self._shape or (ask(_SIZE).fetchone() or [0])[0] > LARGEST:
                return False
            tables = [table for (table,) in ask(_TABLES) if table != "alembic_version"]
            ask("set session_replication_role = replica")  # foreign keys are not looked at
            ask("; ".join(f"delete from {table}" for table in tables))
            ask("select setval(oid::regclass, 1, false) from pg_class where relkind = 'S'")
        return True

    def remember_shape(self, name: str) -> None:
        """Note what a migrated database looks like."""
        with self._connected(name) as connection:
            self._shape = connection.execute(_SHAPE).fetchone()

    def _connected(self, name: str) -> Any:
        import psycopg

        return psycopg.connect(host=str(self.folder), user="postgres", dbname=name, autocommit=True)

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self.folder)


@pytest.fixture(scope="session")
def cluster():
    """A PostgreSQL with a migrated database `migrated`."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parents[1].name))
    on_path = shutil.which("initdb")
    programs = found[-1].parent if found else Path(on_path).parent if on_path else None
    if programs is None:
        pytest.skip("PostgreSQL is not installed: Debian's package postgresql has it")
    made = Cluster(programs)
    try:
        made.execute("create database migrated")
        _migrated(made.url("migrated"))
        made.remember_shape("migrated")
        yield made
    finally:
        made.close()


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory):
    """A migrated SQLite file, to be copied."""
    path = tmp_path_factory.mktemp("migrated") / "quaestor.db"
    _migrated(f"sqlite:///{path}")
    return path


def _migrated(url: str) -> None:
    made = Database(url)
    made.migrate()
    made.close()


@pytest.fixture
def make_database(request, tmp_path):
    """A function that makes a database of a kind: migrated, or empty; `unused`: nothing of another test was ever in its files."""
    made, again, others = [], [], []

    def make(kind: str, migrated: bool = True, unused: bool = False) -> Database:
        if kind == "sqlite":
            path = tmp_path / f"quaestor-{next(_number)}.db"
            if migrated:
                shutil.copy(request.getfixturevalue("migrated_file"), path)
            made.append(Database(f"sqlite:///{path}"))
            return made[-1]
        cluster = request.getfixturevalue("cluster")
        if migrated and not unused:
            again.append(name := cluster.fresh())
        else:
            others.append(name := f"test_{next(_number)}")
            cluster.execute(f"create database {name} template {'migrated' if migrated else 'template0'}")
        made.append(Database(cluster.url(name)))
        return made[-1]

    yield make
    for database in made:
        database.close()
    for name in again:
        request.getfixturevalue("cluster").put_back(name)
    for name in others:
        request.getfixturevalue("cluster").execute(f"drop database {name} with (force)")


@pytest.fixture(params=KINDS)
def database(request, make_database):
    """A fresh database of each kind."""
    return make_database(request.param)
