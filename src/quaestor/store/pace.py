"""How long the steps of each test take, so that callers that must not block can leave slow ones to a thread.

Most steps take a few milliseconds. Those of credal banks with questions on several skills can take a hundred times as long, and some only
late in a test. So of each test two figures are known, in seconds of computing: the slowest step of a dry run, and the usual one so far. The
dry run is made when a test is first taken, in the background; until it is done, the steps count as slow.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from threading import Lock, Thread
from time import thread_time

from quaestor.bankfile.bank import Bank
from quaestor.selection.dry_run import is_easy, worst_step
from quaestor.selection.rules import Rules
from quaestor.store import counters
from quaestor.store.memory import Memory

SLOW = 0.03  # a test is slow if its usual step takes more seconds, or its slowest one
LONGEST = 2.0  # seconds of a dry run: what takes longer is slow
_NEW = 0.2  # weight of the last step in the moving average: a single delayed step does not make a test slow
_usual: Memory[int, float] = Memory(10_000)
_worst: Memory[int, float] = Memory(10_000)
_asking, _measuring = Lock(), Lock()
_log = logging.getLogger("quaestor.store")


class SlowError(Exception):
    """A step of a slow test was requested by a caller that must not block."""


@contextmanager
def engine(test: int, prompt: bool) -> Iterator[None]:
    """Measure the engine at a step of the test with this id; `prompt`: raise SlowError if the test is slow."""
    usual = _usual.get(test) or 0.0
    if prompt and max(usual, _worst.get(test) or 0.0) > SLOW:
        raise SlowError(test)
    begun = thread_time()
    yield
    took = thread_time() - begun
    _usual.put(test, usual + _NEW * (took - usual))
    counters.STEPS.observe(took)


def foresee(test: int, bank: Bank, rules: Rules) -> None:
    """Have the slowest step of a test measured, once in a process: a published test is one version of a bank with its rules."""
    with _asking:
        if is_easy(bank) or _worst.get(test) is not None:
            return
        _worst.put(test, inf)
    Thread(target=_measure, args=(test, bank, rules), name="dry run", daemon=True).start()


def _measure(test: int, bank: Bank, rules: Rules) -> None:
    """One dry run at a time; of a test that it fails for, nothing is known but that it may be slow."""
    with _measuring:
        try:
            found = worst_step(bank, rules, LONGEST)
        except Exception:
            _log.exception("the dry run of test %d failed", test)
        else:
            _worst.put(test, inf if found.is_cut else found.worst)
