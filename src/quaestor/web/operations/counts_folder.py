"""The folder in which several workers keep their counts for /metrics: it goes with the server, or, if that was killed, at the next start.

The server holds a lock on its folder, which the system takes away with the process, however it ended. A folder without one is abandoned.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PREFIX = "quaestor-metrics-"


@contextmanager
def counts_folder() -> Iterator[str]:
    """A new folder, there for as long as it is needed."""
    folder, lock = _made()
    while not folder.exists():  # it was cleared away before it had its lock
        _unlock(lock)
        folder, lock = _made()
    try:
        yield str(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _unlock(lock)


def _made() -> tuple[Path, int | None]:
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    try:
        return folder, _lock(folder, wait=True)
    except FileNotFoundError:
        return folder, None


def clear_abandoned() -> None:
    """Remove such folders of this user that no process holds any more."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        try:
            if os.name == "posix" and folder.lstat().st_uid == os.geteuid() and not folder.is_symlink():
                lock = _lock(folder)
                shutil.rmtree(folder, ignore_errors=True)
                _unlock(lock)
        except OSError:  # held by a server that runs, or just gone
            continue


def _lock(folder: Path, wait: bool = False) -> int | None:
    """Lock a folder; OSError if another process holds it. None where folders have no locks (Windows)."""
    try:
        import fcntl
    except ImportError:
        return None
    opened = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(opened)
        raise
    return opened


def _unlock(lock: int | None) -> None:
    if lock is not None:
        os.close(lock)
