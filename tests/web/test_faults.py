"""Faults: the server killed, a worker killed, the database away, in the middle of a class; two tabs, double clicks, old posts.

What must hold: every answer that was confirmed is in the log, once, as it was given; every log has the steps 1 to n; everybody gets to the
end by doing nothing but sending the same thing again.
"""

import asyncio
import os
import re
import signal
import sqlite3
import time

import pytest
from sqlalchemy import select, text

import quaestor as qs
from helpers.servers import Server, publish, until
from helpers.takers import Browser, Taker
from quaestor.store.models import Attempt, Event

QUESTIONS = 8
CLASS = 12


@pytest.fixture
def given(make_database):
    """A function that makes a database with a published test; the database, its address and the code of the test."""

    def make(kind, questions=QUESTIONS):
        database = make_database(kind)
        code = publish(database, qs.load("german"), questions)
        return database, database.engine.url.render_as_string(hide_password=False), code

    return make


def logs(database):
    """The answer log of every attempt: steps and entries."""
    with database.read() as work:
        found = {number: [] for number in work.scalars(select(Attempt.id))}
        for number, step, entry in work.execute(select(Event.attempt_id, Event.step, Event.entry).order_by(Event.attempt_id, Event.step)):
            found[number].append((step, entry))
    return found


def check(database, takers, questions=QUESTIONS):
    """Nobody has two attempts, nothing is missing, nothing is there twice, and what was confirmed is what is kept."""
    found = logs(database)
    assert sorted(found) == sorted(taker.attempt for taker in takers)
    for taker in takers:
        kept = found[taker.attempt]
        assert [step for step, _ in kept] == list(range(1, questions + 1)), (taker.name, kept)
        assert {step: [entry] for step, entry in kept} == taker.acknowledged, taker.name


async def take_all(takers, *disturbances):
    """Everybody takes the test at once while something happens."""
    await asyncio.gather(*(taker.take() for taker in takers), *disturbances)


async def when(takers, share, do):
    """Do something, off the loop, once a share of all answers was confirmed."""
    while sum(len(taker.acknowledged) for taker in takers) < share * len(takers) * QUESTIONS:
        await asyncio.sleep(0.01)
    await asyncio.to_thread(do)


def killed(given, kind, workers, size):
    """A class whose server is killed; where it has two workers, one of them is killed before, and is replaced."""
    database, url, code = given(kind)
    with Server(url, workers) as server:
        takers = [Taker(server.port, code, f"taker {number}") for number in range(size)]
        before = server.worker_ids()

        def one():
            if workers > 1:
                os.kill(before[0], signal.SIGKILL)
                until(lambda: before[0] not in server.worker_ids() and len(server.worker_ids()) == workers, 60, server.said)
                assert before[1] in server.worker_ids()

        def everything():
            server.kill()
            server.start()

        async def disturb():  # one after the other: on a busy machine the answers may overtake the replacing
            await when(takers, 0.2, one)
            await when(takers, 0.6, everything)

        asyncio.run(take_all(takers, disturb()))
    check(database, takers)
    assert sum(taker.lost for taker in takers)


def test_the_server_is_killed(given):
    killed(given, "sqlite", 1, CLASS)


@pytest.mark.long
@pytest.mark.parametrize(("kind", "workers"), [("sqlite", 1), ("sqlite", 2), ("postgresql", 2)])
def test_the_server_is_killed_under_a_class_of_fifty(given, kind, workers):
    killed(given, kind, workers, 50)


def away(given, kind, size, do, wait=None, workers=1):
    """A class while something is done to the database: what everybody saw, checked, and how long it took."""
    database, url, code = given(kind)
    with Server(url, workers, wait) as server:
        takers = [Taker(server.port, code, f"taker {number}") for number in range(size)]
        asyncio.run(take_all(takers, when(takers, 0.4, lambda: do(database, takers))))
    check(database, takers)
    return takers


def stopped(cluster, seconds):
    """PostgreSQL stopped for so long, and until everybody has met the calm page."""

    def do(database, takers):
        cluster.stop()
        time.sleep(seconds)
        until(lambda: all(taker.busy or len(taker.acknowledged) == QUESTIONS for taker in takers), 60)
        cluster.start()

    return do


def locked(seconds):
    """SQLite locked by somebody else for so long."""

    def do(database, takers):
        with sqlite3.connect(database.engine.url.database, isolation_level=None) as other:
            other.execute("PRAGMA busy_timeout = 10000")
            other.execute("BEGIN EXCLUSIVE")
            time.sleep(seconds)
            other.execute("COMMIT")
        other.close()

    return do


def test_postgresql_is_away(given, cluster):
    takers = away(given, "postgresql", CLASS, stopped(cluster, 0.5))
    assert any(taker.busy for taker in takers)


def test_sqlite_is_locked_for_longer_than_the_server_waits(given):
    takers = away(given, "sqlite", CLASS, locked(1.5), wait=0.3)
    assert any(taker.busy for taker in takers)


@pytest.mark.long
@pytest.mark.parametrize("workers", [1, 2])
def test_postgresql_is_away_for_five_seconds(given, cluster, workers):
    takers = away(given, "postgresql", 50, stopped(cluster, 5), workers=workers)
    assert any(taker.busy for taker in takers)


@pytest.mark.long
@pytest.mark.parametrize("wait", [1, None])
def test_sqlite_is_locked_for_five_seconds(given, wait):
    """With the usual patience everybody just waits; with less they see the calm page."""
    takers = away(given, "sqlite", 50, locked(5), wait=wait)
    assert any(taker.busy for taker in takers) == (wait is not None)


@pytest.mark.parametrize(
    ("kind", "workers"), [*(pytest.param(kind, 2, marks=pytest.mark.long) for kind in ("sqlite", "postgresql")), ("postgresql", 1)]
)
def test_two_tabs_double_clicks_and_old_posts(given, kind, workers):
    """Two tabs answer the same step at the same moment, differently, 20 times: one wins, both are then shown the same question."""
    database, url, code = given(kind, 22)
    with Server(url, workers) as server:
        asyncio.run(_two_tabs(Taker(server.port, code, "somebody"), database))


async def _two_tabs(taker, database):
    page = await taker.get((await taker.enter()).to)
    where = f"/take/{taker.attempt}"
    tabs = [Browser(taker.port, taker.browser.cookies) for _ in range(2)]
    first = None
    for step in range(1, 21):
        action, fields = taker.fill(page)
        first = first or fields
        skipped = [*page.hidden, ("skip", "1")]
        confirmed = await asyncio.gather(tabs[0].post(action, fields), tabs[1].post(action, skipped))
        assert [one.to for one in confirmed] == [where, where]
        shown = await asyncio.gather(*(tab.get(where) for tab in tabs))
        assert [dict(one.hidden)["step"] for one in shown] == [str(step + 1)] * 2
        told = ["did not count" in one.text for one in shown]
        assert sorted(told) == [False, True], "the tab that lost, and only that one, is told"
        assert len({re.sub(r'<p class="notice" role="alert">.*?</p>', "", one.text) for one in shown}) == 1
        page = shown[0]
    assert [step for step, _ in logs(database)[taker.attempt]] == list(range(1, 21))

    action, fields = taker.fill(page)
    tabs += [Browser(taker.port, taker.browser.cookies) for _ in range(3)]
    clicks = await asyncio.gather(*(tab.post(action, fields) for tab in tabs))
    assert {one.to for one in clicks} == {where}
    assert len(logs(database)[taker.attempt]) == 21

    before = logs(database)
    for old in (first, fields, [(name, "999" if name == "step" else value) for name, value in fields]):
        assert (await tabs[0].post(action, old)).to == where
    assert logs(database) == before
    if not database.is_file:
        await _gone(tabs[0], database, action, taker.fill(await tabs[0].get(where))[1])
        assert [step for step, _ in logs(database)[taker.attempt]] == list(range(1, 23))
    for browser in (*tabs, taker.browser):
        browser.close()


async def _gone(browser, database, action, fields):
    """A browser that goes away while its answer is being written: the answer counts, and nothing stays open in the database."""

    def others(state):
        with database.read() as work:
            return work.scalar(text(f"select count(*) from pg_stat_activity where datname = current_database() and {state}"))

    with database.work() as holding:
        holding.execute(text("lock table event in exclusive mode"))
        sent = asyncio.create_task(browser.post(action, fields))
        while not others("wait_event_type = 'Lock'"):
            await asyncio.sleep(0.01)
        sent.cancel()
        browser.close()
    until(lambda: not others("pid <> pg_backend_pid() and (state <> 'idle' or xact_start is not null)"), 30)
