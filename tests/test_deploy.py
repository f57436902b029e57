"""What stands in deploy/: every part names what is there, nothing runs as root, and the programs that read it find no fault in it."""

import ast
import json
import re
import shlex
import shutil
import subprocess

import pytest
import yaml

from helpers.paths import ROOT
from quaestor.cli import parser
from quaestor.web.checkup.setup import KNOWN, address, secrets
from quaestor.web.settings import PREFIX, from_environment

DEPLOY = ROOT / "deploy"
UNITS = sorted(path for path in DEPLOY.iterdir() if path.suffix in (".service", ".timer"))


def instructions():
    """The instructions of the Containerfile, by stage."""
    lines = re.sub(r"\\\n", " ", (DEPLOY / "Containerfile").read_text()).splitlines()
    stages = []
    for line in lines:
        if line and not line.startswith("#"):
            name, _, rest = line.partition(" ")
            if name == "FROM":
                stages.append([])
            stages[-1].append((name, rest))
    return stages


def unit(name):
    """The settings of a unit."""
    return [tuple(line.split("=", 1)) for line in (DEPLOY / name).read_text().splitlines() if "=" in line and not line.startswith("#")]


def test_the_image_copies_what_is_there_and_what_it_may_see():
    (build, last) = instructions()
    copied = [one for name, rest in build if name == "COPY" for one in rest.split()[:-1]]
    assert [one for one in copied if not (ROOT / one).exists()] == []
    shown = {line.removeprefix("!") for line in (DEPLOY / "Containerfile.dockerignore").read_text().splitlines() if line.startswith("!")}
    assert shown == set(copied)
    assert [rest for name, rest in last if name == "COPY"] == ["--from=build /opt/quaestor /opt/quaestor"]


def test_the_image_is_small_and_does_not_run_as_root():
    for stage in instructions():
        assert re.fullmatch(r"python:3\.\d+-slim( AS build)?", stage[0][1])
    names = [name for name, _ in instructions()[-1]]
    (user,) = [rest for name, rest in instructions()[-1] if name == "USER"]
    assert user == "quaestor"
    assert names.index("USER") > max(number for number, name in enumerate(names) if name == "RUN")


def test_the_image_starts_the_server_with_settings_that_are_known():
    last = dict(instructions()[-1])
    command, *arguments = json.loads(last["CMD"])
    assert command == "quaestor"
    parser(arguments[0]).parse_args(arguments)
    named = dict(one.split("=", 1) for one in last["ENV"].split())
    assert {name for name in named if name.startswith(PREFIX)} <= KNOWN
    assert named["QUAESTOR_DATA"] in json.loads(last["VOLUME"])
    assert str(from_environment({}).port) == last["EXPOSE"]


def test_the_health_check_asks_the_server():
    command = instructions()[-1]
    (check,) = [rest.partition("CMD ")[2] for name, rest in command if name == "HEALTHCHECK"]
    python, flag, program = json.loads(check)
    assert (python, flag) == ("python", "-c")
    ast.parse(program)
    assert f"http://127.0.0.1:{from_environment({}).port}/health" in program


def test_compose():
    made = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    server, database = made["services"]["server"], made["services"]["database"]
    assert (DEPLOY / server["build"]["context"] / server["build"]["dockerfile"]).is_file()
    assert set(server["environment"]) <= KNOWN
    assert re.fullmatch(r"postgres:\d+", database["image"])
    assert all(port.startswith("127.0.0.1:") for port in server["ports"])  # the proxy's only
    assert "ports" not in database
    named = {volume.split(":")[0] for one in made["services"].values() for volume in one.get("volumes", [])}
    assert named == set(made["volumes"])
    values = {"DATABASE_PASSWORD": "k3-long-random-password", "ADDRESS": "https://tests.school.example"}
    filled = {
        name: re.sub(r"\$\{(\w+)(?::([-?])([^}]*))?\}", lambda part: values.get(part[1], part[3] if part[2] == "-" else ""), str(value))
        for name, value in server["environment"].items()
    }
    settings = from_environment(filled)
    assert settings.database == "postgresql+psycopg://quaestor:k3-long-random-password@database/quaestor"
    assert (settings.workers, settings.log, settings.metrics) == (2, "json", "")
    assert [one.state for one in secrets(settings)] == ["fine"]


def test_the_example_of_settings_is_sound():
    lines = [line.removeprefix("#") for line in (DEPLOY / "quaestor.env").read_text().splitlines() if "=" in line]
    given = dict(line.split("=", 1) for line in lines)
    assert set(given) <= KNOWN
    settings = from_environment(given)
    assert [one.state for one in (*address(settings), *secrets(settings))] == ["fine", "fine"]
    assert f"/var/lib/{dict(unit('quaestor.service'))['StateDirectory']}" == given["QUAESTOR_DATA"]


@pytest.mark.parametrize("name", ["quaestor.service", "quaestor-back-up.service"])
def test_the_commands_of_the_units(name):
    given = dict(unit(name))
    assert (given["User"], given["NoNewPrivileges"], given["UMask"]) == ("quaestor", "yes", "0077")
    (arguments,) = re.findall(r"/opt/quaestor/bin/quaestor ([^']+)", given["ExecStart"])
    words = shlex.split(arguments.replace("$$(LC_ALL=C date +%%a)", "Mon"))
    assert not any("$" in word for word in words)  # in every language the names that the guide says
    parser(words[0]).parse_args(words)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_understands_the_units_and_finds_them_well_protected(tmp_path):
    """With a program where ExecStart expects one, as the package is not installed there."""
    program = tmp_path / "quaestor"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    for path in UNITS:
        (tmp_path / path.name).write_text(path.read_text().replace("/opt/quaestor/bin/quaestor", str(program)))
    units = [str(tmp_path / path.name) for path in UNITS]
    checked = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True, timeout=60, check=False)
    assert (checked.returncode, [line for line in checked.stderr.splitlines() if "quaestor" in line]) == (0, [])
    command = ["systemd-analyze", "security", "--offline=true", "--threshold=20", str(tmp_path / "quaestor.service")]
    security = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert security.returncode == 0, security.stdout  # an exposure of at most 2.0


def test_nginx_passes_on_what_the_server_needs():
    text = (DEPLOY / "nginx.conf").read_text()
    sent = dict(re.findall(r"proxy_set_header (\S+) (\S+);", text))
    assert sent == {"Host": "$host", "X-Forwarded-For": "$remote_addr", "X-Forwarded-Proto": "$scheme"}
    assert f"client_max_body_size {from_environment({}).upload}m;" in text
    assert re.search(r"location = /metrics \{\s+return 404;", text)
