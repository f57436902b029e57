"""The docs cannot drift: every example is run, every command and every public name is documented."""

import ast
import doctest
import importlib.util
import pkgutil
import re
import shlex
import subprocess
import sys
from functools import cache
from itertools import pairwise

import pytest

import quaestor as qs
from helpers.paths import ROOT, SOURCE
from quaestor.bankfile.schema import BANK_FIELDS, QUESTION_FIELDS, SKILL_FIELDS
from quaestor.cli import COMMANDS
from quaestor.formats import yaml_text
from quaestor.formats.files import load_bytes
from quaestor.inference.chooser import ENGINES
from quaestor.selection.narrowing import CLOSING, FORCING, KEEPING
from quaestor.selection.own_rules import RULES
from quaestor.selection.rules_file import FIELDS, read_rules
from quaestor.selection.scores.known import SCORES
from quaestor.selection.stopping.combined import COMBINED
from quaestor.selection.stopping.criteria import SIMPLE
from quaestor.simulate.behaviours import BEHAVIOURS

DOCS = [*sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs").glob("*/*.md"))]
PAGES = [ROOT / "README.md", *DOCS, *sorted((ROOT / "benchmarks").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [(page, language, text) for page in PAGES for language, text in BLOCK.findall(page.read_text(encoding="utf-8"))]


def blocks(language):
    found = [(page, text) for page, kind, text in BLOCKS if kind == language]
    return pytest.mark.parametrize(("page", "text"), found, ids=[f"{page.stem}-{number}" for number, (page, _) in enumerate(found)])


@pytest.fixture
def registries():
    """What pages may register something in: it must be as before in the end, and is, for the tests that follow."""
    before = [(known, known.copy()) for known in (ENGINES, SCORES, SIMPLE, RULES, BEHAVIOURS, CLOSING, FORCING, KEEPING)]
    yield [known for known, _ in before]
    for known, kept in before:
        known.clear()
        known.extend(kept) if isinstance(known, list) else known.update(kept)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_python_examples_give_what_they_show(page, monkeypatch, registries):
    before = [list(known) for known in registries]
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
    assert [list(known) for known in registries] == before, "what a page registers it takes away again"


@blocks("console")
def test_console_examples_print_what_they_show(page, text, tmp_path):
    """In a folder that looks like the checkout, so that what a command writes does not stay in it."""
    for entry in ROOT.iterdir():
        (tmp_path / entry.name).symlink_to(entry)
    command, expected = None, []
    for line in [*text.splitlines(), "$ end"]:
        if not line.startswith("$ "):
            expected.append(line)
            continue
        if command is not None:
            result = subprocess.run(
                [sys.executable, "-m", *shlex.split(command)], capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False
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


# What pages name

NAMING = [*PAGES, *(ROOT / name for name in ("CONTRIBUTING.md", "CHANGELOG.md", "VISION.md"))]
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"(?:\]\(|src=\")([^)\s\"]+)")
DOTTED = re.compile(r"(?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*")
FILES = [path for folder in ("src", "tests", "docs", "examples", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
ROOMS = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
FOLDERS = {path.name for path in ROOT.iterdir() if path.is_dir()} | {"shared"}


def prose(page):
    """A page without its examples."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def words_in_code(page):
    """What stands in backticks, word by word, without what is called with."""
    return [word.split("(")[0].rstrip(",.:") for span in SPAN.findall(prose(page)) for word in span.split()]


@cache
def members():
    """For each class of the source what it has: methods, fields, attributes."""
    found = {}
    for node in (node for path in SOURCE.rglob("*.py") for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))):
        if isinstance(node, ast.ClassDef):
            inside = [
                part for part in ast.walk(node) if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.Name | ast.Attribute)
            ]
            found.setdefault(node.name, set()).update(
                getattr(part, "name", getattr(part, "attr", getattr(part, "id", ""))) for part in inside
            )
    return found


def is_there(name):
    """Whether a dotted name is one of the package; True for names of other things."""
    first, second, *_ = name.split(".")
    if first in members():
        return second in members()[first]
    if first not in {"quaestor", "qs", *ROOMS}:
        return True
    try:
        pkgutil.resolve_name(name if first == "quaestor" else f"quaestor.{name.removeprefix('qs.')}")
    except (ImportError, AttributeError):
        return False
    return True


@pytest.mark.parametrize("page", NAMING, ids=lambda page: page.stem)
def test_what_is_named_is_there(page):
    """Modules and what is in them, methods of classes, files of the repository."""
    words = words_in_code(page)
    assert [word for word in words if DOTTED.fullmatch(word) and not word.endswith((".py", ".md")) and not is_there(word)] == []
    assert [word for word in words if word.split("/")[0] in FOLDERS and "/" in word and not list(ROOT.glob(word.rstrip("/")))] == []
    assert [word for word in words if re.fullmatch(r"\w+\.py", word) and word not in {path.name for path in FILES}] == []


@pytest.mark.parametrize("page", NAMING, ids=lambda page: page.stem)
def test_pages_name_no_page_outside_the_repository(page):
    text = prose(page)
    links = [link.partition("#")[0] for link in LINK.findall(text) if "://" not in link]
    assert [link for link in links if link and not (page.parent / link).exists()] == []
    named = re.findall(r"[\w./-]*\w\.md\b", re.sub(r"https?://\S+", "", text))
    assert [name for name in named if not any((folder / name).exists() for folder in (page.parent, ROOT, ROOT / "docs"))] == []


def test_the_house_in_the_docs_is_the_house():
    """The tree of docs/architecture.md: every file it names is there, and of a folder whose files it names it names all."""
    tree = next(text for page, language, text in BLOCKS if (page.stem, language) == ("architecture", "text"))
    named, above = {}, [(-1, SOURCE.parent)]
    for line in tree.splitlines():
        indent, name = len(line) - len(line.lstrip()), line.split()[0]
        while above[-1][0] >= indent:
            above.pop()
        folder = above[-1][1]
        if name.endswith("/"):
            above.append((indent, folder / name))
            assert (folder / name).is_dir(), name
        else:
            named.setdefault(folder, set()).add(name)
    assert set(named) >= {
        SOURCE / name for name in ("model", "credal", "inference", "inference/engines", "selection", "session", "simulate")
    }
    for folder, names in named.items():
        assert names == {path.name for path in folder.glob("*.py")} - ({"__init__.py"} if folder != SOURCE else set()), folder.name


def test_the_floors_in_the_docs_are_those_of_the_layers():
    layers = ast.parse((ROOT / "tests" / "test_layers.py").read_text(encoding="utf-8"))
    (drawn,) = (node.value for node in layers.body if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "FLOORS")
    floors = eval(compile(ast.Expression(drawn), "FLOORS", "eval"))
    rows = re.findall(r"^\| \d+ \| (.*?) \|", (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert [tuple(SPAN.findall(row)) for row in rows] == list(floors)


def test_every_page_has_a_place_in_the_index():
    """The site groups its pages by the lists of docs/index.md."""
    folder = ROOT / "docs"
    lists = re.findall(r"```\{toctree\}\n(.*?)```", (folder / "index.md").read_text(encoding="utf-8"), re.DOTALL)
    listed = re.findall(r"^(?:[\w-]+/)?[\w*-]+$", "\n".join(lists), re.MULTILINE)
    found = (*folder.glob("*.md"), *folder.glob("*/*.md"), *folder.glob("notebooks/*.ipynb"))
    pages = {path.relative_to(folder).with_suffix("").as_posix() for path in found} - {"index"}
    assert [page for page in pages if page not in listed and f"{page.split('/')[0]}/*" not in listed] == []
    assert [page for page in listed if "*" not in page and page not in pages] == []


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.stem)
def test_headings_follow_one_another(page):
    """Sphinx warns of a heading that skips a level, and its warnings are errors."""
    levels = [len(marks) for marks in re.findall(r"^(#+) ", prose(page), re.MULTILINE)]
    assert levels[0] == 1
    assert [after for before, after in pairwise(levels) if after > before + 1] == []


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


def made_api():
    spec = importlib.util.spec_from_file_location("make_api", ROOT / "docs" / "make_api.py")
    assert spec is not None
    assert spec.loader is not None
    make_api = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make_api)
    return make_api


def test_every_public_name_has_its_place_on_the_api_page():
    listed = " ".join(made_api().GROUPS.values()).split()
    assert sorted(name for name in listed if "." not in name) == sorted(qs.__all__)


def test_signatures_on_the_api_page_are_short_and_pictures_are_there():
    text = made_api().page()
    shown = [line for block in re.findall(r"^```text\n(.*?)^```$", text, re.DOTALL | re.MULTILINE) for line in block.splitlines()]
    assert max(map(len, shown)) <= 120
    assert [name for name in qs.plot.__all__ if f"#### `plot.{name}`" not in text] == []
    assert dir(qs.plot) == sorted(qs.plot.__all__)
    for name in ("Lookahead", "Situation", "Criterion", "Curves"):
        assert f"### `{name}`" in text
    assert "`.from_json(bank: Bank, text: str) -> Session`" in text


def test_api_page_is_current():
    make_api = made_api()
    assert make_api.PAGE.read_text(encoding="utf-8") == make_api.page(), "run `make docs`"
    if sys.version_info < (3, 13):  # later versions of Python write help a little differently
        assert make_api.COMMANDS_PAGE.read_text(encoding="utf-8") == make_api.commands(), "run `make docs`"


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
