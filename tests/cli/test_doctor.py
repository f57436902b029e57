"""`quaestor doctor`: every check with something broken, and the words that say so and how to mend it."""

import json
import os
import shutil
import socket
import sqlite3
import time
import zipfile
from collections import namedtuple
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib import metadata
from pathlib import Path
from threading import Thread

import pytest
from sqlalchemy import update

import quaestor as qs
from helpers.browsing import give
from quaestor.cli import main
from quaestor.selection.dry_run import DryRun
from quaestor.store import clock, job_queue, secrets, teachers
from quaestor.store.attempts import taking
from quaestor.store.database import Database
from quaestor.store.models import Event, Job
from quaestor.web.checkup import folder, machine, records, setup
from quaestor.web.settings import Settings


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    for name in setup.KNOWN & set(os.environ):
        monkeypatch.delenv(name)


@pytest.fixture
def data(tmp_path, migrated_file):
    """A data folder in which all is well."""
    place = tmp_path / "data"
    place.mkdir(mode=0o700)
    shutil.copy(migrated_file, place / "quaestor.db")
    (place / "quaestor.db").chmod(0o600)
    with opened(place) as database, database.work() as work:
        teachers.owner(work, "owner@school.example").password = "a hash"
    return place


@contextmanager
def opened(place):
    database = Database(f"sqlite:///{place / 'quaestor.db'}")
    yield database
    database.close()


@pytest.fixture
def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@pytest.fixture
def doctor(capsys, data, free_port):
    """A function that runs the command and gives its exit code and what it found, by check."""

    def run(*flags):
        code = main(["doctor", "--json", "--data", str(data), "--port", str(free_port), *flags])
        return code, {one["check"]: (one["state"], one["words"], one["mend"]) for one in json.loads(capsys.readouterr().out)}

    return run


def bad(found, state="wrong"):
    """The one finding of a check, which is not fine, as its words and what mends it."""
    (one,) = found
    assert one.state == state, one
    assert one.words.endswith(".")
    assert one.mend
    return f"{one.words} {one.mend}"


def test_a_good_set_up(data, free_port, capsys, tmp_path):
    copies = tmp_path / "copies"
    copies.mkdir()
    assert main(["back-up", str(copies / "all.zip"), "--data", str(data)]) == 0
    capsys.readouterr()
    code = main(["doctor", "--data", str(data), "--port", str(free_port), "--back-ups", str(copies)])
    lines = capsys.readouterr().out.splitlines()
    assert code == 0
    assert [line.split(":")[0].split()[1] for line in lines[:-1]] == [
        *("libraries", "fonts", "names", "address", "secrets", "workers", "data", "database", "SQLite", "clock", "jobs", "owner"),
        *("server", "back-ups"),
    ]
    assert {line.split()[0] for line in lines[:-1]} == {"fine"}, lines
    assert lines[-1] == "14 checks: nothing wrong, no pieces of advice"


def test_something_wrong_is_exit_code_1_with_what_mends_it(data, free_port, capsys):
    data.chmod(0o755)
    assert main(["doctor", "--data", str(data), "--port", str(free_port)]) == 1
    lines = capsys.readouterr().out.splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith("wrong   data:"))
    assert lines[place + 1] == f"        chmod 700 {data}"
    assert lines[-1] == "14 checks: 1 wrong, 1 piece of advice"  # it does not know of back-ups


def test_nothing_is_changed(doctor, data):
    before = {path.name: path.read_bytes() for path in data.iterdir() if path.suffix == ".db"}
    doctor()
    assert {path.name: path.read_bytes() for path in data.iterdir() if path.suffix == ".db"} == before


def test_a_setting_that_cannot_be_read(doctor):
    code, found = doctor("--workers", "many")
    assert code == 1
    assert found["settings"][1] == "A setting cannot be read: workers: a whole number, got 'many'."
    assert "database" not in found


def test_without_the_extra_the_rest_is_looked_at(doctor, monkeypatch):
    monkeypatch.setattr(metadata, "version", lambda name: _missing(name) if name == "sqlalchemy" else "99")
    code, found = doctor()
    assert code == 1
    assert "sqlalchemy is missing" in found["libraries"][1]
    assert "pip install --upgrade 'quaestor[web]'" in found["libraries"][2]
    assert "database" not in found
    assert "data" in found


def _missing(name):
    raise metadata.PackageNotFoundError(name)


# The machine


def test_libraries_that_are_too_old(monkeypatch):
    monkeypatch.setattr(metadata, "requires", lambda _: ["numpy>=1.26", 'uvicorn>=0.37 ; extra == "web"', 'torch>=2.4; extra == "gpu"'])
    monkeypatch.setattr(metadata, "version", {"numpy": "1.9.3", "uvicorn": "0.37.0"}.__getitem__)
    assert bad(machine.libraries()).startswith("Of 2 libraries numpy is version 1.9.3, at least 1.26 is needed.")


def test_a_font_that_is_missing(monkeypatch):
    monkeypatch.setattr(machine, "FONTS", ("Missing.ttf",))
    assert "Letters cannot be made as PDF: the font Missing.ttf is missing" in bad(machine.fonts())


def test_more_workers_than_the_machine_can_bear(monkeypatch):
    monkeypatch.setattr(machine, "_memory", lambda: 2_000_000_000)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    words = bad(machine.workers(Settings(workers=4, cache=500)))
    assert words.startswith("4 workers with a cache of 500 MB each can need 3 GB; the machine has 2 GB.")
    words = bad(machine.workers(Settings(workers=5, cache=16)), "advice")
    assert words == "5 workers share 2 cores: more than two for each core make nothing faster. Set --workers 2."


def test_the_memory_of_a_container_counts(monkeypatch):
    told = {"/proc/meminfo": "MemTotal:  8000000 kB\nMemFree: 1 kB", "/sys/fs/cgroup/memory.max": "500000000\n"}
    monkeypatch.setattr(Path, "read_text", lambda path: told[str(path)])
    assert machine._memory() == 500_000_000
    told["/sys/fs/cgroup/memory.max"] = "max\n"
    assert machine._memory() == 8_192_000_000


# The settings


def test_a_mistyped_variable():
    words = bad(setup.names({"QUAESTOR_WORKER": "4", "QUAESTOR_PORT": "1", "HOME": "x"}))
    assert setup.names({secrets.SECRET: "a secret that machines share"})[0].state == "fine"
    assert words.startswith("QUAESTOR_WORKER is set, but there is no such setting. Perhaps QUAESTOR_WORKERS is meant.")


HTTPS = "https://tests.school.example"


@pytest.mark.parametrize(
    ("settings", "state", "words"),
    [
        ({"address": f"{HTTPS}/q"}, "wrong", "below '/q' (--address), but it makes its links below '/' (--root). Set --root /q"),
        ({"address": HTTPS, "root": "/q"}, "wrong", "Leave --root out, or add its path to --address."),
        ({"address": HTTPS, "host": "0.0.0.0"}, "wrong", "so cookies are not Secure, and all people share one address."),
        ({"address": HTTPS, "host": "0.0.0.0", "proxies": "*"}, "advice", "believes everybody who says for whom they ask"),
        ({"host": "0.0.0.0"}, "wrong", "printed links would not work elsewhere. Set --address"),
        ({"address": "http://tests.school.example"}, "wrong", "cross the network unencrypted. Put a proxy with https before it"),
        ({"address": HTTPS}, "fine", ""),
        ({"address": f"{HTTPS}/q/", "root": "/q"}, "fine", ""),
        ({"address": HTTPS, "host": "0.0.0.0", "proxies": "172.18.0.2"}, "fine", ""),
    ],
)
def test_settings_that_contradict_each_other(settings, state, words):
    (found,) = setup.address(Settings(**settings))
    assert found.state == state, found
    assert words in f"{found.words} {found.mend}"


@pytest.mark.parametrize("password", ["quaestor", "change-me", "ada"])
def test_a_password_of_the_database_that_can_be_guessed(password):
    words = bad(setup.secrets(Settings(database=f"postgresql+psycopg://ada:{password}@db/quaestor")))
    assert words.startswith("The password of the database can be guessed.")


def test_a_token_that_can_be_guessed():
    assert "/metrics" in bad(setup.secrets(Settings(metrics="x" * 20)))


def test_secrets_are_not_printed(doctor):
    secret = "s3cret-and-long-enough"
    _, found = doctor("--database", f"postgresql+psycopg://ada:{secret}@127.0.0.1:1/x", "--metrics", f"{secret}-too")
    assert secret not in str(found)


# A server that runs


@contextmanager
def answering(status, content):
    """Something that answers to every request in the same way; its port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


FULL = "data: a folder with room to write, got: no space left"
AWAY = "database: one that answers, got none"


@pytest.mark.parametrize(
    ("status", "content", "state", "words"),
    [
        (200, {"status": "well", "version": qs.__version__}, "fine", "and is well."),
        (200, {"status": "well", "version": "0.0.1"}, "advice", f"is version 0.0.1; installed is {qs.__version__}. Start it again"),
        (
            503,
            {"status": "unwell", "wrong": [FULL]},
            "wrong",
            f"The server runs, but says that it is not well: {FULL}. Make room on the disk",
        ),
        (503, {"status": "unwell", "wrong": [AWAY]}, "wrong", f"is not well: {AWAY}. See what is said of the database here."),
        (503, {"status": "unwell", "wrong": [AWAY, FULL]}, "wrong", f"is not well: {AWAY}; {FULL}. Make room"),
        (503, {}, "wrong", "Something else than Quaestor answers at port"),
        (200, {"hello": "world"}, "wrong", "Something else than Quaestor answers at port"),
        (404, {}, "wrong", "Something else than Quaestor answers at port"),
    ],
)
def test_what_answers_at_the_port(status, content, state, words):
    with answering(status, json.dumps(content).encode()) as port:
        (found,) = setup.server(Settings(port=port))
    assert found.state == state, found
    assert words in f"{found.words} {found.mend}"


def test_a_proxy_is_not_asked_for_the_server_of_this_machine(monkeypatch, free_port):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port}")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("urllib.request._opener", None)  # it keeps the proxies of the first call
    with answering(200, json.dumps({"status": "well", "version": qs.__version__}).encode()) as port:
        (found,) = setup.server(Settings(port=port))
    assert found.state == "fine", found


def test_a_port_that_cannot_be_used(monkeypatch):
    def nobody(*_):
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "create_connection", nobody)
    words = bad(setup.server(Settings(host="203.0.113.1", port=8000)))
    assert words.startswith("The server does not run, and cannot listen at port 8000 of 203.0.113.1: ")


# The folders


def test_data_folders(tmp_path, data, monkeypatch):
    assert "is not there: `quaestor serve` will make it." in bad(folder.data(Settings(data=str(tmp_path / "no"))), "advice")
    (tmp_path / "file").write_text("")
    assert "is no folder." in bad(folder.data(Settings(data=str(tmp_path / "file"))))
    data.chmod(0o750)
    assert "may look into" in bad(folder.data(Settings(data=str(data))))
    data.chmod(0o700)
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert "cannot be written by the user who runs this command." in bad(folder.data(Settings(data=str(data))))


def test_files_that_others_may_read(data, tmp_path):
    file = data / "quaestor.db"
    file.chmod(0o644)
    words = f"The rights of {file} (644) let other users of this machine read or write it; the folder keeps them out"
    assert bad(folder.data(Settings(data=str(data))), "advice").startswith(words)
    data.chmod(0o755)
    assert bad(folder.data(Settings(database=f"sqlite:///{file}"))).endswith(f"it holds names, answers and codes. chmod 600 {file}")
    file.chmod(0o600)
    assert folder.data(Settings(database=f"sqlite:///{file}"))[0].state == "fine"


@pytest.mark.parametrize(("left", "state"), [(500_000_000, "advice"), (100_000_000, "wrong")])
def test_a_disk_that_is_nearly_full(data, monkeypatch, left, state):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: namedtuple("Usage", "free")(left))
    words = bad(folder.data(Settings(data=str(data))), state)
    assert words.startswith(f"{left // 1_000_000} MB are left where {data} is.")


def test_a_disk_of_another_machine(data, tmp_path, monkeypatch):
    (tmp_path / "mounts").write_text(f"/dev/sda1 / ext4 rw 0 0\nserver:/x {data} nfs4 rw 0 0\n")
    monkeypatch.setattr(folder, "MOUNTS", tmp_path / "mounts")
    assert "is on a disk of another machine (nfs4): SQLite can lose data there." in bad(folder.data(Settings(data=str(data))))


def test_back_ups(tmp_path, data):
    assert bad(folder.back_ups(""), "advice").startswith("Whether there are back-ups is not known.")
    assert bad(folder.back_ups(str(tmp_path))).startswith("There is no back-up in")
    file = tmp_path / "one.zip"
    file.write_text("no zip")
    assert "cannot be read: File is not a zip file. Move it away" in bad(folder.back_ups(str(tmp_path)))
    with zipfile.ZipFile(file, "w") as photos:
        photos.writestr("photo.png", "no back-up")
    assert "cannot be read: the file is a back-up of Quaestor, got one without its header." in bad(folder.back_ups(str(tmp_path)))
    file.unlink()
    assert main(["back-up", str(file), "--data", str(data)]) == 0
    assert folder.back_ups(str(tmp_path))[0].state == "fine"
    with zipfile.ZipFile(file) as opened_file:
        largest = max(opened_file.infolist(), key=lambda one: one.compress_size)
    content, within = bytearray(file.read_bytes()), largest.header_offset + 40 + len(largest.filename)
    content[within] ^= 255
    file.write_bytes(content)
    assert "cannot be read" in bad(folder.back_ups(str(tmp_path)))
    content[within] ^= 255
    file.write_bytes(content)
    then = time.time() - 5 * 24 * 3600
    os.utime(file, (then, then))
    assert "is 5 days old. See why none came since" in bad(folder.back_ups(str(tmp_path)))


# The database


def test_no_database_yet(doctor, data):
    (data / "quaestor.db").unlink()
    assert doctor()[1]["database"] == (
        *("advice", "There is no database yet: `quaestor serve` will make one."),
        "If there should be one, set --data or --database.",
    )


def test_a_data_folder_that_is_a_file(doctor, data, tmp_path):
    (tmp_path / "file").write_text("")
    code, found = doctor("--data", str(tmp_path / "file"))
    assert code == 1
    assert found["data"][:2] == ("wrong", f"{tmp_path / 'file'} is no folder.")
    assert found["database"][:2] == ("wrong", f"There can be no database: {tmp_path / 'file'} is no folder.")


def test_a_database_without_tables(doctor, data):
    (data / "quaestor.db").unlink()
    with sqlite3.connect(data / "quaestor.db") as file:
        file.execute("pragma journal_mode=wal")
    file.close()
    state, words, _ = doctor()[1]["database"]
    assert (state, words) == ("advice", "The database is there, but empty: `quaestor serve` will fill it.")


def empty(file):
    file.write_bytes(b"")


def text(file):
    file.write_text("this is a text, which is long enough to be read as the head of a database file" * 20)


def of_another_program(file):
    file.unlink()
    with sqlite3.connect(file) as connection:
        connection.execute("create table cats (name)")
    connection.close()


def gone(file):
    file.unlink()
    Path(f"{file}.txt").write_text("There was a database.")


def gone_but_for_its_log(file):
    file.unlink()
    Path(f"{file}-wal").write_bytes(b"answers")


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (empty, "a database is expected, got an empty file."),
        (text, "a database is expected, got another kind of file."),
        (of_another_program, "a database of Quaestor is expected, got one of another program, with the table cats."),
        (gone, "a database is expected, got no such file, though there was one."),
        (gone_but_for_its_log, "a database is expected, got only its log {file}-wal, which may hold the last answers."),
    ],
)
def test_what_the_server_does_not_start_with(doctor, data, damage, words):
    file = data / "quaestor.db"
    damage(file)
    before = sorted(data.iterdir())
    code, found = doctor()
    assert (code, found["database"][0]) == (1, "wrong")
    assert found["database"][1] == f"The server does not start with this database. {file}: {words.format(file=file)}"
    assert found["database"][2].startswith("Stop the server if it runs; ")
    assert f"quaestor restore BACK-UP.zip --data {data}" in found["database"][2]
    assert sorted(data.iterdir()) == before


def test_a_folder_of_another_user(doctor, monkeypatch):
    def shut(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(records.soundness, "check", shut)
    code, found = doctor()
    assert code == 1
    assert found["database"][1] == "The file of the database cannot be used: [Errno 13] Permission denied."
    assert found["database"][2].startswith("Run this command as the user of the server")


def test_a_damaged_database(doctor, data):
    path = data / "quaestor.db"
    with sqlite3.connect(path) as file:
        file.execute("pragma journal_mode = delete")
        (page,) = file.execute("select rootpage from sqlite_master where name = 'job'").fetchone()
        (size,) = file.execute("pragma page_size").fetchone()
    file.close()
    content = bytearray(path.read_bytes())
    content[(page - 1) * size : page * size] = b"\xff" * size
    path.write_bytes(content)
    code, found = doctor()
    assert code == 1
    assert "a whole database is expected, got a damaged one (" in found["database"][1]
    assert "clock" not in found


def test_tables_of_another_version(doctor, data):
    with sqlite3.connect(data / "quaestor.db") as file:
        file.execute("update alembic_version set version_num = '9999'")
    file.close()
    code, found = doctor()
    assert code == 1
    assert "got '9999', which a later version of Quaestor made." in found["database"][1]
    assert "upgrade Quaestor" in found["database"][2]
    with opened(data) as database:
        older = database.revisions()[1]
    with sqlite3.connect(data / "quaestor.db") as file:
        file.execute("update alembic_version set version_num = ?", [older])
    file.close()
    state, words, mend = doctor()[1]["database"]
    assert (state, words.split(" (")[0]) == ("advice", "The tables are of an older version")
    assert mend.startswith("Make a back-up with the older version")


def test_a_journal_of_another_mode(doctor, data):
    with sqlite3.connect(data / "quaestor.db") as file:
        file.execute("pragma journal_mode = delete")
    file.close()
    state, words, _ = doctor()[1]["SQLite"]
    assert (state, words.split(":")[0]) == ("advice", "The database writes its journal in the mode delete")


def test_a_clock_that_was_set_back(doctor, data):
    with opened(data) as database:
        code = give(database, qs.load("german"), email="owner@school.example")
        with database.work() as work:
            taking.skip(work, taking.enter(work, code, "Ada"), 1)
        with database.work() as work:
            work.execute(update(Event).values(at=clock.now() + timedelta(hours=3)))
    code, found = doctor()
    assert code == 1
    assert "which is later." in found["clock"][1]
    assert "timedatectl" in found["clock"][2]


def test_jobs_that_failed_or_wait(doctor, data):
    with opened(data) as database:
        with database.work() as work:
            teacher = teachers.owner(work, "owner@school.example")
            job_queue.ask(work, teacher, "trial", "x", {})
            job_queue.fail(work, job_queue.claim(work, "me"), "me", "too large")
        assert doctor()[1]["jobs"][:2] == ("advice", "1 background job (trials, learning) failed in the last 90 days.")
        with database.work() as work:
            job_queue.ask(work, teacher, "trial", "y", {})
            work.execute(update(Job).values(created=clock.now() - timedelta(hours=2)))
        code, found = doctor()
    assert (code, found["jobs"][0]) == (1, "wrong")
    assert found["jobs"][1].startswith("1 background job waited for more than an hour")


def test_an_owner_without_a_password(doctor, data):
    with sqlite3.connect(data / "quaestor.db") as file:
        file.execute("update teacher set password = null")
    file.close()
    state, words, mend = doctor()[1]["owner"]
    assert (state, words.split(":")[0]) == ("advice", "The owner's account has no password yet")
    assert "`quaestor sign-in`" in mend


def test_slow_banks(doctor, data, monkeypatch):
    with opened(data) as database:
        give(database, qs.load("german").widen(0.1), email="owner@school.example")
    monkeypatch.setattr(records, "worst_step", lambda *_: DryRun(0.1, 1.5, 2, 1, False))
    assert "banks" not in doctor()[1]
    state, words, mend = doctor("--banks")[1]["banks"]
    assert (state, words.split(":")[0]) == ("advice", "A step takes long in test 1 (1.5 s)")
    assert "`quaestor check`" in mend
    monkeypatch.setattr(records, "worst_step", lambda *_: DryRun(0.01, 0.02, 2, 1, False))
    assert doctor("--banks")[1]["banks"][:2] == ("fine", "No step was slow in dry runs of 1 test; the others are quick by their kind.")


# PostgreSQL


def test_an_address_that_is_none(doctor):
    code, found = doctor("--database", "oracle://x")
    assert code == 1
    assert found["database"][1].startswith("The address of the database cannot be used: database: an address such as")


def test_a_postgresql_that_is_away(doctor):
    code, found = doctor("--database", "postgresql+psycopg://ada:a-long-password@127.0.0.1:1/quaestor")
    assert code == 1
    assert found["database"][1].startswith("PostgreSQL at 127.0.0.1, port 1 cannot be used: connection failed")
    assert "a-long-password" not in str(found)
    assert "PostgreSQL" not in found


def test_a_postgresql_that_could_be_better(make_database, cluster, doctor):
    """The cluster of the tests writes nothing through to the disk."""
    database = make_database("postgresql")
    url = database.engine.url.render_as_string(hide_password=False)
    code, found = doctor("--database", url)
    assert (code, found["database"][0], found["clock"][0]) == (1, "fine", "fine")
    assert found["PostgreSQL"][1].startswith("PostgreSQL is set up with fsync = off: answers that were confirmed can be lost")


@pytest.mark.parametrize(
    ("shown", "workers", "words"),
    [
        ({}, 2, "fine PostgreSQL 15, with 97 connections for up to 50"),
        ({}, 8, "wrong The workers may open up to 170 connections; PostgreSQL allows 97. Set max_connections = 180"),
        ({"server_version_num": "110004"}, 1, "wrong It is PostgreSQL 11, which nobody mends any more."),
        ({"server_encoding": "LATIN1"}, 1, "wrong The database keeps texts as LATIN1"),
        ({"synchronous_commit": "off"}, 1, "wrong PostgreSQL is set up with synchronous_commit = off"),
        ({"has_schema_privilege": False}, 1, "wrong The user of the database may not make tables"),
    ],
)
def test_what_postgresql_says_of_itself(shown, workers, words, monkeypatch):
    told = {"server_version_num": "150004", "max_connections": "100", "superuser_reserved_connections": "3", "has_schema_privilege": True}
    told |= {"fsync": "on", "synchronous_commit": "on", "server_encoding": "UTF8", "pg_database_size": 9_000_000, **shown}

    class Connection:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def exec_driver_sql(self, statement):
            (name,) = [name for name in told if name in statement]
            return namedtuple("Result", "scalar")(lambda: told[name])

    database = Database("postgresql+psycopg://ada@127.0.0.1:1/x")
    monkeypatch.setattr(type(database.engine), "connect", lambda _: Connection())
    (found,) = records._postgresql(Settings(workers=workers), database)
    assert f"{found.state} {found.words} {found.mend}".startswith(words)
