"""The public keys of a platform: kept, read again every hour, and once more when a message names a key that is not among them.

A platform may change its keys at any time. So that forged messages with made-up keys cannot make us ask it again and again, it is asked
at most every few seconds, whoever asks.
"""

from collections.abc import Collection
from datetime import timedelta
from typing import Any

from sqlalchemy import or_, update

from quaestor.errors import QuaestorError
from quaestor.i18n import say
from quaestor.store.clock import now
from quaestor.store.database import Database
from quaestor.store.platform_tables import Platform
from quaestor.web.lti import jose
from quaestor.web.lti.message import FORGED, LaunchError
from quaestor.web.security import outgoing

FRESH = timedelta(hours=1)  # how long keys are believed without being read again
PAUSE = timedelta(seconds=10)  # between two requests to one platform at least
MOST = 100_000  # bytes of a set of keys


def claims_of(database: Database, platform: Platform, message: str, inner: Collection[str]) -> dict[str, Any]:
    """What a message says, if the platform has signed it; LaunchError if not."""
    try:
        jose.key_of(message)  # before anybody is asked anything
        is_fresh = platform.keys_at is not None and platform.keys_at > now() - FRESH
        found = jose.verified(message, platform.keys) if platform.keys is not None and is_fresh else None
        if found is None:
            keys = _read_again(database, platform, inner)
            if keys is None:  # somebody asked for them just now, in vain
                raise LaunchError("keys-away", _away(platform))
            found = jose.verified(message, keys)
    except jose.SignatureError as error:
        raise LaunchError(error.reason, FORGED) from error
    if found is None:
        raise LaunchError("unknown-key", FORGED)
    return found


def _read_again(database: Database, platform: Platform, inner: Collection[str]) -> dict[str, Any] | None:
    """The keys of a platform as they are now; those that are kept if somebody asked for them just now."""
    is_due = or_(Platform.keys_at.is_(None), Platform.keys_at < now() - PAUSE)
    with database.work() as work:
        mine = update(Platform).where(Platform.id == platform.id, is_due).values(keys_at=now())
        is_mine = bool(work.execute(mine).rowcount)  # type: ignore[attr-defined]
        kept = work.get(Platform, platform.id, populate_existing=True)
        keys = kept.keys if kept is not None else None
    if not is_mine:
        return keys
    try:
        reply = outgoing.ask(platform.jwks_url, inner, headers={"accept": "application/json"})
        read = reply.json() if reply.status == 200 and len(reply.body) <= MOST else None
    except QuaestorError as error:
        if keys is not None:
            return keys
        raise LaunchError("keys-away", _away(platform)) from error
    if not isinstance(read, dict) or not isinstance(read.get("keys"), list):
        raise LaunchError("keys-unreadable", _away(platform))
    with database.work() as work:
        work.execute(update(Platform).where(Platform.id == platform.id).values(keys=read))
    return read


def _away(platform: Platform) -> str:
    return say(
        "The keys of {platform} cannot be read at the moment, so that nobody can tell whether its messages are genuine."
        " Please try again in a minute.",
        platform=platform.name,
    )
