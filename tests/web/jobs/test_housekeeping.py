"""What is done whoever is there: it goes on whatever goes wrong."""

import asyncio
from datetime import timedelta
from pathlib import Path
from threading import Event

import pytest
from sqlalchemy import delete, select
from starlette.testclient import TestClient

from helpers.browsing import application, give
from quaestor.errors import QuaestorError
from quaestor.store import clock, job_queue, limits, privacy, replies, teachers
from quaestor.store.attempts import session_cache, taking
from quaestor.store.database import Database
from quaestor.store.models import Attempt, Erasure, Job, Link, Login, Reply, Teacher, Tries
from quaestor.web.jobs import housekeeping

TABLES = {"tries": Tries, "reply": Reply, "link": Link, "login": Login, "job": Job}


@pytest.mark.parametrize("error", [QuaestorError("the database is away"), ValueError("nobody foresaw this")])
def test_the_house_is_kept_whatever_goes_wrong(monkeypatch, caplog, error):
    tidied = []

    def tidy(database):
        tidied.append(database)
        if len(tidied) == 1:
            raise error

    async def two_times():
        keeping = asyncio.create_task(housekeeping.keep_house("a database"))
        while len(tidied) < 2 and not keeping.done():
            await asyncio.sleep(0.01)
        keeping.cancel()

    monkeypatch.setattr(housekeeping, "tidy", tidy)
    monkeypatch.setattr(housekeeping, "EVERY", 0)
    asyncio.run(two_times())
    assert len(tidied) >= 2
    assert str(error) in caplog.text


def test_memory_is_looked_through_by_the_clock_and_not_when_takers_come_in(make_database, monkeypatch):
    looked = Event()
    monkeypatch.setattr(housekeeping, "look_at_all", looked.set)
    housekeeping.tidy(make_database("sqlite"))
    assert not looked.is_set()

    async def keep():
        keeping = asyncio.create_task(housekeeping.keep_looking())
        await asyncio.sleep(0.1)
        first = looked.is_set()
        keeping.cancel()
        monkeypatch.setattr(housekeeping, "EVERY", 0.01)
        keeping = asyncio.create_task(housekeeping.keep_looking())
        assert await asyncio.to_thread(looked.wait, 20)
        keeping.cancel()
        return first

    assert not asyncio.run(keep())


def test_a_test_whose_names_cannot_be_erased_holds_up_no_other(make_database, monkeypatch, caplog):
    database = make_database("sqlite")
    for name in ("Ada", "Ben"):
        code = give(database, keep_days=1)
        with database.work() as work:
            taking.enter(work, code, name)
    real = privacy.open_bank

    def damaged(bank):
        monkeypatch.setattr(privacy, "open_bank", real)
        raise RuntimeError("the bank is damaged")

    monkeypatch.setattr(privacy, "open_bank", damaged)
    monkeypatch.setattr(housekeeping, "now", lambda: clock.now() + timedelta(days=2))
    housekeeping.tidy(database)
    with database.read() as work:
        assert work.scalars(select(Attempt.name).order_by(Attempt.id)).all() == ["Ada", "erased"]
    assert "names of test 1 were not erased" in caplog.text
    housekeeping.tidy(database)
    with database.read() as work:
        assert set(work.scalars(select(Attempt.name))) == {"erased"}


def test_what_has_had_its_time_goes_by_the_clock_though_nobody_comes(make_database, monkeypatch):
    database = make_database("sqlite")
    code = give(database)
    with database.work() as work:
        owner = work.scalar(select(Teacher))
        teachers.log_in(work, owner)
        teachers.invitation(work, owner, "invited@school.example")
        token = teachers.by_token(work, teachers.api_token(work, owner, "platform", ["sessions"]), "sessions")
        attempt = taking.enter(work, code, "Ada")
        replies.keep(work, token, "key", "/answers", "hash", 201, {"session": attempt.id, "name": "Ada"}, attempt.id)
        limits.count(work, "code", "a browser", address="192.0.2.1")
        job_queue.ask(work, owner, "trial", "bank 1", {})

    def left(**passed):
        monkeypatch.setattr(housekeeping, "now", lambda: clock.now() + timedelta(**passed))
        housekeeping.tidy(database)
        housekeeping.purge(database)
        with database.read() as work:
            return [name for name, table in TABLES.items() if work.scalars(select(table)).first() is not None]

    assert left() == ["tries", "reply", "link", "login", "job"]
    assert left(minutes=9) == ["tries", "reply", "link", "login", "job"]
    assert left(minutes=11) == ["reply", "link", "login", "job"]
    assert left(hours=23) == ["reply", "link", "login", "job"]
    assert left(hours=25) == ["link", "login", "job"]
    assert left(hours=49) == ["login", "job"]
    path = Path(database.engine.url.database)
    assert not any(b"invited@school" in file.read_bytes() for file in path.parent.glob(f"{path.name}*"))
    assert left(days=15) == ["job"]
    assert left(days=91) == []


def test_the_files_are_written_anew_once_for_all_that_goes(make_database, monkeypatch):
    database, times = make_database("sqlite"), []
    for name in ("Ada", "Ben"):
        code = give(database, keep_days=1)
        with database.work() as work:
            taking.enter(work, code, name)
    real = Database.scrub
    monkeypatch.setattr(Database, "scrub", lambda self: times.append(1) or real(self))
    monkeypatch.setattr(housekeeping, "now", lambda: clock.now() + timedelta(days=2))
    housekeeping.tidy(database)
    assert len(times) == 1
    with database.read() as work:
        assert set(work.scalars(select(Attempt.name))) == {"erased"}
        assert work.scalars(select(Erasure)).all() == []


def test_one_kind_that_cannot_be_deleted_holds_up_no_other(make_database, monkeypatch, caplog):
    def fails(work, moment):
        raise RuntimeError("nobody foresaw this")

    database, done = make_database("sqlite"), []
    monkeypatch.setattr(housekeeping, "_OLD", {"replies": fails, "jobs": lambda work, moment: done.append(moment)})
    housekeeping.tidy(database)
    assert len(done) == 1
    assert "old replies were not deleted; it is tried again" in caplog.text


def test_a_worker_forgets_what_another_one_erased(make_database):
    database = make_database("sqlite")
    code = give(database)
    with database.work() as work:
        attempt, other = (taking.enter(work, code, name) for name in ("Ada", "Bob"))
        for one in (attempt, other):
            taking.state_of(work, one)
    assert {("session", attempt.key), ("session", other.key)} <= set(session_cache.cached.keys())
    with database.work() as work:  # as another process does it: this one is not told
        work.execute(delete(Attempt).where(Attempt.id == attempt.id))
    housekeeping.purge(database)
    kept = session_cache.cached.keys()
    assert {name for _, name in kept} & {attempt.key, other.key} == {other.key}


def test_a_server_keeps_house_from_its_start_though_nobody_comes(make_database, monkeypatch):
    done = {name: Event() for name in ("tidy", "purge", "look_after")}
    for name, event in done.items():
        monkeypatch.setattr(housekeeping, name, lambda database, event=event: event.set())
    with TestClient(application(make_database("sqlite"))):
        assert all(event.wait(20) for event in done.values())
