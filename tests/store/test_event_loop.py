"""PostgreSQL on the event loop: units of work that take turns in one thread, and what becomes of those that are cut off."""

import asyncio
from threading import get_ident

import pytest
from sqlalchemy import event, insert, select, text

from helpers.databases import KINDS
from quaestor.errors import QuaestorError
from quaestor.store import database as module
from quaestor.store import teachers
from quaestor.store.clock import now
from quaestor.store.database import Database, UnavailableError
from quaestor.store.models import Teacher

_OTHERS = "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
BUSY = text(f"{_OTHERS} and (state <> 'idle' or xact_start is not null)")  # connections of others that do something or hold something
THERE = text(_OTHERS)


@pytest.fixture
def database(make_database):
    return make_database("postgresql")


def owners(work):
    return len(work.scalars(select(Teacher)).all())


def add(database, email="owner@school.example"):
    with database.work() as work:
        work.add(Teacher(email=email, name="", password=None, is_owner=False, created=now()))
        work.flush()
        return get_ident()


def count(database, statement=None):
    with database.read() as work:
        return owners(work) if statement is None else work.scalar(statement)


def test_the_first_connection_is_there_before_anybody_asks(database):
    made = []
    event.listen(database._loop.sync_engine, "connect", lambda *_: made.append(get_ident()))

    async def work():
        await database.get_ready()
        assert made == [get_ident()]
        return await database.on_loop(lambda: count(database))

    assert asyncio.run(work()) == 0
    assert len(made) == 1


def test_a_server_starts_without_its_database(tmp_path):
    away = Database(f"postgresql+psycopg://postgres@/quaestor?host={tmp_path}")
    asyncio.run(away.get_ready())
    with pytest.raises(UnavailableError):
        asyncio.run(away.on_loop(lambda: count(away)))
    away.close()


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_units_of_work_in_the_thread_of_the_loop(make_database, kind):
    database = make_database(kind)

    def refused(unit):
        with pytest.raises(QuaestorError, match="a unit of work that only reads writes nothing"), unit() as work:
            work.execute(insert(Teacher).values(email="a@b", name="", is_owner=False, created=now()))

    async def work():
        assert await database.on_loop(lambda: add(database)) == get_ident()
        for unit in (database.read, database.glance):
            await database.on_loop(lambda unit=unit: refused(unit))
        return await database.on_loop(lambda: count(database))

    assert asyncio.run(work()) == 1
    assert count(database) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_each_statement_of_a_glance_sees_what_is_there(make_database, kind):
    database = make_database(kind)
    with database.glance() as work:
        assert owners(work) == 0
        add(database)
        assert owners(work) == 1


def test_reading_on_the_loop_sees_one_moment(database):
    looked = asyncio.Event()

    def look():
        with database.read() as work:
            before = owners(work)
            looked.set()
            work.scalar(text("select pg_sleep(0.3)"))
            return before, owners(work)

    async def write():
        await looked.wait()
        await database.on_loop(lambda: add(database))

    async def work():
        seen, _ = await asyncio.gather(database.on_loop(look), write())
        return seen

    assert asyncio.run(work()) == (0, 0)
    assert count(database) == 1


def test_one_that_waits_for_a_lock_holds_nobody_up(database):
    async def work():
        waiting = asyncio.create_task(database.on_loop(lambda: add(database)))
        while await database.on_loop(lambda: count(database, BUSY)) < 2:  # the one that has the lock, and the one that waits for it
            pass
        assert not waiting.done()
        holding.execute(text("rollback"))
        await waiting

    with database.work() as holding:
        holding.execute(text("lock table teacher in exclusive mode"))
        asyncio.run(work())
    assert count(database) == 1


def test_everybody_has_a_turn(make_database, monkeypatch):
    monkeypatch.setattr(module, "CONNECTIONS", 1)
    database, order = make_database("postgresql"), []

    async def somebody(name):
        for _ in range(3):
            await database.on_loop(lambda: order.append((name, count(database))))

    async def work():
        await asyncio.gather(*(somebody(name) for name in "abc"))

    asyncio.run(work())
    assert "".join(name for name, _ in order) == "abcabcabc"


def test_there_are_so_many_connections_and_no_more(database):
    async def work():
        await asyncio.gather(*(database.on_loop(lambda: count(database, THERE)) for _ in range(5 * module.CONNECTIONS)))
        return await database.on_loop(lambda: count(database, THERE))

    assert asyncio.run(work()) + 1 == module.CONNECTIONS


def long_one(database):
    with database.work() as work:
        teachers.owner(work, "owner@school.example")
        work.scalar(text("select pg_sleep(60)"))


def test_what_lasts_too_long_is_cut_off(database, monkeypatch, caplog):
    monkeypatch.setattr(module, "WAIT", 0.2)
    monkeypatch.setattr(module, "_logged", -module.QUIET)

    async def work():
        with pytest.raises(UnavailableError):
            await database.on_loop(lambda: long_one(database))
        return await database.on_loop(lambda: (count(database), count(database, BUSY)))

    assert asyncio.run(work()) == (0, 0)
    assert [record.getMessage() for record in caplog.records] == ["database: it cannot be used, got it takes too long"]


def test_who_gets_no_turn_is_told_so(make_database, monkeypatch):
    monkeypatch.setattr(module, "CONNECTIONS", 1)
    monkeypatch.setattr(module, "WAIT", 0.2)
    database = make_database("postgresql")

    async def work():
        first, second = (asyncio.create_task(database.on_loop(lambda: long_one(database))) for _ in range(2))
        done, _ = await asyncio.wait([first, second], return_when=asyncio.FIRST_COMPLETED)
        assert done == {second}
        for task in (first, second):
            with pytest.raises(UnavailableError):
                await task

    asyncio.run(work())


def test_a_request_that_is_cancelled_leaves_nothing_open(database):
    async def work():
        task = asyncio.create_task(database.on_loop(lambda: long_one(database)))
        while not await database.on_loop(lambda: count(database, BUSY)):
            pass
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await database.on_loop(lambda: (count(database), count(database, BUSY)))

    assert asyncio.run(work()) == (0, 0)


def test_postgresql_was_started_again(database, cluster):
    """Neither who works on the loop nor who works in a thread sees anything of it: connections that are closed are not used."""

    async def work():
        many = [database.on_loop(lambda: count(database)) for _ in range(4)]
        assert await asyncio.gather(*many, asyncio.to_thread(count, database)) == [0] * 5
        cluster.stop()
        cluster.start()
        assert await database.on_loop(lambda: add(database)) == get_ident()
        return await asyncio.gather(*(database.on_loop(lambda: count(database)) for _ in range(4)), asyncio.to_thread(count, database))

    assert asyncio.run(work()) == [1] * 5


def test_postgresql_goes_away_in_the_middle_and_comes_back(database, cluster):
    def cut():
        with database.work() as work:
            teachers.owner(work, "owner@school.example")
            cluster.stop()
            owners(work)

    async def work():
        try:
            for do in (cut, lambda: add(database), lambda: count(database)):
                with pytest.raises(UnavailableError, match="the database cannot be reached at the moment"):
                    await database.on_loop(do)
        finally:
            cluster.start()
        return await database.on_loop(lambda: count(database))

    assert asyncio.run(work()) == 0


def test_the_driver_need_not_be_named(database):
    url = database.engine.url.render_as_string(hide_password=False)
    plain = Database(url.replace("+psycopg", ""))
    assert count(plain) == 0
    plain.close()
