"""The usual computing time of a step of each test, so that callers that must not block can leave slow steps to a thread.

Most steps take a few milliseconds. Those of credal banks with questions on several skills can take a hundred times as long.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from time import thread_time

from quaestor.store.memory import Memory

SLOW = 0.03  # a test is slow if its usual step takes more seconds
_NEW = 0.2  # weight of the last step in the moving average: a single delayed step does not make a test slow
_usual: Memory[int, float] = Memory(10_000)


class SlowError(Exception):
    """A step of a slow test was requested by a caller that must not block."""


@contextmanager
def engine(test: int, prompt: bool) -> Iterator[None]:
    """Measure the engine at a step of the test with this id; `prompt`: raise SlowError if the test is slow."""
    usual = _usual.get(test) or 0.0
    if prompt and usual > SLOW:
        raise SlowError(test)
    begun = thread_time()
    yield
    _usual.put(test, usual + _NEW * (thread_time() - begun - usual))
