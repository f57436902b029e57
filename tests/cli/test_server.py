"""The commands of the server: what they print, what they make, and that a real server answers, goes and comes back."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from dataclasses import fields

import httpx2
import pytest
from sqlalchemy import inspect

from helpers.paths import ROOT
from quaestor.cli import main
from quaestor.cli import serve as serving
from quaestor.cli.web import database_of
from quaestor.errors import QuaestorError
from quaestor.store import leaving, teachers
from quaestor.web.settings import MEANINGS, PREFIX, Settings, from_environment, to_environment

DOCS = ROOT / "docs"


def test_the_table_of_settings_is_the_code():
    rows = re.findall(r"^\| `--(\w+)` \| `(\w+)` \| (.+?) \| (.+?) \|$", (DOCS / "server.md").read_text(), re.M)
    assert rows == [
        (field.name, f"{PREFIX}{field.name.upper()}", f"`{field.default}`" if field.default != "" else "none", MEANINGS[field.name])
        for field in fields(Settings)
    ]


def test_flags_win_over_the_environment():
    made = from_environment({"QUAESTOR_PORT": "9", "QUAESTOR_ROOT": "/q"}, port="10", root=None)
    assert (made.port, made.root) == (10, "/q")
    assert from_environment(to_environment(made)) == made


def test_a_data_folder_on_the_command_line_wins_over_a_database_of_the_environment(tmp_path, monkeypatch, migrated_file, capsys):
    elsewhere = {"QUAESTOR_DATABASE": f"sqlite:///{tmp_path / 'elsewhere.db'}", "QUAESTOR_DATA": "there"}
    assert from_environment(elsewhere).database_url == elsewhere["QUAESTOR_DATABASE"]
    assert from_environment(elsewhere, data="here", database=None).database_url == "sqlite:///here/quaestor.db"
    assert from_environment(elsewhere, data="here", database="sqlite:///x.db").database_url == "sqlite:///x.db"
    (tmp_path / "one").mkdir()
    shutil.copy(migrated_file, tmp_path / "one" / "quaestor.db")
    for name, value in elsewhere.items():
        monkeypatch.setenv(name, value)
    assert main(["back-up", str(tmp_path / "x.zip"), "--data", str(tmp_path / "one")]) == 0
    assert main(["restore", str(tmp_path / "x.zip"), "--data", str(tmp_path / "two")]) == 0
    assert (tmp_path / "two" / "quaestor.db").exists()
    assert not (tmp_path / "elsewhere.db").exists()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"port": "70000"}, "port: a whole number from 0 to 65535, got 70000"),
        ({"port": "x"}, "port: a whole number, got 'x'"),
        ({"workers": "0"}, "workers: a whole number from 1 to 64, got 0"),
        ({"root": "quaestor/"}, "root: a path such as /quaestor, got 'quaestor/'"),
        ({"address": "tests.example"}, "address: begins with http:// or https://, got 'tests.example'"),
        ({"hosts": "a.example,https://b.example"}, "hosts: names such as tests.school.example, got 'https://b.example'"),
        ({"email": "owner"}, "email: an address such as name@school.example, got 'owner'"),
    ],
)
def test_bad_settings(wrong, words):
    with pytest.raises(QuaestorError) as caught:
        from_environment({}, **wrong)
    assert str(caught.value) == words


def test_a_folder_that_cannot_be_made(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["restore", "all.zip", "--data", str(tmp_path / "file" / "data")]) == 1
    assert "data: a folder that can be made and written, got" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["sign-in"], ["back-up", "all.zip"]])
def test_a_mistyped_folder_is_no_new_database(tmp_path, capsys, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    words = "a database that `quaestor serve` or `quaestor restore` made, got no database in it"
    assert main([*command, "--data", "quaestor-dat"]) == 1
    assert f"data: quaestor-dat: {words}" in capsys.readouterr().err
    assert main([*command, "--database", "sqlite:///another.db"]) == 1
    assert f"database: sqlite:///another.db: {words}" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_postgresql_without_tables_is_no_database(make_database, capsys, tmp_path):
    empty = make_database("postgresql", migrated=False)
    url = empty.engine.url.render_as_string(hide_password=False)
    assert main(["back-up", str(tmp_path / "all.zip"), "--database", url]) == 1
    assert "got no database in it" in capsys.readouterr().err
    assert inspect(empty.engine).get_table_names() == []


@pytest.mark.parametrize(
    ("host", "printed"),
    [("127.0.0.1", "http://127.0.0.1:8000"), ("::1", "http://[::1]:8000"), ("tests.example", "http://tests.example:8000")],
)
def test_addresses_that_are_printed(host, printed):
    assert Settings(host=host).public_address == printed


def test_a_port_that_is_taken(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(serving, "TAKEN", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", "--data", str(tmp_path), "--port", str(port)]) == 1
    assert f"port: free on 127.0.0.1, got {port}" in capsys.readouterr().err


def test_sign_in_links_back_up_and_restore(tmp_path, capsys):
    data, other, file = (str(tmp_path / name) for name in ("data", "other", "all.zip"))
    with database_of(Settings(data=data), make=True) as database, database.work() as work:
        owner = teachers.owner(work, "Owner@School.example")
        leaving.lock(work, teachers.use_link(work, teachers.invitation(work, owner, "ada@school.example")).id)
    assert main(["sign-in", "ada@school.example", "--data", data]) == 1
    assert "this teacher is locked; unlock them first" in capsys.readouterr().err
    assert main(["sign-in", "OWNER@school.example", "--data", data]) == 0
    capsys.readouterr()
    assert main(["sign-in", "--data", data, "--address", "https://t.example/q/"]) == 0
    assert re.fullmatch(r"https://t\.example/q/sign-in/[\w-]{43}\n", capsys.readouterr().out)
    assert main(["sign-in", "nobody@school.example", "--data", data]) == 1
    assert "teacher: the address of an account, got 'nobody@school.example'" in capsys.readouterr().err
    assert main(["back-up", file, "--data", data]) == 0
    assert main(["restore", file, "--data", other]) == 0
    assert "restored: 0 tests, 0 attempts, 0 answers" in capsys.readouterr().out
    assert main(["restore", file, "--data", other]) == 1
    assert "empty" in capsys.readouterr().err


def serve(*flags):
    """A server of its own process, and what it printed."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    started = subprocess.Popen(
        [sys.executable, "-m", "quaestor", "serve", "--port", "0", *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    lines = []
    while not lines or lines[-1].strip():
        lines.append(started.stdout.readline())
        assert started.poll() is None, started.stderr.read()
    address = re.search(r"serves at (\S+)/ ", lines[0])[1]
    for _ in range(200):
        try:
            httpx2.get(f"{address}/health")
            break
        except httpx2.TransportError:
            time.sleep(0.05)
    return started, address, "".join(lines)


def test_serving(tmp_path):
    flags = ("--data", str(tmp_path / "data"))
    started, address, printed = serve(*flags)
    try:
        assert httpx2.get(f"{address}/health").json()["status"] == "well"
        demo = re.search(r"Take the demo test:\s+(\S+)", printed)[1]
        assert "Fractions, a demo" in httpx2.get(demo).text
        link = re.search(r"Sign in as owner:\s+(\S+)", printed)[1]
        assert httpx2.get(link).status_code == 200
        assert "server" not in httpx2.get(demo).headers
    finally:
        started.terminate()
        _, errors = started.communicate(timeout=20)
    assert started.returncode in (0, -15, 143), errors
    assert demo.rpartition("/")[2] not in errors
    assert link.rpartition("/")[2] not in errors
    started, address, printed = serve(*flags)
    started.terminate()
    started.communicate(timeout=20)
    assert demo.rpartition("/")[2] in printed
    assert (tmp_path / "data").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.long)])
def test_serving_on_ipv6(tmp_path, workers):
    started, address, printed = serve("--data", str(tmp_path / "data"), "--host", "::1", "--workers", workers)
    try:
        assert re.match(r"http://\[::1\]:\d+$", address)
        assert httpx2.get(f"{address}/health").json()["status"] == "well"
        assert httpx2.get(re.search(r"Take the demo test:\s+(\S+)", printed)[1]).status_code == 200
    finally:
        started.terminate()
        started.communicate(timeout=20)
