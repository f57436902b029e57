"""All that is kept of one child: handed out in one piece, and erased in one action.

It reaches every attempt of the pupil, in whichever class, with its answers, what was typed, its outcomes, codes and kept replies of the
API; what jobs have learnt from tests in which the child took part; and the pupil's own row with name and code. The bytes follow, as after
every erasure (`erasure`). Copies outside the database, such as back-ups, files that were downloaded and printed letters, are out of its
reach, and so is what a teacher wrote in words of their own.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session as Work
from sqlalchemy.orm import undefer

from quaestor.store import privacy
from quaestor.store.classes.growth import Growth, growth_of
from quaestor.store.models import Attempt, Job, Published, Pupil, Reply, SchoolClass, Teacher, Token


def attempts_of(work: Work, pupil: Pupil) -> Sequence[Attempt]:
    """All attempts of a pupil, the first one first."""
    return work.scalars(select(Attempt).where(Attempt.pupil_id == pupil.id).order_by(Attempt.id)).all()


def namesakes(work: Work, teacher: Teacher, pupil: Pupil) -> Sequence[Attempt]:
    """Attempts at a teacher's tests that somebody of this name began without a code of their own: perhaps the same child, perhaps not."""
    mine = select(Attempt).join(Published, Attempt.test_id == Published.id).where(Published.teacher_id == teacher.id)
    same = (Attempt.pupil_id.is_(None), func.lower(Attempt.name) == pupil.name.lower())
    return work.scalars(mine.where(*same).order_by(Attempt.id)).all()


def export_child(work: Work, pupil: Pupil) -> dict[str, Any]:
    """All that is kept of a child, as plain data."""
    found = work.get(SchoolClass, pupil.class_id) if pupil.class_id is not None else None
    return {
        "quaestor-child": 1,
        "name": pupil.name,
        "code": pupil.code,
        "class": found.title if found is not None else None,
        "source": pupil.source,
        "extra_minutes": pupil.extra,
        "time_factor": pupil.factor,
        "attempts": [privacy.export(work, attempt) for attempt in attempts_of(work, pupil)],
        "growth": [_plain(one) for one in growth_of(work, pupil)],
    }


def _plain(growth: Growth) -> dict[str, Any]:
    points = [
        {
            "test": point.title,
            "at": f"{point.at.isoformat(timespec='seconds')}Z",
            "answers": point.answers,
            "level": point.level or None,
            "lower": list(point.lows),
            "upper": list(point.highs),
        }
        for point in growth.points
    ]
    return {"skill": growth.skill, "levels": list(growth.levels), "points": points}


def erase_child(work: Work, pupil: Pupil, also: Sequence[Attempt] = ()) -> None:
    """Erase all that is kept of a child; `also`: attempts that were begun without a code, and are known to be theirs."""
    tests = {attempt.test_id for attempt in (*attempts_of(work, pupil), *also)}
    _drop_learnt(work, tests)
    _drop_replies(work, pupil)
    for attempt in also:
        privacy.delete(work, attempt)
    privacy.delete_pupil(work, pupil)


def _drop_learnt(work: Work, tests: set[int]) -> None:
    """Delete the jobs that learnt from answers in some tests, done or not: what they found rests on the child's answers too."""
    for job in work.scalars(select(Job).options(undefer(Job.asked))):
        named = job.asked.get("tests") if isinstance(job.asked, dict) else None
        if isinstance(named, list) and tests.intersection(one for one in named if isinstance(one, int)):
            work.delete(job)


def _drop_replies(work: Work, pupil: Pupil) -> None:
    """Delete what programs of the class's teacher were told of classes: it names their pupils. Replies on attempts go with these."""
    mine = select(Token.id).join(SchoolClass, SchoolClass.teacher_id == Token.teacher_id).where(SchoolClass.id == pupil.class_id)
    work.execute(delete(Reply).where(Reply.token_id.in_(mine), Reply.route.like("%/classes%")))


def erase_class(work: Work, found: SchoolClass) -> int:
    """Erase a class with all that is kept of its pupils; returns how many there were. Its tests stay, with those who were not of it."""
    pupils = work.scalars(select(Pupil).where(Pupil.class_id == found.id)).all()
    for pupil in pupils:
        erase_child(work, pupil)
    work.delete(found)
    work.flush()
    return len(pupils)
