"""Databases for tests: the fixture `database` is a fresh, migrated one, on SQLite and on PostgreSQL.

PostgreSQL is a temporary cluster of the programs of Debian's package, made once for each pytest process, reached by a socket in its own
folder, and removed at the end. Root hands it to the user `postgres`, as PostgreSQL does not run as root.
"""

import os
import shutil
import subprocess
import tempfile
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import create_engine

from quaestor.store.database import Database

KINDS = ("sqlite", "postgresql")
_number = count()


class Cluster:
    """A PostgreSQL of one's own, that can be stopped and started."""

    def __init__(self, programs: Path) -> None:
        self.programs = programs
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
    """A function that makes a database of a kind: migrated, or empty."""
    made, names = [], []

    def make(kind: str, migrated: bool = True) -> Database:
        if kind == "sqlite":
            path = tmp_path / f"quaestor-{next(_number)}.db"
            if migrated:
                shutil.copy(request.getfixturevalue("migrated_file"), path)
            made.append(Database(f"sqlite:///{path}"))
        else:
            cluster = request.getfixturevalue("cluster")
            names.append(f"test_{next(_number)}")
            cluster.execute(f"create database {names[-1]} template {'migrated' if migrated else 'template0'}")
            made.append(Database(cluster.url(names[-1])))
        return made[-1]

    yield make
    for database in made:
        database.close()
    for name in names:
        request.getfixturevalue("cluster").execute(f"drop database {name} with (force)")


@pytest.fixture(params=KINDS)
def database(request, make_database):
    """A fresh database of each kind."""
    return make_database(request.param)
