"""What those who watch over the server are told: the database away, its file gone, no room to write."""

import resource
import tempfile
from contextlib import contextmanager
from pathlib import Path

from starlette.testclient import TestClient

from helpers.browsing import application
from quaestor.store.database import Database


def asked(database):
    response = TestClient(application(database)).get("/health")
    return response.status_code, response.json()


@contextmanager
def largest_file(size):
    """No file of this process may grow beyond so many bytes: for whoever writes it is as if the disk was full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_server_that_is_well(database):
    status, told = asked(database)
    assert (status, told["status"]) == (200, "well")


def test_a_database_that_is_away():
    away = Database("postgresql+psycopg://me@127.0.0.1:1/nothing")
    status, told = asked(away)
    assert (status, told["status"], told["wrong"]) == (503, "unwell", ["database: one that answers, got none"])
    away.close()


def test_a_database_whose_file_is_gone(make_database):
    """Connections that are open would go on with a file that nobody finds again."""
    database = make_database("sqlite")
    assert asked(database)[0] == 200
    Path(database.engine.url.database).unlink()
    status, told = asked(database)
    assert (status, told["wrong"]) == (503, ["database: a file that is there, got none"])


def test_a_disk_that_is_full(make_database, tmp_path):
    database = make_database("sqlite")
    assert asked(database)[0] == 200
    there = sorted(tmp_path.iterdir())
    with largest_file(500_000):
        status, told = asked(database)
    places = ("temporary files", "data")
    assert (status, told["wrong"]) == (503, [f"{place}: a folder with room to write, got: no space left" for place in places])
    assert sorted(tmp_path.iterdir()) == there  # nothing is left
    assert asked(database)[0] == 200


def test_a_folder_that_cannot_be_written(make_database, monkeypatch, tmp_path):
    database = make_database("postgresql")
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path / "gone"))
    status, told = asked(database)
    assert (status, told["wrong"]) == (503, ["temporary files: a folder with room to write, got: No such file or directory"])
