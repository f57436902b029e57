"""What has to be done now and then, whoever is there: names are erased when their time is up, counters of the rate limits forgotten, and
outcomes that are missing worked out."""

import asyncio
import logging
from collections.abc import Callable

from fastapi.concurrency import run_in_threadpool

from quaestor.errors import QuaestorError
from quaestor.store import limits, rescoring
from quaestor.store.clock import now
from quaestor.store.database import Database
from quaestor.store.privacy import erase_names, forgetful

EVERY, SCORING = 3600, 10  # seconds between two rounds
_log = logging.getLogger("quaestor.web")


async def keep_house(database: Database) -> None:
    """Tidy up at the start and every hour; several workers may do so at once."""
    await _again_and_again(tidy, database, EVERY)


async def keep_scoring(database: Database) -> None:
    """See every few seconds that what the attempts came to is worked out."""
    await _again_and_again(look_after, database, SCORING)


async def _again_and_again(do: Callable[[Database], None], database: Database, every: float) -> None:
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
    """Forget old counters; erase names, a unit of work for each test: what goes wrong with one holds up no other."""
    with database.work() as work:
        limits.forget_old(work)
    with database.read() as work:
        tests = forgetful(work)
    for test in tests:
        try:
            with database.work() as work:
                erase_names(work, test, now())
        except Exception:
            _log.exception("names of test %s were not erased; it is tried again", test)
