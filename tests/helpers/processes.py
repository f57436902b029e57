"""What tests of the store let other processes do: a new process imports it from here by name."""

from helpers.taking import entry_of, put, stands
from quaestor.store import limits
from quaestor.store.attempts import taking
from quaestor.store.database import Database


def migrate(url):
    made = Database(url)
    made.migrate()
    made.close()


def answer_all(told):
    """Answer a test to its end while others do the same; the steps that were confirmed here."""
    where, key = told
    database, mine = Database(where), []
    while not (now := stands(database, key)).over:
        try:
            put(database, key, now.step, entry_of(now.session.next))
            mine.append(now.step)
        except taking.StaleError:
            pass
        except taking.OverError:
            break
    database.close()
    return mine


def fail(database, kind, who, times=1):
    for _ in range(times):
        with database.work() as work:
            limits.count(work, kind, who)


def fail_ten_times(url):
    made = Database(url)
    fail(made, "code", "192.0.2.1", 10)
    made.close()
