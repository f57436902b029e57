"""The house of docs/architecture.md: imports only point down, no package has a cycle, nobody below the roof prints."""

import ast
import sys
from collections import Counter
from collections.abc import Iterable
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from helpers.paths import SOURCE

FLOORS = (  # from the ground up; rooms of one floor do not know one another, but for `errors`, which speaks through `i18n`
    *(
        ("arrays", "html_tables", "i18n", "lazy", "numerals", "parent", "seeds", "version"),
        ("errors", "streams"),
        ("draws", "extras", "model", "registry"),
    ),
    ("bankfile", "credal"),
    *(("formats", "inference"), ("selection",), ("session",), ("simulate", "store"), ("learn", "register", "testing")),
    *(("report",), ("plot",), ("web",), ("cli",)),
)
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
PLAIN = {"numpy", "scipy", "yaml"}  # what an installation without extras brings: enough for everything up to a session
ROOF = ("cli", "web", "report")


def name_of(path: Path, source: Path = SOURCE) -> str:
    """The full name of a module; of a package for its `__init__.py`."""
    return ".".join(path.relative_to(source.parent).with_suffix("").parts).removesuffix(".__init__")


FILES = {name_of(path): path for path in sorted(SOURCE.rglob("*.py")) if "migrations" not in path.parts}


def imported(path: Path, modules: Iterable[str] = FILES, at_once: bool = False) -> set[str]:
    """The full names of the modules that a file imports, packages on the way left out; `at_once`: not those inside functions."""
    found = set()
    for node, is_later in _imports(path):
        if at_once and is_later:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        else:
            assert not node.level, f"{path}: imports are absolute"
            assert node.module is not None
            found |= {full if (full := f"{node.module}.{alias.name}") in modules else node.module for alias in node.names}
    return found


@cache
def _imports(path: Path) -> list[tuple[ast.Import | ast.ImportFrom, bool]]:
    """The import statements of a file, and whether each is inside a function or only for types."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    typing = [n for n in nodes if isinstance(n, ast.If) and isinstance(n.test, ast.Name) and n.test.id == "TYPE_CHECKING"]
    later = {id(part) for node in (*typing, *(n for n in nodes if isinstance(n, ast.FunctionDef))) for part in ast.walk(node)}
    return [(node, id(node) in later) for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]


def room(module: str) -> str:
    """The module or package directly below `quaestor`."""
    return module.split(".")[1] if "." in module else "quaestor"


def rooms(path: Path) -> set[str]:
    """The rooms that a file imports from; `quaestor` is the package itself, which is above them all."""
    return {room(name) for name in imported(path) if name.split(".")[0] == "quaestor"}


def test_imports_of_every_form_are_seen(tmp_path):
    path = tmp_path / "x.py"
    path.write_text("import os.path\nfrom quaestor import Bank, numerals\ndef f():\n    from quaestor.formats.uai import read\n")
    assert rooms(path) == {"quaestor", "numerals", "formats"}
    assert imported(path, at_once=True) == {"os.path", "quaestor", "quaestor.numerals"}
    other = tmp_path / "y.py"
    other.write_text("import quaestor as qs")
    assert rooms(other) == {"quaestor"}


@pytest.mark.parametrize("name", [name for name in FILES if name not in ("quaestor", "quaestor.__main__")])
def test_imports_point_down(name):
    assert room(name) in FLOOR, f"{name} is new: place it in the house (docs/architecture.md and this test)"
    mine = FLOOR[room(name)]
    above = {other for other in rooms(FILES[name]) - {room(name)} if FLOOR.get(other, FLOOR["report"]) >= mine}
    assert not above, f"{name} imports {sorted(above)}, which is not below it"


def needed(module: str) -> set[str]:
    """Everything that importing a module imports at once, of ours and of others; a package's `__init__` comes before its parts."""
    found: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        parts = name.split(".")
        for full in (".".join(parts[: count + 1]) for count in range(len(parts))):
            if full not in found and full != "quaestor":  # the package itself gathers the public names of all rooms
                found.add(full)
                waiting += imported(FILES[full], at_once=True) if full in FILES else []
    return found


@pytest.mark.parametrize("name", [name for name in FILES if "." in name and FLOOR.get(room(name), 99) <= FLOOR["session"]])
def test_a_session_needs_no_extra(name):
    outside = {full.split(".")[0] for full in needed(name)} - {"quaestor"} - set(sys.stdlib_module_names)
    assert outside <= PLAIN


def cycle_free(graph: dict[str, set[str]]) -> None:
    """Raise CycleError, naming it, where a graph has a cycle."""
    TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("package", [name for name, path in FILES.items() if path.name == "__init__.py" and name != "quaestor"])
def test_no_package_has_a_cycle_inside(package):
    """Its modules and sub-packages, each as one, import one another in one direction only."""
    inside = {name: path for name, path in FILES.items() if name.startswith(f"{package}.")}

    def part(name: str) -> str:
        return name.removeprefix(f"{package}.").split(".")[0]

    graph: dict[str, set[str]] = {part(name): set() for name in inside}
    for name, path in inside.items():
        graph[part(name)] |= {part(other) for other in imported(path) if other in inside} - {part(name)}
    cycle_free(graph)


def test_no_name_of_a_module_stands_twice_in_web_and_store():
    """A name that stands twice has to be read with its folder; packages count too."""
    names = Counter(name.rpartition(".")[2] for name in FILES if room(name) in ("web", "store"))
    assert not [name for name, count in names.items() if count > 1]


@pytest.mark.parametrize("name", [name for name in FILES if room(name) not in ROOF])
def test_nobody_below_the_roof_prints(name):
    calls = [node for node in ast.walk(ast.parse(FILES[name].read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    assert not [call.lineno for call in calls if isinstance(call.func, ast.Name) and call.func.id == "print"]
