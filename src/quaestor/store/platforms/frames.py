"""Browsers inside a platform's frame: what stands for the cookies that they do not keep.

The secret is in the address of every page there. Only its hash is stored, and the jar of cookies is locked with it: whoever reads the
database can open neither the address nor the jar.
"""

from datetime import datetime, timedelta

from sqlalchemy import delete, update
from sqlalchemy.orm import Session as Work

from quaestor.store.clock import now
from quaestor.store.erasure import erased
from quaestor.store.platform_tables import Frame
from quaestor.store.secrets import hashed

HOURS = 12  # that a frame can be used after it was opened
KEPT = timedelta(days=2)  # that we remember whose it was, to be able to say inside the frame that it is too old
UNSEEN = "?"  # begins `bound` until the browser has come back


def keep(work: Work, secret: str, browser: str, frame: Frame) -> None:
    """Store a frame; `browser`: a cookie that the browser may keep or not."""
    frame.token, frame.bound = hashed(secret), UNSEEN + _short(browser)
    frame.expires = now() + timedelta(hours=HOURS)
    work.add(frame)
    work.flush()


def find(work: Work, secret: str) -> Frame | None:
    """The frame of a secret, also if it is too old."""
    return work.get(Frame, hashed(secret))


def is_its(frame: Frame, browser: str) -> bool:
    """Whether a browser with this cookie may use a frame: at the first visit any, then the one that was there, if it keeps cookies."""
    is_new = not frame.bound or frame.bound.startswith(UNSEEN)
    return frame.expires > now() and (is_new or frame.bound == _short(browser))


def bind(work: Work, frame: Frame, browser: str) -> None:
    """After the first visit: from now on the cookie is needed, if the browser has brought it."""
    kept = _short(browser) if frame.bound == UNSEEN + _short(browser) else ""
    work.execute(update(Frame).where(Frame.token == frame.token, Frame.bound == frame.bound).values(bound=kept))


def fill(work: Work, frame: Frame, jar: bytes) -> None:
    """Store the cookies of a frame."""
    work.execute(update(Frame).where(Frame.token == frame.token).values(jar=jar))


def close(work: Work, frame: Frame) -> None:
    """End a frame."""
    work.execute(delete(Frame).where(Frame.token == frame.token))


def forget_old(work: Work, moment: datetime) -> None:
    """Delete frames that are long over, with the names of people at their platform."""
    if work.execute(delete(Frame).where(Frame.expires < moment - KEPT)).rowcount:  # type: ignore[attr-defined]
        erased(work)


def _short(browser: str) -> str:
    return hashed(browser)[:63]
