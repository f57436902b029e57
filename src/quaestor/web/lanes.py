"""Where the work of a request is done. Most pages are made in a thread, so that nobody waits for them.

What every taker does after every question must be quick, and a thread that is woken for it waits longer for the interpreter than the work
takes: 95 answers a second with threads, 190 without (`benchmarks/web.py`, SQLite). So it is done in the thread of the event loop. With a
database in a file, where reading waits for nobody, it is done at once; so is writing. When somebody else is writing at that moment, it is
tried again a little later, and holds nobody up in the meantime. With a database elsewhere, which may be slow or away, others have their
turn whenever it waits (`Database.on_loop`).

Tests whose steps take long (`store.pace`) have a lane of their own: few threads, so that the others wait a little now and then instead of
once for the whole, and so that a class with a slow test leaves the threads of the pages free (`benchmarks/web.py` measures both).
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from anyio import CapacityLimiter
from anyio.lowlevel import RunVar
from anyio.to_thread import run_sync
from fastapi import Request
from fastapi.concurrency import run_in_threadpool

from quaestor.store.database import UnavailableError
from quaestor.store.pace import SlowError
from quaestor.web.pages import database

T = TypeVar("T")
PATIENCE = 0.5  # seconds of trying again before a thread waits
PAUSE = 0.004  # seconds between tries
AT_ONCE = 2  # slow steps that are worked out at a time
_slow: RunVar[CapacityLimiter] = RunVar("slow steps")


async def quickly(request: Request, make: Callable[[bool], T]) -> T:
    """Do something that only reads; `make` is told whether it must be prompt, and raises `SlowError` where it cannot."""
    with suppress(SlowError):
        return await database(request).on_loop(lambda: make(True))
    lane = _slow.get(None)
    if lane is None:
        lane = CapacityLimiter(AT_ONCE)
        _slow.set(lane)
    return await run_sync(make, False, limiter=lane)


async def in_turn(request: Request, write: Callable[[bool], T]) -> T:
    """Do something that writes; `write` is told whether to be prompt or to wait for its turn."""
    if database(request).is_file:
        begun = time.monotonic()
        while time.monotonic() < begun + PATIENCE:
            try:
                return write(True)
            except UnavailableError:
                await asyncio.sleep(PAUSE)
        return await run_in_threadpool(write, False)
    return await database(request).on_loop(lambda: write(False))
