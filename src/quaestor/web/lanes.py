"""Where the work of a request is done. Most pages are made in a thread, so that nobody waits for them.

What every taker does after every question must be quick, and a thread that is woken for it waits longer for the interpreter than the work
takes: 95 answers a second with threads, 190 without (`benchmarks/web.py`, SQLite). With a database in a file, where reading waits for
nobody, it is done at once; so is writing, unless it cannot have its turn within a moment. With a database elsewhere, which may be slow or
away, everything is done in threads.
"""

from collections.abc import Callable
from typing import TypeVar

from fastapi import Request
from fastapi.concurrency import run_in_threadpool

from quaestor.store.database import UnavailableError
from quaestor.web.pages import database

T = TypeVar("T")


async def quickly(request: Request, make: Callable[[], T]) -> T:
    """Do something that only reads."""
    if database(request).is_file:
        return make()
    return await run_in_threadpool(make)


async def in_turn(request: Request, write: Callable[[bool], T]) -> T:
    """Do something that writes; `write` is told whether to be prompt or to wait for its turn."""
    if database(request).is_file:
        try:
            return write(True)
        except UnavailableError:
            pass  # somebody else is writing: wait in a thread
    return await run_in_threadpool(write, False)
