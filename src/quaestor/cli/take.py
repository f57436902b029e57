"""Take an adaptive test in the terminal: answer, skip, undo, ask why, quit and resume."""

import argparse
import io
import sys
from collections.abc import Sequence
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError
from quaestor.formats.files import load, save
from quaestor.model.question import Entry, Question, json_value
from quaestor.report.bars import show_beliefs
from quaestor.report.ledger import show_ledger
from quaestor.report.terminal import console, plain_maths
from quaestor.selection.rules import Rules
from quaestor.selection.rules_file import load_rules
from quaestor.selection.stopping.combined import any_of
from quaestor.selection.stopping.criteria import entropy_below, max_questions
from quaestor.session.explain.why import explain, why_question
from quaestor.session.explain.wording import progress
from quaestor.session.option_order import option_order
from quaestor.session.session import Session

if TYPE_CHECKING:
    from rich.console import Console

DEFAULT = Rules(stop=any_of(max_questions(20), entropy_below(0.25)))
HINTS = {
    "choices": "one or more, e.g.  a c",
    "matching": "a letter for each number, e.g.  a c b",
    "ordering": "the letters in the right order, e.g.  c a b",
    "gaps": "one for each gap, with ; between them",
}
COMMANDS = "/skip  /undo  /why  /numbers  /quit"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("bank", metavar="BANK", help="a bank file, or the name of a bundled bank")
    parser.add_argument("--rules", metavar="FILE", help="how the test is run (docs/rules.md); default: 20 questions at most")
    parser.add_argument("--session", metavar="FILE", help="where the test is kept: it goes on from there, and every answer is saved")
    parser.add_argument("--seed", type=int, default=0, help="for rules that draw at random")
    parser.add_argument("--widen", type=float, default=0.0, metavar="E", help="make every number an interval of +- E first")
    parser.add_argument("--why", action="store_true", help="say before each question why it is asked, and explain the result")


def run(arguments: argparse.Namespace) -> int:
    """Ask until the test is over or the taker quits."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")  # invalid bytes become replacement characters
    bank = load(arguments.bank)
    if arguments.widen:
        bank = bank.widen(arguments.widen)
    session = _begin(bank, arguments)
    if arguments.session:
        save(session.to_json().encode(), arguments.session)  # fails now, not after the first answer, if it cannot be written
    out = console()
    out.print(bank.title or arguments.bank, style="bold")
    stop = session.rules.stop
    out.print(f"The test stops when {stop.words}." if stop is not None else "The test ends when no question is left.")
    out.print(f"Type your answer, or one of  {COMMANDS}\n")
    if session.log:
        out.print(f"Going on after {_counted(session)}.\n")
    while (question := session.next) is not None:
        if arguments.why:
            _why(session, out)
        _show(session, question, out)
        after = _turn(session, question, out)
        if after is None:
            return _quit(session, arguments, out)
        session = after
        if arguments.session:
            save(session.to_json().encode(), arguments.session)
    _result(session, arguments.why, out)
    return 0


def _counted(session: Session) -> str:
    return f"{len(session.asked)} question{'s' * (len(session.asked) != 1)}"


def _begin(bank: Bank, arguments: argparse.Namespace) -> Session:
    path = arguments.session
    if path and Path(path).exists():
        if arguments.rules:
            raise QuaestorError(f"{path}: a test goes on by the rules it began with, got --rules as well")
        try:
            return Session.from_json(bank, Path(path).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise QuaestorError(f"{path}: a saved session can be read, got {error}") from error
        except QuaestorError as error:
            raise QuaestorError(f"{path}: {error}") from error
    return Session(bank, load_rules(arguments.rules) if arguments.rules else DEFAULT, arguments.seed)


def _show(session: Session, question: Question, out: "Console") -> None:
    number = len(session.asked) + 1
    if session.at_most is not None:
        out.print(progress(number, session.at_most), style="dim")
    out.print(f"{number}. {plain_maths(question.with_blanks) or question.id}", style="bold")
    if question.kind in ("matching", "gaps"):
        _show_parts(session, question, out)
    for letter, option in _lettered(_options(session, question)).items():
        out.print(f"   {letter}) {plain_maths(option)}")
    if question.kind in HINTS:
        out.print(f"   ({HINTS[question.kind]})")


def _show_parts(session: Session, question: Question, out: "Console") -> None:
    """What is to be matched, or what may stand in the gaps."""
    for number, part in enumerate(question.parts, start=1):
        options = option_order(session.seed, question, part) if question.kind == "gaps" else ()
        named = plain_maths(part.name) if question.kind == "matching" else "   ".join(f"{a}) {b}" for a, b in _lettered(options).items())
        if named:
            out.print(f"   ({number}) {named}")


def _lettered(options: Sequence[str]) -> dict[str, str]:
    return dict(zip(ascii_lowercase, options, strict=False))


def _options(session: Session, question: Question) -> tuple[str, ...]:
    """The options, drawn where their order is the key; for a question stated by its answer classes alone, these."""
    if question.parts:
        return option_order(session.seed, question)
    return question.options if question.takes_entries else question.classes


def _turn(session: Session, question: Question, out: "Console") -> Session | None:
    """One answer or command; None to quit."""
    while True:
        try:
            entry = input("> ").strip()
        except EOFError:
            return None
        try:
            if entry == "/quit":
                return None
            if entry == "/skip":
                return session.skip(question.id)
            if entry == "/undo":
                return session.undo()
            if entry in ("/why", "/numbers"):
                _why(session, out, entry == "/numbers")
            elif entry.startswith("/"):
                out.print(f"A command is one of  {COMMANDS}")
            elif entry:
                return _answered(session, question, entry)
        except QuaestorError as error:
            out.print(str(error), style="yellow")


def _answered(session: Session, question: Question, entry: str) -> Session:
    if question.parts:
        return session.enter(question.id, _filled(session, question, entry))
    options = _options(session, question)
    letters = {**dict(zip(ascii_lowercase, options, strict=False)), **{option: option for option in options}}  # an option may be a letter
    meant = letters.get(entry, letters.get(entry.lower(), entry))
    if not question.takes_entries:
        return session.answer(question.id, meant)
    if question.kind == "choices" and entry not in options:
        parts = [letters.get(part, letters.get(part.lower(), "")) for part in entry.replace(",", " ").split()]
        if all(parts):
            return session.enter(question.id, parts)
    return session.enter(question.id, meant)


def _filled(session: Session, question: Question, entry: str) -> Entry:
    """An entry for each part: letters or words, with `;` between them, or spaces where all of them are letters; JSON as it is."""
    if isinstance(json_value(entry), list | dict):
        return entry
    several = ";" in entry or question.kind == "gaps"
    pieces = [piece.strip() for piece in (entry.split(";") if several else entry.replace(",", " ").split())]
    lists = [option_order(session.seed, question, part) for part in question.parts]
    if len(pieces) != len(lists):
        return pieces
    return [_lettered(options).get(piece.lower(), piece) for piece, options in zip(pieces, lists, strict=True)]


def _why(session: Session, out: "Console", numbers: bool = False) -> None:
    """Why this question: in two sentences, or the numbers behind them."""
    from rich.padding import Padding

    found = why_question(session)
    if found is not None:
        out.print(Padding(found.numbers if numbers else found.text, (0, 0, 1, 3)), style="dim")


def _quit(session: Session, arguments: argparse.Namespace, out: "Console") -> int:
    path = arguments.session or _free_name()
    save(session.to_json().encode(), path)
    widen = f" --widen {arguments.widen:g}" if arguments.widen else ""
    out.print(f"\nSaved after {_counted(session)}. Go on with:  quaestor take {arguments.bank}{widen} --session {path}")
    return 0


def _free_name() -> str:
    names = ("quaestor-session.json", *(f"quaestor-session-{number}.json" for number in range(2, 1000)))
    return next(name for name in names if not Path(name).exists())


def _result(session: Session, why: bool, out: "Console") -> None:
    out.print()
    out.rule("Result")
    show_beliefs(session.bank, session.beliefs, out)
    out.print()
    show_ledger(session, out)
    found = explain(session)
    out.print()
    for paragraph in found.text.split("\n\n") if why else (found.stop, found.hint):
        if paragraph:
            out.print(f"{paragraph}\n")
    if why:
        out.print(found.numbers, style="dim")
