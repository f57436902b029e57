"""A short tour: a bundled bank, what its tables say, and how an entry becomes an answer."""

import argparse

from quaestor.formats import bundled_banks, load
from quaestor.report.terminal import console, plain_maths
from quaestor.sentences import question_sentence


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments: none."""


def run(arguments: argparse.Namespace) -> int:
    """Print the tour."""
    out = console()
    bank = load("multiplication")
    out.rule("A bank: skills, questions, and how they hang together")
    out.print(f"{bank.title}: {len(bank.questions)} questions on the skill '{next(iter(bank.skills))}'.\n")
    for question in bank.questions.values():
        out.print(f"{question.id}  {plain_maths(question.text)}   options: {', '.join(question.options)}", style="bold")
        out.print(f"    {question_sentence(question, bank.skills)}\n")
    first = bank.questions["Q1"]
    for entry in (" 50 ", "15"):
        out.print(f"A taker who enters {entry!r} to Q1 is {first.classify(entry)}.")
    out.print()
    out.rule("Not sure of the numbers? Say so: every number becomes an interval")
    for question in bank.widen(0.05).questions.values():
        out.print(f"{question.id}  {question_sentence(question, bank.skills)}")
    out.print(f"\nBundled banks: {', '.join(bundled_banks())}.\nLook at one: quaestor show fractions")
    return 0
