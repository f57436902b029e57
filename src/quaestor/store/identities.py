"""Teachers who sign in by a provider of OpenID Connect: which account belongs to whom.

An account is found by issuer and subject alone, which a provider never gives to two people. The e-mail address, which it may, counts once:
whoever comes with a verified address that the owner has invited, and that no account has yet, gets the account of the invitation. All
others who have an account connect it themselves, signed in.
"""

from dataclasses import dataclass

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError
from quaestor.i18n import say
from quaestor.store.clock import now
from quaestor.store.inserts import insert
from quaestor.store.models import Identity, Link, Teacher
from quaestor.store.teachers import AccessError
from quaestor.store.texts import line, tidy_email

STRANGER = say("nobody with this account of yours is known here; please ask the owner of this server for an invitation")


@dataclass(frozen=True)
class Person:
    """Whom a provider says that it has seen. `verified`: whether it knows that the address is theirs."""

    issuer: str
    subject: str
    email: str = ""
    verified: bool = False
    name: str = ""


def admitted(work: Work, person: Person) -> Teacher:
    """The teacher who a person is; AccessError if they are nobody here."""
    found = work.get(Identity, (person.issuer, person.subject))
    if found is not None:
        return found.teacher
    email = tidy_email(person.email)
    open_ones = (Link.kind == "invitation", Link.email == email, Link.used.is_(None), Link.expires > now())
    invited = person.verified and work.scalar(select(Link.token).where(*open_ones).limit(1)) is not None
    if not email or not invited:
        raise AccessError(STRANGER)
    row = insert(work, Teacher).values(email=email, name=line(person.name, 200), password=None, is_owner=False, created=now())
    made = work.scalar(row.on_conflict_do_nothing(index_elements=[Teacher.email]).returning(Teacher.id))
    if made is None:
        raise AccessError(say("there is an account with your address already; sign in with its password, then connect it under Account"))
    work.execute(update(Link).where(*open_ones).values(used=now()))
    teacher = work.get_one(Teacher, made)
    connect(work, teacher, person)
    return teacher


def connect(work: Work, teacher: Teacher, person: Person) -> None:
    """Let a person sign in to a teacher's account from now on; QuaestorError if either is connected already."""
    row = insert(work, Identity).values(issuer=person.issuer, subject=person.subject, teacher_id=teacher.id, created=now())
    if work.scalar(row.on_conflict_do_nothing().returning(Identity.teacher_id)) is None:
        present = work.get(Identity, (person.issuer, person.subject))
        if present is None:
            raise QuaestorError(say("this account is connected already; end that first"))
        if present.teacher_id != teacher.id:
            raise QuaestorError(say("you are connected to another account of this server already"))


def disconnect(work: Work, teacher: Teacher) -> None:
    """Let nobody sign in to a teacher's account by a provider any more; it needs a password, so that they can still come in."""
    if teacher.password is None:
        raise QuaestorError(say("please choose a password first, or you could not sign in any more"))
    work.execute(delete(Identity).where(Identity.teacher_id == teacher.id))


def identity_of(work: Work, teacher: Teacher) -> Identity | None:
    """How a provider knows a teacher, if one does."""
    return work.scalar(select(Identity).where(Identity.teacher_id == teacher.id))
