"""Where the work of a request is done. Most pages are made in a thread, so that nobody waits for them.

What every taker does after every question must be quick, and a thread that is woken for it waits longer for the interpreter than the work
takes: 95 answers a second with threads, 190 without (`benchmarks/web.py`, SQLite). So it is done in the thread of the event loop. With a
database in a file, where reading waits for nobody, it is done at once; so is writing. When somebody else is writing at that moment, it is
tried again a little later, and holds nobody up in the meantime. With a database elsewhere, which may be slow or away, others have their
turn whenever it waits (`Database.on_loop`).

Steps that may take long are worked out by processes of their own (`web.jobs.slow_steps`): what needs one is broken off and tried again when
the step is there, so that nothing waits for it but the browser that needs it.

Passwords wait in a line of their own: hashing one takes 64 MB and several cores by design, and a flood of sign-ins shall fill neither
memory nor cores nor the threads of the pages. Who signs in is counted (`store.limits`) when their turn comes, so a crowd that waits counts
no more than one.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, TypeVar

from anyio import CapacityLimiter
from anyio.lowlevel import RunVar
from anyio.to_thread import run_sync
from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from fastapi.routing import APIRoute
from starlette.responses import Response

from quaestor.store.attempts.entry import new_seed
from quaestor.store.clock import now
from quaestor.store.database import UnavailableError
from quaestor.store.serving import SlowError, is_serving
from quaestor.web.jobs.slow_steps import SlowSteps
from quaestor.web.render.pages import database

T = TypeVar("T")
PATIENCE = 0.5  # seconds of trying again before a thread waits
PAUSE = 0.004  # seconds between tries
TRIES = 20  # slow steps that one request may need
HASHES = 1  # passwords that are hashed at a time
_hashes: RunVar[CapacityLimiter] = RunVar("hashes")


async def patiently(request: Request, make: Callable[[], Awaitable[T]]) -> T:
    """Do something that may need slow steps, as often as it needs one that is not there."""
    steps: SlowSteps = request.app.state.slow_steps
    serving = is_serving.set(True)
    try:
        for _ in range(TRIES):
            try:
                return await make()
            except SlowError as slow:
                await steps.work_out(slow, request)
        return await make()
    finally:
        is_serving.reset(serving)


class Patient(APIRoute):
    """A route that may need slow steps."""

    def get_route_handler(self) -> Callable[[Request], Any]:
        """The function that handles a request."""
        handle = super().get_route_handler()

        async def patient(request: Request) -> Response:
            return await patiently(request, lambda: handle(request))

        return patient


def came(request: Request) -> datetime:
    """When a request came: what is worked out for it meanwhile does not count as the taker's time."""
    if not hasattr(request.state, "came"):
        request.state.came = now()
    found: datetime = request.state.came
    return found


def seed(request: Request) -> int:
    """The seed of an attempt that this request begins: the same when it is tried again."""
    if not hasattr(request.state, "seed"):
        request.state.seed = new_seed()
    found: int = request.state.seed
    return found


async def quickly(request: Request, make: Callable[[], T]) -> T:
    """Do something that only reads."""

    async def made() -> T:
        return await database(request).on_loop(make)

    return await patiently(request, made)


async def hashing(do: Callable[[], T]) -> T:
    """Do something that hashes a password, when its turn comes."""
    limiter = _hashes.get(None)
    if limiter is None:
        limiter = CapacityLimiter(HASHES)
        _hashes.set(limiter)
    return await run_sync(do, limiter=limiter)


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
