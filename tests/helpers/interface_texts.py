"""The texts of the interface, as they stand in the templates and in the Python sources of the pages."""

import ast
from functools import cache
from pathlib import Path

from jinja2 import Environment, nodes

import quaestor as qs
from quaestor.bankfile.schema import BANK_FIELDS, QUESTION_FIELDS, SKILL_FIELDS
from quaestor.web.workshop.vocabulary import LEVELS, WORDS

WEB = Path(qs.__file__).parent / "web"
TEMPLATES = WEB / "templates"
OURS = ("api", "demo.py", "settings.py", "problems.py", "beginning.py", "ownership.py")  # programs and who starts the server read English


@cache
def templates():
    """The trees of all templates, by name."""
    environment = Environment()
    return {path.relative_to(TEMPLATES).as_posix(): environment.parse(path.read_text()) for path in sorted(TEMPLATES.rglob("*.html"))}


def calls(tree, name):
    return [call for call in tree.find_all(nodes.Call) if isinstance(call.node, nodes.Name) and call.node.name == name]


@cache
def sources():
    """The trees of the Python files of the pages, by name."""
    paths = [path.relative_to(WEB) for path in sorted(WEB.rglob("*.py"))]
    return {path.as_posix(): ast.parse((WEB / path).read_text()) for path in paths if path.parts[0] not in OURS}


@cache
def texts():
    """Every text of the interface with the places where it stands."""
    found = {}
    for name, tree in templates().items():
        for call in calls(tree, "t"):
            if isinstance(call.args[0], nodes.Const):
                found.setdefault(call.args[0].value, []).append(f"{name}:{call.lineno}")
    for name, tree in sources().items():
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "say":
                assert isinstance(call.args[0], ast.Constant), f"{name}:{call.lineno}: the pattern is written where it is said"
                found.setdefault(call.args[0].value, []).append(f"{name}:{call.lineno}")
    named = [*BANK_FIELDS, *QUESTION_FIELDS, *SKILL_FIELDS, *LEVELS, *(word for words in WORDS.values() for word in words)]
    for word in named:
        found.setdefault(word, []).append("a word of the bank file")
    return found
