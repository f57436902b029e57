"""Grades on their way: every few seconds each server process looks for scores that platforms are owed, and sends those that are due.

A platform that does not answer holds up nobody else's grades: after a failure it is left alone for the rest of the round.
"""

import logging
from collections.abc import Collection

from quaestor.errors import QuaestorError
from quaestor.i18n import said
from quaestor.store.database import Database
from quaestor.store.platform_tables import Placement, Platform
from quaestor.store.platforms import keys, outbox
from quaestor.store.platforms.registrations import all_platforms
from quaestor.web.jobs.housekeeping import again_and_again
from quaestor.web.lti.services import Client, ServiceError, make_key
from quaestor.web.security.outgoing import inner_hosts
from quaestor.web.settings import Settings

EVERY = 5.0  # seconds between two rounds
MOST = 200  # scores in one round
_log = logging.getLogger("quaestor.web")


async def keep_sending(database: Database, settings: Settings) -> None:
    """See every few seconds that grades get to their platforms."""
    inner = inner_hosts(settings)
    await again_and_again(lambda kept: send_due(kept, inner), database, EVERY)


def send_due(database: Database, inner: Collection[str]) -> int:
    """Note what is owed anew and send what is due; returns how many were taken."""
    with database.read() as work:
        is_changed = bool(outbox.changed(work))
        is_key_due = bool(all_platforms(work)) and keys.is_needed(work)
    if is_key_due:
        make_key(database)
    if is_changed:
        with database.work() as work:
            outbox.look(work)
    away: list[int] = []
    count = 0
    for _ in range(MOST):
        with database.read() as work:
            if not outbox.is_any(work):
                break
        with database.work() as work:
            owed = outbox.claim(work, away)
        if owed is None:
            break
        platform, is_taken = _send(database, owed, inner)
        count += is_taken
        if not is_taken and platform is not None:
            away.append(platform)
    return count


def _send(database: Database, owed: outbox.Owed, inner: Collection[str]) -> tuple[int | None, bool]:
    """Send one score: to which platform, if it is not to be asked again now, and whether it was taken."""
    with database.read() as work:
        placement = work.get_one(Placement, owed.placement_id)
        platform: Platform = placement.platform
        title = placement.test.title if placement.test is not None else ""
    try:
        client = Client(database, platform, inner)
        column = client.column(placement, title)
        client.send(placement, column, owed.sub, owed.score, owed.stamp)
    except QuaestorError as error:
        is_for_good = isinstance(error, ServiceError) and error.for_good
        _log.warning("a grade for platform %d was not taken and %s: %s", platform.id, "is given up" if is_for_good else "waits", error)
        with database.work() as work:
            outbox.put_off(work, owed, said(error), is_for_good)
        return (None if is_for_good else platform.id), False
    with database.work() as work:
        outbox.taken(work, owed)
        kept = work.get(Placement, owed.placement_id)
        if kept is not None and not kept.lineitem:
            kept.lineitem = column
    return platform.id, True
