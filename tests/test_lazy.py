"""Values worked out once, without a lock that makes other instances wait."""

import pickle
from threading import Event, Thread

from quaestor.lazy import lazy


class Slow:
    def __init__(self, begun=None, go_on=None):
        self.begun, self.go_on, self.calls = begun, go_on, 0

    @lazy
    def value(self):
        """What takes long."""
        self.calls += 1
        if self.begun is not None:
            self.begun.set()
            assert self.go_on.wait(20)
        return 42


class Plain:
    @lazy
    def value(self):
        return [1]


def test_a_value_is_worked_out_once_and_stands_in_the_instance():
    one = Slow()
    assert (one.value, one.value, one.calls) == (42, 42, 1)
    assert Slow.value.__doc__ == "What takes long."
    kept = Plain()
    assert kept.value is kept.value
    assert pickle.loads(pickle.dumps(kept)).value == [1]


def test_a_slow_value_of_one_instance_does_not_stop_another():
    """With functools.cached_property of Python 3.11 this waits for the first one for ever."""
    begun, go_on = Event(), Event()
    thread = Thread(target=lambda: Slow(begun, go_on).value)
    thread.start()
    try:
        assert begun.wait(20)
        other = Slow()
        quick = Thread(target=lambda: other.value)
        quick.start()
        quick.join(20)
        assert not quick.is_alive()
        assert other.calls == 1
    finally:
        go_on.set()
        thread.join()
