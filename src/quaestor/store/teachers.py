"""Teachers and their authentication: one-time links, passwords, signed-in browsers, API tokens.

Whoever acts for a teacher holds their row until the end of the unit of work (`hold`), and whoever locks or removes a teacher or gives them
another password holds it alone. So what was begun before is done before, and what comes after is refused.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import reduce
from typing import TypeVar

from sqlalchemy import Select, delete, select, update
from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError, got
from quaestor.i18n import say
from quaestor.store.clock import now
from quaestor.store.erasure import erased
from quaestor.store.inserts import insert
from quaestor.store.models import Identity, Link, Login, Teacher, Token
from quaestor.store.secrets import hashed, password_fits, password_hash, token
from quaestor.store.texts import checked_email, line, tidy_email

LINK_HOURS, LOGIN_DAYS, SHORTEST_PASSWORD = 48, 14, 10
SCOPES = ("sessions", "banks", "tests", "results")
GONE = say("this link was used already or is too old; ask for a new one")
WRONG = say("the address or the password is wrong")
Opener = TypeVar("Opener", Login, Token)


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


def colleague(work: Work, email: str, place: str = "email") -> Teacher:
    """The teacher with this address; QuaestorError if there is none. `place`: what the address is called where it was entered."""
    found = by_email(work, email)
    if found is None:
        raise QuaestorError.at(place, say("no teacher here has this address"))
    return found


def hold(work: Work, number: int, *, alone: bool = False) -> Teacher | None:
    """A teacher as they are now, who can be neither locked nor removed before the unit of work ends; None if there is none.

    `alone`: wait until nobody else holds them, and let nobody else do so. Hold a teacher before anything that is theirs, and do not hold
    one alone whom the unit of work holds already, so that there is no deadlock.
    """
    return work.get(Teacher, number, with_for_update=True if alone else {"read": True, "key_share": True})


def _held(work: Work, asked: Select[Opener]) -> Opener | None:
    """A login or a token; where the unit of work writes, it stays as it is until the end. SQLite has one writer at a time anyway."""
    found = work.scalar(asked)
    if found is None or work.info.get("reads") or work.get_bind().dialect.name == "sqlite":
        return found
    hold(work, found.teacher_id)
    return work.scalar(asked.with_for_update(read=True, key_share=True))


def _refuse_locked(teacher: Teacher | None) -> None:
    if teacher is not None and teacher.locked is not None:
        raise QuaestorError(say("this teacher is locked; unlock them first"))


def sign_in_link(work: Work, teacher: Teacher) -> str:
    """A one-time token that signs a teacher in, valid for two days."""
    _refuse_locked(teacher)
    made = token()
    work.add(
        Link(token=hashed(made), kind="sign-in", teacher_id=teacher.id, email="", expires=now() + timedelta(hours=LINK_HOURS), used=None)
    )
    return made


def invitation(work: Work, by: Teacher, email: str) -> str:
    """A one-time token for a new teacher; only the owner may invite."""
    if not by.is_owner:
        raise AccessError(say("only the owner may invite teachers"))
    _refuse_locked(by_email(work, email))
    made, until = token(), now() + timedelta(hours=LINK_HOURS)
    work.add(Link(token=hashed(made), kind="invitation", teacher_id=None, email=checked_email(email), expires=until, used=None))
    return made


def open_link(work: Work, secret: str) -> Link:
    """A one-time link that can still be used."""
    link = work.get(Link, hashed(secret))
    if link is None or link.used is not None or link.expires < now():
        raise AccessError(GONE)
    return link


def use_link(work: Work, secret: str) -> Teacher:
    """The teacher of a one-time link, which is used up by this; held alone."""
    link = open_link(work, secret)
    if link.kind == "invitation":
        row = insert(work, Teacher).values(email=link.email, name="", password=None, is_owner=False, created=now())
        work.execute(row.on_conflict_do_nothing(index_elements=[Teacher.email]))
    whose = work.scalar(select(Teacher.id).where(Teacher.email == link.email)) if link.kind == "invitation" else link.teacher_id
    teacher = hold(work, whose, alone=True) if whose is not None else None
    use = update(Link).where(Link.token == link.token, Link.used.is_(None)).values(used=now())
    if teacher is None or not work.execute(use).rowcount:  # type: ignore[attr-defined]  # removed, or used, at this moment
        raise AccessError(GONE)
    return teacher


def use_once(work: Work, secret: str) -> None:
    """Use up a secret that no link was made for: the second time it is refused."""
    row = insert(work, Link).values(token=hashed(secret), kind="once", email="", expires=now() + timedelta(hours=LINK_HOURS), used=now())
    if work.scalar(row.on_conflict_do_nothing().returning(Link.token)) is None:
        raise AccessError(GONE)


def new_password(password: str) -> str:
    """The hash of a password that a teacher may have; slow by design, so call it outside of units of work."""
    if len(password) < SHORTEST_PASSWORD:
        raise QuaestorError.at("password", got(say("at least {least} characters", least=SHORTEST_PASSWORD), str(len(password))))
    return password_hash(password)


def set_password(work: Work, teacher: Teacher, made: str, here: str = "") -> None:
    """Give a teacher, held alone, a password (of `new_password`): who knew the last one is out.

    All browsers but the one with the token `here` are signed out, the tokens of the API end, and so does the sign-in by a provider, which
    they may have connected with an account of theirs. A first password ends no connection.
    """
    if teacher.password is not None:
        work.execute(delete(Identity).where(Identity.teacher_id == teacher.id))
    teacher.password = made
    work.execute(delete(Login).where(Login.teacher_id == teacher.id, Login.token != hashed(here)))
    work.execute(delete(Token).where(Token.teacher_id == teacher.id))


def by_password(work: Work, email: str, password: str) -> Teacher:
    """The teacher with this address and password; takes the same time if there is none."""
    found = by_email(work, email)
    if not password_fits(found.password if found is not None else None, password) or found is None:
        raise AccessError(WRONG)
    return found


def log_in(work: Work, teacher: Teacher) -> str:
    """A token for the browser of a teacher who signs in, if they are what they were when they were asked who they are."""
    present = hold(work, teacher.id)
    if present is None or present.password != teacher.password:
        raise AccessError(WRONG)
    if present.locked is not None:
        raise AccessError(say("this account is locked; please ask the owner of this server"))
    made = token()
    work.add(Login(token=hashed(made), teacher_id=teacher.id, expires=now() + timedelta(days=LOGIN_DAYS)))
    return made


def logged_in(work: Work, secret: str | None) -> Teacher | None:
    """The teacher who is signed in with this browser, or None."""
    login = _held(work, select(Login).where(Login.token == hashed(secret or ""), Login.expires > now()))
    return login.teacher if login is not None else None


def log_out(work: Work, secret: str) -> None:
    """Sign a browser out."""
    work.execute(delete(Login).where(Login.token == hashed(secret)))


def forget_old(work: Work, moment: datetime) -> None:
    """Delete what has expired: signed-in browsers, and links, with the addresses of those who were invited."""
    work.execute(delete(Login).where(Login.expires < moment))
    work.execute(delete(Link).where(Link.expires < moment, Link.email == ""))
    if work.execute(delete(Link).where(Link.expires < moment)).rowcount:  # type: ignore[attr-defined]
        erased(work)


def api_token(work: Work, teacher: Teacher, name: str, scopes: Sequence[str]) -> str:
    """A new token of the API; only its hash is stored, so it can be shown only now."""
    wrong = [scope for scope in scopes if scope not in SCOPES]
    if wrong or not scopes:
        found = wrong[0] if wrong else say("none")
        raise QuaestorError.at("scopes", got(say("one or more of {words}", words=", ".join(SCOPES)), found))
    made = token()
    work.add(Token(token=hashed(made), teacher_id=teacher.id, name=line(name, 200), scopes=list(scopes), created=now(), used=None))
    return made


def by_token(work: Work, secret: str, *scopes: str) -> Token:
    """The token with this secret, if it has one of the scopes."""
    found = _held(work, select(Token).where(Token.token == hashed(secret)))
    if found is None:
        raise UnknownTokenError(say("this token is not known"))
    if not set(scopes) & set(found.scopes):
        lacking = reduce(lambda first, second: say("{first} or {second}", first=first, second=second), map(repr, scopes))
        raise AccessError(say("this token may not do that: it lacks the scope {scope}", scope=lacking))
    return found


def note_use(work: Work, token_id: int) -> None:
    """Record the time of a token's last use."""
    work.execute(update(Token).where(Token.id == token_id).values(used=now()))
