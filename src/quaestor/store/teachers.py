"""Teachers and their authentication: one-time links, passwords, signed-in browsers, API tokens."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import reduce

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError, got, placed
from quaestor.i18n import say
from quaestor.store.clock import now
from quaestor.store.erasure import erased
from quaestor.store.models import Link, Login, Teacher, Token
from quaestor.store.secrets import hashed, password_fits, password_hash, token
from quaestor.store.texts import checked_email, line, tidy_email

LINK_HOURS, LOGIN_DAYS, SHORTEST_PASSWORD = 48, 14, 10
SCOPES = ("sessions", "banks", "tests", "results")


class AccessError(QuaestorError):
    """Access is denied. The message never says whether an e-mail address is known."""


class UnknownTokenError(AccessError):
    """A token of the API that does not exist: the failure that rate limits count."""


def owner(work: Work, email: str) -> Teacher:
    """The owner of this installation; created if there is none."""
    found = work.scalar(select(Teacher).where(Teacher.is_owner))
    if found is None:
        found = Teacher(email=checked_email(email), name="", password=None, is_owner=True, created=now())
        work.add(found)
        work.flush()
    return found


def by_email(work: Work, email: str) -> Teacher | None:
    """The teacher with this address, if there is one."""
    return work.scalar(select(Teacher).where(Teacher.email == tidy_email(email)))


def sign_in_link(work: Work, teacher: Teacher) -> str:
    """A one-time token that signs a teacher in, valid for two days."""
    made = token()
    work.add(
        Link(token=hashed(made), kind="sign-in", teacher_id=teacher.id, email="", expires=now() + timedelta(hours=LINK_HOURS), used=None)
    )
    return made


def invitation(work: Work, by: Teacher, email: str) -> str:
    """A one-time token for a new teacher; only the owner may invite."""
    if not by.is_owner:
        raise AccessError(say("only the owner may invite teachers"))
    made, until = token(), now() + timedelta(hours=LINK_HOURS)
    work.add(Link(token=hashed(made), kind="invitation", teacher_id=None, email=checked_email(email), expires=until, used=None))
    return made


def use_link(work: Work, secret: str) -> Teacher:
    """The teacher of a one-time link, which is used up by this."""
    link = work.get(Link, hashed(secret), with_for_update=True)
    if link is None or link.used is not None or link.expires < now():
        raise AccessError(say("this link was used already or is too old; ask for a new one"))
    link.used = now()
    if link.kind == "sign-in":
        teacher = work.get(Teacher, link.teacher_id)
        if teacher is None:
            raise AccessError(say("this link was used already or is too old; ask for a new one"))
        return teacher
    known = work.scalar(select(Teacher).where(Teacher.email == link.email))
    if known is not None:
        return known
    teacher = Teacher(email=link.email, name="", password=None, is_owner=False, created=now())
    work.add(teacher)
    work.flush()
    return teacher


def set_password(work: Work, teacher: Teacher, password: str) -> None:
    """Give a teacher a password."""
    if len(password) < SHORTEST_PASSWORD:
        raise QuaestorError(placed("password", got(say("at least {least} characters", least=SHORTEST_PASSWORD), str(len(password)))))
    teacher.password = password_hash(password)
    work.flush()


def by_password(work: Work, email: str, password: str) -> Teacher:
    """The teacher with this address and password; takes the same time if there is none."""
    found = by_email(work, email)
    if not password_fits(found.password if found is not None else None, password) or found is None:
        raise AccessError(say("the address or the password is wrong"))
    return found


def log_in(work: Work, teacher: Teacher) -> str:
    """A token for the browser of a teacher who signs in."""
    made = token()
    work.add(Login(token=hashed(made), teacher_id=teacher.id, expires=now() + timedelta(days=LOGIN_DAYS)))
    return made


def logged_in(work: Work, secret: str | None) -> Teacher | None:
    """The teacher who is signed in with this browser, or None."""
    login = work.get(Login, hashed(secret)) if secret else None
    return login.teacher if login is not None and login.expires > now() else None


def log_out(work: Work, secret: str) -> None:
    """Sign a browser out."""
    login = work.get(Login, hashed(secret))
    if login is not None:
        work.delete(login)
        work.flush()


def forget_old(work: Work, moment: datetime) -> None:
    """Delete what has expired: signed-in browsers, and links, with the addresses of those who were invited."""
    work.execute(delete(Login).where(Login.expires < moment))
    if work.execute(delete(Link).where(Link.expires < moment)).rowcount:  # type: ignore[attr-defined]
        erased(work)


def api_token(work: Work, teacher: Teacher, name: str, scopes: Sequence[str]) -> str:
    """A new token of the API; only its hash is stored, so it can be shown only now."""
    wrong = [scope for scope in scopes if scope not in SCOPES]
    if wrong or not scopes:
        found = wrong[0] if wrong else say("none")
        raise QuaestorError(placed("scopes", got(say("one or more of {words}", words=", ".join(SCOPES)), found)))
    made = token()
    work.add(Token(token=hashed(made), teacher_id=teacher.id, name=line(name, 200), scopes=list(scopes), created=now(), used=None))
    return made


def by_token(work: Work, secret: str, *scopes: str) -> Token:
    """The token with this secret, if it has one of the scopes; only reads."""
    found = work.scalar(select(Token).where(Token.token == hashed(secret)))
    if found is None:
        raise UnknownTokenError(say("this token is not known"))
    if not set(scopes) & set(found.scopes):
        lacking = reduce(lambda first, second: say("{first} or {second}", first=first, second=second), map(repr, scopes))
        raise AccessError(say("this token may not do that: it lacks the scope {scope}", scope=lacking))
    return found


def note_use(work: Work, token_id: int) -> None:
    """Record the time of a token's last use."""
    work.execute(update(Token).where(Token.id == token_id).values(used=now()))
