"""Show the posterior of every skill after some answers, as a table with bars and bands."""

import argparse
import json

from quaestor.errors import QuaestorError
from quaestor.formats.files import load
from quaestor.inference.posterior import posterior
from quaestor.model.beliefs import Beliefs
from quaestor.report.bars import show_beliefs
from quaestor.report.terminal import console


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("bank", metavar="BANK", help="a bank file, or the name of a bundled bank")
    parser.add_argument("--answers", default="", metavar="Q1=right,Q2=wrong", help="answer classes by question")
    parser.add_argument("--widen", type=float, default=0.0, metavar="E", help="make every number an interval of +- E first")
    parser.add_argument("--method", default="auto", help="the inference method (default: the best feasible one)")
    parser.add_argument("--json", action="store_true", help="print the bounds as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Infer and print."""
    bank = load(arguments.bank)
    if arguments.widen:
        bank = bank.widen(arguments.widen)
    beliefs = posterior(bank, read_answers(arguments.answers), arguments.method)
    if arguments.json:
        print(json.dumps(_plain(beliefs), ensure_ascii=False, indent=1))
    else:
        show_beliefs(bank, beliefs, console())
    return 0


def read_answers(text: str) -> dict[str, str]:
    """Answers written as `Q1=right, Q2=wrong`."""
    answers: dict[str, str] = {}
    for item in (part.strip() for part in text.split(",") if part.strip()):
        question, equals, answer = (part.strip() for part in item.partition("="))
        if not equals or not question or not answer:
            raise QuaestorError(f"--answers: each answer is written question=class, got '{item}'")
        if question in answers:
            raise QuaestorError(f"--answers: each question is answered once, got '{question}' twice")
        answers[question] = answer
    return answers


def _plain(beliefs: Beliefs) -> dict[str, object]:
    skills = {
        skill: {"levels": list(bounds.states), "lower": bounds.lower.tolist(), "upper": bounds.upper.tolist()}
        for skill, bounds in beliefs.items()
    }
    return {"skills": skills, "exact": beliefs.exact, "gap": beliefs.gap, "method": beliefs.method}
