"""Tests whose steps take long: they are found out, and worked out where nobody waits for them."""

import asyncio
import time
from threading import Event, Lock, current_thread
from types import SimpleNamespace

import pytest

import quaestor as qs
from helpers.browsing import KINDS, PICTURE, application, enter, give
from quaestor.selection.dry_run import DryRun
from quaestor.store import pace
from quaestor.store.database import Database
from quaestor.store.memory import Memory
from quaestor.store.pace import SlowError
from quaestor.web import lanes, taker


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """Tests as yet unknown, and a clock that is moved by hand."""
    read = [0.0]
    monkeypatch.setattr(pace, "_usual", Memory(100))
    monkeypatch.setattr(pace, "_worst", Memory(100))
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


# What a dry run foresees


CREDAL = qs.load("single-skill").widen(0.05)


@pytest.fixture
def foreseen(monkeypatch):
    """What the dry run will find, and the end of it to wait for; nothing is found before `allowed` is set."""
    run = SimpleNamespace(found=None, allowed=Event(), done=Event(), count=0)

    def worst(*_):
        run.count += 1
        assert run.allowed.wait(20)
        if isinstance(run.found, Exception):
            raise run.found
        return run.found

    def measure(*args, _measure=pace._measure):
        _measure(*args)
        run.done.set()

    monkeypatch.setattr(pace, "worst_step", worst)
    monkeypatch.setattr(pace, "_measure", measure)
    return run


def is_slow(test=7):
    try:
        with pace.engine(test, True):
            return False
    except SlowError:
        return True


@pytest.mark.parametrize(
    ("found", "slow"),
    [
        (DryRun(0.001, 0.02, 3, 3, False), False),
        (DryRun(0.001, 0.04, 3, 3, False), True),  # late in the test only: the usual step says nothing of it
        (DryRun(0.001, 0.02, 3, 3, True), True),
        (qs.QuaestorError("no room"), True),
    ],
)
def test_a_test_counts_as_slow_until_its_dry_run_says_that_it_is_not(foreseen, found, slow):
    foreseen.found = found
    for _ in range(3):
        pace.foresee(7, CREDAL, qs.Rules())
    assert is_slow()
    assert not is_slow(8)
    foreseen.allowed.set()
    assert foreseen.done.wait(20)
    assert is_slow() == slow
    assert foreseen.count == 1


def test_tests_of_easy_banks_are_not_measured(foreseen):
    pace.foresee(7, qs.load("fractions"), qs.Rules())
    assert not is_slow()
    assert not foreseen.count


@pytest.mark.parametrize("slow", [False, True])
def test_the_first_question_of_a_credal_test_is_worked_out_in_a_thread_and_the_next_where_its_dry_run_says(
    make_database, monkeypatch, foreseen, slow
):
    database = make_database("sqlite")
    where = []

    def noted(function):
        def prepared(*args):
            found = function(*args)
            where.append("thread" if current_thread().name.startswith("AnyIO worker") else "loop")
            return found

        return prepared

    for name in ("sitting", "prepare"):
        monkeypatch.setattr(taker, name, noted(getattr(taker, name)))
    foreseen.found = DryRun(0.001, 0.5 if slow else 0.002, 1, 1, False)
    browser = enter(application(database), give(database, KINDS.widen(0.01), images={"pie.png": PICTURE}))
    assert where == ["thread"]
    foreseen.allowed.set()
    assert foreseen.done.wait(20)
    browser.fill("/answer", entry="3/4")
    assert browser.step == 2
    assert where[1] == ("thread" if slow else "loop")


@pytest.mark.parametrize("url", ["sqlite:///nothing.db", "postgresql+psycopg://nobody@127.0.0.1:1/nothing"])
def test_slow_steps_are_worked_out_a_few_at_a_time(monkeypatch, url):
    database = Database(url)
    monkeypatch.setattr(lanes, "database", lambda _: database)
    at_once, most, lock = [0], [0], Lock()

    def make(prompt):
        if prompt:
            raise SlowError(7)
        with lock:
            at_once[0] += 1
            most[0] = max(most[0], at_once[0])
        time.sleep(0.02)
        with lock:
            at_once[0] -= 1
        return current_thread().name

    async def crowd():
        return await asyncio.gather(*(lanes.quickly(None, make) for _ in range(12)))

    names = asyncio.run(crowd())
    database.close()
    assert most[0] == lanes.AT_ONCE
    assert all(name.startswith("AnyIO worker") for name in names)
