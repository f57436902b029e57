"""Rate limits that hold over several workers: failures are counted in the database, and too many of them turn the next try away.

Only failures count, so that a class behind one address is never shut out. A window begins with its first failure. Who failed (an address,
an e-mail) is kept as a hash, and only until the window is over.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from math import ceil

from sqlalchemy import case, delete, select
from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError
from quaestor.saying import say
from quaestor.store.clock import now
from quaestor.store.database import Database
from quaestor.store.inserts import insert
from quaestor.store.models import Tries
from quaestor.store.secrets import hashed


@dataclass(frozen=True)
class Limit:
    """At most so many failures within so many minutes."""

    failures: int
    minutes: int


LIMITS = {
    "code": Limit(30, 10),  # wrong codes from an address
    "sign-in": Limit(10, 15),  # wrong passwords and links, from an address and for an e-mail
    "token": Limit(60, 10),  # wrong API tokens from an address
}
_LONGEST = timedelta(minutes=max(limit.minutes for limit in LIMITS.values()))


class LimitError(QuaestorError):
    """Too many failures; `seconds` is how long to wait."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        minutes = ceil(seconds / 60)
        many = say("there were too many tries that failed; please try again in {count} minutes", count=minutes)
        super().__init__(many if minutes > 1 else say("there were too many tries that failed; please try again in 1 minute"))


def refuse(work: Work, kind: str, who: str) -> None:
    """Raise LimitError when there were too many failures of this kind (a name in `LIMITS`); it reads only."""
    limit = LIMITS[kind]
    found = work.execute(select(Tries.began, Tries.count).where(Tries.kind == kind, Tries.who == _hash(kind, who))).first()
    if found is not None and found[1] >= limit.failures:
        left = (found[0] + timedelta(minutes=limit.minutes) - now()).total_seconds()
        if left > 0:
            raise LimitError(ceil(left))


def failed(work: Work, kind: str, who: str) -> None:
    """Count a failure, in a unit of work of its own: the one that failed is undone, and would take the count along.

    `counting` does it so.
    """
    moment = now()
    since = moment - timedelta(minutes=LIMITS[kind].minutes)
    work.execute(delete(Tries).where(Tries.began < moment - _LONGEST))
    row = insert(work, Tries).values(kind=kind, who=_hash(kind, who), began=moment, count=1)
    is_old = Tries.began < since
    again = {"count": case((is_old, 1), else_=Tries.count + 1), "began": case((is_old, moment), else_=Tries.began)}
    work.execute(row.on_conflict_do_update(index_elements=[Tries.kind, Tries.who], set_=again))


@contextmanager
def counting(database: Database, kind: str, who: Iterable[str], error: type[Exception]) -> Iterator[None]:
    """Refuse those with too many failures; count one for each of `who` when the block raises this error. Put it around units of work."""
    names = list(who)
    with database.read() as work:
        for name in names:
            refuse(work, kind, name)
    try:
        yield
    except error:
        with database.work() as work:
            for name in sorted(names):
                failed(work, kind, name)
        raise


def _hash(kind: str, who: str) -> str:
    return hashed(f"{kind}\n{who.strip().lower()}")
