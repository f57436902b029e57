"""What has to be done now and then, whoever is there: names are erased when their time is up."""

import asyncio
import logging

from fastapi.concurrency import run_in_threadpool

from quaestor.errors import QuaestorError
from quaestor.store.clock import now
from quaestor.store.database import Database
from quaestor.store.privacy import erase_names, forgetful

EVERY = 3600  # seconds
_log = logging.getLogger("quaestor.web")


async def keep_house(database: Database) -> None:
    """Tidy up at the start and every hour; several workers may do so at once. Whatever goes wrong is tried again next time."""
    while True:
        try:
            await run_in_threadpool(tidy, database)
        except QuaestorError as error:
            _log.warning("housekeeping waits: %s", error)
        except Exception:
            _log.exception("housekeeping went wrong and is tried again")
        await asyncio.sleep(EVERY)


def tidy(database: Database) -> None:
    """Erase names, a unit of work for each test: what goes wrong with one holds up no other."""
    with database.read() as work:
        tests = forgetful(work)
    for test in tests:
        try:
            with database.work() as work:
                erase_names(work, test, now())
        except Exception:
            _log.exception("names of test %s were not erased; it is tried again", test)
