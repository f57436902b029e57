"""What was erased is made unreadable in the files of the database too, at once.

SQLite overwrites a row where it is when it is deleted (`secure_delete`), but copies of it stay in the write-ahead log, and on pages that
it lay on before they were divided. So the file is written anew (`VACUUM`) and the log is emptied (`wal_checkpoint(TRUNCATE)`), for which
no reader may still look at an earlier moment. PostgreSQL marks rows as dead and leaves them; its tables are written anew
(`VACUUM FULL`) once nobody sees the dead rows any more. Its own log is beyond our reach (docs/security.md).

Each erasure is noted in a table, in the unit of work that erases, and stays there until that is done: whatever holds it up, a reader or
the end of the process, it is tried again by the clock.
"""

from sqlalchemy import Connection, Engine, delete, func, select, text, update
from sqlalchemy.orm import Session as Work

from quaestor.store.clock import now
from quaestor.store.models import Base, Erasure

PATIENCE = 0.5  # seconds that it waits for readers; nobody can write meanwhile
_NOTED = "erased"
_SEEN = text(  # by a snapshot that was taken before the erasure was committed
    "select 1 from erasure, pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
    " and age(backend_xmin) >= age(erasure.xmin) limit 1"
)


def erased(work: Work) -> None:
    """Note that this unit of work erases something: the files follow as soon as it is committed."""
    work.add(Erasure(at=now(), rewritten=False))
    work.info[_NOTED] = True


def has_erased(work: Work) -> bool:
    """Whether a unit of work erased something."""
    return _NOTED in work.info


def scrub(engine: Engine) -> bool:
    """Make what was erased unreadable in the files; False if it has to be tried again."""
    is_file = engine.dialect.name == "sqlite"
    options = {"transaction": False} if is_file else {"isolation_level": "AUTOCOMMIT"}
    with engine.execution_options(**options).connect() as connection:
        last = connection.scalar(select(func.max(Erasure.id)))
        if last is None:
            return True
        if not (_scrub_file if is_file else _scrub_tables)(connection, last):
            return False
        connection.execute(delete(Erasure).where(Erasure.id <= last))
    return True


def _scrub_file(connection: Connection, last: int) -> bool:
    if connection.scalar(select(Erasure.id).where(~Erasure.rewritten).limit(1)) is not None:
        connection.exec_driver_sql("VACUUM")
        connection.execute(update(Erasure).where(Erasure.id <= last).values(rewritten=True))
    usual = connection.exec_driver_sql("PRAGMA busy_timeout").scalar_one()
    connection.exec_driver_sql(f"PRAGMA busy_timeout={int(PATIENCE * 1000)}")
    try:
        return not connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").scalar_one()
    finally:
        connection.exec_driver_sql(f"PRAGMA busy_timeout={usual}")


def _scrub_tables(connection: Connection, last: int) -> bool:
    if connection.execute(_SEEN).first() is not None:
        return False
    connection.exec_driver_sql(f"set lock_timeout = {int(PATIENCE * 1000)}")
    try:
        for table in Base.metadata.sorted_tables:
            connection.exec_driver_sql(f'vacuum full "{table.name}"')
    finally:
        connection.exec_driver_sql("reset lock_timeout")
    return True
