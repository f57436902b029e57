"""Registered platforms: entered by the owner, or by the platform itself with a one-time link of the owner's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError, got
from quaestor.i18n import say
from quaestor.store.clock import now
from quaestor.store.erasure import erased
from quaestor.store.models import Link, Teacher
from quaestor.store.platform_tables import NAME, Platform
from quaestor.store.platforms import addresses
from quaestor.store.publishing import MissingError
from quaestor.store.secrets import hashed, token
from quaestor.store.teachers import AccessError
from quaestor.store.texts import line

KIND = "platform"  # of a one-time link with which a platform registers itself
HOURS = 24  # that such a link can be used
MOST = 50  # deployments, or origins, of a platform


@dataclass(frozen=True)
class Registration:
    """A registration as it is entered or as a platform tells it; checked when it is made."""

    name: str
    issuer: str
    client_id: str
    auth_url: str
    token_url: str
    jwks_url: str
    deployments: tuple[str, ...]
    frames: tuple[str, ...] = ()

    @classmethod
    def read(cls, fields: Mapping[str, str]) -> "Registration":
        """A registration from the fields of a form; deployments and origins one a line. QuaestorError names the field that is wrong."""
        issuer = addresses.checked("issuer", fields["issuer"])
        client = line(fields["client_id"])
        if not client or len(client) > 200:
            raise QuaestorError.at("client_id", got(say("the name that the platform gave this tool"), f"'{client[:80]}'"))
        urls = {name: addresses.checked(name, fields[name]) for name in ("auth_url", "token_url", "jwks_url")}
        deployments = _lines(fields["deployments"])
        if not deployments or len(deployments) > MOST or max(map(len, deployments)) > NAME:
            raise QuaestorError.at("deployments", got(say("from 1 to {most} of them, one a line", most=MOST), str(len(deployments))))
        frames = tuple(addresses.origin(addresses.checked("frames", one)) for one in _lines(fields.get("frames", ""))[:MOST])
        name = line(fields.get("name", ""), 200) or issuer[:200]
        return cls(name, issuer, client, deployments=deployments, frames=frames, **urls)


def _lines(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(found for one in text.splitlines() if (found := line(one))))


def register(work: Work, made: Registration) -> Platform:
    """Add a platform; one of the same issuer and client id is given these addresses instead."""
    platform = find(work, made.issuer, made.client_id)
    values: dict[str, Any] = {**vars(made), "deployments": list(made.deployments), "frames": list(made.frames)}
    if platform is None:
        platform = Platform(**values, keys=None, keys_at=None, created=now())
        work.add(platform)
    else:
        for name, value in values.items():
            setattr(platform, name, value)
        platform.keys = platform.keys_at = None
    work.flush()
    return platform


def find(work: Work, issuer: str, client_id: str = "") -> Platform | None:
    """The platform of an issuer; where it has several, the client id says which."""
    asked = select(Platform).where(Platform.issuer == issuer)
    found = work.scalars(asked.where(Platform.client_id == client_id) if client_id else asked.limit(2)).all()
    return found[0] if len(found) == 1 else None


def by_number(work: Work, number: int) -> Platform:
    """A platform; MissingError if there is none."""
    found = work.get(Platform, number)
    if found is None:
        raise MissingError(say("there is no such platform"))
    return found


def all_platforms(work: Work) -> Sequence[Platform]:
    """All platforms, by name."""
    return work.scalars(select(Platform).order_by(Platform.name, Platform.id)).all()


def origins(platform: Platform) -> list[str]:
    """Who may show us in a frame on behalf of a platform."""
    found = (addresses.origin(platform.issuer), addresses.origin(platform.auth_url), *platform.frames)
    return list(dict.fromkeys(one for one in found if one))


def remove(work: Work, platform: Platform) -> None:
    """Remove a platform; attempts and accounts stay, what ties them to it goes."""
    work.execute(delete(Platform).where(Platform.id == platform.id))
    work.expunge(platform)
    erased(work)


def self_registration(work: Work, owner: Teacher) -> str:
    """The secret of a one-time link with which a platform may register itself."""
    if not owner.is_owner:
        raise AccessError(say("only the owner of this server may do that"))
    made = token()
    link = Link(token=hashed(made), kind=KIND, teacher_id=owner.id, email="", expires=now() + timedelta(hours=HOURS), used=None)
    work.add(link)
    return made


def opened_link(work: Work, secret: str) -> Link:
    """The link of a secret, if a platform may still register itself with it."""
    found = work.get(Link, hashed(secret))
    if found is None or found.kind != KIND or found.used is not None or found.expires < now():
        raise AccessError(say("this link for a platform was used already or is too old; the owner of this server can make a new one"))
    return found
