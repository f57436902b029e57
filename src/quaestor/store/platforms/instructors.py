"""Teachers who come from a platform: each has an account of their own here, known by platform and `sub`.

The e-mail address that a platform tells is not looked at: whoever runs a platform could state anybody's. Whoever has an account here
already connects it: they make a code on their account page and enter it inside the platform. What they made there until then goes over
to it.
"""

from datetime import timedelta

from sqlalchemy import delete, update
from sqlalchemy.orm import Session as Work

from quaestor.i18n import say
from quaestor.store import leaving
from quaestor.store.clock import now
from quaestor.store.models import Link, Teacher
from quaestor.store.platform_tables import Person, Platform
from quaestor.store.secrets import code, hashed, tidy
from quaestor.store.teachers import AccessError, hold

KIND = "connect"  # of a one-time code
MINUTES, LETTERS = 15, 10
WRONG = say("this code is wrong, was used already or is too old; make a new one on your account page")


def teacher_of(work: Work, platform: Platform, sub: str, name: str) -> Teacher:
    """The account of a person who teaches at a platform; made when they first come."""
    found = work.get(Person, (platform.id, sub))
    if found is not None:
        if found.is_own and name and found.teacher.name != name:
            found.teacher.name = name
        return found.teacher
    known = hashed(f"{platform.id}\n{sub}")[:20]
    made = Teacher(email=f"{known}@platform-{platform.id}.invalid", name=name, password=None, is_owner=False, created=now())
    work.add(made)
    work.flush()
    work.add(Person(platform_id=platform.id, sub=sub, teacher_id=made.id, is_own=True))
    work.flush()
    return made


def connection_code(work: Work, teacher: Teacher) -> str:
    """A code with which a teacher connects this account, entered inside a platform; an earlier one ends."""
    made = code(LETTERS)
    work.execute(delete(Link).where(Link.kind == KIND, Link.teacher_id == teacher.id))
    link = Link(token=hashed(made), kind=KIND, teacher_id=teacher.id, email="", expires=now() + timedelta(minutes=MINUTES), used=None)
    work.add(link)
    return made


def is_code_of(work: Work, teacher: Teacher, written: str) -> bool:
    """Whether a code is one that this teacher has made, and can be used."""
    link = work.get(Link, hashed(tidy(written)))
    return link is not None and (link.kind, link.teacher_id) == (KIND, teacher.id) and link.used is None and link.expires > now()


def connect(work: Work, platform: Platform, sub: str, written: str) -> Teacher:
    """Connect a person of a platform with the account whose code they entered; AccessError if it is none."""
    link = work.get(Link, hashed(tidy(written)))
    if link is None or link.kind != KIND or link.used is not None or link.expires < now() or link.teacher_id is None:
        raise AccessError(WRONG)
    teacher = hold(work, link.teacher_id)
    use = update(Link).where(Link.token == link.token, Link.used.is_(None)).values(used=now())
    if teacher is None or teacher.locked is not None or not work.execute(use).rowcount:  # type: ignore[attr-defined]
        raise AccessError(WRONG)
    person = work.get(Person, (platform.id, sub))
    if person is not None and person.is_own and person.teacher_id != teacher.id:
        earlier = person.teacher_id
        person.teacher_id, person.is_own = teacher.id, False
        work.flush()
        leaving.remove(work, earlier, teacher)
    elif person is not None:
        person.teacher_id = teacher.id
    else:
        work.add(Person(platform_id=platform.id, sub=sub, teacher_id=teacher.id, is_own=False))
    work.flush()
    return teacher
