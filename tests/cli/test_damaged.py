"""Databases that cannot be used: every command says what happened and what to do, ends with 1, and makes nothing new in silence."""

import shutil
import sqlite3
from collections import namedtuple
from itertools import product
from pathlib import Path

import pytest

from quaestor.cli import main
from quaestor.store import backup, soundness
from quaestor.web.operations.installation import begin, make_database
from quaestor.web.settings import Settings

COMMANDS = ["serve", "sign-in", "back-up", "verify"]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A data folder as a server leaves it, and a back-up of it."""
    folder = tmp_path_factory.mktemp("installed")
    settings = Settings(data=str(folder / "data"))
    database = make_database(settings)
    begin(database, settings)
    backup.back_up(database, folder / "all.zip")
    database.close()
    return folder


@pytest.fixture
def data(installed, tmp_path, monkeypatch):
    """A copy of it; a server that would begin to serve ends with 0."""
    monkeypatch.setattr("uvicorn.run", lambda *_, **__: None)
    monkeypatch.chdir(tmp_path)
    shutil.copytree(installed / "data", tmp_path / "data")
    return Path("data")


def run(command, data, capsys):
    """The exit code of a command and what it said."""
    more = {"serve": ["--port", "0"], "back-up": ["x.zip"]}.get(command, [])
    code = main([command, *more, "--data", str(data)])
    assert not Path("x.zip").exists()
    return code, capsys.readouterr().err


def empty(file):
    file.write_bytes(b"")


def foreign(file):
    file.write_bytes(b"Dear diary, this is no database at all.\n" * 200)


def cut_in_half(file):
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def cut_to_a_page(file):
    file.write_bytes(file.read_bytes()[:4096])


def cut_within_the_header(file):
    file.write_bytes(file.read_bytes()[:50])


def scribbled_on(file):
    content = bytearray(file.read_bytes())
    for place in range(4096 * 3, len(content), 4096 * 2):
        content[place : place + 200] = b"\xff" * 200
    file.write_bytes(bytes(content))


def of_a_later_version(file):
    with sqlite3.connect(file) as connection:
        connection.execute("update alembic_version set version_num = '0999'")
    connection.close()


def of_another_program(file):
    file.unlink()
    with sqlite3.connect(file) as connection:
        connection.execute("create table cats (name)")
    connection.close()


def without_tables(file):
    file.unlink()
    with sqlite3.connect(file) as connection:
        connection.execute("pragma journal_mode=wal")
    connection.close()


RESTORE = "quaestor restore BACK-UP.zip --data data"
DAMAGES = {
    empty: (": a database is expected, got an empty file", RESTORE),
    foreign: (": a database is expected, got another kind of file", RESTORE),
    cut_in_half: (": a whole database is expected, got a damaged one", RESTORE),
    cut_to_a_page: (": a whole database is expected, got a damaged one", RESTORE),
    cut_within_the_header: (": a whole database is expected, got a damaged one", RESTORE),
    scribbled_on: (": a whole database is expected, got a damaged one", RESTORE),
    of_a_later_version: (": a database of version ", "got '0999', which a later version of Quaestor made; upgrade Quaestor"),
    of_another_program: (": a database of Quaestor is expected, got one of another program, with the table cats", RESTORE),
    without_tables: (": a database of Quaestor is expected, got one without tables", RESTORE),
}


EACH = [*((damage, "serve") for damage in DAMAGES), *((cut_in_half, command) for command in COMMANDS[1:])]
OTHERS = [pytest.param(*pair, marks=pytest.mark.long) for pair in product(DAMAGES, COMMANDS) if pair not in EACH]


@pytest.mark.parametrize(("damage", "command"), [*EACH, *OTHERS])
def test_a_database_that_cannot_be_used(data, capsys, damage, command):
    file = data / "quaestor.db"
    damage(file)
    before = file.read_bytes()
    code, said = run(command, data, capsys)
    assert code == 1
    for words in ("data/quaestor.db", *DAMAGES[damage]):
        assert words in said
    assert len(said.splitlines()) == 1
    assert file.read_bytes() == before


@pytest.mark.parametrize("command", COMMANDS)
def test_a_database_that_is_gone_is_no_new_installation(data, capsys, command):
    (data / "quaestor.db").unlink()
    code, said = run(command, data, capsys)
    assert code == 1
    assert "data/quaestor.db: a database is expected, got no such file, though there was one" in said
    assert RESTORE in said
    assert "delete data/quaestor.db.txt" in said
    assert not (data / "quaestor.db").exists()


def test_a_log_without_its_database_is_not_thrown_away(tmp_path, capsys, monkeypatch):
    """SQLite deletes the write-ahead log beside a file that it makes: perhaps all that is left."""
    monkeypatch.setattr("uvicorn.run", lambda *_, **__: None)
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    Path("data/quaestor.db-wal").write_bytes(b"answers")
    for command in [*COMMANDS, "restore"]:
        code = main([command, *{"back-up": ["x.zip"], "restore": ["x.zip"]}.get(command, []), "--data", "data"])
        assert code == 1
        assert "data/quaestor.db: a database is expected, got only its log data/quaestor.db-wal" in capsys.readouterr().err
        assert Path("data/quaestor.db-wal").read_bytes() == b"answers"


def test_what_the_sentence_says_to_do_helps(installed, data, capsys):
    cut_in_half(data / "quaestor.db")
    assert main(["restore", str(installed / "all.zip"), "--data", "data"]) == 1  # nothing is overwritten
    assert "got a damaged one" in capsys.readouterr().err
    (data / "quaestor.db").rename(data / "quaestor.db.damaged")
    assert main(["restore", str(installed / "all.zip"), "--data", "data"]) == 0
    assert main(["verify", "--data", "data"]) == 0


def test_a_server_that_was_killed_is_no_damage(installed, data, capsys):
    """What is only in the write-ahead log yet is found again."""
    with sqlite3.connect(data / "quaestor.db", isolation_level=None) as connection:
        connection.execute("update teacher set email = 'ada@school.example'")
        Path("killed").mkdir()
        for file in data.iterdir():
            shutil.copy(file, "killed")
    connection.close()
    assert Path("killed/quaestor.db-wal").stat().st_size
    assert main(["sign-in", "ada@school.example", "--data", "killed"]) == 0


def test_a_back_up_does_not_replace_the_database(data, capsys):
    before = (data / "quaestor.db").read_bytes()
    assert main(["back-up", "data/quaestor.db", "--data", "data"]) == 1
    assert capsys.readouterr().err.startswith("back-up: a file of its own, got data/quaestor.db, which belongs to the database")
    assert (data / "quaestor.db").read_bytes() == before


def test_a_full_disk_is_no_riddle(data, capsys, monkeypatch):
    """SQLite says only `disk I/O error`."""

    def full(*_, **__):
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(soundness.sqlite3, "connect", full)
    monkeypatch.setattr(soundness.shutil, "disk_usage", lambda _: namedtuple("Usage", "free")(0))
    assert run("back-up", data, capsys) == (1, "database: it can be reached, got no room on its disk (disk I/O error); make room there\n")
    main(["doctor", "--data", "data", "--port", "0"])
    assert "cannot be used: disk I/O error.\n        Its disk is full: make room there." in capsys.readouterr().out


def test_who_wants_to_begin_anew_may(data, capsys):
    for file in data.iterdir():
        file.unlink()
    assert main(["serve", "--port", "0", "--data", "data"]) == 0
    assert "Sign in as owner:" in capsys.readouterr().out


@pytest.mark.parametrize("content", [b"", b"PK no back-up"])
def test_a_damaged_back_up_leaves_no_empty_installation(tmp_path, capsys, monkeypatch, content):
    monkeypatch.chdir(tmp_path)
    Path("all.zip").write_bytes(content)
    assert main(["restore", "all.zip", "--data", "data"]) == 1
    assert "restore: a whole back-up is expected, got all.zip, which is damaged or none" in capsys.readouterr().err
    assert list(Path("data").iterdir()) == []


def test_a_later_version_of_postgresql(make_database, capsys, tmp_path):
    database = make_database("postgresql")
    with database.engine.begin() as connection:
        connection.exec_driver_sql("update alembic_version set version_num = '0999'")
    url = database.engine.url.render_as_string(hide_password=False)
    assert main(["back-up", str(tmp_path / "x.zip"), "--database", url]) == 1
    assert "got '0999', which a later version of Quaestor made; upgrade Quaestor" in capsys.readouterr().err
