"""Rate limits over all workers: every try is counted in the database before it is made, and refused when there were too many that failed.

The count and the limit are one statement, so of any number of tries at the same moment no more than the limit are made. What succeeds does
not count: the try is taken back, that one alone, so that nobody's success makes room for other guesses. A refused try counts nowhere. Only
of attempts at a test every one counts, where its teacher limits their number (`admit`).

Each is counted twice: for the browser at its address, and for the whole address, which may be a school's and so has a limit ten times as
high, or higher. A time window begins with its first failure. Addresses and e-mails are stored as hashes that cannot be tried out
(`secrets.keyed`), until the window is over.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from sqlalchemy import case, delete, or_, select, update
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
    """A largest number of failures, or of attempts, within a window of minutes."""

    failures: int
    minutes: int


LIMITS = {
    "code": Limit(30, 10),  # wrong codes of a browser
    "code by address": Limit(300, 10),  # wrong codes of all browsers at an address, including those without cookies
    "sign-in": Limit(10, 15),  # wrong passwords and links of a browser, and for an e-mail
    "sign-in by address": Limit(100, 15),
    "token": Limit(60, 10),  # wrong API tokens from an address
    "begun": Limit(3, 24 * 60),  # attempts at one test in a browser, where its teacher sets no other number
    "begun by address": Limit(100, 24 * 60),  # and from an address: a school has one for all its classes
}
CALM = 10  # failures below which a code may be looked at before it is counted, and how many are at the same moment


def looks_at_once(workers: int) -> int:
    """How many codes each of so many processes may look at before they are counted: all together pass a limit by `CALM` at most."""
    return max(1, CALM // workers)


class LimitError(QuaestorError):
    """Too many failures, or too many of what `words` tell of; `seconds` is how long to wait."""

    def __init__(self, seconds: int, words: str = "") -> None:
        self.seconds = seconds
        count = ceil(seconds / 60)
        failed = say("there were too many tries that failed; please try again in {count} {count:minute|minutes}", count=count)
        super().__init__(words or failed)


@dataclass(frozen=True)
class Counted:
    """A try in one counter: of which limit, of whom (a hash), in the window that began then."""

    kind: str
    who: str
    began: datetime


def refuse(work: Work, kind: str, *who: str, address: str = "") -> int:
    """Raise LimitError if one of `who`, or the address, had too many failures of this kind (a name in `LIMITS`); else the most of one.

    Only reads, so that a flood that is refused anyway waits for no writer; what counts is `count`.
    """
    asked = _counters(kind, who, address)
    where = Tries.kind.in_([one for one, _ in asked]), Tries.who.in_([one for _, one in asked])
    rows = work.execute(select(Tries.kind, Tries.began, Tries.count).where(*where)).all()
    present = [(found, (began + timedelta(minutes=LIMITS[found].minutes) - now()).total_seconds(), count) for found, began, count in rows]
    left = max((seconds for found, seconds, count in present if count >= LIMITS[found].failures), default=0.0)
    if left > 0:
        counters.REFUSALS.labels(kind).inc()
        raise LimitError(ceil(left))
    return max((count for _, seconds, count in present if seconds > 0), default=0)


def count(work: Work, kind: str, *who: str, address: str = "") -> list[Counted]:
    """Count a try before it is made; LimitError if that is one too many, and then the unit of work is to be rolled back.

    Until its end other tries of the same person or address wait: rolled back, it was never counted.
    """
    made = []
    for counter, name in sorted(_counters(kind, who, address)):  # always in this order, so that there is no deadlock
        began = _add(work, counter, name, LIMITS[counter].failures)
        if began is None:
            refuse(work, kind, *who, address=address)
            raise LimitError(1)  # the window has ended since
        made.append(Counted(counter, name, began))
    return made


def _add(work: Work, counter: str, name: str, most: int) -> datetime | None:
    """Add one to a counter, in one statement: when its window began, or None if that would be more than so many."""
    moment = now()
    is_old = Tries.began <= moment - timedelta(minutes=LIMITS[counter].minutes)
    again = {"count": case((is_old, 1), else_=Tries.count + 1), "began": case((is_old, moment), else_=Tries.began)}
    row = insert(work, Tries).values(kind=counter, who=name, began=moment, count=1)
    fits = row.on_conflict_do_update(index_elements=[Tries.kind, Tries.who], set_=again, where=or_(is_old, Tries.count < most))
    return work.scalar(fits.returning(Tries.began))


def take_back(work: Work, counted: Iterable[Counted]) -> None:
    """Take back a try that did not fail; a window that has begun since keeps its own."""
    for one in counted:
        mine = Tries.kind == one.kind, Tries.who == one.who, Tries.began == one.began
        work.execute(delete(Tries).where(*mine, Tries.count == 1))
        work.execute(update(Tries).where(*mine).values(count=Tries.count - 1))


def admit(work: Work, kind: str, who: str, most: int, words: str) -> None:
    """Count one of a kind; LimitError with these words if that is more than so many in the window of its limit.

    Count and limit are one statement, so of any number at the same moment no more get through. Call it in the unit of work that does what
    is counted: until its end others of the same browser or address wait, and rolled back it was never counted.
    """
    ((_, name),) = _counters(kind, [who], "")
    if _add(work, kind, name, most) is None:
        moment, window = now(), timedelta(minutes=LIMITS[kind].minutes)
        began = work.scalar(select(Tries.began).where(Tries.kind == kind, Tries.who == name)) or moment
        counters.REFUSALS.labels(kind).inc()
        raise LimitError(max(1, ceil((began + window - moment).total_seconds())), words)


@contextmanager
def counting(database: Database, kind: str, who: Iterable[str], error: type[Exception], address: str = "") -> Iterator[None]:
    """Count a try for each of `who` and for the address before the block; unless it raises `error`, the try is taken back after it.

    Use it around units of work, not inside one.
    """
    names = list(who)
    with database.read() as work:
        refuse(work, kind, *names, address=address)
    with database.work() as work:
        counted = count(work, kind, *names, address=address)
    try:
        yield
    except error:
        raise
    except BaseException:
        _take_back(database, counted)
        raise
    _take_back(database, counted)


def _take_back(database: Database, counted: list[Counted]) -> None:
    with database.work() as work:
        take_back(work, counted)


def forget_old(work: Work, moment: datetime) -> None:
    """Delete the counters whose windows are over, but those that are in use at this moment."""
    for kind, limit in LIMITS.items():
        old = select(Tries.who).where(Tries.kind == kind, Tries.began <= moment - timedelta(minutes=limit.minutes))
        work.execute(delete(Tries).where(Tries.kind == kind, Tries.who.in_(old.with_for_update(skip_locked=True))))


def _counters(kind: str, who: Iterable[str], address: str) -> list[tuple[str, str]]:
    """The counters of a try: kinds of limits, and hashes of browsers, e-mails or addresses."""
    asked = [(kind, name) for name in who] + ([(f"{kind} by address", address)] if address else [])
    return [(counter, keyed(f"{counter}\n{name.strip().lower()}")) for counter, name in asked]
