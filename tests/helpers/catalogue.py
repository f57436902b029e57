"""The sentences of the engine as they stand in its sources, and the German catalogue of them."""

import ast
import string
from functools import cache

from helpers.paths import SOURCE
from quaestor.formats import yaml_text

GERMAN = yaml_text.parse((SOURCE / "web" / "words" / "de" / "engine.yaml").read_text(encoding="utf-8"))


@cache
def patterns():
    """Every pattern below the pages, with the places that say it; pages have catalogues of their own."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        room = path.relative_to(SOURCE)
        if room.parts[0] != "web" and room.name != "i18n.py":
            for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "say":
                    pattern = call.args[0]
                    assert isinstance(pattern, ast.Constant), f"{room}:{call.lineno}: the pattern is written where it is said"
                    found.setdefault(pattern.value, []).append(f"{room}:{call.lineno}")
    return found | {"{list} and {last}": ["i18n.py"]}


def names(pattern):
    """The names of a pattern with their formats; dates and words that go with a number are written in each language's own way."""
    found = [part[1:] for part in string.Formatter().parse(pattern) if part[1] is not None and "|" not in part[2]]
    return {(name, "%" if form.startswith("%") else form, change) for name, form, change in found}


def has_words(pattern):
    return any(letter.isalpha() for words, *_ in string.Formatter().parse(pattern) for letter in words)
