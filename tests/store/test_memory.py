"""The cache: what it keeps is at most so large, and what it says of its size is true."""

import gc
import tracemalloc

import pytest

import quaestor as qs
from helpers.browsing import ORDER, application, enter, give
from quaestor.formats.files import dump_bytes, load_bytes
from quaestor.inference.layout import layout_of
from quaestor.store import publishing
from quaestor.store.attempts import session_cache
from quaestor.store.memory import Cache, Memory
from quaestor.store.sizes import layout_size, session_size, size_of


def test_the_least_recently_used_goes_first():
    kept = Memory(10)
    for name in "abc":
        kept.put(name, name.upper(), 4)
        kept.get("a")
    assert [kept.get(name) for name in "abc"] == ["A", None, "C"]


def test_the_memory_forgets_what_was_not_used_for_longest():
    memory = Memory(10)
    for key in "abc":
        memory.put(key, key.upper(), 4)
    assert [memory.get(key) for key in "abc"] == [None, "B", "C"]
    memory.put("b", "B", 7)
    assert [memory.get(key) for key in "bc"] == ["B", None]
    memory.forget("b")
    memory.put("d", "D", 10)
    assert memory.get("d") == "D"


def test_what_others_hold_goes_after_all_of_them():
    """Else a bank would be dropped, and yet stay in memory as long as one of its sessions."""
    kept = Memory(10)
    kept.put("bank", "bank", 4)
    kept.put("first", "session", 2, needs="bank")
    kept.put("second", "session", 2, needs="bank")
    kept.get("first")
    kept.put("other", "bank", 4)
    assert [kept.get(name) for name in ("second", "first", "bank")] == [None, "session", "bank"]
    kept.put("third", "bank", 8)
    assert [kept.get(name) for name in ("first", "bank", "third")] == [None, None, "bank"]


def test_what_grows_counts_as_much_as_it_is_now():
    kept = Memory(10)
    kept.put("old", 1, 4)
    kept.put("bank", 2, 4)
    kept.grown("bank", 2)
    kept.grown("bank", 1)
    assert kept.get("old") == 1
    kept.grown("old", 2)
    assert (kept.get("bank"), kept.get("old")) == (None, 1)
    kept.grown("bank", 5)  # it is gone: nothing to weigh
    kept.put("bank", 2, 4)
    assert kept.get("old") == 1


def test_a_smaller_limit_holds_at_once_and_one_thing_is_always_kept():
    kept = Memory(10)
    kept.put("a", 1, 5)
    kept.put("b", 2, 5)
    kept.limit(5)
    assert (kept.get("a"), kept.get("b")) == (None, 2)
    kept.put("huge", 3, 50)
    assert (kept.get("b"), kept.get("huge")) == (None, 3)


def test_the_stock_is_by_kind():
    kept = Cache(100)
    kept.put(("bank", "one"), 1, 40)
    kept.grown(("bank", "one"), 2)
    kept.put(("session", "a"), 1, 10, needs=("bank", "one"))
    assert kept.stock() == {"session": (1, 10), "bank": (1, 42), "draft": (0, 0), "text": (0, 0)}


def taken(bank, seed, questions=4):
    """A session as it is cached."""
    session = qs.Session(bank, qs.Rules(score="entropy", stop=qs.max_questions(10)), seed)
    for number in range(questions):
        asked = session.next
        session = session.answer(asked.id, asked.classes[(seed + number) % len(asked.classes)])
    session_cache.work_out(session)
    return session_cache._copy(session)


def traced(make):
    """What is made, and the bytes that were allocated for it."""
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    made = make()
    gc.collect()
    return made, tracemalloc.get_traced_memory()[0] - before


LONG = [pytest.param(name, width, marks=pytest.mark.long) for name, width in [("fractions", 0), ("fractions", 0.05), ("four-skills", 0.05)]]


@pytest.mark.parametrize(("name", "width"), [("german", 0), *LONG])
def test_estimated_sizes_are_those_that_python_allocates(name, width):
    """Within a quarter: what Python's allocator rounds up is not seen."""
    bank = qs.load(name).widen(width) if width else qs.load(name)
    content = dump_bytes(bank, ".yaml")
    taken(load_bytes(content, ".yaml"), 0)  # libraries that load something when they are first used have done so
    tracemalloc.start()
    try:
        bank, of_bank = traced(lambda: load_bytes(content, ".yaml"))
        estimated = size_of(bank)
        _, of_layout = traced(lambda: (layout_of(bank), taken(bank, 0))[0])
        kept, of_sessions = traced(lambda: [taken(bank, seed) for seed in range(1, 9)])
    finally:
        tracemalloc.stop()
    assert 0.75 * of_bank <= estimated <= 1.25 * of_bank
    assert 0.75 * of_sessions <= sum(map(session_size, kept)) <= 1.25 * of_sessions
    assert layout_size(bank) >= 0.5 * of_layout  # it may have grown with the sessions since


def test_sessions_and_banks_share_the_limit(make_database, monkeypatch):
    """A class on a cache that holds three sessions: everybody goes on, and the cache stays as small as it shall."""
    kept = Cache(10**9)
    for module in (session_cache, publishing):
        monkeypatch.setattr(module, "cached", kept)
    monkeypatch.setattr(session_cache, "_sizes", Memory(100))
    database = make_database("sqlite")
    app = application(database)
    code = give(database, qs.load("fractions"), ORDER)
    first = enter(app, code)
    stock = kept.stock()
    assert (stock["bank"][0], stock["session"][0]) == (1, 1)
    assert stock["bank"][1] > size_of(qs.load("fractions"))  # with its layout
    room = stock["bank"][1] + int(3.5 * stock["session"][1])
    kept.limit(room)
    others = [enter(app, code, f"taker {number}") for number in range(5)]
    stock = kept.stock()
    assert (stock["bank"][0], stock["session"][0]) == (1, 3)
    assert stock["bank"][1] + stock["session"][1] <= room
    for browser in (first, *others):
        browser.fill("/answer", skip="1")
        assert browser.step == 2
