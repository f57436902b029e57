"""Checks of the data folder and of the folder of back-ups."""

import os
import shutil
import stat
import zipfile
from datetime import datetime, timedelta
from pathlib import Path

from quaestor.store import backup_header
from quaestor.web.checkup.finding import FINE, Finding, advice, fine, in_words, wrong
from quaestor.web.settings import Settings

LITTLE, TOO_LITTLE = 1_000_000_000, 200_000_000  # bytes left
OLD = timedelta(hours=36)  # of a daily back-up that did not come
OTHERS = stat.S_IRWXG | stat.S_IRWXO
SQLITE = "sqlite:///"
REMOTE = ("nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs")
MOUNTS = Path("/proc/mounts")


def data(settings: Settings) -> list[Finding]:
    """The folder: there, ours to write, for nobody else to read, with space left."""
    if settings.database:
        file = Path(settings.database.removeprefix(SQLITE))
        others = _open_to_others(file) if settings.database.startswith(SQLITE) and file.exists() else []
        return others or fine("data", "The data are in another database; no folder is needed.")
    folder = Path(settings.data)
    if not folder.exists():
        words = f"The data folder {folder} is not there: `quaestor serve` will make it."
        return advice("data", words, "If there should be data, set --data to where they are.")
    if not folder.is_dir():
        return wrong("data", f"{folder} is no folder.", "Set --data to another place.")
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        words = f"{folder} cannot be written by the user who runs this command."
        return wrong("data", words, f"Run this command as the user of the server, or give the folder to it: chown -R quaestor {folder}")
    mode = stat.S_IMODE(folder.stat().st_mode)
    if mode & OTHERS:
        words = f"Other users of this machine may look into {folder} (its rights are {mode:o}): it holds names, answers and codes."
        return wrong("data", words, f"chmod 700 {folder}")
    kind = _kind_of_disk(folder)
    if kind in REMOTE:
        words = f"{folder} is on a disk of another machine ({kind}): SQLite can lose data there."
        return wrong("data", words, "Use a disk of this machine, or PostgreSQL (--database).")
    (left,) = _space(folder)
    return [left] if left.state != FINE else _open_to_others(folder / "quaestor.db") or [left]


def _open_to_others(file: Path) -> list[Finding]:
    """Files of a database that others may read: only the folder keeps them out, if at all, and copies are open to them."""
    for path in sorted(file.parent.glob(f"{file.name}*")):
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & OTHERS and path.suffix != ".txt":  # the note holds nothing
            is_shut = not stat.S_IMODE(file.parent.stat().st_mode) & OTHERS
            words = f"The rights of {path} ({mode:o}) let other users of this machine read or write it"
            words += "; the folder keeps them out, but not from a copy." if is_shut else ": it holds names, answers and codes."
            return (advice if is_shut else wrong)("data", words, f"chmod 600 {path}")
    return []


def _space(folder: Path) -> list[Finding]:
    left = shutil.disk_usage(folder).free
    if left < LITTLE:
        words = f"{in_words(left)} are left where {folder} is."
        mend = "Make room, or move the folder to a larger disk; when nothing is left, answers cannot be kept."
        return (wrong if left < TOO_LITTLE else advice)("data", words, mend)
    return fine("data", f"{folder} can be written by us only; {in_words(left)} are left.")


def _kind_of_disk(folder: Path) -> str:
    """The kind of file system that a folder is on; empty where nobody tells."""
    try:
        mounts = [line.split()[1:3] for line in MOUNTS.read_text().splitlines()]
    except OSError:
        return ""
    place = folder.resolve()
    above = [(len(at), kind) for at, kind in mounts if place.is_relative_to(at.replace("\\040", " "))]
    return max(above)[1] if above else ""


def back_ups(folder: str) -> list[Finding]:
    """The newest back-up in a folder: how old it is, and whether it can be read."""
    if not folder:
        words = "Whether there are back-ups is not known."
        return advice("back-ups", words, "Say where they are: quaestor doctor --back-ups FOLDER")
    newest = max(Path(folder).glob("*.zip"), key=lambda path: path.stat().st_mtime, default=None)
    if newest is None:
        return wrong(
            "back-ups", f"There is no back-up in {folder}.", f"quaestor back-up {Path(folder) / 'quaestor.zip'}, and every night by a timer"
        )
    age = datetime.now() - datetime.fromtimestamp(newest.stat().st_mtime)
    hours = age.total_seconds() / 3600
    if broken := _broken(newest):
        words = f"The newest back-up, {newest}, cannot be read: {broken}."
        return wrong("back-ups", words, f"Move it away, and make another one: quaestor back-up {newest}")
    if age > OLD:
        words = f"The newest back-up, {newest}, is {hours / 24:.0f} days old."
        return wrong("back-ups", words, "See why none came since: systemctl status quaestor-back-up.timer")
    return fine("back-ups", f"The newest back-up, {newest}, is {hours:.0f} hours old and can be read.")


def _broken(file: Path) -> str:
    """Why a file cannot be restored; empty if it is a whole back-up of Quaestor."""
    try:
        with zipfile.ZipFile(file) as archive:
            backup_header.read(archive)
            damaged = archive.testzip()
    except (backup_header.BackupError, *backup_header.UNREADABLE) as error:
        return str(error)
    return f"{damaged} in it is damaged" if damaged is not None else ""
