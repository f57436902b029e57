"""Processes that end with the one that started them, even where that one was killed and could say nothing."""

import os
import time
from threading import Thread

PAUSE = 0.2  # seconds between two looks


def leave_with(parent: int) -> None:
    """Have this process end at once when `parent`, the id of the process that started it, is gone.

    The id comes from the parent: who asks for it here may ask too late. Linux can send a signal instead, but does so when the thread ends
    that started the process.
    """
    Thread(target=_watch, args=(parent,), name="parent", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PAUSE)
    os._exit(1)
