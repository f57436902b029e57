"""Rank the open questions of a bank by their expected information, best first."""

import argparse
import json
from typing import TYPE_CHECKING

from quaestor.cli.posterior import read_answers
from quaestor.errors import QuaestorError
from quaestor.formats.files import load
from quaestor.report.bars import bar
from quaestor.report.terminal import console, grid
from quaestor.selection.ranking import Ranking, rank
from quaestor.selection.scores.known import BOUNDS, SCORES

if TYPE_CHECKING:
    from rich.table import Table as Grid


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("bank", metavar="BANK", help="a bank file, or the name of a bundled bank")
    parser.add_argument("--answers", default="", metavar="Q1=right,Q2=wrong", help="answer classes by question")
    parser.add_argument("--widen", type=float, default=0.0, metavar="E", help="make every number an interval of +- E first")
    parser.add_argument("--score", default="mode", choices=SCORES, help="what to rank by (default: mode)")
    parser.add_argument("--bound", default="upper", choices=BOUNDS, help="credal banks: the cautious upper or the optimistic lower one")
    parser.add_argument("--target", default="scope", metavar="T", help="scope, all, joint, or skills with commas (default: scope)")
    parser.add_argument("--then", default="auto", metavar="SCORE", help="the score that decides between the tied; none: the bank's order")
    parser.add_argument("--per", choices=["minute"], help="divide gains by the minutes a question takes")
    parser.add_argument("--seed", type=int, default=0, help="for --score random")
    parser.add_argument("--top", type=int, default=10, metavar="N", help="how many to show (default: 10; JSON has all)")
    parser.add_argument("--json", action="store_true", help="print the ranking as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Rank and print."""
    bank = load(arguments.bank)
    if arguments.widen:
        bank = bank.widen(arguments.widen)
    target = arguments.target if arguments.target in ("scope", "all", "joint") else [part.strip() for part in arguments.target.split(",")]
    then = None if arguments.then == "none" else arguments.then
    answers = read_answers(arguments.answers)
    for name in ("seed", "top"):
        if getattr(arguments, name) < 0:
            raise QuaestorError(f"--{name}: a whole number of at least 0, got {getattr(arguments, name)}")
    ranking = rank(bank, answers, arguments.score, arguments.bound, target, then, arguments.per, arguments.seed)
    if arguments.json:
        print(json.dumps(_plain(ranking), ensure_ascii=False, indent=1))
    else:
        _show(ranking, arguments.top, arguments.score)
    return 0


def _plain(ranking: Ranking) -> list[dict[str, object]]:
    return [{"question": one.question.id, "gain": one.gain, "by_skill": one.by_skill} for one in ranking]


def _show(ranking: Ranking, top: int, score: str) -> None:
    """Print a row a question; with its gain as a number and a bar, except for the scores `order` and `random`, where it means nothing."""
    out = console()
    if score in ("order", "random"):
        table = grid("question", "skills")
        for candidate in ranking[:top]:
            table.add_row(candidate.question.id, ", ".join(candidate.question.skills))
    else:
        table = _gains(ranking, top)
    out.print(table)
    if len(ranking) > top:
        out.print(f"{len(ranking) - top} more questions; --top {len(ranking)} shows all")
    elif not len(ranking):
        out.print("No question is left.")


def _gains(ranking: Ranking, top: int) -> "Grid":
    table = grid("question", "skills", "gain", "")
    largest = max([gain for gain in ranking.gains[:top] if gain > 0], default=1.0)
    for candidate in ranking[:top]:
        share = max(candidate.gain, 0.0) / largest
        table.add_row(candidate.question.id, ", ".join(candidate.question.skills), f"{candidate.gain:.4f}", bar(share, share))
    return table
