"""Write docs/api.md from the docstrings of the public names, and docs/commands.md from those of the commands; `make docs`.

A test fails when a page is out of date.
"""

import argparse
import inspect
import os
import pkgutil
import re
from pathlib import Path
from types import ModuleType

import quaestor
from quaestor.cli import COMMANDS, parser

PAGE = Path(__file__).with_name("api.md")
COMMANDS_PAGE = Path(__file__).with_name("commands.md")


GROUPS = {
    "Banks and files": "Bank Skill Question load dump bundled_banks read_questions Imported Problem",
    "Networks": "Network Variable Table read_network write_network bank_from_network bounds",
    "Inference": "posterior Beliefs Bounds information decisions explain Explanation",
    "Choosing questions": "rank Ranking Candidate Rules load_rules Content Exposure Robust Variety",
    "Stopping": "max_questions min_questions minutes right_answers entropy_below gini_below mode_below probability_above dominant "
    "gain_below sprt loss_below same_decision any_of all_of Stop",
    "Sessions": "Session",
    "Simulation and studies": "simulate Simulation expected quaestor.simulate.curves.Curves Behaviour reliability Reliability optimal "
    "Optimum policy exposure_table load_study Study write_study",
    "Learning": "learn Fit choose Choice link Link",
    "Pictures": "plot",
    "Extending": "register testing quaestor.inference.lookahead.Lookahead quaestor.inference.lookahead.Group "
    "quaestor.inference.lookahead.Target quaestor.selection.stopping.criterion.Situation "
    "quaestor.selection.stopping.criterion.Criterion",
    "Errors": "QuaestorError AnswerError BankError NetworkError RulesError SessionError StudyError ExchangeWarning",
}
WIDTH = 88  # of a signature


def page() -> str:
    """The whole page: the public names in groups, with the kinds of things that they give or take."""
    parts = [
        "# API",
        "",
        "All public names, in groups. Import the package as `import quaestor as qs`; names are written without `qs.` here.",
        "",
    ]
    for title, names in GROUPS.items():
        parts += [f"## {title}", ""]
        for name in names.split():
            value = pkgutil.resolve_name(name if "." in name else f"quaestor.{name}")
            make = _class if inspect.isclass(value) else _module if inspect.ismodule(value) else _function
            parts += make(name.rpartition(".")[2], value)
    return "\n".join(parts).rstrip() + "\n"


def commands() -> str:
    """The page of the commands: what each takes, as its `--help` says it."""
    os.environ["COLUMNS"] = "120"
    parts = ["# The commands", "", "Made from the commands themselves by `make docs`; `quaestor COMMAND --help` says the same.", ""]
    (known,) = (action for action in parser()._actions if isinstance(action, argparse._SubParsersAction))
    for name in COMMANDS:
        parts += [f"## `quaestor {name}`", "", "```text", known.choices[name].format_help().rstrip(), "```", ""]
    return "\n".join(parts).rstrip() + "\n"


def _function(name: str, function: object, level: str = "###") -> list[str]:
    return [f"{level} `{name}`", "", "```text", _wrapped(name + _signature(function)), "```", "", inspect.getdoc(function) or "", ""]


def _wrapped(text: str) -> str:
    """A signature on one line, or with each argument on a line of its own."""
    if len(text) <= WIDTH:
        return text
    start, depth, listed, last = text.index("("), 0, [], text.index("(") + 1
    for place in range(start, len(text)):
        depth += (text[place] in "([{") - (text[place] in ")]}")
        if depth == 0 or (depth == 1 and text[place] == ","):
            listed.append(text[last:place].strip())
            last = place + 1
        if depth == 0:
            return "\n".join([text[: start + 1], *(f"    {one}," for one in listed), text[place:]])
    return text


def _signature(function: object) -> str:
    """A signature in short: names without their modules, arrays as `Array`, and without `self`."""
    text = str(inspect.signature(function)).replace("<factory>", "...")  # type: ignore[arg-type]
    text = re.sub(r"<function \w+ at 0x\w+>", "...", text)
    text = re.sub(r"\b(?:quaestor|collections|typing|fractions|numpy|pathlib|pandas)(?:\.[a-z_0-9]+)*\.(?=\w)", "", text)
    text = re.sub(r"ndarray\[tuple\[Any, \.\.\.\], dtype\[[\w ]+\]\]", "Array", text)
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", text)  # annotations that stand in quotes
    return re.sub(r"\((self|cls)(, )?", "(", text)


def _class(name: str, kind: type) -> list[str]:
    made = [] if issubclass(kind, Exception) else ["```text", _wrapped(name + _signature(kind).removesuffix(" -> None")), "```", ""]
    parts = [f"### `{name}`", "", *made, inspect.getdoc(kind) or "", ""]
    if kind.__module__ not in _public_homes():
        parts[2:2] = [f"`{kind.__module__}.{kind.__name__}`", ""]
    for member, value in _members(kind):
        plain = value.func if hasattr(value, "func") else getattr(value, "fget", None)
        if plain is not None:
            parts.append(f"- `.{member}`: {_line(plain)}")
        elif inspect.isfunction(value) or isinstance(value, classmethod | staticmethod):
            function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
            parts.append(f"- `.{member}{_signature(function)}`: {_line(function)}")
    return [*parts, ""]


def _members(kind: type) -> list[tuple[str, object]]:
    """What a class has of its own or from other classes of the package, but for what stands in its signature."""
    found = {name: value for one in reversed(kind.__mro__) if one.__module__.startswith("quaestor") for name, value in vars(one).items()}
    own = [(name, value) for name, value in found.items() if not name.startswith("_")]
    return own if not issubclass(kind, Exception) else [(name, value) for name, value in own if name in vars(kind)]


def _public_homes() -> set[str]:
    return {getattr(getattr(quaestor, name), "__module__", "") for name in quaestor.__all__}


def _module(name: str, module: ModuleType) -> list[str]:
    if hasattr(module, "__all__"):
        own = [(member, getattr(module, member)) for member in module.__all__]
    else:
        own = [(member, value) for member, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
    parts = [f"### `{name}`", "", inspect.getdoc(module) or "", ""]
    for member, value in own:
        if inspect.isfunction(value) and member[0] != "_":
            parts += _function(f"{name}.{member}", value, "####")
    return parts


def _line(function: object) -> str:
    return " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    COMMANDS_PAGE.write_text(commands(), encoding="utf-8")
    print(f"wrote {PAGE.name} and {COMMANDS_PAGE.name}")
