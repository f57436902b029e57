"""Write docs/api.md from the docstrings of the public names; `make docs`. A test fails when the page is out of date."""

import inspect
import re
from pathlib import Path
from types import ModuleType

import quaestor

PAGE = Path(__file__).with_name("api.md")


def page() -> str:
    """The whole page."""
    parts = ["# API", "", "Made from the docstrings by `make docs`. Import the package as `import quaestor as qs`.", ""]
    for name in sorted(quaestor.__all__, key=str.lower):
        value = getattr(quaestor, name)
        make = _class if inspect.isclass(value) else _module if inspect.ismodule(value) else _function
        parts += make(name, value)
    return "\n".join(parts).rstrip() + "\n"


def _function(name: str, function: object, level: str = "##") -> list[str]:
    signature = re.sub(r"quaestor(\.[a-z_]+)*\.", "", str(inspect.signature(function)))  # type: ignore[arg-type]
    return [f"{level} `{name}`", "", "```text", f"{name}{signature}", "```", "", inspect.getdoc(function) or "", ""]


def _class(name: str, kind: type) -> list[str]:
    parts = [f"## `{name}`", "", inspect.getdoc(kind) or "", ""]
    for member, value in vars(kind).items():
        if member.startswith("_"):
            continue
        plain = value.func if hasattr(value, "func") else getattr(value, "fget", None)
        if plain is not None:
            parts.append(f"- `.{member}`: {_line(plain)}")
        elif inspect.isfunction(value) or isinstance(value, classmethod):
            function = value.__func__ if isinstance(value, classmethod) else value
            given = [parameter for parameter in inspect.signature(function).parameters if parameter not in ("self", "cls")]
            parts.append(f"- `.{member}({', '.join(given)})`: {_line(function)}")
    return [*parts, ""]


def _module(name: str, module: ModuleType) -> list[str]:
    own = [(member, value) for member, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
    listed = [f"- `{name}.{member}`: {_line(value)}" for member, value in own if inspect.isfunction(value) and member[0] != "_"]
    return [f"## `{name}`", "", inspect.getdoc(module) or "", "", *listed, ""]


def _line(function: object) -> str:
    return " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE.name}")
