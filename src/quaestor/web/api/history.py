"""What happened in a session: each line of its log with why the question was asked, and what was known before and after."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError
from quaestor.report.advice import findings
from quaestor.report.marking import worth
from quaestor.session.explain.changes import changes
from quaestor.session.explain.reasons import Change, WhyQuestion
from quaestor.session.explain.why import why_question
from quaestor.session.limited import PATH, Path
from quaestor.session.log import Answer
from quaestor.session.session import Session
from quaestor.store.attempts.pace import found, is_quick
from quaestor.store.attempts.taking import state_of
from quaestor.store.models import Attempt, Event
from quaestor.web.api.fields import moment
from quaestor.web.api.questions import change_of, finding


def history(work: Work, attempt: Attempt) -> list[dict[str, Any]]:
    """The lines of a session's log."""
    stands = state_of(work, attempt)
    times = work.execute(select(Event.seconds, Event.at).where(Event.attempt_id == attempt.id).order_by(Event.step)).all()
    session = stands.session
    steps = session.so_far
    if is_quick(session.bank, session.rules):
        changed: Sequence[Sequence[Change]] = changes(session)
        whys = [why_question(before) for before in steps[:-1]]
    else:
        path: Path | None = found(PATH, session)
        if path is None:
            raise QuaestorError("history: of this bank it takes longer to work out than the server allows; the answers are in the results")
        for then, known in zip(steps, path.beliefs, strict=True):
            then.__dict__["beliefs"] = known
        changed, whys = path.changes, [None] * len(session.log)
    return [
        _line(number, steps[number - 1], steps[number], whys[number - 1], changed[number - 1], seconds, moment(at))
        for number, (seconds, at) in enumerate(times[: len(steps) - 1], 1)
    ]


def _line(
    step: int, before: Session, after: Session, why: WhyQuestion | None, changed: Sequence[Change], seconds: float, at: str | None
) -> dict[str, Any]:
    line = after.log[-1]
    assert isinstance(line, Answer)
    asked = after.bank.questions[line.question]
    return {
        "step": step,
        "question": asked.id,
        "text": asked.text,
        "entry": line.entry,
        "answer": line.answer,
        "value": worth(asked, line),
        "seconds": round(max(0.0, seconds), 1),
        "at": at,
        "why": why.text if why is not None else "",
        "numbers": why.numbers if why is not None else "",
        "changes": [change_of(one) for one in changed],
        "before": [finding(one, always=True) for one in findings(before)],
        "after": [finding(one, always=True) for one in findings(after)],
    }
