"""A queue of background jobs: requested by a teacher, run by exactly one worker at a time, never lost.

A worker claims a job with its own token and sends heartbeats (`beat`). If there was none for `SILENT` seconds, another worker starts the
job again from the beginning; jobs are seeded, so the result is the same. A worker can write only while it holds the job; once another one
has claimed it, or it was deleted, `LostError` tells the worker to stop.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import and_, delete, func, or_, select, true, update
from sqlalchemy.orm import Session as Work
from sqlalchemy.orm import undefer

from quaestor.errors import QuaestorError
from quaestor.i18n import packed, say
from quaestor.store.clock import now
from quaestor.store.models import Job, Teacher
from quaestor.store.publishing import MissingError
from quaestor.store.texts import clean

WAITING, RUNNING, DONE, FAILED = "waiting", "running", "done", "failed"
BEAT, SILENT = 0.5, 15  # seconds between two heartbeats; seconds without one after which a job can be claimed again
TRIES = 3  # a job that was interrupted so often has failed
KEPT = timedelta(days=90)
MOST_OPEN = 5  # unfinished jobs of one teacher
BROKEN_OFF = say("it was begun {count} times and broken off each time; perhaps it is too large for this server", count=TRIES)


class LostError(QuaestorError):
    """The worker does not hold the job any more."""


def ask(work: Work, teacher: Teacher, kind: str, subject: str, asked: Mapping[str, Any]) -> Job:
    """Request a job."""
    is_open = Job.state.in_((WAITING, RUNNING))
    count = work.scalar(select(func.count()).where(Job.teacher_id == teacher.id, is_open)) or 0
    if count >= MOST_OPEN:
        words = say("{count} of your trials {count:is|are} not finished yet; please wait for one of them, or cancel it", count=count)
        raise QuaestorError(words)
    made = _new(teacher.id, kind, subject, asked)
    work.add(made)
    work.flush()
    return made


def _new(teacher: int, kind: str, subject: str, asked: Mapping[str, Any]) -> Job:
    moment = now()
    return Job(
        teacher_id=teacher,
        kind=kind,
        subject=subject,
        asked=dict(asked),
        state=WAITING,
        share=0.0,
        found=None,
        words="",
        worker="",
        tries=0,
        beat=moment,
        created=moment,
    )


def ask_once(work: Work, teacher: int, kind: str, subject: str, asked: Mapping[str, Any], pause: float = 0.0) -> None:
    """Request a job that nobody waits for, unless one on the same subject waits, or was requested less than `pause` seconds ago."""
    same, late = (Job.kind == kind, Job.subject == subject), now() - timedelta(seconds=pause)
    if work.scalar(select(Job.id).where(*same, or_(Job.state == WAITING, Job.created > late)).limit(1)) is None:
        work.execute(delete(Job).where(*same, Job.state.in_((DONE, FAILED))))
        work.add(_new(teacher, kind, subject, asked))
        work.flush()


def job_of(work: Work, teacher: Teacher, number: int, kind: str | None = None) -> Job:
    """A job of a teacher, with request and result; the same MissingError whether it is another teacher's or does not exist."""
    found = work.get(Job, number, options=[undefer(Job.asked), undefer(Job.found)])
    if found is None or found.teacher_id != teacher.id or kind not in (None, found.kind):
        raise MissingError(say("there is no such trial"))
    return found


def jobs_of(work: Work, teacher: Teacher, kind: str, subject: str, most: int = 20) -> Sequence[Job]:
    """A teacher's jobs of a kind on a subject, the latest first, with their requests."""
    mine = select(Job).where(Job.teacher_id == teacher.id, Job.kind == kind, Job.subject == subject)
    return work.scalars(mine.options(undefer(Job.asked)).order_by(Job.id.desc()).limit(most)).all()


def is_any(work: Work, kinds: Sequence[str]) -> bool:
    """Whether a job of one of these kinds can be claimed; only reads."""
    return work.scalar(select(Job.id).where(_free(), Job.kind.in_(kinds)).limit(1)) is not None


def counts(work: Work) -> dict[str, int]:
    """How many jobs there are in each state."""
    found = work.execute(select(Job.state, func.count()).group_by(Job.state)).all()
    return dict.fromkeys((WAITING, RUNNING, DONE, FAILED), 0) | {state: count for state, count in found}  # noqa: C416


def claim(work: Work, worker: str, kinds: Sequence[str] = (), each: int | None = None) -> int | None:
    """Claim the oldest free job, of these kinds if any are named; returns its id, or None.

    A job that was interrupted too often is marked as failed. `each`: of how many jobs of one teacher are worked on at a time, so that
    what one asks for never holds up another.
    """
    of_kind = Job.kind.in_(kinds) if kinds else true()
    columns = select(Job.id, Job.tries, Job.teacher_id)
    for number, tries, teacher in work.execute(columns.where(_free(), of_kind).order_by(Job.id)).all():
        if each is not None and _at_work(work, teacher, of_kind) >= each:
            continue
        values: dict[str, Any] = {"state": RUNNING, "worker": worker, "beat": now(), "share": 0.0, "tries": Job.tries + 1}
        if tries >= TRIES:
            values = {"state": FAILED, "words": packed(BROKEN_OFF)}
        taken = work.execute(update(Job).where(Job.id == number, _free()).values(values)).rowcount  # type: ignore[attr-defined]
        if taken and tries < TRIES:
            return int(number)
    return None


def _at_work(work: Work, teacher: int, of_kind: Any) -> int:
    """How many jobs of a teacher are worked on; until this unit of work ends nobody else begins one of theirs."""
    work.execute(select(Teacher.id).where(Teacher.id == teacher).with_for_update())
    mine = select(func.count()).where(Job.teacher_id == teacher, of_kind, Job.state == RUNNING, ~_free())
    return work.scalar(mine) or 0


def is_held(work: Work, number: int, worker: str) -> bool:
    """Whether a worker still holds a job."""
    return work.scalar(select(Job.id).where(*_mine(number, worker))) is not None


def asked_of(work: Work, number: int, worker: str) -> tuple[str, dict[str, Any]]:
    """The kind and the request of a job that this worker holds."""
    found = work.execute(select(Job.kind, Job.asked).where(*_mine(number, worker))).first()
    if found is None:
        raise LostError(f"job {number}: claimed by {worker}, got another worker or none")
    return found[0], found[1]


def beat(work: Work, number: int, worker: str, share: float) -> None:
    """Send a heartbeat, with the share of the work that is done."""
    _write(work, number, worker, {"share": min(max(share, 0.0), 1.0), "beat": now()})


def finish(work: Work, number: int, worker: str, found: Any) -> None:
    """Store the result of a job."""
    _write(work, number, worker, {"state": DONE, "share": 1.0, "found": found, "beat": now()})


def fail(work: Work, number: int, worker: str, words: str) -> None:
    """Mark a job as failed; `words`: the reason, stored so that it can be translated."""
    _write(work, number, worker, {"state": FAILED, "words": clean(packed(words)), "beat": now()})


def give_back(work: Work, number: int, worker: str, is_try: bool) -> None:
    """Release a job so that it can be claimed at once. `is_try`: count an interrupted try; not if the worker was asked to stop."""
    tries = Job.tries if is_try else Job.tries - 1
    _write(work, number, worker, {"state": WAITING, "worker": "", "share": 0.0, "tries": tries})


def drop(work: Work, job: Job) -> None:
    """Delete a job, finished or not; its worker is ended within a second."""
    work.execute(delete(Job).where(Job.id == job.id))


def forget_old(work: Work, moment: datetime) -> None:
    """Delete jobs older than `KEPT`."""
    work.execute(delete(Job).where(Job.created < moment - KEPT))


def _free() -> Any:
    """The condition for a job that can be claimed: waiting, or running without a recent heartbeat."""
    return or_(Job.state == WAITING, and_(Job.state == RUNNING, Job.beat < now() - timedelta(seconds=SILENT)))


def _mine(number: int, worker: str) -> tuple[Any, ...]:
    return Job.id == number, Job.worker == worker, Job.state == RUNNING


def _write(work: Work, number: int, worker: str, values: Mapping[str, Any]) -> None:
    if not work.execute(update(Job).where(*_mine(number, worker)).values(values)).rowcount:  # type: ignore[attr-defined]
        raise LostError(f"job {number}: claimed by {worker}, got another worker or none")
