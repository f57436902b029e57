"""Who sees that jobs are done: a thread of each server process claims one at a time and has a process of its own work it off.

A process, not the thread itself: with a trial of a credal bank in a thread the slowest pages took 450 ms, with a process 130 to 175 ms
(docs/editor.md), since a solver may hold the interpreter; and a trial that runs out of memory takes no taker along. The process is nice,
uses one core, and is gone when the job is done. If it dies, or the whole server does, the job is taken up again: at once, or after
`store.job_queue.SILENT` seconds. It is killed when the job was cancelled, and when it takes longer than a job may, whatever it is doing;
and a teacher has one job worked on at a time, so that one that is stuck holds nobody else's.
"""

import logging
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from threading import Event, Thread
from time import monotonic

from quaestor.errors import QuaestorError
from quaestor.i18n import say
from quaestor.store import job_queue
from quaestor.store.database import Database
from quaestor.store.secrets import token
from quaestor.web.operations.metrics import uncounted
from quaestor.web.settings import PREFIX

POLL = 1.0  # seconds between two looks at the queue
LOOK = 0.5  # seconds between two looks at whether the job is still wanted
GRACE = 15.0  # seconds after its limit within which a process must have ended by itself, with what it has
LONGEST = 600.0  # seconds of a job
ONE_CORE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_log = logging.getLogger("quaestor.web")


class Foreman:
    """A thread that looks for jobs of some kinds; `wake` makes it look at once, `stop` gives back what is not done.

    `each`: how many jobs of one teacher are worked on at a time, by all foremen; `longest`: the seconds that a job may take.
    """

    def __init__(self, database: Database, kinds: Sequence[str], each: int | None = None, longest: float = LONGEST) -> None:
        self._database, self._kinds, self._each, self._longest = database, kinds, each, longest
        self._woken, self._stopped = Event(), Event()
        self._thread = Thread(target=self._run, name="jobs", daemon=True)

    def start(self) -> None:
        """Begin to look for jobs."""
        self._thread.start()

    def wake(self) -> None:
        """There is something to do."""
        self._woken.set()

    def stop(self) -> None:
        """End: a job that is under way is given back, for whoever comes next."""
        self._stopped.set()
        self._woken.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._woken.clear()
            try:
                if not self._one():
                    self._woken.wait(POLL)
            except QuaestorError as error:  # the database is away: it is tried again
                _log.warning("jobs: %s", error)
                self._stopped.wait(POLL)
            except Exception:
                _log.exception("jobs: unforeseen error")
                self._stopped.wait(10 * POLL)

    def _one(self) -> bool:
        """Have one job done; False when there is none."""
        with self._database.read() as work:
            if not job_queue.is_any(work, self._kinds):
                return False
        worker = token()
        with self._database.work() as work:
            number = job_queue.claim(work, worker, self._kinds, self._each)
        if number is None:
            return False
        process = _begun(self._database, number, worker)
        is_over = self._wait(process, number, worker)
        if process.returncode:
            with suppress(job_queue.LostError), self._database.work() as work:  # it was done, deleted or taken up by another
                if is_over:
                    words = say(
                        "it took longer than {minutes:g} {minutes:minute|minutes} and was ended;"
                        " a smaller bank, fewer students or exact numbers take less",
                        minutes=self._longest / 60,
                    )
                    job_queue.fail(work, number, worker, words)
                else:
                    job_queue.give_back(work, number, worker, is_try=not self._stopped.is_set())
                if not self._stopped.is_set():
                    _log.warning("jobs: job %d was broken off (%d)", number, process.returncode)
        return True

    def _wait(self, process: "subprocess.Popen[bytes]", number: int, worker: str) -> bool:
        """Wait for a process; it is killed when we are to stop, or the job is not wanted any more, or its time is up: True then."""
        end, looked = monotonic() + self._longest + GRACE, monotonic()
        while process.poll() is None:
            is_over, is_held = monotonic() > end, True
            if monotonic() > looked + LOOK:
                looked, is_held = monotonic(), self._is_held(number, worker)
            if self._stopped.wait(0.05) or is_over or not is_held:
                process.kill()
                process.wait()
                return is_over
        return False

    def _is_held(self, number: int, worker: str) -> bool:
        try:
            with self._database.read() as work:
                return job_queue.is_held(work, number, worker)
        except QuaestorError:  # the database is away: its process will see
            return True


def _begun(database: Database, number: int, worker: str) -> subprocess.Popen[bytes]:
    """A process that works a job off; it is told of the database by its environment, which nobody else can read."""
    url = database.engine.url.render_as_string(hide_password=False)
    environment = uncounted({**os.environ, **ONE_CORE, f"{PREFIX}DATABASE": url})
    command = [sys.executable, "-m", "quaestor.web.jobs.worker", str(number), worker, str(os.getpid())]
    return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL)
