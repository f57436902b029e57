"""The house of DESIGN.md: imports only point down, and within a floor only as drawn; nobody below the roof prints."""

import ast
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "quaestor"
FOUNDATION = {
    *("errors", "numerals", "table", "elicit", "network", "beliefs", "fields"),
    *("skill", "question", "statements", "reading", "saying", "sentences", "bank", "ahead", "intervals", "indices"),
}
GROUND = {"inference", "scores", "criteria", "stopping", "decisions"}
FIRST = {"ranking", "rules", "rules_file", "log", "choice", "session", "explain", "reasons", "wording"}
SECOND = {"simulate", "store", "learn"}
ROOF = {"cli", "web", "report"}
BELOW = {
    **dict.fromkeys(FOUNDATION, FOUNDATION),
    **dict.fromkeys({"formats"} | GROUND, FOUNDATION),
    "criteria": FOUNDATION | {"decisions"},
    "stopping": FOUNDATION | {"criteria"},
    "ranking": FOUNDATION | GROUND,
    "rules": FOUNDATION | GROUND | {"ranking"},
    "log": FOUNDATION,
    "rules_file": FOUNDATION | GROUND | {"ranking", "rules", "formats"},
    "choice": FOUNDATION | GROUND | {"ranking", "rules"},
    "session": FOUNDATION | GROUND | {"log", "ranking", "rules", "rules_file", "choice"},
    "reasons": FOUNDATION | GROUND | {"choice"},
    "wording": FOUNDATION | GROUND | {"session", "reasons"},
    "explain": FOUNDATION | GROUND | FIRST,
    **dict.fromkeys(SECOND, FOUNDATION | GROUND | FIRST | {"formats"}),
    "learn": FOUNDATION | GROUND | FIRST | {"formats", "simulate"},  # the same tables of answers, the same cluster
    "report": FOUNDATION | GROUND | FIRST | SECOND | {"formats"},
    **dict.fromkeys(("cli", "web"), {"formats", "report", "web", "quaestor"} | FOUNDATION | GROUND | FIRST | SECOND),
}
NUMERICAL = {"numpy", "scipy"}
LIBRARIES = {**dict.fromkeys(FOUNDATION | GROUND | FIRST, NUMERICAL), "formats": NUMERICAL | {"yaml", "openpyxl"}}
FILES = {
    path.relative_to(SOURCE).as_posix(): path for path in sorted(SOURCE.rglob("*.py")) if path.parent != SOURCE or path.stem[:2] != "__"
}


def room(name: str) -> str:
    """The module or package directly below `quaestor` that a file belongs to."""
    return name.split("/")[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """The full names that a file imports; `from quaestor import bank` is `quaestor.bank`."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: imports are absolute"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def rooms(path: Path) -> set[str]:
    """The rooms of the house that a file imports from; `quaestor` stands for the package itself, which is above them all."""
    inside = {name.partition(".")[2].split(".")[0] for name in imported(path) if name.split(".")[0] == "quaestor"}
    return {name if name and ((SOURCE / name).is_dir() or (SOURCE / f"{name}.py").exists()) else "quaestor" for name in inside}


def test_imports_of_every_form_are_seen(tmp_path):
    path = tmp_path / "x.py"
    path.write_text("import os.path\nfrom quaestor import Bank, elicit\ndef f():\n    from quaestor.formats.uai import read\n")
    assert rooms(path) == {"quaestor", "elicit", "formats"}
    path.write_text("import quaestor as qs")
    assert rooms(path) == {"quaestor"}


@pytest.mark.parametrize("name", FILES)
def test_imports_point_down(name):
    assert room(name) in BELOW, f"{name} is new: place it in the house (DESIGN.md and this test)"
    above = rooms(FILES[name]) - BELOW[room(name)] - {room(name)}
    assert not above, f"{name} imports {sorted(above)}, which is not below it"


@pytest.mark.parametrize("name", [name for name in FILES if room(name) in LIBRARIES])
def test_a_floor_stands_on_its_own_libraries(name):
    outside = {full.split(".")[0] for full in imported(FILES[name])} - {"quaestor"} - set(sys.stdlib_module_names)
    assert outside <= LIBRARIES[room(name)]


@pytest.mark.parametrize("name", [name for name in FILES if room(name) not in ROOF])
def test_nobody_below_the_roof_prints(name):
    calls = [node for node in ast.walk(ast.parse(FILES[name].read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    assert not [call.lineno for call in calls if isinstance(call.func, ast.Name) and call.func.id == "print"]


def test_the_foundation_has_no_cycle():
    graph = {room(name): rooms(path) for name, path in FILES.items() if room(name) in FOUNDATION}
    assert graph.keys() == FOUNDATION
    TopologicalSorter(graph).prepare()
