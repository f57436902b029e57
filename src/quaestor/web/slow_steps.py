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
import signal
import sys
from collections import Counter, OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.connection import Connection
from threading import Condition, Thread
from time import monotonic
from typing import Any

from fastapi import Request
from starlette.requests import ClientDisconnect

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError
from quaestor.formats.files import load_bytes
from quaestor.i18n import packed, said, say, unpacked
from quaestor.inference.layout import layout_of
from quaestor.session.limited import KINDS, PATH, STEP, blindly
from quaestor.session.session import Session
from quaestor.store.pace import keep_found
from quaestor.store.publishing import BANK, remember_bank
from quaestor.store.serving import SlowError

SECONDS, MEGABYTES, PROCESSES = 3.0, 1000, 2  # what a step may take, and how many are worked out at once
LONGER = {PATH: 4, BANK: 40}  # what may take so many times as long: nobody is in the middle of a test
GRACE = 2.0  # seconds after its limit within which a process must have replied
BANKS = 8  # that a process remembers
NICENESS = 5
LOOK = 0.5  # seconds between two looks at whether somebody still waits
_CONTEXT = get_context("forkserver" if "forkserver" in get_all_start_methods() else "spawn")
if _CONTEXT.get_start_method() == "forkserver":
    _CONTEXT.set_forkserver_preload([__name__])
_log = logging.getLogger("quaestor.web")


@dataclass(eq=False)
class _Task:
    slow: SlowError
    waiting: int = 0
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
            if not task.waiting and task not in self._begun:
                self._tasks.pop(task.slow.key, None)

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
            error: Exception | None = None
            try:
                if process is None:
                    process = _Process(self._megabytes)
                seconds = self._seconds * LONGER.get(task.slow.kind, 1)
                value, is_alive = process.ask(task, seconds, partial(self._is_left, task))
                if not is_alive:
                    process = None
                if not self._is_left(task):
                    _keep(task.slow, value)
            except QuaestorError as refused:
                error = refused
            except Exception as unforeseen:
                _log.exception("slow steps: unforeseen error")
                error = unforeseen
                if process is not None:
                    process.end()
                    process = None
            self._finish(task, error)
        if process is not None:
            process.end()

    def _is_left(self, task: _Task) -> bool:
        """Whether nobody waits for a task any more."""
        return self._closed or not task.waiting

    def _finish(self, task: _Task, error: Exception | None) -> None:
        with self._changed:
            self._tasks.pop(task.slow.key, None)
            self._begun.discard(task)
            self._busy[task.slow.bank] -= 1
            self._changed.notify_all()
        if error is None:
            task.done.set_result(None)
        else:
            task.done.set_exception(error)


class _Process:
    """A process that works tasks out, and what it knows of banks."""

    def __init__(self, megabytes: int) -> None:
        self._end, theirs = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(  # type: ignore[attr-defined]
            target=_main, args=(theirs, megabytes), name="slow steps", daemon=True
        )
        self._process.start()
        theirs.close()
        self._banks: OrderedDict[str, None] = OrderedDict()

    def ask(self, task: _Task, seconds: float, is_left: Callable[[], bool]) -> tuple[Any, bool]:
        """What a task came to, and whether the process is still there; it is ended if it takes too long, or nobody waits any more."""
        kind, asked = task.slow.kind, task.slow.asked
        self._end.send((kind, asked, seconds) if kind == BANK else (kind, self._told(asked), seconds))
        until = monotonic() + seconds + GRACE
        try:
            while not self._end.poll(0.05):
                if is_left() or monotonic() > until:
                    raise EOFError
            value, error = self._end.recv()
        except (EOFError, OSError):
            if not is_left():
                _log.warning("slow steps: a %s of the bank %s was ended at its limit", kind, task.slow.bank)
            self.end()
            if kind == BANK and not is_left():
                raise QuaestorError(say("this bank is too large for this server")) from None
            return (blindly(asked) if kind == STEP and not is_left() else None), False
        if error:
            raise QuaestorError(unpacked(error))
        return value, True

    def _told(self, session: Session) -> tuple[Any, ...]:
        """A session in parts: the version of its bank, the bank itself where the process does not know it, and the rest."""
        bank = session.bank
        is_known = bank.version in self._banks
        self._banks[bank.version] = None
        self._banks.move_to_end(bank.version)
        while len(self._banks) > BANKS:
            self._banks.popitem(last=False)
        return bank.version, None if is_known else pickle.dumps(bank), session.rules, session.seed, session.log

    def end(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.join()
        self._end.close()


def _main(end: Connection, megabytes: int) -> None:
    """What a process does: tasks, until the other end is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    _limit_memory(megabytes)
    banks: OrderedDict[str, Bank] = OrderedDict()
    with suppress(EOFError, OSError):
        while True:
            kind, asked, seconds = end.recv()
            value, error = None, ""
            try:
                value = _read(asked) if kind == BANK else KINDS[kind](_session(banks, *asked), seconds)
            except QuaestorError as refused:
                error = packed(said(refused))
            end.send((value, error))


def _read(content: str) -> bytes:
    return pickle.dumps(load_bytes(content.encode(), ".yaml"))


def _session(banks: OrderedDict[str, Bank], version: str, content: bytes | None, *rest: Any) -> Session:
    """A session of a bank that is known or told."""
    if content is not None:
        banks[version] = pickle.loads(content)
    banks.move_to_end(version)
    while len(banks) > BANKS:
        banks.popitem(last=False)
    return Session(banks[version], *rest)


def _keep(slow: SlowError, value: Any) -> None:
    """Put what came of it where the next try finds it.

    A large bank is made ready here, in a thread, part by part; the collector would look through all of it again and again.
    """
    if slow.kind != BANK:
        keep_found(slow.key, value)
        return
    gc.disable()
    try:
        bank = pickle.loads(value)
        layout_of(bank)
    finally:
        gc.enable()
    gc.freeze()
    remember_bank(bank)


def _limit_memory(megabytes: int) -> None:
    """Let this process take so much memory more than it has; not where the system knows no such limit."""
    if sys.platform == "linux":
        import resource

        with open("/proc/self/status") as status:
            held = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmData"))
        resource.setrlimit(resource.RLIMIT_DATA, (held + megabytes * 1_000_000,) * 2)
