"""The docs cannot drift: every example is run, every command and every public name is documented."""

import doctest
import importlib.util
import re
import shlex
import subprocess
import sys

import pytest

import quaestor as qs
from helpers.paths import ROOT
from quaestor.bankfile.schema import BANK_FIELDS, QUESTION_FIELDS, SKILL_FIELDS
from quaestor.cli import COMMANDS
from quaestor.formats import yaml_text
from quaestor.formats.files import load_bytes
from quaestor.selection.rules_file import FIELDS, read_rules
from quaestor.selection.scores.known import SCORES
from quaestor.selection.stopping.combined import COMBINED
from quaestor.selection.stopping.criteria import SIMPLE

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "benchmarks").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [(page, language, text) for page in PAGES for language, text in BLOCK.findall(page.read_text(encoding="utf-8"))]


def blocks(language):
    found = [(page, text) for page, kind, text in BLOCKS if kind == language]
    return pytest.mark.parametrize(("page", "text"), found, ids=[f"{page.stem}-{number}" for number, (page, _) in enumerate(found)])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_python_examples_give_what_they_show(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    for number, (_, language, text) in enumerate(block for block in BLOCKS if block[0] == page):
        if language != "python":
            continue
        if ">>>" in text:
            test = doctest.DocTestParser().get_doctest(text, names, f"{page.name}-{number}", str(page), 0)
            runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
            report: list[str] = []
            runner.run(test, out=report.append, clear_globs=False)
            assert not runner.failures, "".join(report)
            names = test.globs
        else:
            exec(compile(text, f"{page.name}-{number}", "exec"), names)


@blocks("console")
def test_console_examples_print_what_they_show(page, text):
    command, expected = None, []
    for line in [*text.splitlines(), "$ end"]:
        if not line.startswith("$ "):
            expected.append(line)
            continue
        if command is not None:
            result = subprocess.run(
                [sys.executable, "-m", *shlex.split(command)], capture_output=True, text=True, cwd=ROOT, timeout=60, check=False
            )
            printed = [printed_line.rstrip() for printed_line in (result.stdout + result.stderr).strip().splitlines()]
            shown = [shown_line.rstrip() for shown_line in "\n".join(expected).strip().splitlines()]
            assert printed == shown, f"{page.name}: $ {command}"
        command, expected = line[2:], []


@blocks("yaml")
def test_yaml_examples_are_valid(page, text):
    if text.startswith("quaestor:"):
        assert load_bytes(text.encode(), ".yaml", page.name).warnings == ()
    if page.stem == "rules":
        read_rules(yaml_text.parse(text)).check(qs.load("fractions"))


def test_every_command_is_documented():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [command for command in COMMANDS if f"quaestor {command}" not in text and f"`{command}`" not in text] == []


def test_every_field_is_documented():
    text = (ROOT / "docs" / "bank-format.md").read_text(encoding="utf-8")
    assert [field for field in {**BANK_FIELDS, **SKILL_FIELDS, **QUESTION_FIELDS} if f"`{field}" not in text] == []


def test_every_rule_and_criterion_is_documented():
    text = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    assert [name for name in (*FIELDS, *SIMPLE, *COMBINED) if f"`{name}" not in text] == []


def test_every_score_is_documented():
    text = (ROOT / "docs" / "scores.md").read_text(encoding="utf-8")
    assert [name for name in SCORES if f"`{name}`" not in text] == []


def test_api_page_is_current():
    spec = importlib.util.spec_from_file_location("make_api", ROOT / "docs" / "make_api.py")
    assert spec is not None
    assert spec.loader is not None
    make_api = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make_api)
    assert make_api.PAGE.read_text(encoding="utf-8") == make_api.page(), "run `make docs`"


def test_every_public_name_has_a_docstring():
    assert [name for name in qs.__all__ if not getattr(qs, name).__doc__] == []


def test_docstring_examples():
    from quaestor import numerals
    from quaestor.bankfile import sentences
    from quaestor.report import bars
    from quaestor.session.explain import wording

    for module in (numerals, sentences, wording, bars):
        result = doctest.testmod(module)
        assert result.attempted > 0
        assert result.failed == 0
