"""Write docs/api.md from the docstrings of the public names; `make docs`. A test fails when the page is out of date."""

import inspect
from pathlib import Path

import quaestor

PAGE = Path(__file__).with_name("api.md")


def page() -> str:
    """The whole page."""
    parts = ["# API", "", "Made from the docstrings by `make docs`. Import the package as `import quaestor as qs`.", ""]
    for name in sorted(quaestor.__all__, key=str.lower):
        value = getattr(quaestor, name)
        parts += _class(name, value) if inspect.isclass(value) else _function(name, value, "##")
    return "\n".join(parts).rstrip() + "\n"


def _function(name: str, function: object, level: str) -> list[str]:
    signature = str(inspect.signature(function)).replace("quaestor.", "")  # type: ignore[arg-type]
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


def _line(function: object) -> str:
    return " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE.name}")
