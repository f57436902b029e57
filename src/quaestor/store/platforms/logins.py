"""Logins under way: a platform sends a browser, we send it back with `state` and `nonce`, and it returns with a signed message.

Each is used once: whoever deletes the row has used it. Only hashes are stored.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete
from sqlalchemy.orm import Session as Work

from quaestor.store.clock import now
from quaestor.store.platform_tables import Platform, PlatformLogin
from quaestor.store.secrets import hashed, token

MINUTES = 10  # that a person may take to sign in at the platform


@dataclass(frozen=True)
class Begun:
    """The secrets of a login; `browser` is for the browser alone, the others go through the platform."""

    state: str
    nonce: str
    browser: str


def begin(work: Work, platform: Platform, storage: str) -> Begun:
    """Begin a login. `storage`: the frame of the platform that can keep `browser` for a browser without cookies."""
    made = Begun(token(), token(), token())
    work.add(
        PlatformLogin(
            state=hashed(made.state),
            platform_id=platform.id,
            nonce=hashed(made.nonce),
            browser=hashed(made.browser),
            storage=storage,
            expires=now() + timedelta(minutes=MINUTES),
        )
    )
    return made


def under_way(work: Work, state: str) -> PlatformLogin | None:
    """The login of a state, if it is known, not used and not too old."""
    found = work.get(PlatformLogin, hashed(state))
    return found if found is not None and found.expires > now() else None


def use(work: Work, login: PlatformLogin) -> bool:
    """Use a login up; False if somebody else did so at this moment."""
    used = work.execute(delete(PlatformLogin).where(PlatformLogin.state == login.state))
    return bool(used.rowcount)  # type: ignore[attr-defined]


def forget_old(work: Work, moment: datetime) -> None:
    """Delete logins that were never finished."""
    work.execute(delete(PlatformLogin).where(PlatformLogin.expires < moment))
