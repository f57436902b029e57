"""The tests themselves: their folders are those of the package, helpers have a place of their own, no test leans on another."""

import ast
from pathlib import Path

import pytest

from helpers.paths import SOURCE, TESTS

SHARED = ("helpers", "oracles")  # packages of what tests import
BESIDE = (*SHARED, "browser", "contracts")  # folders that mirror no package
FILES = sorted(TESTS.rglob("*.py"))


def label(path: Path) -> str:
    return path.relative_to(TESTS).as_posix()


def imported(path: Path) -> set[str]:
    """Every part of the names that a file imports, and of those that it imports from them."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= {part for alias in node.names for part in alias.name.split(".")}
        if isinstance(node, ast.ImportFrom):
            found |= set((node.module or "").split("."))
    return found


def test_imports_of_every_form_are_seen(tmp_path):
    path = tmp_path / "x.py"
    path.write_text("import a.test_b\nfrom tests.c import test_d\ndef f():\n    from test_e import g\n")
    assert {"test_b", "test_d", "test_e"} <= imported(path)


@pytest.mark.parametrize("path", FILES, ids=label)
def test_nobody_imports_a_test(path):
    tests = {file.stem for file in FILES if file.name.startswith("test_")} | {"conftest"}
    assert not imported(path) & tests, "what tests share lies in tests/helpers"


@pytest.mark.parametrize("path", FILES, ids=label)
def test_helpers_lie_in_their_packages(path):
    is_test = path.name.startswith("test_") or path.name == "conftest.py"
    assert is_test != (path.relative_to(TESTS).parts[0] in SHARED)


@pytest.mark.parametrize("folder", sorted({file.parent for file in FILES} - {TESTS}), ids=label)
def test_a_folder_has_the_name_of_what_it_tests(folder):
    mine = folder.relative_to(TESTS)
    assert mine.parts[0] in BESIDE or (SOURCE / mine / "__init__.py").is_file(), f"src/quaestor has no package {mine}"
