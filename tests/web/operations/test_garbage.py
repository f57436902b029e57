"""The collector leaves alone what has survived it, and finds circles among that when it looks at everything."""

import gc
import weakref

import pytest

from quaestor.web.operations import garbage


@pytest.fixture
def sparing():
    garbage.spare_survivors()
    yield
    gc.callbacks.remove(garbage._spare)
    gc.unfreeze()


class Thing:
    pass


def circle():
    one = Thing()
    one.itself = one
    return one


def test_what_survives_is_left_alone_until_all_is_looked_at(sparing):
    early = circle()
    gc.collect()
    assert not any(found is early for found in gc.get_objects())
    late, seen = circle(), [weakref.ref(early)]
    seen.append(weakref.ref(late))
    del early, late
    gc.collect()
    assert [found() is None for found in seen] == [False, True]
    garbage.look_at_all()
    assert [found() is None for found in seen] == [True, True]
    assert gc.get_freeze_count() > 1000


def test_what_nothing_refers_to_is_freed_at_once(sparing):
    thing = Thing()
    gc.collect()
    seen = weakref.ref(thing)
    del thing
    assert seen() is None


def test_other_programs_are_left_as_they_are():
    before = gc.get_freeze_count()
    garbage.look_at_all()
    assert gc.get_freeze_count() == before
