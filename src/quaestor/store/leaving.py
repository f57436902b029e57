"""Teachers who are to stay out: locked for a while, or removed for good. The tests stay open for their takers in either case."""

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session as Work
from sqlalchemy.orm import aliased

from quaestor.errors import QuaestorError
from quaestor.i18n import say
from quaestor.store.clock import now
from quaestor.store.models import BankVersion, Colleague, Correction, Draft, Job, Link, Login, Published, SchoolClass, Teacher, Token
from quaestor.store.platform_tables import AdaptiveSection
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
    """Remove a teacher; their banks, drafts, trials, classes and tests with all results are handed over to another one."""
    teacher = _alone(work, number)
    _hand_over_banks(work, teacher, to)
    for kind in (Published, SchoolClass, Draft, Job, AdaptiveSection):
        work.execute(update(kind).where(kind.teacher_id == teacher.id).values(teacher_id=to.id))
    own = select(Draft.id).where(Draft.teacher_id == to.id)
    work.execute(delete(Colleague).where(Colleague.teacher_id == to.id, Colleague.draft_id.in_(own)))
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


def _hand_over_banks(work: Work, teacher: Teacher, to: Teacher) -> None:
    """Hand banks over; of one that both have, the tests go on with the other teacher's, which is the same."""
    same = aliased(BankVersion)
    is_same = (same.version == BankVersion.version) & (same.media_hash == BankVersion.media_hash) & (same.teacher_id == to.id)
    both = select(BankVersion.id, same.id).join(same, is_same).where(BankVersion.teacher_id == teacher.id)
    for theirs, mine in work.execute(both).all():
        for kind in (Published, Correction, AdaptiveSection):
            work.execute(update(kind).where(kind.bank_id == theirs).values(bank_id=mine))
        work.execute(delete(Job).where(Job.subject == f"bank {theirs}"))  # trials that would lead to a bank that is gone
        work.execute(delete(BankVersion).where(BankVersion.id == theirs))
    work.execute(update(BankVersion).where(BankVersion.teacher_id == teacher.id).values(teacher_id=to.id))
