"""The templates and the Python sources of the pages as trees, to see how their texts are written."""

import ast
from functools import cache

from jinja2 import Environment, nodes

from helpers.translations import OURS, WEB

TEMPLATES = WEB / "templates"


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
    return {path.as_posix(): ast.parse((WEB / path).read_text()) for path in paths if not path.as_posix().startswith(OURS)}
