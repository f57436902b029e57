"""Write docs/api.md from the docstrings of the public names, and docs/commands.md from those of the commands; `make docs`.

A test fails when a page is out of date.
"""

import argparse
import inspect
import os
import re
from pathlib import Path
from types import ModuleType

import quaestor
from quaestor.cli import COMMANDS, parser

PAGE = Path(__file__).with_name("api.md")
COMMANDS_PAGE = Path(__file__).with_name("commands.md")


def page() -> str:
    """The whole page."""
    parts = ["# API", "", "Made from the docstrings by `make docs`. Import the package as `import quaestor as qs`.", ""]
    for name in sorted(quaestor.__all__, key=str.lower):
        value = getattr(quaestor, name)
        make = _class if inspect.isclass(value) else _module if inspect.ismodule(value) else _function
        parts += make(name, value)
    return "\n".join(parts).rstrip() + "\n"


def commands() -> str:
    """The page of the commands: what each takes, as its `--help` says it."""
    os.environ["COLUMNS"] = "120"
    parts = ["# The commands", "", "Made from the commands themselves by `make docs`; `quaestor COMMAND --help` says the same.", ""]
    (known,) = (action for action in parser()._actions if isinstance(action, argparse._SubParsersAction))
    for name in COMMANDS:
        parts += [f"## `quaestor {name}`", "", "```text", known.choices[name].format_help().rstrip(), "```", ""]
    return "\n".join(parts).rstrip() + "\n"


def _function(name: str, function: object, level: str = "##") -> list[str]:
    return [f"{level} `{name}`", "", "```text", f"{name}{_signature(function)}", "```", "", inspect.getdoc(function) or "", ""]


def _signature(function: object) -> str:
    """A signature in short: names without their modules, arrays as `Array`, and without `self`."""
    text = str(inspect.signature(function)).replace("<factory>", "...")  # type: ignore[arg-type]
    text = re.sub(r"\b(?:quaestor|collections|typing|fractions|numpy|pathlib|pandas)(?:\.[a-z_0-9]+)*\.(?=\w)", "", text)
    text = re.sub(r"ndarray\[tuple\[Any, \.\.\.\], dtype\[[\w ]+\]\]", "Array", text)
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", text)  # annotations that stand in quotes
    return re.sub(r"\((self|cls)(, )?", "(", text)


def _class(name: str, kind: type) -> list[str]:
    made = [] if issubclass(kind, Exception) else ["```text", f"{name}{_signature(kind).removesuffix(' -> None')}", "```", ""]
    parts = [f"## `{name}`", "", *made, inspect.getdoc(kind) or "", ""]
    for member, value in vars(kind).items():
        if member.startswith("_"):
            continue
        plain = value.func if hasattr(value, "func") else getattr(value, "fget", None)
        if plain is not None:
            parts.append(f"- `.{member}`: {_line(plain)}")
        elif inspect.isfunction(value) or isinstance(value, classmethod):
            function = value.__func__ if isinstance(value, classmethod) else value
            parts.append(f"- `.{member}{_signature(function)}`: {_line(function)}")
    return [*parts, ""]


def _module(name: str, module: ModuleType) -> list[str]:
    own = [(member, value) for member, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
    listed = [
        f"- `{name}.{member}{_signature(value)}`: {_line(value)}" for member, value in own if inspect.isfunction(value) and member[0] != "_"
    ]
    return [f"## `{name}`", "", inspect.getdoc(module) or "", "", *listed, ""]


def _line(function: object) -> str:
    return " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    COMMANDS_PAGE.write_text(commands(), encoding="utf-8")
    print(f"wrote {PAGE.name} and {COMMANDS_PAGE.name}")
