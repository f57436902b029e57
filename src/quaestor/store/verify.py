"""Stored outcomes beside what the present engine makes of the same answers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError
from quaestor.i18n import said
from quaestor.selection.rules_file import read_rules
from quaestor.session.session import Session
from quaestor.store.corrections import KEY, bank_at, corrections_of
from quaestor.store.models import Attempt, Event, Published, Scoring
from quaestor.store.publishing import open_bank
from quaestor.store.scoring import scored
from quaestor.store.sessions import line_of

NEAR = 1e-6  # of a bound: what an engine may differ by on another machine
_FIELDS = ("asked", "counted", "skipped", "right", "points")


@dataclass(frozen=True)
class Verified:
    """One stored outcome. `engine`: the version that made it; `differences`: what the present one finds otherwise, (what, stored, now)."""

    test: int
    attempt: int
    revision: int
    engine: str
    differences: tuple[tuple[str, Any, Any], ...]


def verify(work: Work, test: Published) -> Iterator[Verified]:
    """Replay the logs of all stored outcomes of a test; those of earlier revisions by the bank and the rules of that time."""
    keys = {one.revision: one.question for one in corrections_of(work, test) if one.kind == KEY}
    rows = select(Scoring, Attempt.seed).join(Attempt, Attempt.id == Scoring.attempt_id).where(Attempt.test_id == test.id)
    for row, seed in work.execute(rows.order_by(Scoring.attempt_id, Scoring.revision)).all():
        kept, rules = bank_at(work, test, row.revision)
        bank = open_bank(kept)
        anew = {question: bank.questions[question] for revision, question in keys.items() if revision <= row.revision}
        lines = select(Event.question, Event.answer, Event.entry, Event.seconds).where(Event.attempt_id == row.attempt_id)
        try:
            log = tuple(line_of(anew, *line) for line in work.execute(lines.order_by(Event.step)))
            found = tuple(_differences(row, scored(Session(bank, read_rules(rules), seed, log))))
        except QuaestorError as error:
            found = (("error", "", said(error)),)
        yield Verified(test.id, row.attempt_id, row.revision, row.engine, found)


def _differences(row: Scoring, anew: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for name in _FIELDS:
        if abs(getattr(row, name) - anew[name]) > NEAR:
            yield name, getattr(row, name), anew[name]
    for skill, now in anew["skills"].items():
        stored = row.skills.get(skill)
        if stored is None:
            yield skill, None, now["level"]
            continue
        yield from ((f"{skill} {name}", stored[name], now[name]) for name in ("level", "answers") if stored[name] != now[name])
        for name in ("lower", "upper"):
            if any(abs(one - other) > NEAR for one, other in zip(stored[name], now[name], strict=True)):
                yield f"{skill} {name}", stored[name], now[name]
