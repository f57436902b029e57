"""Rate limits over all workers: failures are counted in the database, and after too many of them further tries are refused.

Only failures count. Each is counted twice: for the browser at its address, and for the whole address, which may be a school's and so has a
limit ten times as high. A time window begins with its first failure. Addresses and e-mails are stored as hashes that cannot be tried out
(`secrets.keyed`), until the window is over.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from sqlalchemy import case, delete, select
from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError
from quaestor.i18n import say
from quaestor.store import counters
from quaestor.store.clock import now
from quaestor.store.database import Database
from quaestor.store.inserts import insert
from quaestor.store.models import Tries
from quaestor.store.secrets import keyed


@dataclass(frozen=True)
class Limit:
    """A largest number of failures within a window of minutes."""

    failures: int
    minutes: int


LIMITS = {
    "code": Limit(30, 10),  # wrong codes of a browser
    "code by address": Limit(300, 10),  # wrong codes of all browsers at an address, including those without cookies
    "sign-in": Limit(10, 15),  # wrong passwords and links of a browser, and for an e-mail
    "sign-in by address": Limit(100, 15),
    "token": Limit(60, 10),  # wrong API tokens from an address
}
_LONGEST = timedelta(minutes=max(limit.minutes for limit in LIMITS.values()))


class LimitError(QuaestorError):
    """Too many failures; `seconds` is how long to wait."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        count = ceil(seconds / 60)
        super().__init__(say("there were too many tries that failed; please try again in {count} {count:minute|minutes}", count=count))


def refuse(work: Work, kind: str, *who: str, address: str = "") -> None:
    """Raise LimitError if one of `who`, or the address, had too many failures of this kind (a name in `LIMITS`); only reads."""
    asked = _counters(kind, who, address)
    where = Tries.kind.in_([one for one, _ in asked]), Tries.who.in_([one for _, one in asked])
    rows = work.execute(select(Tries.kind, Tries.began, Tries.count).where(*where)).all()
    full = [(began + timedelta(minutes=LIMITS[found].minutes) - now()) for found, began, count in rows if count >= LIMITS[found].failures]
    left = max((over.total_seconds() for over in full), default=0.0)
    if left > 0:
        counters.REFUSALS.labels(kind).inc()
        raise LimitError(ceil(left))


def failed(work: Work, kind: str, *who: str, address: str = "") -> None:
    """Count a failure. Call it in a unit of work of its own, as `counting` does: the one that failed is rolled back, count included."""
    moment = now()
    forget_old(work, moment)
    for counter, name in sorted(_counters(kind, who, address)):  # always in this order, so that there is no deadlock
        is_old = Tries.began < moment - timedelta(minutes=LIMITS[counter].minutes)
        again = {"count": case((is_old, 1), else_=Tries.count + 1), "began": case((is_old, moment), else_=Tries.began)}
        row = insert(work, Tries).values(kind=counter, who=name, began=moment, count=1)
        work.execute(row.on_conflict_do_update(index_elements=[Tries.kind, Tries.who], set_=again))


def forget_old(work: Work, moment: datetime) -> None:
    """Delete counters whose window is over."""
    work.execute(delete(Tries).where(Tries.began < moment - _LONGEST))


@contextmanager
def counting(database: Database, kind: str, who: Iterable[str], error: type[Exception], address: str = "") -> Iterator[None]:
    """Raise LimitError after too many failures; if the block raises `error`, count a failure for each of `who` and for the address.

    Use it around units of work, not inside one.
    """
    names = list(who)
    with database.read() as work:
        refuse(work, kind, *names, address=address)
    try:
        yield
    except error:
        with database.work() as work:
            failed(work, kind, *names, address=address)
        raise


def _counters(kind: str, who: Iterable[str], address: str) -> list[tuple[str, str]]:
    """The counters of a failure: kinds of limits, and hashes of browsers, e-mails or addresses."""
    asked = [(kind, name) for name in who] + ([(f"{kind} by address", address)] if address else [])
    return [(counter, keyed(f"{counter}\n{name.strip().lower()}")) for counter, name in asked]
