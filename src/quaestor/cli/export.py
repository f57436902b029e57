"""Write a test as one file for any browser, as a decision graph in JSON, or limit how often its questions are seen."""

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from quaestor.bankfile.bank import Bank
from quaestor.cli.take import DEFAULT
from quaestor.errors import QuaestorError
from quaestor.formats import yaml_text
from quaestor.formats.files import load, save
from quaestor.formats.limits import read_bytes
from quaestor.selection.rules import Rules
from quaestor.selection.rules_file import load_rules
from quaestor.selection.stopping.combined import any_of
from quaestor.selection.stopping.criteria import max_questions, probability_above
from quaestor.session.sufficiency import asks_enough
from quaestor.simulate.exposure import ROUNDS, exposure_table
from quaestor.simulate.policy import LIMIT, policy


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("bank", metavar="BANK", help="a bank file, or the name of a bundled bank")
    parser.add_argument(
        "--rules",
        metavar="FILE",
        help="how the test is run (docs/rules.md); default: 20 questions at most; for --html a careful test of 15",
    )
    parser.add_argument("--out", metavar="FILE", help="where to write; default: standard output")
    parser.add_argument("--widen", type=float, default=0.0, metavar="E", help="make every number an interval of +- E first")
    page = parser.add_argument_group("a test without a server")
    page.add_argument(
        "--html", action="store_true", help="one file that gives the test in any browser; 'quaestor collect' reads its results"
    )
    page.add_argument("--language", default="en", metavar="en|de|fr", help="the language of its pages (default: en)")
    graph = parser.add_argument_group("the decision graph")
    graph.add_argument("--depth", type=int, default=10, metavar="N", help="how many questions deep (default: 10)")
    graph.add_argument("--limit", type=int, default=LIMIT, metavar="NODES", help=f"how many nodes at most (default: {LIMIT})")
    graph.add_argument("--with-skips", action="store_true", help="with nodes for skipped questions, where a skip tells nothing")
    graph.add_argument("--with-texts", action="store_true", help="with the texts and options of the questions; keys are never written")
    table = parser.add_argument_group("instead of the graph: rules that limit exposure (Sympson-Hetter)")
    table.add_argument("--exposure", type=float, metavar="MOST", help="write rules by which at most this share of takers see a question")
    table.add_argument("--students", type=int, default=1000, metavar="N", help="simulated students in each round (default: 1000)")
    table.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help=f"rounds of simulation at most (default: {ROUNDS})")
    table.add_argument("--seed", type=int, default=1, help="the seed of the students (default: 1)")


def run(arguments: argparse.Namespace) -> int:
    """Compute the graph or the rules, write them, and print their size."""
    bank = load(arguments.bank)
    if arguments.widen:
        bank = bank.widen(arguments.widen)
    rules = load_rules(arguments.rules) if arguments.rules else _usual(bank) if arguments.html else DEFAULT
    make = _page if arguments.html else _graph if arguments.exposure is None else _exposure
    text, words = make(bank, rules, arguments)
    if arguments.out:
        save(text.encode(), arguments.out)
    else:
        print(text, end="", flush=True)
    print(words, file=sys.stderr)
    return 0


def _usual(bank: Bank) -> Rules:
    """The rules of a careful test: until every skill is 90 % sure, 15 questions at most, enough of every skill to name a level."""
    return Rules(stop=any_of(max_questions(15), probability_above(0.9)), content=asks_enough(bank))


def _page(bank: Bank, rules: Rules, arguments: argparse.Namespace) -> tuple[str, str]:
    from quaestor.web.offline.file import html_of

    if arguments.exposure is not None:
        raise QuaestorError("--html and --exposure: one of them, got both")
    named = {name for question in bank.questions.values() for name in question.files}
    images = {name: image for name in named if (image := _image(arguments.bank, name)) is not None}
    text = html_of(bank, rules, arguments.language, images)
    return (
        text,
        f"{_counted(len(bank.questions), 'question')}, {len(text.encode()):,} bytes; its key can be found: for practice, not for exams",
    )


def _image(bank: str, name: str) -> bytes | None:
    """A file beside the bank; None where there is none."""
    path = Path(bank).parent / name
    return read_bytes(path) if path.is_file() else None


def _graph(bank: Bank, rules: Rules, arguments: argparse.Namespace) -> tuple[str, str]:
    made = policy(bank, rules, arguments.depth, arguments.limit, arguments.with_skips, arguments.with_texts)
    text, nodes = _written(made, ascii_only=not arguments.out), made["nodes"]
    ends = sum("end" in node for node in nodes)
    rest = f"; the graph ends before the test at {ends:,} of them" if ends else ""
    return text, f"{_counted(len(nodes), 'node')}, {_counted(made['depth'], 'question')} deep, {len(text.encode()):,} bytes{rest}"


def _written(graph: dict[str, Any], ascii_only: bool) -> str:
    """JSON with a line a node; `ascii_only` for terminals that cannot show all characters."""
    lines = [f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=ascii_only)},\n" for key, value in graph.items() if key != "nodes"]
    nodes = ",\n".join(f"  {json.dumps(node, ensure_ascii=ascii_only)}" for node in graph["nodes"])
    return f'{{\n{"".join(lines)} "nodes": [\n{nodes}\n ]\n}}\n'


def _exposure(bank: Bank, rules: Rules, arguments: argparse.Namespace) -> tuple[str, str]:
    if arguments.seed < 0:
        raise QuaestorError(f"--seed: a whole number of at least 0, got {arguments.seed}")
    largest: list[float] = []
    table = exposure_table(
        bank, rules, arguments.exposure, arguments.students, arguments.rounds, arguments.seed, progress=lambda _, rate: largest.append(rate)
    )
    limited = {question: round(chance, 4) for question, chance in table.items() if chance < 1}
    document = replace(rules, exposure=replace(rules.exposure, chances=limited)).document
    words = f"{_counted(len(limited), 'question')} of {len(table)} limited after {_counted(len(largest), 'round')}"
    return yaml_text.write(document), f"{words}; the largest rate went from {largest[0]:.3f} to {largest[-1]:.3f}"


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'s' * (n != 1)}"
