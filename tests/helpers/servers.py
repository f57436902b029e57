"""The real server in processes of its own, to be killed, stopped and started again on the same database and port."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.request import urlopen

import quaestor as qs
from quaestor.store import publishing, teachers
from quaestor.store.database import Database

_SERVES = re.compile(r"serves at http://127\.0\.0\.1:(\d+)/")
_START = 120  # seconds that a start may take on a busy machine


class Server:
    """`quaestor serve` on a database. `wait`: seconds that it waits for a locked SQLite, where not the usual ones."""

    def __init__(self, url: str, workers: int = 1, wait: float | None = None) -> None:
        self.url, self.workers, self.wait = url, workers, wait
        self.port = 0
        self.process: subprocess.Popen[str] | None = None
        self.log = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115  closed with the server

    def __enter__(self) -> "Server":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self.log.close()

    def start(self) -> None:
        """Start it and wait until it answers; the port stays the same from the first start on."""
        shorten = f"import quaestor.store.database as d; d.WAIT = {self.wait}; " if self.wait is not None else ""
        program = f"{shorten}from quaestor.cli import main; raise SystemExit(main())"
        command = [sys.executable, "-c", program, "serve", "--database", self.url, "--port", str(self.port), "--workers", str(self.workers)]
        environment = {**os.environ, "PYTHONWARNINGS": "default"}
        self.log.seek(0)
        self.log.truncate()
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=self.log, text=True, start_new_session=True, env=environment
        )
        assert self.process.stdout is not None
        found = _SERVES.search(self.process.stdout.readline())
        assert found is not None, self.said()
        self.port = int(found[1])
        until(self.answers, _START, self.said)

    def said(self) -> str:
        """The last of what it wrote to its log."""
        self.log.seek(0)
        return self.log.read()[-4000:]

    def answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.said()
        try:
            with urlopen(f"http://127.0.0.1:{self.port}/health", timeout=5) as response:
                return response.status == 200
        except OSError:
            return False

    def kill(self) -> None:
        """`kill -9` of all its processes."""
        if self.process is not None:
            with suppress(ProcessLookupError):  # it has ended already
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            if self.process.stdout is not None:
                self.process.stdout.close()
            self.process = None

    def kill_parent(self) -> list[int]:
        """`kill -9` of the process that was started, and of none that it has started: the ids of these."""
        assert self.process is not None
        others = descendants(self.process.pid)
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.process = None
        return others

    def worker_ids(self) -> list[int]:
        """The processes that serve, where there are several."""
        assert self.process is not None
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [int(child) for child in children if "spawn_main" in _command(child)]


def descendants(process: int) -> list[int]:
    """The processes that one has started, and those that these have started."""
    tasks = Path(f"/proc/{process}/task").iterdir()
    children = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    return [one for child in children for one in (child, *descendants(child))]


def is_running(process: int) -> bool:
    """Whether there is a process of this id that has not ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _command(process: str) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_text()
    except OSError:
        return ""


def until(true: Callable[[], bool], seconds: float, said: Callable[[], str] = str) -> None:
    """Wait until something is true."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"not true after {seconds} s. {said()}"
        time.sleep(0.05)


def publish(database: Database, bank: qs.Bank, questions: int, **conditions: object) -> str:
    """A published test of so many questions; its code."""
    with database.work() as work:
        teacher = teachers.owner(work, "owner@localhost")
        kept = publishing.keep_bank(work, teacher, bank)
        rules = qs.Rules(stop=qs.max_questions(questions))
        return publishing.publish(work, teacher, kept, rules, publishing.Conditions(**conditions)).code
