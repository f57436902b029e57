"""Activities of courses, and the learners in them.

An activity has a test: the one that a teacher picked by deep linking, whose token the platform sends with each launch, or one that a
teacher chose for it here. A learner in it is a pupil of that test, so that whatever holds for pupils (going on elsewhere, further tries,
extra time, erasing) holds for them.
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session as Work

from quaestor.store.classes.class_lists import class_for
from quaestor.store.clock import now
from quaestor.store.codes import OWN_CODE, free_codes
from quaestor.store.inserts import insert
from quaestor.store.models import Published, Pupil, SchoolClass
from quaestor.store.platform_tables import Choice, Placement, Platform, Seat
from quaestor.store.secrets import hashed, token
from quaestor.store.texts import line

_TRIES = 5


@dataclass(frozen=True)
class Activity:
    """An activity as a platform names it, with the addresses of its services."""

    deployment: str
    context: str
    link: str
    title: str = ""
    course: str = ""
    scopes: tuple[str, ...] = ()
    lineitem: str = ""
    lineitems: str = ""
    members: str = ""


def choose(work: Work, platform: Platform, test: Published) -> str:
    """The token by which launches of a platform open a test."""
    made = token()
    work.add(Choice(token=hashed(made), platform_id=platform.id, test_id=test.id, created=now()))
    return made


def chosen(work: Work, platform: Platform, secret: str) -> int | None:
    """The test of a token, if it was made for this platform and is still there."""
    found = work.get(Choice, hashed(secret))
    return found.test_id if found is not None and found.platform_id == platform.id else None


def placed(work: Work, platform: Platform, activity: Activity, test_id: int | None) -> Placement:
    """The placement of an activity, with what the platform says of it now. `test_id`: the test that was picked by deep linking, if any."""
    key = {"platform_id": platform.id, "deployment": activity.deployment, "context": activity.context, "link": activity.link}
    told: dict[str, Any] = {
        "title": line(activity.title, 200),
        "course": line(activity.course, 200),
        "scopes": list(activity.scopes),
        "lineitem": activity.lineitem,
        "lineitems": activity.lineitems,
        "members": activity.members,
    }
    row = insert(work, Placement).values(**key, **told, test_id=test_id, seen="")
    work.execute(row.on_conflict_do_nothing())
    found = work.scalars(select(Placement).filter_by(**key)).one()
    if test_id is not None:
        told["test_id"] = test_id
    if not activity.lineitem:
        del told["lineitem"]  # one that we made ourselves
    for name, value in told.items():
        if getattr(found, name) != value:
            setattr(found, name, value)
    work.flush()
    return found


def seated(work: Work, placement: Placement, sub: str, name: str) -> Seat:
    """The seat of a learner in a placement that has a test; of launches at the same moment one makes it."""
    of_class = class_for(work, work.get_one(Published, placement.test_id))
    for _ in range(_TRIES):
        found = work.scalar(select(Seat).where(Seat.placement_id == placement.id, Seat.sub == sub))
        if found is not None and found.pupil.class_id == of_class.id:
            if name and found.pupil.name != name:
                found.pupil.name = name
            return found
        try:
            with work.begin_nested():
                return _new(work, placement, of_class, sub, name, found)
        except IntegrityError:
            continue
    return work.scalars(select(Seat).where(Seat.placement_id == placement.id, Seat.sub == sub)).one()


def _new(work: Work, placement: Placement, of_class: SchoolClass, sub: str, name: str, earlier: Seat | None) -> Seat:
    """A new pupil of the test's class for a learner; where the activity had another class before, their seat has a new pupil."""
    (code,) = free_codes(work, 1, OWN_CODE)
    pupil = Pupil(class_id=of_class.id, name=name or nameless(sub), code=code)
    work.add(pupil)
    work.flush()
    if earlier is not None:
        earlier.pupil_id, earlier.pupil, earlier.score = pupil.id, pupil, None
        work.flush()
        return earlier
    seat = Seat(placement_id=placement.id, sub=sub, pupil_id=pupil.id, score=None, stamp=None, sent=None, due=None)
    seat.tries, seat.held, seat.problem, seat.pupil = 0, None, "", pupil
    work.add(seat)
    work.flush()
    return seat


def nameless(sub: str) -> str:
    """What somebody is called whose name the platform does not tell: teachers can tell such learners apart, and nothing else."""
    return f"Learner {hashed(sub)[:4].upper()}"


def placements_of(work: Work, test: Published) -> list[Placement]:
    """The activities that a test is given in."""
    return list(work.scalars(select(Placement).where(Placement.test_id == test.id).order_by(Placement.id)))
