"""Steps that take long are worked out by processes of their own, within limits, and nobody else waits for them."""

import asyncio
import time
from threading import current_thread
from types import SimpleNamespace

import pytest
from starlette.requests import ClientDisconnect

import quaestor as qs
from helpers.browsing import application, enter, give
from helpers.slow_banks import slow_document
from quaestor.session.limited import KINDS, STEP, WHY
from quaestor.store import publishing
from quaestor.store.attempts import pace, session_cache
from quaestor.store.memory import cached
from quaestor.store.serving import SlowError
from quaestor.web.jobs import slow_steps
from quaestor.web.jobs.slow_steps import Breaks, SlowSteps
from quaestor.web.taker import attempt_pages

SMALL = qs.Bank(slow_document(skills=3, questions=6))
OTHER = qs.Bank(slow_document(skills=3, questions=6, seed=2))
RULES = qs.Rules(stop=qs.max_questions(3))


class Stuck:
    """Rules that a process never finishes to read."""

    def __reduce__(self):
        return time.sleep, (600,)


class Large:
    """Rules that need more memory than a process may take."""

    def __reduce__(self):
        return bytearray, (3_000_000_000,)


class Visitor:
    """A request whose browser may leave."""

    def __init__(self):
        self.is_gone = False

    async def is_disconnected(self):
        return self.is_gone


def task(bank=SMALL, rules=None, kind=WHY, number=0):
    """A question on a session; `number` tells those apart that are alike."""
    session = qs.Session(bank) if rules is None else SimpleNamespace(bank=bank, rules=rules, seed=0, log=(), start=())
    return SlowError(kind, bank.version, session, f"{kind} {bank.version} {number}")


@pytest.fixture(scope="module")
def processes():
    """Processes for all tests that leave them as they were."""
    steps = SlowSteps(seconds=20.0)
    yield steps
    steps.close()


@pytest.fixture
def limited(monkeypatch):
    """Processes with little time."""
    monkeypatch.setattr(slow_steps, "GRACE", 0.2)
    monkeypatch.setattr(slow_steps, "LOOK", 0.05)
    steps = SlowSteps(seconds=0.3, megabytes=500)
    yield steps
    steps.close()


def found(slow):
    return pace._found.get(slow.key)


def test_a_test_with_slow_steps_is_taken_without_one_in_the_server(make_database, monkeypatch, processes):
    pace._found.clear()
    session_cache.forget_all()
    monkeypatch.setitem(KINDS, STEP, lambda *_: pytest.fail("a slow step was worked out in the server"))
    database = make_database("sqlite")
    app = application(database)
    app.state.slow_steps = processes
    browser = enter(app, give(database, SMALL, RULES))
    for step in range(1, 4):
        assert browser.step == step
        browser.fill("/answer", entry="yes")
    assert browser.path.endswith("/result")


def test_who_asks_the_same_waits_for_the_same(processes):
    async def both():
        first, second = task(kind=STEP, number=1), task(kind=STEP, number=1)
        await asyncio.gather(processes.work_out(first, Visitor()), processes.work_out(second, Visitor()))
        return found(first)

    (step,) = asyncio.run(both())
    assert step.question in SMALL.questions
    assert not step.cut


def test_what_the_engine_refuses_is_refused_here(processes):
    slow = task(kind=STEP, number=2)
    slow.asked = SimpleNamespace(bank=SMALL, rules=qs.Rules(first=("Q99",)), seed=0, log=(), start=())
    with pytest.raises(qs.QuaestorError, match="Q99"):
        asyncio.run(processes.work_out(slow, Visitor()))


@pytest.mark.parametrize("rules", [Stuck(), Large()], ids=["time", "memory"])
def test_a_process_beyond_its_limit_is_ended_and_replaced(limited, caplog, rules):
    asyncio.run(limited.work_out(slow := task(rules=rules), Visitor()))
    assert found(slow) == (None,)
    assert "was ended at its limit" in caplog.text
    asyncio.run(limited.work_out(slow := task(OTHER, kind=STEP), Visitor()))
    assert found(slow)[0].question in OTHER.questions


def test_a_step_of_a_process_that_was_ended_goes_on_without_bounds(limited):
    slow = task(kind=STEP, number=3)
    hidden = slow.asked
    slow.asked = SimpleNamespace(bank=SMALL, rules=Stuck(), seed=0, log=(), start=())
    slow_steps_blindly = slow_steps.blindly
    slow_steps.blindly = lambda session: slow_steps_blindly(hidden)
    try:
        asyncio.run(limited.work_out(slow, Visitor()))
    finally:
        slow_steps.blindly = slow_steps_blindly
    (step,) = found(slow)
    assert step.cut
    assert step.question == "Q1"


def test_what_nobody_waits_for_is_ended(monkeypatch, limited):
    monkeypatch.setattr(slow_steps, "GRACE", 600.0)

    async def leave():
        visitor = Visitor()
        waiting = asyncio.create_task(limited.work_out(slow := task(rules=Stuck(), number=4), visitor))
        await asyncio.sleep(0.3)
        visitor.is_gone = True
        with pytest.raises(ClientDisconnect):
            await waiting
        await limited.work_out(after := task(kind=STEP, number=5), Visitor())  # the same bank has one process only
        return slow, after

    slow, after = asyncio.run(leave())
    assert found(slow) is None
    assert found(after)[0].question in SMALL.questions


def test_a_bank_never_has_all_processes(monkeypatch, limited):
    monkeypatch.setattr(slow_steps, "GRACE", 600.0)

    async def beside():
        stuck = [Visitor(), Visitor()]
        waiting = [asyncio.create_task(limited.work_out(task(rules=Stuck(), number=number), one)) for number, one in enumerate(stuck, 6)]
        await asyncio.wait_for(limited.work_out(slow := task(OTHER, kind=STEP, number=8), Visitor()), 30)
        for one in stuck:
            one.is_gone = True
        await asyncio.gather(*waiting, return_exceptions=True)
        return slow

    assert found(asyncio.run(beside()))[0].question in OTHER.questions


def test_a_large_bank_is_read_elsewhere(make_database, monkeypatch, processes):
    monkeypatch.setattr(publishing, "LARGE", 100)
    database = make_database("sqlite")
    app = application(database)
    app.state.slow_steps = processes
    code = give(database)
    cached.clear()
    session_cache.forget_all()
    monkeypatch.setattr(publishing, "load_bytes", lambda *_: pytest.fail("a large bank was read in the server"))
    browser = enter(app, code)
    assert browser.step == 1
    assert "What is" in browser.page.text


def test_a_thread_that_works_beside_others_rests_most_of_the_time():
    begun, breaks = time.monotonic(), Breaks()
    for _ in range(3):
        time.sleep(0.01)
        breaks()
    assert time.monotonic() - begun >= 3 * (1 + slow_steps.REST) * 0.01


def test_a_page_with_many_options_is_made_in_a_thread_and_too_many_are_refused(make_database, monkeypatch):
    def bank(count):
        options = [f"option {number}" for number in range(count)]
        asked = {"text": "Which?", "options": options, "correct": options[0], "skill": "a", "right": [0.2, 0.8]}
        return qs.Bank({"skills": {"a": {}}, "questions": {"Q1": asked, "Q2": asked}})

    database = make_database("sqlite")
    where = []
    render = attempt_pages.page
    monkeypatch.setattr(attempt_pages, "page", lambda *told, **more: (where.append(current_thread().name), render(*told, **more))[1])
    for count in (3, 101):
        assert enter(application(database), give(database, bank(count), RULES)).step == 1
    assert not where[0].startswith("AnyIO worker")
    assert where[1].startswith("AnyIO worker")
    with pytest.raises(qs.QuaestorError, match=r"Q1: a question in the browser has at most 1000 options, got 1001"):
        give(database, bank(1001), RULES)
