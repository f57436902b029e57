"""A short tour: a bundled bank and its tables, how entries become answers, the posterior after some answers, and an adaptive test."""

import argparse

from quaestor.bankfile.sentences import question_sentence
from quaestor.formats.files import bundled_banks, load
from quaestor.inference.posterior import posterior
from quaestor.report.bars import show_beliefs
from quaestor.report.terminal import console, plain_maths
from quaestor.session.explain.why import explain
from quaestor.session.session import Session


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments: none."""


def run(arguments: argparse.Namespace) -> int:
    """Print the tour."""
    out = console()
    bank = load("multiplication")
    out.rule("A bank: skills, questions, and how they depend on one another")
    out.print(f"{bank.title}: {len(bank.questions)} questions on the skill '{next(iter(bank.skills))}'.\n")
    for question in bank.questions.values():
        out.print(f"{question.id}  {plain_maths(question.text)}   options: {', '.join(question.options)}", style="bold")
        out.print(f"    {question_sentence(question, bank.skills)}\n")
    first = bank.questions["Q1"]
    for entry in (" 50 ", "15"):
        out.print(f"A taker who enters {entry!r} to Q1 is {first.classify(entry)}.")
    out.print()
    out.rule("What the answers say: Q1 right, Q2 wrong")
    answers = {"Q1": "right", "Q2": "wrong"}
    show_beliefs(bank, posterior(bank, answers), out)
    out.print()
    out.rule("Not sure of the numbers? Say so: every number becomes an interval, every result a pair of bounds")
    credal = bank.widen(0.05)
    for question in credal.questions.values():
        out.print(f"{question.id}  {question_sentence(question, credal.skills)}")
    show_beliefs(credal, posterior(credal, answers), out)
    out.print()
    out.rule("An adaptive test: ask what tells most, say why")
    session = Session(load("fractions"))
    for answer in ("right", "wrong"):
        asked = session.next
        assert asked is not None
        out.print(f"{asked.id}  {plain_maths(asked.text)}  – {answer}", style="bold")
        session = session.answer(asked.id, answer)
    found = explain(session)
    assert found.question is not None
    out.print(f"\n{found.question.text}\n\n{found.results['multiplication'].text}")
    out.print("\nTake it yourself: quaestor take fractions --why")
    out.print(f"\nBundled banks: {', '.join(bundled_banks())}.\nLook at one: quaestor show fractions")
    return 0
