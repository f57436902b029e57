"""The public keys of a platform: kept, read again every hour, and once more when a message names a key that is not among them.

A platform may change its keys at any time. So that forged messages with made-up keys cannot make us ask it again and again, it is asked
at most every few seconds, whoever asks. While it is away, keys that were read within a day are believed, and no other ones.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
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
GRACE = timedelta(hours=24)  # how long they are believed while the platform is away
PAUSE = timedelta(seconds=10)  # between two requests to one platform at least
MOST = 100_000  # bytes of a set of keys
READ = "read_at"  # where it is kept when they were read; `Platform.keys_at` is when the platform was asked last


def claims_of(database: Database, platform: Platform, message: str, inner: Collection[str]) -> dict[str, Any]:
    """What a message says, if the platform has signed it; LaunchError if not."""
    try:
        jose.key_of(message)  # before anybody is asked anything
        found = jose.verified(message, platform.keys) if platform.keys is not None and _age(platform) < FRESH else None
        if found is not None:
            return found
        keys, is_new = _read_again(database, platform, inner)
        found = jose.verified(message, keys) if keys is not None else None
    except jose.SignatureError as error:
        raise LaunchError(error.reason, FORGED) from error
    if found is None and not is_new:  # it may be a key of which we could not be told
        raise LaunchError("keys-away", _away(platform))
    if found is None:
        raise LaunchError("unknown-key", FORGED)
    return found


def _age(platform: Platform) -> timedelta:
    """How long ago the keys that are kept were read."""
    told = (platform.keys or {}).get(READ)
    at = datetime.fromisoformat(told) if isinstance(told, str) else platform.keys_at
    return now() - at if at is not None else timedelta.max


def _read_again(database: Database, platform: Platform, inner: Collection[str]) -> tuple[dict[str, Any] | None, bool]:
    """The keys of a platform, and whether they are those of now: if it is away or was asked just now, those that are kept, within a day."""
    kept, age = platform.keys, _age(platform)  # before `keys_at` says when it was asked
    is_due = or_(Platform.keys_at.is_(None), Platform.keys_at < now() - PAUSE)
    with database.work() as work:
        mine = update(Platform).where(Platform.id == platform.id, is_due).values(keys_at=now())
        is_mine = bool(work.execute(mine).rowcount)  # type: ignore[attr-defined]
        present = work.get(Platform, platform.id, populate_existing=True)
        if not is_mine and present is not None:
            kept, age = present.keys, _age(present)
    believed = kept if age < GRACE else None
    if not is_mine:
        return believed, believed is not None and age < PAUSE
    try:
        reply = outgoing.ask(platform.jwks_url, inner, headers={"accept": "application/json"})
        read = reply.json() if reply.status == 200 and len(reply.body) <= MOST else None
    except QuaestorError:
        return believed, False
    if not isinstance(read, dict) or not isinstance(read.get("keys"), list):
        return believed, False
    made = {"keys": read["keys"], READ: now().isoformat()}
    with database.work() as work:
        work.execute(update(Platform).where(Platform.id == platform.id).values(keys=made))
    return made, True


def _away(platform: Platform) -> str:
    return say(
        "The keys of {platform} cannot be read at the moment, so that nobody can tell whether its messages are genuine."
        " Please try again in a minute.",
        platform=platform.name,
    )
