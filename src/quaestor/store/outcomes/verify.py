"""Stored outcomes beside what the present engine makes of the same answers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError
from quaestor.i18n import said
from quaestor.store.attempts.pace import work_out
from quaestor.store.attempts.scoring import scored
from quaestor.store.models import Attempt, Published, Scoring
from quaestor.store.outcomes.replay import session_at

NEAR = 1e-6  # of a bound: what an engine may differ by on another machine
_FIELDS = ("asked", "counted", "skipped", "right", "points", "expected")


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
    rows = select(Scoring).join(Attempt, Attempt.id == Scoring.attempt_id).where(Attempt.test_id == test.id)
    for row in work.scalars(rows.order_by(Scoring.attempt_id, Scoring.revision)).all():
        try:
            session = session_at(work, test, row.attempt_id, row.revision)
            work_out(session)
            found = tuple(_differences(row, scored(session)))
        except QuaestorError as error:
            found = (("error", "", said(error)),)
        yield Verified(test.id, row.attempt_id, row.revision, row.engine, found)


def _differences(row: Scoring, anew: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    is_cut = any(one.get("cut") for one in (*row.skills.values(), *anew["skills"].values()))
    for name in _FIELDS:
        if name == "expected" and is_cut:  # of rough bounds
            continue
        if abs(getattr(row, name) - anew[name]) > NEAR:
            yield name, getattr(row, name), anew[name]
    for skill, now in anew["skills"].items():
        stored = row.skills.get(skill)
        if stored is None:
            yield skill, None, now["level"]
            continue
        if stored.get("cut") or now.get("cut"):  # what was cut short is true but rough: the truth lies in both
            ends = chain(zip(stored["lower"], now["upper"], strict=True), zip(now["lower"], stored["upper"], strict=True))
            if any(low > high + NEAR for low, high in ends):
                yield f"{skill} bounds", [stored["lower"], stored["upper"]], [now["lower"], now["upper"]]
            continue
        yield from ((f"{skill} {name}", stored[name], now[name]) for name in ("level", "answers") if stored[name] != now[name])
        for name in ("lower", "upper"):
            if any(abs(one - other) > NEAR for one, other in zip(stored[name], now[name], strict=True)):
                yield f"{skill} {name}", stored[name], now[name]
