"""Processes that end with the one that started them, even where that one was killed and could say nothing.

Linux can send a signal then, but does so when the thread ends that started the process; so each process watches by itself.
"""

import os
import time
from multiprocessing import parent_process
from threading import Thread

PAUSE = 0.2  # seconds between two looks


def leave_with(parent: int) -> None:
    """Have this process end at once when `parent` is gone: the id of the process that started it as a command.

    The id comes from the parent: who asks for it here may ask too late.
    """
    Thread(target=_watch, args=(parent,), name="parent", daemon=True).start()


def leave_with_parent() -> None:
    """Have a process of `multiprocessing` end at once when the one that asked for it is gone; no other process does anything."""
    Thread(target=_wait, name="parent", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PAUSE)
    os._exit(1)


def _wait() -> None:
    asked_for = parent_process()
    if asked_for is not None:
        asked_for.join()
        os._exit(1)
