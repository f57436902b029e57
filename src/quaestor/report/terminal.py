"""Text for a terminal: one console for all commands, plain and 100 columns wide when the output is not a terminal."""

import re
import sys
from typing import TYPE_CHECKING

from quaestor.bankfile.bank import Bank
from quaestor.bankfile.sentences import question_sentence, skill_sentence
from quaestor.extras import from_extra
from quaestor.model.network import Network

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as Grid

_SYMBOLS = {r"\times": "×", r"\cdot": "·", r"\div": "÷", r"\leq": "≤", r"\geq": "≥", r"\neq": "≠", r"\le": "≤", r"\ge": "≥", r"\pi": "π"}


def console() -> "Console":
    """A console on standard output; it raises BrokenPipeError for a closed pipe, so that `cli.main` can end quietly."""
    with from_extra():
        from rich.console import Console

    class Quiet(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    if sys.stdout.isatty():
        return Quiet(markup=False, emoji=False, highlight=False)
    return Quiet(markup=False, emoji=False, highlight=False, width=100, color_system=None)


def grid(*columns: str, title: str | None = None) -> "Grid":
    """A light table for the console."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as Grid

    return Grid(*columns, title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False)


def plain_maths(text: str) -> str:
    r"""LaTeX between dollar signs as a terminal can show it: `$\frac{3}{4} \times 2$` as `3/4 × 2`."""
    return re.sub(r"\$([^$]*)\$", lambda match: _plain_formula(match[1]), text)


def _plain_formula(formula: str) -> str:
    formula = re.sub(r"(\d)\s*\\[dt]?frac", r"\1 \\frac", formula)
    previous = None
    while previous != formula:
        previous = formula
        formula = re.sub(r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}", lambda m: f"{_grouped(m[1])}/{_grouped(m[2])}", formula)
        formula = re.sub(r"\\(?:text|mathrm)\{([^{}]*)\}", r"\1", formula)
    for command, symbol in _SYMBOLS.items():
        formula = re.sub(re.escape(command) + r"(?![A-Za-z])", symbol, formula)
    formula = re.sub(r"\\(?:left|right|quad|,|;|:|!| )", " ", formula).replace("{", "").replace("}", "")
    return " ".join(formula.split())


def _grouped(part: str) -> str:
    return part if re.fullmatch(r"\s*[\w.]*\s*", part) else f"({part})"


def show_bank(bank: Bank, out: "Console") -> None:
    """Print the skills and their graph, then every question, each with its table in a sentence."""
    kind = "precise" if bank.is_precise else "credal"
    out.print(bank.title or "A bank without a title", style="bold")
    out.print(f"{kind}, version {bank.version}, model {bank.model_version}\n")
    for line in skill_tree(bank):
        out.print(line)
    out.print()
    skills = grid("skill", "levels", "what its table says", title="Skills")
    for skill in bank.skills.values():
        skills.add_row(skill.id, ", ".join(skill.levels), skill_sentence(skill, bank.skills))
    out.print(skills)
    questions = grid("question", "skills", "text", "what its table says", title="Questions")
    for question in bank.questions.values():
        text = plain_maths(question.with_blanks).replace("\n", " ")
        short = text if len(text) <= 80 else f"{text[:77]}..."
        questions.add_row(question.id, ", ".join(question.skills), short, question_sentence(question, bank.skills))
    out.print(questions)


def skill_tree(bank: Bank) -> list[str]:
    """The skills as lines of an indented tree, each under its first parent; further parents are named behind it."""
    children: dict[str, list[str]] = {}
    for skill in bank.skills.values():
        children.setdefault(skill.parents[0] if skill.parents else "", []).append(skill.id)
    asked = {skill: sum(skill in question.skills for question in bank.questions.values()) for skill in bank.skills}

    lines = []
    stack = [(root, "", "") for root in reversed(children[""])]  # name, prefix of its line, prefix of its children's lines
    while stack:
        name, before, below = stack.pop()
        skill = bank.skills[name]
        also = f", also builds on {', '.join(skill.parents[1:])}" if len(skill.parents) > 1 else ""
        title = f" ({skill.title})" if skill.title else ""
        lines.append(f"{before}{name}{title}: {asked[name]} question{'s' * (asked[name] != 1)}{also}")
        kids = children.get(name, [])
        for kid in reversed(kids):
            last = kid == kids[-1]
            stack.append((kid, f"{below}{'└─ ' if last else '├─ '}", f"{below}{'   ' if last else '│  '}"))
    return lines


def show_network(network: Network, out: "Console") -> None:
    """Print the variables of a network with their parents and tables."""
    kind = "precise" if network.is_precise else "credal"
    out.print(f"{len(network.variables)} variables ({kind})", style="bold")
    listed = grid("variable", "parents", "states", "rows", "lower", "upper")
    for variable in network.variables:
        table = variable.table
        states = len(variable.states)
        lower, upper = table.lower.reshape(-1, states), table.upper.reshape(-1, states)
        for row in range(min(table.rows, 8)):
            first = row == 0
            head = (variable.name, ", ".join(variable.parents), ", ".join(variable.states)) if first else ("", "", "")
            given = f"{len(table.vertices[row])} vertices" if row in table.vertices else "interval"
            shown = [" ".join(f"{p:.3f}" for p in bound[row]) for bound in (lower, upper)]
            listed.add_row(*head, "precise" if (lower[row] == upper[row]).all() else given, *shown)
        if table.rows > 8:
            listed.add_row("", "", "", f"{table.rows - 8} more rows", "", "")
    out.print(listed)
