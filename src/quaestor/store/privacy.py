"""The data of one taker: exported, deleted, or anonymised after the retention period of a test.

Anonymising keeps the results: names become `erased`, entries to `text` questions are removed (people may type anything there), and the
answer classes stay, so every result is the same as before. Codes and keys are replaced by ones that cannot be entered. What is deleted or
erased here is gone from the files of the database too (`erasure`).
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy import delete as delete_rows
from sqlalchemy.orm import Session as Work

from quaestor.model.question import Question
from quaestor.store.attempts import session_cache
from quaestor.store.attempts.state import CLOSED, state_of
from quaestor.store.clock import now
from quaestor.store.corrections import corrections_of
from quaestor.store.erasure import erased
from quaestor.store.models import Attempt, Event, Published, Pupil, Reply, Scoring
from quaestor.store.platform_tables import Placement, Seat
from quaestor.store.publishing import open_bank
from quaestor.store.secrets import code, token

ERASED = "erased"
_MARK = "-"  # not in any code; `secrets.tidy` removes it from what is typed
_NOBODY = f"{_MARK}%"
_HAPPENED = func.coalesce(Attempt.ended, Attempt.started)
_APART = {"synchronize_session": False}  # rows that were deleted meanwhile are no error


def export(work: Work, attempt: Attempt, codes: bool = True) -> dict[str, Any]:
    """All data on one attempt as plain data, except its `key`, which is a secret of the browser. `codes`: with the codes of its taker."""
    session = state_of(work, attempt).session
    pupil = work.get(Pupil, attempt.pupil_id) if attempt.pupil_id is not None else None
    bank = session.bank
    lines = work.scalars(select(Event).where(Event.attempt_id == attempt.id).order_by(Event.step)).all()
    rows = select(Scoring).where(Scoring.attempt_id == attempt.id)
    return {
        "name": attempt.name,
        "code": attempt.code if codes else None,
        "pupil": None if pupil is None else {"name": pupil.name, "code": pupil.code if codes else None},
        "test": {"title": attempt.test.title, "mode": attempt.test.mode, "rules": attempt.test.rules},
        "bank": {"title": bank.title, "version": bank.version},
        "started": _moment(attempt.started),
        "ended": _moment(attempt.ended),
        "reason": attempt.reason,
        "extra_minutes": attempt.extra,
        "time_factor": attempt.factor,
        "start": attempt.start,
        "set_aside": _moment(attempt.set_aside),
        "seed": attempt.seed,
        "log": [
            {
                "step": line.step,
                "question": line.question,
                "text": bank.questions[line.question].text,
                "answer": line.answer,
                "entry": line.entry,
                "seconds": line.seconds,
                "at": _moment(line.at),
            }
            for line in lines
        ],
        "result": {
            skill: {
                level: [round(float(low), 6), round(float(high), 6)]
                for level, low, high in zip(bounds.states, bounds.lower, bounds.upper, strict=True)
            }
            for skill, bounds in session.beliefs.items()
        },
        "scorings": [_scoring(row) for row in work.scalars(rows.order_by(Scoring.revision))],
        "corrections": [
            {"revision": one.revision, "kind": one.kind, "question": one.question, "note": one.note, "at": _moment(one.at)}
            for one in corrections_of(work, attempt.test)
        ],
    }


def _scoring(row: Scoring) -> dict[str, Any]:
    told = ("revision", "asked", "counted", "skipped", "right", "points", "skills", "bank_version", "model_version", "engine", "misfits")
    return {**{name: getattr(row, name) for name in told}, "at": _moment(row.at)}


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else f"{moment.isoformat(timespec='seconds')}Z"


def has_name() -> ColumnElement[bool]:
    """The condition that the name of an attempt was not erased: its taker may come back."""
    return Attempt.code.not_like(_NOBODY)


def is_named(attempt: Attempt) -> bool:
    """The same of one attempt."""
    return not attempt.code.startswith(_MARK)


def delete(work: Work, attempt: Attempt) -> None:
    """Delete an attempt and its log."""
    session_cache.forget(attempt)
    work.execute(delete_rows(Attempt).where(Attempt.id == attempt.id))
    work.expunge(attempt)
    erased(work)


def delete_pupil(work: Work, pupil: Pupil) -> None:
    """Delete a pupil and all their attempts."""
    for attempt in work.scalars(select(Attempt).where(Attempt.pupil_id == pupil.id)).all():
        delete(work, attempt)
    work.execute(delete_rows(Pupil).where(Pupil.id == pupil.id))
    work.expunge(pupil)
    erased(work)


def delete_test(work: Work, test: Published) -> None:
    """Delete a test with its pupils, attempts and answers."""
    work.delete(test)
    erased(work)


def forgetful(work: Work) -> Sequence[int]:
    """The ids of the tests with a retention period."""
    return work.scalars(select(Published.id).where(Published.keep_days.is_not(None)).order_by(Published.id)).all()


def erase_names(work: Work, test_id: int, moment: datetime) -> int:
    """Anonymise the attempts of a test whose retention period is over, and its class when its time has come; returns their number.

    For an attempt the period begins with its end (or its start, if it never ended). A pupil whose attempts are all anonymised is no longer
    tied to them: a nameless one takes their place. The names of the class go when the periods of all its tests are over, each since the
    last event of the test: publication, opening, closing, or the end (or start) of an attempt. Rows that are deleted at the same moment are
    skipped.
    """
    test = work.get(Published, test_id)
    if test is None or test.keep_days is None:
        return 0
    named = select(Attempt).where(Attempt.test_id == test.id, moment - timedelta(days=test.keep_days) > _HAPPENED, has_name())
    count = _erase_attempts(work, test, work.scalars(named).all())
    of_class = select(Published).where(Published.class_id == test.class_id)
    if test.class_id is not None and all(_is_past(work, one, moment) for one in work.scalars(of_class)):
        count += _erase_class(work, test.class_id)
    count += _untie(work, test)
    if count:
        erased(work)
    return count


def _is_past(work: Work, test: Published, moment: datetime) -> bool:
    """Whether the retention period of a test is over since the last thing that happened in it."""
    last = work.scalar(select(func.max(_HAPPENED)).where(Attempt.test_id == test.id))
    began = max(filter(None, (test.created, test.opens, test.closes, last)))
    return test.keep_days is not None and began < moment - timedelta(days=test.keep_days)


def _erase_attempts(work: Work, test: Published, attempts: Sequence[Attempt]) -> int:
    if not attempts:
        return 0
    asked = open_bank(test.bank).questions.values()
    typed = [question.id for question in asked if "text" in (question.kind, *(part.kind for part in question.parts))]
    keyed = {name: question for name, question in session_cache.corrected(work, test).items() if name in typed}
    for attempt in attempts:
        session_cache.forget(attempt)
        blank: dict[str, Any] = {"name": ERASED, "code": _no_code(), "key": token()[:32]}
        if attempt.ended is None:  # nobody can go on with it
            blank |= {"ended": now(), "reason": str(CLOSED)}
        work.execute(update(Attempt).where(Attempt.id == attempt.id).values(blank), execution_options=_APART)
        work.execute(delete_rows(Reply).where(Reply.attempt_id == attempt.id), execution_options=_APART)
        _keep_classes(work, attempt, keyed)
        if typed:
            work.execute(update(Event).where(Event.attempt_id == attempt.id, Event.question.in_(typed)).values(entry=None))
    return len(attempts)


def _keep_classes(work: Work, attempt: Attempt, keyed: Mapping[str, Question]) -> None:
    """Let what was typed at questions whose key was corrected count as it does now, when it is erased; what it counted before goes."""
    lines = work.scalars(select(Event).where(Event.attempt_id == attempt.id, Event.question.in_(keyed))).all() if keyed else ()
    changed = False
    for line in lines:
        now_is = session_cache.line_of(keyed, line.question, line.answer, line.entry, line.seconds).answer
        changed, line.answer = changed or now_is != line.answer, now_is
    if changed:
        work.flush()
        last = select(func.max(Scoring.revision)).where(Scoring.attempt_id == attempt.id).scalar_subquery()
        work.execute(delete_rows(Scoring).where(Scoring.attempt_id == attempt.id, Scoring.revision < last), execution_options=_APART)


def _erase_class(work: Work, number: int) -> int:
    """Anonymise all pupils of a class."""
    found = work.scalars(select(Pupil.id).where(Pupil.class_id == number, Pupil.code.not_like(_NOBODY))).all()
    for pupil in found:
        blank = {"name": ERASED, "code": _no_code(), "source": ""}
        work.execute(update(Pupil).where(Pupil.id == pupil).values(blank), execution_options=_APART)
        work.execute(delete_rows(Seat).where(Seat.pupil_id == pupil), execution_options=_APART)  # who they are at a platform
    return len(found)


def _untie(work: Work, test: Published) -> int:
    """Put a nameless pupil of no class in the place of each whose attempts at a test are all anonymised: they still belong together."""
    mine = select(Attempt.id).where(Attempt.pupil_id == Pupil.id, Attempt.test_id == test.id)
    gone = mine.exists() & ~mine.where(has_name()).exists()
    found = work.scalars(select(Pupil.id).where(Pupil.code.not_like(_NOBODY), gone)).all()
    for pupil in found:
        nobody = Pupil(class_id=None, name=ERASED, code=_no_code())
        work.add(nobody)
        work.flush()
        theirs = update(Attempt).where(Attempt.pupil_id == pupil, Attempt.test_id == test.id)
        work.execute(theirs.values(pupil_id=nobody.id), execution_options=_APART)
        at_test = select(Placement.id).where(Placement.test_id == test.id)  # the grade at a platform stays as it is
        work.execute(delete_rows(Seat).where(Seat.pupil_id == pupil, Seat.placement_id.in_(at_test)), execution_options=_APART)
    return len(found)


def _no_code() -> str:
    """A replacement for a code that opens nothing."""
    return _MARK + code(11)
