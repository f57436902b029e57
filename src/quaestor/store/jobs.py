"""Work in the background: asked for by a teacher, done by exactly one worker at a time, never lost.

Whoever claims a job marks it with a token of their own and says every now and then that they are at it (`beat`). A job whose worker has
been silent for `SILENT` seconds is taken up by another one, from the beginning: jobs are seeded, so it comes to the same. Everything a
worker writes is written only while the job is still theirs; if it is not (taken up by another, or deleted), `LostError` tells them to stop.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import and_, delete, func, or_, select, update
from sqlalchemy.orm import Session as Work
from sqlalchemy.orm import undefer

from quaestor.errors import QuaestorError
from quaestor.i18n import packed, say
from quaestor.store.clock import now
from quaestor.store.models import Job, Teacher
from quaestor.store.publishing import MissingError
from quaestor.store.texts import clean

WAITING, RUNNING, DONE, FAILED = "waiting", "running", "done", "failed"
BEAT, SILENT = 0.5, 15  # seconds between two signs of life; seconds of silence after which another takes a job up
TRIES = 3  # a job that was broken off so often is given up
KEPT = timedelta(days=90)
MOST_OPEN = 5  # unfinished jobs of one teacher
BROKEN_OFF = say("it was begun {count} times and broken off each time; perhaps it is too large for this server", count=TRIES)


class LostError(QuaestorError):
    """The job is no longer this worker's."""


def ask(work: Work, teacher: Teacher, kind: str, subject: str, asked: Mapping[str, Any]) -> Job:
    """Ask for a job; old ones are forgotten on this occasion."""
    work.execute(delete(Job).where(Job.created < now() - KEPT))
    is_open = Job.state.in_((WAITING, RUNNING))
    count = work.scalar(select(func.count()).where(Job.teacher_id == teacher.id, is_open)) or 0
    if count >= MOST_OPEN:
        words = say("{count} of your trials {count:is|are} not finished yet; please wait for one of them, or cancel it", count=count)
        raise QuaestorError(words)
    moment = now()
    made = Job(
        teacher_id=teacher.id,
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
    work.add(made)
    work.flush()
    return made


def job_of(work: Work, teacher: Teacher, number: int, kind: str | None = None) -> Job:
    """One of a teacher's jobs, of a kind or of any, with what was asked and found; the same words whether it is another's or nobody's."""
    found = work.get(Job, number, options=[undefer(Job.asked), undefer(Job.found)])
    if found is None or found.teacher_id != teacher.id or kind not in (None, found.kind):
        raise MissingError(say("there is no such trial"))
    return found


def jobs_of(work: Work, teacher: Teacher, kind: str, subject: str, most: int = 20) -> Sequence[Job]:
    """A teacher's jobs about something, the latest first, with what was asked."""
    mine = select(Job).where(Job.teacher_id == teacher.id, Job.kind == kind, Job.subject == subject)
    return work.scalars(mine.options(undefer(Job.asked)).order_by(Job.id.desc()).limit(most)).all()


def is_any(work: Work) -> bool:
    """Whether there is something to do: it reads only."""
    return work.scalar(select(Job.id).where(_free()).limit(1)) is not None


def claim(work: Work, worker: str) -> int | None:
    """Take the oldest job that nobody is at: its number, or None. One that was broken off too often is given up."""
    for number, tries in work.execute(select(Job.id, Job.tries).where(_free()).order_by(Job.id)).all():
        values: dict[str, Any] = {"state": RUNNING, "worker": worker, "beat": now(), "share": 0.0, "tries": Job.tries + 1}
        if tries >= TRIES:
            values = {"state": FAILED, "words": packed(BROKEN_OFF)}
        taken = work.execute(update(Job).where(Job.id == number, _free()).values(values)).rowcount  # type: ignore[attr-defined]
        if taken and tries < TRIES:
            return int(number)
    return None


def asked_of(work: Work, number: int, worker: str) -> tuple[str, dict[str, Any]]:
    """The kind of a job that this worker claimed, and what was asked."""
    found = work.execute(select(Job.kind, Job.asked).where(*_mine(number, worker))).first()
    if found is None:
        raise LostError(f"job {number}: claimed by {worker}, got another worker or none")
    return found[0], found[1]


def beat(work: Work, number: int, worker: str, share: float) -> None:
    """Say that the worker is at it, and how far."""
    _write(work, number, worker, {"share": min(max(share, 0.0), 1.0), "beat": now()})


def finish(work: Work, number: int, worker: str, found: Any) -> None:
    """Say what came of it."""
    _write(work, number, worker, {"state": DONE, "share": 1.0, "found": found, "beat": now()})


def fail(work: Work, number: int, worker: str, words: str) -> None:
    """Say why nothing came of it: a sentence, kept so that it can be said in another language."""
    _write(work, number, worker, {"state": FAILED, "words": clean(packed(words)), "beat": now()})


def give_back(work: Work, number: int, worker: str, is_try: bool) -> None:
    """Let another worker take it up at once. `is_try`: the job broke off, which counts; else this worker was told to stop."""
    tries = Job.tries if is_try else Job.tries - 1
    _write(work, number, worker, {"state": WAITING, "worker": "", "share": 0.0, "tries": tries})


def drop(work: Work, job: Job) -> None:
    """Delete a job, finished or not; whoever is at it stops at the next beat."""
    work.execute(delete(Job).where(Job.id == job.id))


def _free() -> Any:
    """Jobs that nobody is at."""
    return or_(Job.state == WAITING, and_(Job.state == RUNNING, Job.beat < now() - timedelta(seconds=SILENT)))


def _mine(number: int, worker: str) -> tuple[Any, ...]:
    return Job.id == number, Job.worker == worker, Job.state == RUNNING


def _write(work: Work, number: int, worker: str, values: Mapping[str, Any]) -> None:
    if not work.execute(update(Job).where(*_mine(number, worker)).values(values)).rowcount:  # type: ignore[attr-defined]
        raise LostError(f"job {number}: claimed by {worker}, got another worker or none")
