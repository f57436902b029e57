"""Steps that may take long, and large banks that have to be read, by processes with a limit on time and memory: nobody else waits for them.

A few processes serve this one. A bank never has all of them, so that a test with slow steps leaves others a way; a process that is not
done in time, or that nobody waits for any more, is ended and replaced. What it found until then is used (`session.limited`); of one that
had to be ended nothing is left, and the test goes on without bounds.
"""

import asyncio
import gc
import logging
import os
import pickle
import subprocess
import sys
from collections import Counter, OrderedDict
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Condition, Thread, Timer
from time import monotonic, sleep
from typing import Any

from fastapi import Request
from starlette.requests import ClientDisconnect

from quaestor.bankfile.bank import put_together, take_apart
from quaestor.errors import QuaestorError
from quaestor.i18n import say, unpacked
from quaestor.inference.layout import layout_of
from quaestor.session.limited import PATH, STEP, blindly
from quaestor.session.session import Session
from quaestor.session.sufficiency import questions_for
from quaestor.store import counters
from quaestor.store.attempts.pace import keep_found
from quaestor.store.publishing import remember_bank
from quaestor.store.serving import BANK, SlowError
from quaestor.web.jobs.slow_process import BANKS
from quaestor.web.operations.metrics import uncounted

SECONDS, MEGABYTES, PROCESSES = 3.0, 1000, 2  # what a step may take, and how many are worked out at once
LONGER = {PATH: 4, BANK: 40}  # what may take so many times as long: nobody is in the middle of a test
GRACE = 2.0  # seconds after its limit within which a process must have replied
ONE_CORE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
LOOK = 0.5  # seconds between two looks at whether somebody still waits
REST = 3  # times as long as it worked rests a thread that others wait for
_log = logging.getLogger("quaestor.web")


@dataclass(eq=False)
class _Task:
    slow: SlowError
    waiting: int = 0
    process: "_Process | None" = None
    done: "Future[None]" = field(default_factory=Future)


class SlowSteps:
    """A few processes, started when the first step is asked for."""

    def __init__(self, seconds: float = SECONDS, megabytes: int = MEGABYTES, processes: int = PROCESSES) -> None:
        self._seconds, self._megabytes, self._count = seconds, megabytes, processes
        self._tasks: OrderedDict[str, _Task] = OrderedDict()  # that wait or are worked out
        self._begun: set[_Task] = set()
        self._busy: Counter[str] = Counter()  # processes at work for each bank
        self._changed = Condition()
        self._threads: list[Thread] = []
        self._closed = False

    async def work_out(self, slow: SlowError, request: Request) -> None:
        """Have something worked out and remembered; ClientDisconnect when the browser that asked for it is gone."""
        task = self._join(slow)
        found = asyncio.wrap_future(task.done)
        try:
            while not (await asyncio.wait({found}, timeout=LOOK))[0]:
                if await request.is_disconnected():
                    raise ClientDisconnect
            await found
        finally:
            self._leave(task)

    def close(self) -> None:
        """End all processes."""
        with self._changed:
            self._closed = True
            for task in self._begun:
                if task.process is not None:
                    task.process.kill()
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _join(self, slow: SlowError) -> _Task:
        with self._changed:
            task = self._tasks.setdefault(slow.key, _Task(slow))
            task.waiting += 1
            while len(self._threads) < self._count:
                self._threads.append(Thread(target=self._serve, name="slow steps", daemon=True))
                self._threads[-1].start()
            self._changed.notify_all()
        return task

    def _leave(self, task: _Task) -> None:
        with self._changed:
            task.waiting -= 1
            if task.waiting:
                return
            if task not in self._begun:
                self._tasks.pop(task.slow.key, None)
            elif task.process is not None:
                task.process.kill()

    def _next(self) -> _Task | None:
        """The next task, when there is one that may begin; None at the end."""
        most = max(1, self._count - 1)
        with self._changed:
            while not self._closed:
                for task in self._tasks.values():
                    bank = task.slow.bank
                    if task not in self._begun and self._busy[bank] < most:
                        self._begun.add(task)
                        self._busy[bank] += 1
                        return task
                self._changed.wait()
        return None

    def _serve(self) -> None:
        """Hand tasks to one process, one after the other."""
        process: _Process | None = None
        while (task := self._next()) is not None:
            if process is None or process.was_killed:
                process = _Process(self._megabytes)
            error: Exception | None = None
            try:
                self._work_off(task, process)
            except EOFError:
                process.kill()
                error = self._ended(task)
            except QuaestorError as refused:
                error = refused
            except Exception as unforeseen:
                _log.exception("slow steps: unforeseen error")
                process.kill()
                error = unforeseen
            if process.was_killed:
                process.bury()
            self._finish(task, error)
        if process is not None:
            process.kill()
            process.bury()

    def _work_off(self, task: _Task, process: "_Process") -> None:
        with self._changed:
            task.process = process
            if self._is_left(task):
                return
        begun = monotonic()
        value = process.ask(task.slow, self._seconds * LONGER.get(task.slow.kind, 1))
        if task.slow.kind == STEP:
            counters.STEPS.observe(monotonic() - begun)
        _keep(task.slow, value)

    def _is_left(self, task: _Task) -> bool:
        """Whether nobody waits for a task any more."""
        return self._closed or not task.waiting

    def _ended(self, task: _Task) -> Exception | None:
        """What becomes of a task whose process was killed: a test goes on without bounds."""
        if self._is_left(task):
            return None
        _log.warning("slow steps: a %s of the bank %s was ended at its limit", task.slow.kind, task.slow.bank)
        if task.slow.kind == BANK:
            return QuaestorError(say("this bank is too large for this server"))
        _keep(task.slow, blindly(task.slow.asked) if task.slow.kind == STEP else None)
        return None

    def _finish(self, task: _Task, error: Exception | None) -> None:
        with self._changed:
            self._tasks.pop(task.slow.key, None)
            self._begun.discard(task)
            task.process = None
            self._busy[task.slow.bank] -= 1
            self._changed.notify_all()
        if error is None:
            task.done.set_result(None)
        else:
            task.done.set_exception(error)


class _Process:
    """A process that works tasks out, and the banks that it knows."""

    def __init__(self, megabytes: int) -> None:
        command = [sys.executable, "-m", "quaestor.web.jobs.slow_process", str(megabytes), str(os.getpid())]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=uncounted({**os.environ, **ONE_CORE}))
        self._banks: OrderedDict[str, None] = OrderedDict()
        self.was_killed = False

    def ask(self, slow: SlowError, seconds: float) -> Any:
        """What something came to; EOFError when the process was killed: by somebody else, by its limit, or since it had no memory left."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        limit = Timer(seconds + GRACE, self.kill)
        limit.start()
        try:
            asked = slow.asked if slow.kind == BANK else self._told(slow.asked)
            pickle.dump((slow.kind, asked, seconds), self._process.stdin)
            self._process.stdin.flush()
            value, error = pickle.load(self._process.stdout)
        except (OSError, pickle.UnpicklingError) as broken:
            raise EOFError from broken
        finally:
            limit.cancel()
        if error:
            raise QuaestorError(unpacked(error))
        return value

    def _told(self, session: Session) -> tuple[Any, ...]:
        """A session in parts: the version of its bank, the bank itself where the process does not know it, and the rest."""
        bank = session.bank
        is_known = bank.version in self._banks
        self._banks[bank.version] = None
        self._banks.move_to_end(bank.version)
        while len(self._banks) > BANKS:
            self._banks.popitem(last=False)
        content = None if is_known else pickle.dumps(take_apart(bank, Breaks()))
        return bank.version, content, session.rules, session.seed, session.log, session.start

    def kill(self) -> None:
        """End it at once; whoever waits for it gets an EOFError."""
        self.was_killed = True
        self._process.kill()

    def bury(self) -> None:
        """Close what a process that was killed leaves behind."""
        with suppress(OSError):  # what could not be sent
            self._process.communicate()


class Breaks:
    """Breaks of a thread that works beside others, in proportion to what it worked since the last one.

    Whoever waits for the system, such as for a database, waits for the interpreter afterwards, 5 ms each time, when a thread works on
    without a break: a page that asks the database ten times would take 50 ms longer, for as long as that work goes on.
    """

    def __init__(self) -> None:
        self._since = monotonic()

    def __call__(self) -> None:
        """Take one."""
        sleep(REST * (monotonic() - self._since))
        self._since = monotonic()


def _keep(slow: SlowError, value: Any) -> None:
    """Put what came of it where the next try finds it.

    A large bank is put together here, in a thread, part by part; the collector would look through all of it again and again.
    """
    if slow.kind != BANK:
        keep_found(slow.key, value)
        return
    content, size = value
    gc.disable()
    try:
        bank = put_together(pickle.loads(content), Breaks())
        _ = layout_of(bank), questions_for(bank), bank.pilots
    finally:
        gc.enable()
    gc.freeze()
    remember_bank(bank, size)
