"""The log of an attempt replayed by another bank and other rules than the present ones of its test."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session as Work

from quaestor.bankfile.bank import Bank
from quaestor.model.question import Question
from quaestor.selection.rules_file import read_rules
from quaestor.session.session import Session
from quaestor.store.attempts.session_cache import line_of, start_of
from quaestor.store.corrections import KEY, bank_at, corrections_of
from quaestor.store.models import Attempt, Event, Published
from quaestor.store.publishing import open_bank


def replay(work: Work, attempt: int, bank: Bank, rules: Mapping[str, Any], anew: Mapping[str, Question]) -> Session:
    """The session of an attempt by a bank and rules; `anew`: questions by whose key what was entered is classified anew."""
    seed, start = work.execute(select(Attempt.seed, Attempt.start).where(Attempt.id == attempt)).one()
    lines = select(Event.question, Event.answer, Event.entry, Event.seconds).where(Event.attempt_id == attempt).order_by(Event.step)
    log = tuple(line_of(anew, *line) for line in work.execute(lines))
    return Session(bank, read_rules(rules), seed, log, start_of(start))


def session_at(work: Work, test: Published, attempt: int, revision: int) -> Session:
    """The session of an attempt as it was scored at a revision of its test."""
    kept, rules = bank_at(work, test, revision)
    bank = open_bank(kept)
    keys = [one.question for one in corrections_of(work, test) if one.kind == KEY and one.revision <= revision]
    return replay(work, attempt, bank, rules, {question: bank.questions[question] for question in keys})
