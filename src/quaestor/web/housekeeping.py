"""What has to be done now and then, whoever is there: names are erased when their time is up."""

import asyncio
import logging

from fastapi.concurrency import run_in_threadpool

from quaestor.errors import QuaestorError
from quaestor.store.clock import now
from quaestor.store.database import Database
from quaestor.store.privacy import erase_names

EVERY = 3600  # seconds
_log = logging.getLogger("quaestor.web")


async def keep_house(database: Database) -> None:
    """Tidy up at the start and every hour; several workers may do so at once. A database that is away is tried again next time."""
    while True:
        try:
            await run_in_threadpool(_tidy, database)
        except QuaestorError as error:
            _log.warning("housekeeping waits: %s", error)
        await asyncio.sleep(EVERY)


def _tidy(database: Database) -> None:
    with database.work() as work:
        erase_names(work, now())
