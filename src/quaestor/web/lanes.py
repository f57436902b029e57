"""Where the work of a request is done. Most pages are made in a thread, so that nobody waits for them.

What every taker does after every question must be quick, and a thread that is woken for it waits longer for the interpreter than the work
takes: 95 answers a second with threads, 190 without (`benchmarks/web.py`, SQLite). With a database in a file, where reading waits for
nobody, it is done at once; so is writing. When somebody else is writing at that moment, it is tried again a little later, and holds nobody
up in the meantime. Only tests whose steps take long are worked out in threads, so that the others wait a little for each step instead of
once for the whole. With a database elsewhere, which may be slow or away, everything is done in threads.
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from fastapi import Request
from fastapi.concurrency import run_in_threadpool

from quaestor.store.database import UnavailableError
from quaestor.store.pace import SlowError
from quaestor.web.pages import database

T = TypeVar("T")
PATIENCE = 0.5  # seconds of trying again before a thread waits
PAUSE = 0.004  # seconds between tries


async def quickly(request: Request, make: Callable[[bool], T]) -> T:
    """Do something that only reads; `make` is told whether it must be prompt, and raises `SlowError` where it cannot."""
    if database(request).is_file:
        with suppress(SlowError):
            return make(True)
    return await run_in_threadpool(make, False)


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
