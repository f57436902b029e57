"""What a slow step came to, stored beside what the answers came to.

A step that was cut short depends on the clock: had every process of a server its own, a taker might answer a question that the next
process never asked. So of tests whose steps may take long the step is stored in the transaction of the answer before it, and worked out
once. Quick steps are the same everywhere, and nothing is stored of them.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session as Work

from quaestor.i18n import packed, unpacked
from quaestor.model.beliefs import Beliefs, Bounds
from quaestor.session.limited import Decided
from quaestor.session.session import Session, Stop
from quaestor.store.models import Attempt, Scoring

_STEP = select(Scoring.step, Scoring.skills).where(
    Scoring.attempt_id == bindparam("attempt"), Scoring.revision == bindparam("revision"), Scoring.at == bindparam("at")
)


def plain_step(session: Session) -> dict[str, Any]:
    """The step of a session as it is stored; the outer bounds of its skills stand beside it."""
    asked, stopped = session.next, session.stopped
    return {
        "question": None if asked is None else asked.id,
        "stopped": None if stopped is None else {"reason": packed(stopped.reason), "rule": stopped.rule},
        "inner": {skill: [found.inner_lower.tolist(), found.inner_upper.tolist()] for skill, found in session.beliefs.items()},
        "method": {skill: found.method for skill, found in session.beliefs.items()},
        "cut": session.is_cut,
    }


def stored_step(work: Work, attempt: Attempt, session: Session, at: datetime) -> Decided | None:
    """The step of an attempt after the answer that was given at a moment; None if it is not stored."""
    found = work.execute(_STEP, {"attempt": attempt.id, "revision": attempt.test.revision, "at": at}).first()
    if found is None or found.step is None:
        return None
    step, skills = found.step, found.skills
    levels = {skill.id: skill.levels for skill in session.bank.skills.values()}
    known = {}
    for skill, names in levels.items():
        inner_lower, inner_upper = step["inner"][skill]
        known[skill] = Bounds(names, skills[skill]["lower"], skills[skill]["upper"], inner_lower, inner_upper, step["method"][skill])
    stopped = None if step["stopped"] is None else Stop(unpacked(step["stopped"]["reason"]), step["stopped"]["rule"])
    return Decided(step["question"], stopped, Beliefs(known), step["cut"])
