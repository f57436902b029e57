"""Tests whose steps take long: they are found out, and worked out where nobody waits for them."""

from threading import current_thread

import pytest

from helpers.browsing import application, enter, give
from quaestor.store import pace
from quaestor.store.memory import Memory
from quaestor.store.pace import SlowError
from quaestor.web import taker


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """Tests as yet unknown, and a clock that is moved by hand."""
    read = [0.0]
    monkeypatch.setattr(pace, "_usual", Memory(100))
    monkeypatch.setattr(pace, "thread_time", lambda: read[0])
    return read


def work(clock, seconds, prompt=False):
    with pace.engine(7, prompt):
        clock[0] += seconds


def test_a_slow_test_is_refused_to_those_who_must_not_wait(clock):
    work(clock, 0.2, prompt=True)
    with pytest.raises(SlowError):
        work(clock, 0.2, prompt=True)
    work(clock, 0.2)
    assert clock[0] == pytest.approx(0.4)
    with pace.engine(8, True):
        pass


def test_one_step_that_was_held_up_makes_no_test_slow(clock):
    for seconds in (0.1, 0.002, 0.002, 0.002, 0.002, 0.1, 0.002):
        work(clock, seconds, prompt=True)


def test_a_test_that_was_slow_is_prompt_again_after_a_while(clock):
    work(clock, 0.3)
    for _ in range(5):
        work(clock, 0.002)
    work(clock, 0.002, prompt=True)


@pytest.mark.parametrize("slow", [False, True])
def test_an_answer_of_a_slow_test_is_worked_out_in_a_thread(make_database, monkeypatch, slow):
    database = make_database("sqlite")
    where = []
    prepare = taker.prepare

    def prepared(*args):
        found = prepare(*args)
        where.append("thread" if current_thread().name.startswith("AnyIO worker") else "loop")
        return found

    monkeypatch.setattr(taker, "prepare", prepared)
    monkeypatch.setattr(pace, "SLOW", -1.0 if slow else 100.0)
    browser = enter(application(database), give(database))
    browser.fill("/answer", entry="3/4")
    assert browser.step == 2
    assert where == ["thread" if slow else "loop"]
