"""What `pip install quaestor` brings is enough for what it promises, and what needs more says which extra brings it."""

import json
import os
import re
import subprocess
import sys
import tomllib

import pytest

from helpers.paths import ROOT, SOURCE
from quaestor.extras import BRINGS

BARE = """
import sys
class Bare:
    def __init__(self, finder):
        self.finder = finder
    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] in {absent} else self.finder.find_spec(name, path, target)
sys.meta_path[:] = [Bare(finder) for finder in sys.meta_path]
"""
PROGRAM = """
import json, runpy
import quaestor as qs
from quaestor.cli import main

bank, rules = qs.load("fractions"), qs.Rules(stop=qs.max_questions(2))
session = qs.Session(bank, rules)
session = session.answer(session.next.id, "right")
assert qs.explain(session).text and qs.rank(bank.widen(0.05), {}).ids.size and qs.posterior(bank, {"M3": "right"}).exact
simulated = qs.simulate(bank, rules, students=10, seed=1)
assert len(simulated.accuracy) == 3
qs.dump(bank, "copy.csv"), qs.load("copy.csv"), qs.dump(bank, "copy.json")
assert main(["check", "fractions"]) == 0 and main(["convert", "fractions", "copy.yaml"]) == 0
assert main(["posterior", "multiplication", "--json"]) == 0 and main(["rank", "multiplication", "--json"]) == 0

wanted = {
    "simulated.table()": lambda: simulated.table(),
    "simulated.exposure": lambda: simulated.exposure,
    "simulate(out=)": lambda: qs.simulate(bank, rules, students=10, seed=1, out="steps"),
    "dump to .xlsx": lambda: qs.dump(bank, "copy.xlsx"),
}
said = {}
for name, call in wanted.items():
    try:
        call()
    except qs.QuaestorError as error:
        said[name] = str(error)
print(json.dumps(said))
"""
COMMANDS = {
    "show fractions": "terminal",
    "take fractions": "terminal",
    "tour": "terminal",
    "simulate fractions --students 10 --json": "",
    "simulate fractions --students 10": "terminal",
    "reproduce table1": "tables figures",
    "learn fractions --responses answers.csv --out learnt.yaml": "tables figures",
    "convert fractions copy.xlsx": "sheets",
    "convert fractions copy.xml": "exchange",
    "serve --data data": "web",
    "sign-in --data data": "web",
    "back-up copy.zip": "web",
    "export multiplication --out policy.json": "",
    "--help": "",
    "serve --help": "",
}


def bare(code, folder):
    """A process without the libraries of extras."""
    absent = {library for libraries in BRINGS.values() for library in libraries}
    environment = {**os.environ, "PYTHONPATH": str(SOURCE.parent)}
    command = [sys.executable, "-W", "error", "-c", BARE.format(absent=absent) + code]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_what_the_bare_package_does_and_what_it_says_of_the_rest(tmp_path):
    found = bare(PROGRAM, tmp_path)
    assert not found.stderr
    said = json.loads(found.stdout.splitlines()[-1])
    extras = {name: re.search(r'pip install "quaestor\[(\w+)\]"', words)[1] for name, words in said.items()}
    assert said["dump to .xlsx"] == 'openpyxl is not installed; this brings it: pip install "quaestor[sheets]"'
    tables = ("simulated.table()", "simulated.exposure", "simulate(out=)")
    assert extras == {"dump to .xlsx": "sheets", **dict.fromkeys(tables, "tables")}


@pytest.mark.parametrize("batch", [list(COMMANDS)[:5], list(COMMANDS)[5:]], ids=["first", "second"])
def test_commands_name_the_extra_in_a_sentence(batch, tmp_path):
    (tmp_path / "answers.csv").write_text("M3\n1\n0\n")
    code = f"""
import contextlib, io, json
from quaestor.cli import main
found = {{}}
for command in {batch!r}:
    out = io.StringIO()
    with contextlib.redirect_stderr(out), contextlib.redirect_stdout(io.StringIO()):
        try:
            code = main(command.split())
        except SystemExit as end:
            code = end.code or 0
    found[command] = [code, out.getvalue()]
print(json.dumps(found))
"""
    found = bare(code, tmp_path)
    assert not found.stderr
    for command, (code, words) in json.loads(found.stdout).items():
        named = re.fullmatch(r'\w+ is not installed; this brings it: pip install "quaestor\[(\w+)\]"\n', words)
        assert (code, bool(named), words) == (bool(COMMANDS[command]), bool(COMMANDS[command]), words), command
        assert named is None or named[1] in COMMANDS[command].split(), command  # of several that are missing it names one


def test_every_extra_is_known():
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(BRINGS) == set(stated) - {"all", "dev", "bench"}
