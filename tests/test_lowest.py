"""The lower bounds of pyproject.toml are true: with the lowest version of every dependency the commands and the server work."""

import asyncio
import re
import subprocess
import sys
import time
import tomllib
import venv
from urllib.request import urlopen

import pytest

from helpers.environments import BIN, fresh, run
from helpers.paths import ROOT
from helpers.takers import Browser, Taker

STUDY = "title: Small\nbank: four-skills\nstudents: 8\nseed: 1\nmethods:\n  mode:\n    rules: {score: mode, stop: {max_questions: 3}}\n"
ANSWERS = "Q1,Q2,Q3\n" + "right,right,wrong\nwrong,wrong,wrong\nright,right,right\n" * 5
SECONDS = 120  # that a server may take to start on a busy machine


def lowest():
    """The requirements of the package and its extras `terminal` and `web`, each at its lower bound."""
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = stated["optional-dependencies"]
    named = [extra for one in extras["web"] if one.startswith("quaestor[") for extra in re.findall(r"\w+", one)[1:]]
    wanted = [*stated["dependencies"], *(one for extra in ("terminal", "web", *named) for one in extras[extra] if "quaestor[" not in one)]
    assert all(re.fullmatch(r"[\w\[\]-]+>=[\d.]+", one) for one in wanted), wanted
    return [one.replace(">=", "==") for one in wanted]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with an environment that holds the lowest versions."""
    folder = tmp_path_factory.mktemp("lowest")
    environment = folder / "environment"
    venv.create(environment, with_pip=True)
    pip = [str(environment / BIN / "python"), "-m", "pip", "--disable-pip-version-check"]
    reach = subprocess.run([*pip, "download", "--no-deps", "--dest", str(folder / "any"), "segno"], capture_output=True, check=False)
    if reach.returncode:
        pytest.skip("no package index is reachable, so no versions can be installed")
    install = [*pip, "install", "--quiet", "--only-binary", ":all:", *lowest()]
    done = subprocess.run(install, cwd=folder, env=fresh(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "yanked" not in done.stderr, done.stderr  # a version that its authors withdrew
    run(*pip, "install", "--quiet", "--no-deps", str(ROOT), folder=folder)
    return folder


pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the lowest versions are built for the lowest Python, 3.11"),
]


def test_the_commands(place):
    quaestor = str(place / "environment" / BIN / "quaestor")
    (place / "study.yaml").write_text(STUDY)
    (place / "answers.csv").write_text(ANSWERS)
    assert "no errors" in run(quaestor, "check", "fractions", folder=place)
    assert "Never asked" in run(quaestor, "simulate", "fractions", "--students", "16", "--out", "steps", folder=place)
    run(quaestor, "simulate", "study.yaml", "--out", "results", folder=place)
    assert {".svg", ".png"} & {path.suffix for path in (place / "results").rglob("*")}
    run(quaestor, "convert", "fractions", "fractions.xlsx", folder=place)
    assert "no errors" in run(quaestor, "check", "fractions.xlsx", folder=place)
    run(quaestor, "learn", "four-skills", "--responses", "answers.csv", "--out", "learnt.yaml", folder=place)
    assert "no errors" in run(quaestor, "check", "learnt.yaml", folder=place)
    python = str(place / "environment" / BIN / "python")
    assert "4" in run(python, "-c", "import quaestor as qs; print(len(qs.load('four-skills').skills))", folder=place)


def test_the_server(place):
    command = [str(place / "environment" / BIN / "quaestor"), "serve", "--port", "0", "--data", str(place / "data")]
    streams = {"stdout": subprocess.PIPE, "text": True}
    with open(place / "log", "w") as log, subprocess.Popen(command, cwd=place, env=fresh(), stderr=log, **streams) as server:
        try:
            printed = "".join(iter(server.stdout.readline, "\n"))
            port = int(re.search(r"serves at http://127\.0\.0\.1:(\d+)/", printed)[1])
            wait_for(server, port, place / "log")
            asyncio.run(take(port, re.search(r"class code (\w+)", printed)[1]))
            asyncio.run(look(port, re.search(r"(/sign-in/\S+)", printed)[1]))
        finally:
            server.terminate()
    assert (place / "log").read_text() == ""


def wait_for(server, port, log):
    """Wait until it answers."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        assert server.poll() is None, log.read_text()
        try:
            with urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as response:
                assert response.status == 200
                return
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"no answer after {SECONDS} s: {log.read_text()}")


async def take(port, code):
    """Some questions of the demo test, each with what is said after it."""
    taker = Taker(port, code, "Ada")
    question = (await taker.enter()).to
    for _ in range(5):
        answered = await taker.answer(await taker.get(question))
        told = await taker.get(answered.to)
        assert told.status == 200, told.text
    taker.browser.close()


async def look(port, link):
    """The teacher's pages about the demo test."""
    browser = Browser(port)
    action, _ = (page := await browser.get(link)).form
    page = await browser.post(action, page.hidden)
    assert page.to, page.text
    for path in ("", "/tests/1", "/tests/1/results", "/tests/1/questions", "/tests/1/takers/1", "/tests/1/live", "/banks", "/banks/1"):
        page = await browser.get(f"/teacher{path}")
        assert (path, page.status) == (path, 200), page.text
    browser.close()
