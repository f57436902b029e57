"""Units of work, databases that are away, and migrations from several processes at once."""

import multiprocessing
import shutil
import sqlite3
from pathlib import Path
from threading import Thread
from time import perf_counter

import pytest
from sqlalchemy import func, insert, inspect, select, text

from helpers.databases import KINDS
from helpers.processes import migrate
from quaestor.errors import QuaestorError
from quaestor.store import database as module
from quaestor.store import teachers
from quaestor.store.clock import now
from quaestor.store.database import DamagedError, Database, UnavailableError
from quaestor.store.models import Base, Teacher

CALM = "the database cannot be reached at the moment; nothing that was confirmed is lost, please try again in a few seconds"


def owners(work):
    return work.scalar(select(func.count()).select_from(Teacher))


def test_a_unit_of_work_is_undone_by_an_error(database):
    def fail():
        with database.work() as work:
            teachers.owner(work, "owner@school.example")
            raise QuaestorError("something else went wrong")

    with pytest.raises(QuaestorError, match="something else"):
        fail()
    with database.read() as work:
        assert owners(work) == 0


def test_reading_sees_one_moment_and_holds_nobody_up(database):
    with database.read() as reading:
        assert owners(reading) == 0
        with database.work() as work:
            teachers.owner(work, "owner@school.example")
        assert owners(reading) == 0
    with database.read() as reading:
        assert owners(reading) == 1


def test_reading_waits_for_no_writer(database):
    with database.work() as work:
        teachers.owner(work, "owner@school.example")
        with database.read() as reading:
            assert owners(reading) == 0


def test_reading_writes_nothing(database):
    with pytest.raises(QuaestorError, match="a unit of work that only reads writes nothing"), database.read() as work:
        teachers.owner(work, "owner@school.example")
    with database.read() as work:
        assert owners(work) == 0


def test_reading_refuses_statements_that_write_and_the_next_unit_of_work_may(database):
    with (
        pytest.raises(QuaestorError, match="a unit of work that only reads writes nothing, got something to write"),
        database.read() as work,
    ):
        work.execute(insert(Teacher).values(email="a@b", name="", is_owner=False, created=module_now()))
    for _ in range(2):
        with database.work() as work:
            teachers.owner(work, "owner@school.example").name = "Ada"
        with database.read() as work:
            assert work.scalar(select(Teacher.name)) == "Ada"


def test_values_that_no_database_holds(database):
    with pytest.raises(QuaestorError, match="a value that the database can hold is expected, got one that is too large"):  # noqa: SIM117
        with database.read() as work:
            work.get(Teacher, 2**80)


def test_a_locked_sqlite_is_unavailable(make_database, monkeypatch):
    monkeypatch.setattr(module, "WAIT", 0.1)
    database = make_database("sqlite")
    other = sqlite3.connect(database.engine.url.database, isolation_level=None)
    other.execute("begin immediate")
    with pytest.raises(UnavailableError) as error, database.work() as work:
        teachers.owner(work, "owner@school.example")
    assert str(error.value) == CALM
    assert error.value.seconds == 5
    other.execute("rollback")
    other.close()
    with database.work() as work:
        teachers.owner(work, "owner@school.example")


def test_sqlite_keeps_what_was_committed_through_a_power_cut(make_database):
    with make_database("sqlite").read() as work:
        assert work.scalar(text("pragma synchronous")) == 2
        assert work.scalar(text("pragma journal_mode")) == "wal"


def test_threads_take_turns(database):
    """No thread is turned away, and none waits in SQLite's sleep."""

    def write(number):
        for step in range(20):
            with database.work() as work:
                work.add(Teacher(email=f"{number}.{step}@school.example", name="", password=None, is_owner=False, created=module_now()))

    threads = [Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with database.read() as work:
        assert owners(work) == 160


def module_now():
    return teachers.now()


def test_postgresql_goes_away_and_comes_back(make_database, cluster):
    """Before a unit of work, in the middle of one, and then it works again without a restart."""
    database = make_database("postgresql")
    with database.work() as work:
        teachers.owner(work, "owner@school.example")

    def cut():
        with database.work() as work:
            teachers.owner(work, "")
            cluster.stop()
            teachers.owner(work, "")

    try:
        with pytest.raises(UnavailableError) as error:
            cut()
        assert str(error.value) == CALM
        began = perf_counter()
        for unit in (database.work, database.read):
            with pytest.raises(UnavailableError), unit() as work:
                owners(work)
        with pytest.raises(UnavailableError, match="database: it can be reached, got"):
            database.migrate()
        assert perf_counter() - began < 3
    finally:
        cluster.start()
    with database.work() as work:
        assert owners(work) == 1


def test_a_lock_of_postgresql_that_lasts_is_unavailable(make_database, monkeypatch):
    monkeypatch.setattr(module, "WAIT", 0.1)
    database = make_database("postgresql")
    with database.work() as first:
        first.execute(text("lock table teacher in access exclusive mode"))
        with pytest.raises(UnavailableError), database.work() as second:
            owners(second)


@pytest.mark.parametrize("kind", KINDS)
def test_several_processes_migrate_at_once(make_database, kind):
    database = make_database(kind, migrated=False)
    url = database.engine.url.render_as_string(hide_password=False)
    context = multiprocessing.get_context("spawn")
    with context.Pool(3) as pool:
        pool.map(migrate, [url] * 3, chunksize=1)
        pool.close()
        pool.join()
    assert set(inspect(database.engine).get_table_names()) == {*Base.metadata.tables, "alembic_version"}


def foreign_keys(database, name):
    """Each column of a table that refers to another, that table, and what happens when its row goes."""
    if database.engine.dialect.name != "sqlite":
        found = inspect(database.engine).get_foreign_keys(name)
        return {(key["constrained_columns"][0], key["referred_table"], key["options"].get("ondelete")) for key in found}
    with database.engine.connect() as connection:  # SQLAlchemy does not see what a column says that was added to a table of SQLite
        rows = connection.exec_driver_sql(f"PRAGMA foreign_key_list({name})").mappings().all()
    return {(row["from"], row["table"], None if row["on_delete"] == "NO ACTION" else row["on_delete"]) for row in rows}


def test_migrations_make_the_tables_of_the_models(database):
    there = inspect(database.engine)
    for name, table in Base.metadata.tables.items():
        assert {column["name"]: column["nullable"] for column in there.get_columns(name)} == {c.name: c.nullable for c in table.columns}
        assert set(there.get_pk_constraint(name)["constrained_columns"]) == {column.name for column in table.primary_key}
        unique = {tuple(sorted(found["column_names"])) for found in there.get_unique_constraints(name)}
        wanted = {tuple(sorted(c.name for c in found.columns)) for found in table.constraints if type(found).__name__ == "UniqueConstraint"}
        assert unique == wanted
        indices = {tuple(found["column_names"]) for found in there.get_indexes(name) if not found.get("unique")}
        assert indices == {tuple(column.name for column in found.columns) for found in table.indexes if not found.unique}
        sole = {tuple(found["column_names"]) for found in there.get_indexes(name) if found.get("unique")}
        assert sole >= {tuple(column.name for column in found.columns) for found in table.indexes if found.unique}
        assert foreign_keys(database, name) == {(key.parent.name, key.column.table.name, key.ondelete) for key in table.foreign_keys}
    database.migrate()  # once more changes nothing


def unusable(database, caplog, monkeypatch, times=1):
    """What the log says when a unit of work cannot write."""
    monkeypatch.setattr(module, "_logged", -module.QUIET)
    caplog.clear()
    for _ in range(times):
        with pytest.raises(UnavailableError), database.work() as work:
            work.execute(insert(Teacher).values(email="private@b", name="", is_owner=False, created=module_now()))
    return [record.getMessage() for record in caplog.records]


def test_the_log_tells_of_a_missing_table_once_in_a_while(make_database, caplog, monkeypatch):
    database = make_database("sqlite", migrated=False)
    assert unusable(database, caplog, monkeypatch, times=3) == ["database: it cannot be used, got no such table: teacher"]


def test_the_log_tells_of_a_file_that_may_not_be_written(make_database, caplog, monkeypatch):
    database = make_database("sqlite")
    reading = Database(f"sqlite:///file:{database.engine.url.database}?mode=ro&uri=true")
    assert unusable(reading, caplog, monkeypatch) == ["database: it cannot be used, got attempt to write a readonly database"]
    reading.close()


def test_a_file_that_is_damaged_while_it_is_in_use(make_database, caplog, monkeypatch):
    database = make_database("sqlite")
    database.close()
    with open(database.engine.url.database, "r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 4096 * 40)
    monkeypatch.setattr(module, "_logged", -module.QUIET)
    for unit in (database.work, database.read):
        with pytest.raises(DamagedError, match="the database of this server is damaged; please tell the people who run it"), unit() as work:
            owners(work)
    assert [record.getMessage() for record in caplog.records] == ["database: it cannot be used, got database disk image is malformed"]


def test_the_log_tells_that_postgresql_is_away(caplog, monkeypatch):
    database = Database("postgresql+psycopg://me:secret@127.0.0.1:1/nothing")
    (line,) = unusable(database, caplog, monkeypatch, times=2)
    assert line.startswith("database: it cannot be used, got connection failed")
    assert "secret" not in caplog.text
    assert "private" not in caplog.text
    database.close()


def test_who_can_come_back_is_not_in_the_log(make_database, caplog, monkeypatch):
    database = make_database("sqlite")
    other = sqlite3.connect(database.engine.url.database, isolation_level=None)
    other.execute("begin immediate")
    monkeypatch.setattr(module, "_logged", -module.QUIET)
    with pytest.raises(UnavailableError), database.work(prompt=True) as work:
        owners(work)
    other.close()
    assert caplog.records == []


@pytest.mark.parametrize(
    "url",
    [
        "nonsense",
        "postgresql+psycopg_async://me:secret@host/db",
        "postgresql+nothing://me:secret@host/db",
        "http://me:secret@host",
        "http://me:sec/secret@host/db",
    ],
)
def test_a_database_that_is_none(url):
    with pytest.raises(QuaestorError, match="database: an address such as sqlite") as error:
        Database(url)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("how", ["moved", "replaced"])
def test_nothing_is_written_to_a_file_that_is_not_there_any_more(make_database, tmp_path, caplog, monkeypatch, how):
    """Or an answer would be confirmed that nobody finds again; nor is a new file begun in its place."""
    monkeypatch.setattr(module, "_logged", -module.QUIET)
    database = make_database("sqlite")
    file = Path(database.engine.url.database)
    with database.work() as work:
        teachers.owner(work, "owner@school.example")
    file.rename(tmp_path / "away")
    if how == "replaced":
        shutil.copy(tmp_path / "away", file)
    with pytest.raises(UnavailableError), database.work() as work:
        work.add(Teacher(email="another@school.example", name="", password=None, is_owner=False, created=now()))
    assert "another file in its place: stop the server, put the one that it had back" in caplog.text
    database.engine.dispose()
    if how == "moved":
        with pytest.raises(UnavailableError), database.read() as work:
            work.scalars(select(Teacher)).all()
        assert not file.exists()
    (tmp_path / "away").rename(file)
    with database.work() as work:
        assert len(work.scalars(select(Teacher)).all()) == 1
