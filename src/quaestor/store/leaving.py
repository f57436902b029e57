"""Teachers who are to stay out: locked for a while, or removed for good. The tests stay open for their takers in either case."""

from sqlalchemy import delete
from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError
from quaestor.i18n import say
from quaestor.store.clock import now
from quaestor.store.handover import hand_over_all
from quaestor.store.models import Link, Login, Teacher, Token
from quaestor.store.publishing import MissingError
from quaestor.store.teachers import hold


def lock(work: Work, number: int) -> None:
    """Lock a teacher: their sign-ins, links and tokens end at once, and none is made before they are unlocked."""
    teacher = _alone(work, number)
    teacher.locked = teacher.locked or now()
    for kind in (Login, Token, Link):
        work.execute(delete(kind).where(kind.teacher_id == teacher.id))
    _forget_invitations(work, teacher)


def unlock(work: Work, number: int) -> None:
    """Let a teacher sign in again; tokens stay gone."""
    _alone(work, number).locked = None


def remove(work: Work, number: int, to: Teacher) -> None:
    """Remove a teacher; what they have is handed over to another one."""
    teacher = _alone(work, number)
    hand_over_all(work, teacher, to)
    _forget_invitations(work, teacher)
    work.execute(delete(Teacher).where(Teacher.id == teacher.id))  # sign-ins, links and tokens go with it


def _alone(work: Work, number: int) -> Teacher:
    """A teacher who can be locked or removed, held alone."""
    found = hold(work, number, alone=True)
    if found is None:
        raise MissingError(say("there is no such teacher"))
    if found.is_owner:
        raise QuaestorError(say("the owner of this server can be neither locked nor removed"))
    return found


def _forget_invitations(work: Work, teacher: Teacher) -> None:
    work.execute(delete(Link).where(Link.email == teacher.email))
