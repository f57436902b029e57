"""What the answers of an attempt came to, stored beside its log: with every answer, in the transaction that writes it.

So what a child was told stays true, whatever becomes of the engine; every page reads the same numbers, and none has to work them out. There
is one row for each revision of the test by which the attempt was scored after its end.
"""

from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import bindparam, cast, delete, select, table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session as Work

from quaestor.credal.decisions import level
from quaestor.session.log import Answer
from quaestor.session.session import Session
from quaestor.session.sufficiency import answers_for
from quaestor.store.attempts.kept_steps import plain_step
from quaestor.store.attempts.pace import is_quick
from quaestor.store.models import Attempt, Scoring
from quaestor.version import VERSION

NEAR = 0.001  # bounds that were cut short and can be off by no more than this are as good as any
_TABLE = Scoring.__table__
_FIXED = ("attempt_id", "revision")
_INSERTS = {kind: dialect.insert(_TABLE) for kind, dialect in (("sqlite", sqlite), ("postgresql", postgresql))}
_CHANGING = [column.name for column in _TABLE.columns if column.name not in _FIXED]


def _replacing(insert: Any, into: Any) -> Any:
    """A statement that inserts what came of an attempt, in place of what was there."""
    return into.on_conflict_do_update(index_elements=list(_FIXED), set_={name: insert.excluded[name] for name in _CHANGING})


_UPSERT = {kind: _replacing(insert, insert) for kind, insert in _INSERTS.items()}
_EARLIER = delete(Scoring).where(Scoring.attempt_id == bindparam("attempt"), Scoring.revision < bindparam("revision"))


def scored(session: Session) -> dict[str, Any]:
    """What the answers of a session came to, as it is stored; it depends neither on the clock nor on the stop rules."""
    bank, counting = session.bank, session.answers
    put = [line for line in session.log if isinstance(line, Answer) and _counts(session, line.question)]
    given = [(bank.questions[line.question].classes, counting[line.question]) for line in put if line.question in counting]
    worth = [classes.index(answer) / (len(classes) - 1) for classes, answer in given]
    numbers = answers_for(bank, counting)
    skills: dict[str, Any] = {}
    expected = 0.0
    for skill, bounds in session.beliefs.items():
        lower, upper = bounds.lower.tolist(), bounds.upper.tolist()
        skills[skill] = {"level": level(bounds), "answers": numbers[skill], "lower": lower, "upper": upper}
        if session.is_cut and bounds.gap > NEAR:
            skills[skill]["cut"] = True
        expected += float(np.arange(len(lower)) @ bounds.centre)
    return {
        "asked": len(session.asked),
        "counted": len(given),
        "skipped": sum(line.answer is None for line in put),
        "right": sum(one == 1 for one in worth),
        "points": sum(worth),
        "expected": expected,
        "skills": skills,
        "bank_version": bank.version,
        "model_version": bank.model_version,
        "engine": VERSION,
    }


def _counts(session: Session, question: str) -> bool:
    return question not in session.rules.withdrawn and not session.bank.questions[question].pilot


def keep(work: Work, attempt: Attempt, session: Session, at: datetime, revision: int | None = None) -> None:
    """Store what the answers so far came to, by the present revision or another; of an attempt that runs only the present one is kept.

    `at`: when the last answer was given.
    """
    by = attempt.test.revision if revision is None else revision
    if attempt.ended is None and by:
        work.execute(_EARLIER, {"attempt": attempt.id, "revision": by})
    work.execute(_UPSERT[work.get_bind().dialect.name], outcome_row(attempt, session, at, by))


def outcome_row(attempt: Attempt, session: Session, at: datetime, revision: int) -> dict[str, Any]:
    """What the answers so far came to, as the row that stores it."""
    step = None if is_quick(session.bank, session.rules) else plain_step(session)
    return {**scored(session), "attempt_id": attempt.id, "revision": revision, "misfits": None, "at": at, "step": step}


def with_line(line: Any) -> Any:
    """A statement for PostgreSQL: insert a line of the log (`line`, a statement) and, if that was done, store what the answers came to."""
    insert, written = _INSERTS["postgresql"], line.cte("line")
    values = select(*(cast(bindparam(column.name, type_=column.type), column.type) for column in _TABLE.columns)).select_from(table("line"))
    into = insert.from_select([column.name for column in _TABLE.columns], values).add_cte(written)
    return _replacing(insert, into).returning(_TABLE.c.attempt_id)
