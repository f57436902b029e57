"""One piece of work in a process of its own, with limits on its time and memory, at which it is ended hard.

For what strangers send: however it is made, it costs no more than this, and the server goes on serving. A process is forked off a small
server of the standard library, which has loaded what is needed, so that it is there in some milliseconds.
"""

import os
import time
import traceback
from collections.abc import Callable
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.connection import Connection
from threading import BoundedSemaphore
from typing import Any, TypeVar

from quaestor.errors import QuaestorError, got
from quaestor.i18n import say
from quaestor.parent import leave_with_parent
from quaestor.store.database import UnavailableError
from quaestor.web.operations.process_limits import limit_memory

T = TypeVar("T")
AT_ONCE = 2  # pieces of work of this process that are done at a time
NICENESS = 5
_context: Any = get_context("forkserver" if "forkserver" in get_all_start_methods() else "spawn")
_room = BoundedSemaphore(AT_ONCE)


class LimitsError(QuaestorError):
    """Work that took more time or memory than it may; `rule` and `value` say which."""

    def __init__(self, seconds: float, megabytes: int, value: str) -> None:
        self.rule = say("this is done within {seconds:g} seconds and {megabytes:,} MB of memory", seconds=seconds, megabytes=megabytes)
        self.value = value
        super().__init__(got(self.rule, value))


def prepare(*modules: str) -> None:
    """Name modules that the work needs; they are loaded once, before the first piece of work."""
    if _context.get_start_method() == "forkserver":
        _context.set_forkserver_preload([__name__, *modules])


def apart(function: Callable[..., T], *given: Any, seconds: float, megabytes: int) -> T:
    """What a function gives that stands in a module; given and found can be pickled, and so can the QuaestorErrors that it raises.

    LimitsError when it takes longer or needs more memory, UnavailableError when others are at it for as long.
    """
    if not _room.acquire(timeout=seconds):
        raise UnavailableError(say("the server is busy with other files; please try again in a few seconds"))
    try:
        end = time.monotonic() + seconds
        done: bool
        found: Any
        ours, theirs = _context.Pipe(duplex=False)
        process = _context.Process(target=_work, args=(theirs, seconds, megabytes, function, given), daemon=True)
        with ours:
            with theirs:
                process.start()
            try:
                done, found = ours.recv() if ours.poll(max(0.1, end - time.monotonic())) else (False, _late(seconds, megabytes))
            except EOFError:  # it was killed, or fell over its own memory
                done, found = False, _full(seconds, megabytes)
            finally:
                process.kill()
                process.join()
                process.close()
    finally:
        _room.release()
    if not done:
        raise found
    result: T = found
    return result


def _late(seconds: float, megabytes: int) -> LimitsError:
    return LimitsError(seconds, megabytes, say("more time"))


def _full(seconds: float, megabytes: int) -> LimitsError:
    return LimitsError(seconds, megabytes, say("more memory"))


def _work(told: Connection, seconds: float, megabytes: int, function: Callable[..., Any], given: tuple[Any, ...]) -> None:
    """What the process does."""
    leave_with_parent()
    _limit(seconds, megabytes)
    try:
        found = True, function(*given)
    except QuaestorError as error:
        found = False, error
    except MemoryError:
        found = False, _full(seconds, megabytes)
    except Exception:  # it is told there as what nobody foresaw
        found = False, RuntimeError(traceback.format_exc())
    told.send(found)


def _limit(seconds: float, megabytes: int) -> None:
    """Let the system end this process at its limits, whatever happens to the one that waits for it."""
    try:
        import resource
    except ImportError:  # not on Windows: there only the clock counts
        return
    os.nice(NICENESS)
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    limit_memory(megabytes)
