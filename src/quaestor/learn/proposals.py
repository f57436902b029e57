"""Proposals: what a fit would change in a bank, one for each skill or question, to be accepted or refused one by one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from quaestor.bankfile.bank import Bank
from quaestor.bankfile.sentences import question_sentence, skill_sentence
from quaestor.errors import QuaestorError
from quaestor.learn.diagnose import Diagnosis
from quaestor.learn.fit import Fit
from quaestor.model.table import Table


@dataclass(frozen=True)
class Proposal:
    """A new table for a skill or question: the `current` and the `proposed` one, both in words (`before`, `after`), and its evidence.

    `answers`: the number of answers (for a skill: of people) it was learnt from. `change`: the largest difference between the two tables'
    centres.
    `flags` and `words`: those of the question's diagnosis.
    """

    id: str
    kind: str  # `skill` or `question`
    current: Table
    proposed: Table
    before: str
    after: str
    answers: int
    change: float
    flags: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


def proposals(fit: Fit, diagnoses: Sequence[Diagnosis] = (), learnt: Bank | None = None) -> tuple[Proposal, ...]:
    """The proposals of a fit: skills, then questions with answers, in the order of the bank.

    `learnt`: the bank to propose, such as a credal one from `intervals`; by default the precise one of the fit.
    """
    learnt = learnt or fit.bank
    known = {diagnosis.question: diagnosis for diagnosis in diagnoses}
    answered = _answers(fit)
    found = []
    for name, skill in fit.given.skills.items():
        other = learnt.skills[name]
        said = (skill_sentence(skill, fit.given.skills), skill_sentence(other, learnt.skills))
        found.append(Proposal(name, "skill", skill.table, other.table, *said, len(fit.people), change(skill.table, other.table)))
    for name, question in fit.given.questions.items():
        if not answered[name]:
            continue
        new = learnt.questions[name]
        said = (question_sentence(question, fit.given.skills), question_sentence(new, learnt.skills))
        flags, words = (known[name].flags, known[name].words) if name in known else ((), ())
        moved = change(question.table, new.table)
        found.append(Proposal(name, "question", question.table, new.table, *said, answered[name], moved, flags, words))
    return tuple(found)


def accept(bank: Bank, accepted: Iterable[Proposal]) -> Bank:
    """The bank with the accepted tables; refused if a table that would be replaced is not the one the proposal was made for."""
    tables = {}
    for proposal in accepted:
        own = (bank.skills if proposal.kind == "skill" else bank.questions).get(proposal.id)
        if own is None or own.table != proposal.current:
            what = "another table" if own is not None else "none"
            raise QuaestorError(f"proposals.{proposal.id}: the bank still has the table that the proposal would replace, got {what}")
        tables[proposal.id] = proposal.proposed
    return bank.with_tables(tables) if tables else bank


def change(one: Table, other: Table) -> float:
    """The largest difference between the centres of two tables."""
    return float(np.abs(one.centre().lower - other.centre().lower).max())


def _answers(fit: Fit) -> dict[str, int]:
    names = list(fit.given.questions)
    found = dict.fromkeys(names, 0)
    for group, counts in zip(fit.layout.groups, fit.expected.counts.groups, strict=True):
        for number, position in enumerate(group.positions.tolist()):
            found[names[position]] = round(float(counts[number].sum()))
    return found
