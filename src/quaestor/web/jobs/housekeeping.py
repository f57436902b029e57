"""What has to be done by the clock, whether anybody is there or not: what has had its time is erased, missing outcomes are worked out."""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime

from fastapi.concurrency import run_in_threadpool
from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError
from quaestor.store import job_queue, limits, media, replies, sections, teachers
from quaestor.store.attempts import session_cache
from quaestor.store.clock import now
from quaestor.store.database import Database
from quaestor.store.outcomes import rescoring
from quaestor.store.platforms import frames, logins
from quaestor.store.privacy import erase_names, forgetful
from quaestor.web.operations.garbage import look_at_all

EVERY, MINUTE, SCORING = 3600, 60, 10  # seconds between two rounds
_OLD: dict[str, Callable[[Work, datetime], None]] = {
    "replies of the API": replies.forget_old,
    "links and sign-ins": teachers.forget_old,
    "jobs": job_queue.forget_old,
    "frames of platforms": frames.forget_old,
    "sessions of delivery systems": sections.forget_old,
    "images": lambda work, _: media.drop_unused(work),
}
_log = logging.getLogger("quaestor.web")


async def keep_house(database: Database) -> None:
    """Tidy up at the start and every hour; several workers may do so at once."""
    await again_and_again(tidy, database, EVERY)


async def keep_purging(database: Database) -> None:
    """Forget every minute what is to be kept for minutes, and finish erasures that were held up."""
    await again_and_again(purge, database, MINUTE)


async def keep_scoring(database: Database) -> None:
    """See every few seconds that what the attempts came to is worked out."""
    await again_and_again(look_after, database, SCORING)


async def keep_looking() -> None:
    """Look through memory every hour, and not at the start, when all of it was just looked through: it stops everybody for a moment."""
    while True:
        await asyncio.sleep(EVERY)
        await run_in_threadpool(look_at_all)


async def again_and_again(do: Callable[[Database], object], database: Database, every: float) -> None:
    """Whatever goes wrong is tried again next time."""
    while True:
        try:
            await run_in_threadpool(do, database)
        except QuaestorError as error:
            _log.warning("housekeeping waits: %s", error)
        except Exception:
            _log.exception("housekeeping went wrong and is tried again")
        await asyncio.sleep(every)


def look_after(database: Database) -> None:
    """Request that outcomes that are missing be worked out."""
    with database.read() as work:
        left = rescoring.is_any(work)
    if left:
        with database.work() as work:
            rescoring.ask_all(work)


def tidy(database: Database) -> None:
    """Erase names and all that has had its time, a unit of work for each test and each kind: what goes wrong with one holds up no other.

    The files are written anew once for all of it.
    """
    with database.read() as work:
        tests = forgetful(work)
    for test in tests:
        try:
            with database.work(scrub=False) as work:
                erase_names(work, test, now())
        except Exception:
            _log.exception("names of test %s were not erased; it is tried again", test)
    for kind, forget in _OLD.items():
        try:
            with database.work(scrub=False) as work:
                forget(work, now())
        except Exception:
            _log.exception("old %s were not deleted; it is tried again", kind)
    database.scrub()


def purge(database: Database) -> None:
    """Forget counters of failures whose window is over, logins from platforms that nobody finished and, in this process, sessions that were
    erased; finish what erasures left.
    """
    with database.work() as work:
        limits.forget_old(work, now())
        logins.forget_old(work, now())
    with database.read() as work:
        session_cache.forget_erased(work)
    database.scrub()
