"""The data folder is for its owner only: what others could read or write is mended, or the server does not start."""

import logging
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import make_url

from quaestor.errors import QuaestorError
from quaestor.web.settings import Settings

OTHERS = stat.S_IRWXG | stat.S_IRWXO
_log = logging.getLogger("quaestor.web")


def keep_private(settings: Settings) -> None:
    """Let nobody else read the data: the folder of its own that it has, and the files of an SQLite database wherever they are."""
    url = make_url(settings.database_url)
    if os.name != "posix" or not url.drivername.startswith("sqlite") or not url.database:
        return
    file = Path(url.database)
    if not settings.database:
        _mend_folder(Path(settings.data), file.name)
    for path in _files(file):
        _mend(path)


@contextmanager
def private_files() -> Iterator[None]:
    """What is made meanwhile is for its owner only; what SQLite puts beside a file later has the mode of that file."""
    before = os.umask(OTHERS)
    try:
        yield
    finally:
        os.umask(before)


def _files(file: Path) -> Iterator[Path]:
    """The file of a database, and those that SQLite puts beside it."""
    return (path for ending in ("", "-wal", "-shm", "-journal") if (path := file.with_name(file.name + ending)).is_file())


def _mend_folder(folder: Path, file: str) -> None:
    if all(path.name.startswith(file) for path in folder.iterdir()):
        _mend(folder)
    elif _mode(folder) & stat.S_IWOTH:
        raise QuaestorError(f"data: a folder of its own, or one that not everybody may write to, got {folder} (mode {_mode(folder):o})")


def _mend(path: Path) -> None:
    mode = _mode(path)
    if not mode & OTHERS:
        return
    why = "the file system keeps no modes"
    try:
        path.chmod(mode & ~OTHERS)
    except OSError as error:
        why = str(error.strerror)
    if _mode(path) & OTHERS:
        raise QuaestorError(
            f"data: nobody but its owner may read it, got {path} (mode {mode:o}), which cannot be changed: {why}; "
            f"change it by hand (chmod {mode & ~OTHERS:o}), or choose another folder with --data"
        )
    _log.warning("data: others could read %s (mode %o); now only its owner can (mode %o)", path, mode, mode & ~OTHERS)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)
