"""How long the engine works for a step of a test. Who must not wait leaves the steps of slow tests to somebody who may.

Most steps take a few milliseconds. Banks of intervals with questions on several skills can take a hundred times as long.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from time import thread_time

from quaestor.store.memory import Memory

SLOW = 0.03  # seconds of a usual step
_NEW = 0.2  # how much the last step counts: a single one that was held up does not make a test slow
_usual: Memory[int, float] = Memory(10_000)


class SlowError(Exception):
    """A step of a slow test, asked for by somebody who must not wait."""


@contextmanager
def engine(test: int, prompt: bool) -> Iterator[None]:
    """The engine at a step of the test with this number; `prompt`: refused where that takes long."""
    usual = _usual.get(test) or 0.0
    if prompt and usual > SLOW:
        raise SlowError(test)
    begun = thread_time()
    yield
    _usual.put(test, usual + _NEW * (thread_time() - begun - usual))
