"""Parts of a simulation worked out by several processes of one machine, which share a folder.

Whoever is free begins the next part, by making a file that only one can make, and puts what is found beside it: to send it through a pipe
would take a tenth of the time that the work takes. A process that is known to have one thread is forked, which takes no time; locks that
other threads hold would stay closed in a fork, so otherwise a new Python is started. It does not run the script that called for it again,
so no script needs `if __name__ == "__main__":`. Only where the job needs functions that stand in the script (`script.py`) it runs it, up to
the simulation.
"""

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep
from typing import Any, Protocol, TypeVar

from quaestor.errors import QuaestorError
from quaestor.parent import leave_with, leave_with_parent
from quaestor.simulate.script import Script

_AHEAD = 4  # parts of each other process that wait to be fetched
_PAUSE = 0.005  # seconds between two looks
_START = "from quaestor.simulate.processes import begin; begin()"
Found_co = TypeVar("Found_co", covariant=True)
Found = TypeVar("Found")


class Work(Protocol[Found_co]):
    """What is worked out in parts."""

    def part(self, number: int) -> Found_co:
        """Work out one part."""


def side_by_side(
    job: Work[Found], numbers: list[int], workers: int, find_script: Callable[[], Script | None] = lambda: None
) -> Iterator[Found]:
    """Parts in order, of which this process and others take the next one whenever they are free.

    `find_script`: the script that holds what the job needs, or an error where no new process could find that.
    """
    own: dict[int, Found] = {}
    with TemporaryDirectory(prefix="quaestor-") as folder:
        shared = _Shared(folder, numbers, _AHEAD * (workers - 1))
        mine = shared.begin()  # before the others come: this process waits for nobody
        others = _forked(job, shared, workers - 1) if has_one_thread() else _started(job, shared, workers - 1, find_script())
        try:
            for number in numbers:
                while number not in own and not shared.has(number):
                    are_well = all(other.is_well for other in others)  # before its last words are looked for
                    shared.raise_failures()
                    if not are_well:
                        raise QuaestorError("workers: each does its work to the end, got one that ended before")
                    if mine is not None:
                        own[mine] = job.part(mine)
                        mine = shared.begin()
                    else:
                        sleep(_PAUSE)
                yield own.pop(number) if number in own else shared.fetched(number)
        finally:
            for other in others:
                other.end()


def has_one_thread() -> bool:
    """Whether this process is known to have one thread only."""
    threads = Path("/proc/self/task")
    return threads.is_dir() and len(list(threads.iterdir())) == 1


@dataclass
class _Shared:
    """The folder that processes share: `N.begun`, `N.found`, `N.failed` for part N. At most `ahead` parts wait there to be fetched."""

    folder: str
    numbers: list[int]
    ahead: int
    _next: int = field(default=0)

    def _file(self, number: int, ending: str) -> Path:
        return Path(self.folder) / f"{number}.{ending}"

    def begin(self) -> int | None:
        """The next part that nobody has begun, which is begun now."""
        while self._next < len(self.numbers):
            number = self.numbers[self._next]
            self._next += 1
            try:
                os.close(os.open(self._file(number, "begun"), os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                continue
            return number
        return None

    def has(self, number: int) -> bool:
        """Whether a part was put here."""
        return self._file(number, "found").exists()

    def fetched(self, number: int) -> Any:
        """A part from the folder."""
        found = pickle.loads(self._file(number, "found").read_bytes())
        self._file(number, "found").unlink()
        return found

    def put(self, number: int, found: object, ending: str = "found") -> None:
        """Put something here, all of it at once."""
        waiting = self._file(number, "writing")
        waiting.write_bytes(pickle.dumps(found, pickle.HIGHEST_PROTOCOL))
        waiting.replace(self._file(number, ending))

    def serve(self, job: Work[object]) -> None:
        """Work out one part after another until all are begun."""
        while (number := self.begin()) is not None:
            try:
                self.put(number, job.part(number))
            except Exception as error:  # raised where the simulation was called
                self.fail(number, error)
                return
            while sum(name.endswith(".found") for name in os.listdir(self.folder)) >= self.ahead:
                sleep(_PAUSE)

    def fail(self, number: int, error: Exception) -> None:
        """Leave an error behind."""
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # an error of somebody else, made of what cannot be sent
            error = QuaestorError(f"workers: {type(error).__name__}: {error}")
        self.put(number, error, "failed")

    def raise_failures(self) -> None:
        """Raise what went wrong in another process."""
        for path in sorted(Path(self.folder).glob("*.failed")):
            raise pickle.loads(path.read_bytes())


@dataclass(frozen=True)
class _Other:
    """A process that works with this one."""

    process: Any

    @property
    def is_well(self) -> bool:
        """Whether it is at work, or came to the end of it."""
        return (self.process.poll() if isinstance(self.process, subprocess.Popen) else self.process.exitcode) in (None, 0)

    def end(self) -> None:
        self.process.terminate()
        self.process.wait() if isinstance(self.process, subprocess.Popen) else self.process.join()


def _forked(job: Work[object], shared: _Shared, count: int) -> list[_Other]:
    others = [get_context("fork").Process(target=_serve, args=(job, shared), daemon=True) for _ in range(count)]
    for other in others:
        other.start()
    return [_Other(other) for other in others]


def _serve(job: Work[object], shared: _Shared) -> None:
    leave_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # this process ends the others
    shared.serve(job)


def _started(job: Work[object], shared: _Shared, count: int, script: Script | None) -> list[_Other]:
    (Path(shared.folder) / "job").write_bytes(pickle.dumps(job, pickle.HIGHEST_PROTOCOL))
    (Path(shared.folder) / "start").write_bytes(pickle.dumps((os.getpid(), sys.argv, script, shared), pickle.HIGHEST_PROTOCOL))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(place for place in sys.path if place)}
    command = [sys.executable, "-c", _START, shared.folder]
    return [_Other(subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL)) for _ in range(count)]


def begin() -> None:
    """A new Python that works with the one that started it: its last argument is the folder."""
    folder = sys.argv[-1]
    parent, sys.argv, script, shared = pickle.loads((Path(folder) / "start").read_bytes())
    leave_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        if script is not None:
            script.run()
        job = pickle.loads((Path(folder) / "job").read_bytes())
    except Exception as error:  # whatever a module of somebody else raises
        shared.fail(-os.getpid(), QuaestorError(f"workers: what is registered can be imported, got {type(error).__name__}: {error}"))
    else:
        shared.serve(job)
