"""What is imported when: a public name where it is asked for, large libraries where they are used."""

import ast
import importlib
import os
import subprocess
import sys

import pytest

import quaestor as qs
from helpers.paths import SOURCE

LARGE = ("array_api_compat", "fastapi", "matplotlib", "numpy.f2py", "openpyxl", "pandas", "pyarrow", "rich", "scipy", "sqlalchemy", "yaml")
WORK = """
import pickle
import quaestor as qs
from quaestor.simulate.work import Job
from quaestor.simulate.cohort import Cohort
from quaestor.simulate.answering import Behaviour
bank, rules = qs.load("german"), qs.Rules(score="entropy", stop=qs.max_questions(3))
print(pickle.dumps(Job(bank, rules, Cohort(bank, bank, 10, 1), Behaviour())).hex())
"""
WORKER = """
import pickle
part, _ = pickle.loads(bytes.fromhex(input())).part(0)
assert part.count == 10
"""


def run(code, given=""):
    """What a new process prints."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE.parent)}
    command = [sys.executable, "-W", "error", "-c", code]
    found = subprocess.run(command, input=given, env=environment, capture_output=True, text=True, check=False)
    assert not found.stderr
    return found.stdout


def modules_after(code, given=""):
    return set(run(f"{code}\nimport sys\nprint(*sys.modules)", given).split())


def test_the_package_alone_imports_nothing_else():
    found = modules_after("import quaestor")
    assert "quaestor" in found
    assert [name for name in found if name.startswith(("quaestor.", "numpy")) or name in LARGE] == ["quaestor.version"]


@pytest.mark.parametrize("code", ["from quaestor import *", "import quaestor as qs\nqs.load('german')"])
def test_no_public_name_needs_what_only_some_functions_use(code):
    """Banks are read from YAML, and scipy is light until a part of it is used; nothing else is needed before it is used."""
    assert modules_after(code).isdisjoint({*LARGE, "scipy.sparse"} - {"scipy", "yaml"})


def test_a_worker_process_imports_what_it_works_with():
    found = modules_after(WORKER, run(WORK))
    assert "quaestor.simulate.plain" in found
    assert found.isdisjoint(LARGE)
    assert not [name for name in found if name.startswith(("quaestor.learn", "quaestor.session", "quaestor.formats", "quaestor.report"))]


def test_every_public_name_is_there():
    assert set(qs.__all__) <= set(dir(qs))
    assert [name for name in qs.__all__ if not hasattr(qs, name)] == []
    assert run("import quaestor as qs\nprint(set(qs.__all__) - set(dir(qs)))") == "set()\n"


def test_type_checkers_see_the_same_names_in_the_same_modules():
    tree = ast.parse((SOURCE / "__init__.py").read_text(encoding="utf-8"))
    typed = [part for node in tree.body if isinstance(node, ast.If) for part in node.body if isinstance(part, ast.ImportFrom)]
    assert {alias.name: part.module for part in typed for alias in part.names} == {**qs._HOME, **dict.fromkeys(qs._MODULES, "quaestor")}
    assert sorted([*qs._HOME, *qs._MODULES]) == sorted(qs.__all__)


def test_every_module_can_be_imported_by_its_name():
    """No function stands in the way: `import quaestor.learn.graphs`, and `quaestor.learn.graphs` after it, is the module."""
    names = [".".join(path.relative_to(SOURCE.parent).with_suffix("").parts) for path in sorted(SOURCE.rglob("*.py"))]
    names = [name.removesuffix(".__init__") for name in names if "migrations" not in name and not name.endswith("__main__")]
    strange = []
    for name in names:
        module, found = importlib.import_module(name), qs
        for part in name.split(".")[1:]:
            found = getattr(found, part)
        strange += [name] if found is not module else []
    assert strange == ["quaestor.learn", "quaestor.simulate"]  # these are the functions, by which their modules are found
    assert run("import quaestor.simulate.policy as p, quaestor.learn.graphs as g\nprint(p.__name__, g.__name__)") == (
        "quaestor.simulate.policy quaestor.learn.graphs\n"
    )
    assert (
        run("import quaestor as qs\nqs.simulate\nimport quaestor.simulate.policy\nprint(quaestor.simulate.policy.policy is qs.policy)")
        == "True\n"
    )


@pytest.mark.parametrize("name", ["simulate", "learn"])
def test_a_package_does_not_take_the_place_of_the_function_of_its_name(name):
    found = f"print({name} is quaestor.{name}, type({name}).__name__)"
    assert run(f"import quaestor.{name}.work\nfrom quaestor import {name}\n{found}") == "True function\n"


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="module 'quaestor' has no attribute 'simulation'"):
        _ = qs.simulation
