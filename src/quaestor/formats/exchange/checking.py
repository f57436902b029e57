"""Questions of other systems held against the rules of a bank: one that breaks a rule is refused with that rule, the others stay."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TypeVar

from quaestor.bankfile.bank import Bank
from quaestor.errors import BankError, got
from quaestor.formats.exchange.imported import Imported, Note, to_document
from quaestor.i18n import say

T = TypeVar("T")


def checked(imported: Imported) -> Imported:
    """What was understood, with the questions that a bank would not take among those refused."""
    while imported.questions:
        try:
            Bank(to_document(imported))
        except BankError as error:
            faults: dict[str, Note] = {}
            for problem in error.problems:
                own = _question(problem.place, imported.questions)
                if own and own not in faults:
                    words = say("it breaks a rule of banks: {words}", words=got(problem.rule, problem.value, problem.hint))
                    faults[own] = Note(imported.places.get(own, ""), own, words)
            if not faults:  # a fault of the bank itself, which only Quaestor's own part of a file can have
                raise
            imported = without(imported, faults)
        else:
            break
    return replace(imported, media=_used(imported))


def _used(imported: Imported) -> dict[str, bytes]:
    """The pictures and sounds that the questions show and play."""
    texts = "\n".join(str(fields) for fields in imported.questions.values()) if imported.media else ""
    return {name: content for name, content in imported.media.items() if f"({name})" in texts or f"'{name}'" in texts}


def without(imported: Imported, refused: Mapping[str, Note]) -> Imported:
    """What was understood, with some of the questions refused instead."""
    kept = [own for own in imported.questions if own not in refused]
    notes = tuple(note for note in imported.notes if note.question not in refused)
    return replace(only(imported, kept), notes=notes, refused=(*imported.refused, *refused.values()))


def only(imported: Imported, kept: Collection[str]) -> Imported:
    """What was understood of these questions alone."""
    wanted = set(kept)

    def some(found: dict[str, T]) -> dict[str, T]:
        return {own: value for own, value in found.items() if own in wanted}

    notes = tuple(note for note in imported.notes if not note.question or note.question in wanted)
    return replace(
        imported,
        questions=some(imported.questions),
        categories=some(imported.categories),
        tags=some(imported.tags),
        places=some(imported.places),
        notes=notes,
    )


def _question(place: str, questions: Collection[str]) -> str:
    """The question that a place such as `questions.Q1.correct` is in; empty where it is in none. An id may hold full stops itself."""
    steps = place.removeprefix("questions.").split(".") if place.startswith("questions.") else []
    for count in range(len(steps), 0, -1):
        name = ".".join(steps[:count])
        for own in (name, name.partition("[")[0]):
            if own in questions:
                return own
    return ""
