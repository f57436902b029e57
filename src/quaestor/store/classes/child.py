"""All that is kept of one child: handed out in one piece, and erased in one action.

A child who is in several classes of a school's own system is on several lists here, with a code on each: who has the same id there and the
same teacher here is one child. It reaches every attempt of the child, in whichever class, with its answers, what was typed, its outcomes,
codes and kept replies of the API; what jobs have learnt from tests in which the child took part; and the rows with name and code. The bytes
follow, as after every erasure (`erasure`). Copies outside the database, such as back-ups, files that were downloaded and printed letters,
are out of its reach, and so is what a teacher wrote in words of their own.
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


def lists_of(work: Work, pupil: Pupil) -> list[tuple[Pupil, SchoolClass]]:
    """The pupil, then the same child on other lists of the same teacher, each with the class."""
    listed = select(Pupil, SchoolClass).join(SchoolClass, Pupil.class_id == SchoolClass.id).order_by(Pupil.id)
    own = [(one, found) for one, found in work.execute(listed.where(Pupil.id == pupil.id))]
    if not own or not pupil.source:
        return own
    same = (Pupil.source == pupil.source, Pupil.id != pupil.id, SchoolClass.teacher_id == own[0][1].teacher_id)
    return own + [(one, found) for one, found in work.execute(listed.where(*same))]


def kept_of(work: Work, pupil: Pupil) -> list[Attempt]:
    """All attempts of a child, on whichever list."""
    everywhere = [one for one, _ in lists_of(work, pupil)] or [pupil]
    return [attempt for one in everywhere for attempt in attempts_of(work, one)]


def namesakes(work: Work, teacher: Teacher, pupil: Pupil) -> Sequence[Attempt]:
    """Attempts at a teacher's tests that somebody of this name began without a code of their own: perhaps the same child, perhaps not."""
    mine = select(Attempt).join(Published, Attempt.test_id == Published.id).where(Published.teacher_id == teacher.id)
    same = (Attempt.pupil_id.is_(None), func.lower(Attempt.name) == pupil.name.lower())
    return work.scalars(mine.where(*same).order_by(Attempt.id)).all()


def export_child(work: Work, pupil: Pupil) -> dict[str, Any]:
    """All that is kept of a child, as plain data."""
    listed = lists_of(work, pupil)
    return {
        "quaestor-child": 1,
        "name": pupil.name,
        "code": pupil.code,
        "class": listed[0][1].title if listed else None,
        "also_in": [{"name": one.name, "code": one.code, "class": found.title} for one, found in listed[1:]],
        "source": pupil.source,
        "extra_minutes": pupil.extra,
        "time_factor": pupil.factor,
        "attempts": [privacy.export(work, attempt) for attempt in kept_of(work, pupil)],
        "growth": [_plain(grown) for one in ([one for one, _ in listed] or [pupil]) for grown in growth_of(work, one)],
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
    """Erase all that is kept of a child, on every list; `also`: attempts that were begun without a code, and are known to be theirs."""
    everywhere = [one for one, _ in lists_of(work, pupil)] or [pupil]
    _drop_learnt(work, {attempt.test_id for attempt in also})
    for attempt in also:
        privacy.delete(work, attempt)
    for one in everywhere:
        _erase(work, one)


def _erase(work: Work, pupil: Pupil) -> None:
    """Erase a pupil of one list."""
    _drop_learnt(work, {attempt.test_id for attempt in attempts_of(work, pupil)})
    _drop_replies(work, pupil)
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
    """Erase a class with all that is kept of its pupils, on this list; returns how many there were. Its tests stay, with those who were not
    of it."""
    pupils = work.scalars(select(Pupil).where(Pupil.class_id == found.id)).all()
    for pupil in pupils:
        _erase(work, pupil)
    work.delete(found)
    work.flush()
    return len(pupils)
