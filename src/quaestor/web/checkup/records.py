"""Checks of the database: it opens, is whole, of this version, set up well; and what its records tell of the clock, the jobs, the owner."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import func, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError
from quaestor.selection.dry_run import SLOW, is_easy, worst_step
from quaestor.selection.rules_file import read_rules
from quaestor.store import clock, job_queue, publishing, soundness
from quaestor.store.database import CONNECTIONS, Database, UnavailableError
from quaestor.store.models import Event, Job, Published, Teacher
from quaestor.web.checkup.finding import FINE, Finding, advice, fine, in_words, wrong
from quaestor.web.operations.installation import flag
from quaestor.web.settings import Settings

OLDEST = 12  # the oldest PostgreSQL that is still looked after somewhere
SPARE = 10  # connections for back-ups, jobs and people
WAITS = timedelta(hours=1)  # after which a waiting job is strange
AHEAD = timedelta(minutes=2)  # by which clocks may differ
DRY_RUNS, SECONDS = 5, 2.0


def database(settings: Settings, dry_runs: bool = False) -> Iterator[Finding]:
    """All checks of the database; those that need it are left out when it does not open."""
    try:
        opened = Database(settings.database_url)
    except QuaestorError as error:
        yield from wrong("database", f"The address of the database cannot be used: {error}.", "Mend --database.")
        return
    try:
        (found,) = _opens(settings, opened)
        yield found
        if found.state == FINE:
            yield from _sqlite(opened) if opened.is_file else _postgresql(settings, opened)
            with opened.read() as work:
                for look in (_clock, _jobs, _owner, *((_banks,) if dry_runs else ())):
                    yield from look(work)
    except UnavailableError:
        yield from wrong("records", "The database opens, but not all of it can be read.", "Restore the last back-up into another place.")
    finally:
        opened.close()


def _opens(settings: Settings, opened: Database) -> list[Finding]:
    """Whether the server would start with it, by the same check; and whether its tables are those of this version."""
    file = soundness.file_of(opened)
    try:
        if file is not None and file.parent.exists() and not file.parent.is_dir():
            return wrong("database", f"There can be no database: {file.parent} is no folder.", "Set --data or --database to another place.")
        is_made = soundness.check(opened, flag(opened, settings))
        is_there = file is None or file.exists()
        revision = _revision(opened) if is_made else ""
    except soundness.UnusableError as error:
        words = f"The server does not start with this database. {error.found}."
        return wrong("database", words, f"Stop the server if it runs; {error.remedy} (docs/server.md, When the database cannot be used).")
    except (UnavailableError, DBAPIError, sqlite3.Error, OSError) as error:
        return _unreachable(opened, error)
    known = opened.revisions()
    if not is_there:
        return advice(
            "database", "There is no database yet: `quaestor serve` will make one.", "If there should be one, set --data or --database."
        )
    if not is_made:
        words = "The database is there, but empty: `quaestor serve` will fill it."
        return advice("database", words, "If it should not be empty, set --database or --data.")
    if revision != known[0]:
        words = f"The tables are of an older version ({revision}; this one has {known[0]})."
        return advice(
            "database", words, "Make a back-up with the older version; the next start of the server brings the tables up to date."
        )
    return fine("database", "The database opens, and its tables are of this version.")


def _unreachable(opened: Database, error: Exception) -> list[Finding]:
    """A database that cannot be opened, and why: what the driver said, in one line."""
    cause = error.__cause__ if isinstance(error, UnavailableError) and error.__cause__ is not None else error
    said = " ".join(str(getattr(cause, "orig", None) or cause).split()).rstrip(".?")
    if opened.is_file:
        words = f"The file of the database cannot be used: {said}."
        if soundness.has_no_room(Path(str(opened.engine.url.database))):
            return wrong("database", words, "Its disk is full: make room there.")
        return wrong("database", words, "Run this command as the user of the server, or give the folder and its files to that user.")
    where = f"{opened.engine.url.host or 'this machine'}, port {opened.engine.url.port or 5432}"
    return wrong(
        "database", f"PostgreSQL at {where} cannot be used: {said}.", "Start it, or mend host, user, password or name in --database."
    )


def _revision(opened: Database) -> str:
    if opened.is_file:
        with closing(_file(opened)) as file:
            return str(file.execute("select version_num from alembic_version").fetchone()[0])
    with opened.engine.connect() as connection:
        return str(connection.scalar(text("select version_num from alembic_version")))


def _file(opened: Database) -> sqlite3.Connection:
    """The file, opened so that nothing is changed."""
    return sqlite3.connect(f"file:{quote(str(opened.engine.url.database))}?mode=ro", uri=True)


def _sqlite(opened: Database) -> list[Finding]:
    path = Path(str(opened.engine.url.database))
    size = sum(file.stat().st_size for file in (path, Path(f"{path}-wal")) if file.exists())
    with closing(_file(opened)) as file:
        mode = file.execute("pragma journal_mode").fetchone()[0]
    if mode != "wal":
        words = f"The database writes its journal in the mode {mode}: readers and writers wait for each other."
        return advice("SQLite", words, "Start the server once: it sets the mode `wal`, unless the disk cannot do it.")
    return fine("SQLite", f"The database is whole and takes {in_words(size)}.")


def _postgresql(settings: Settings, opened: Database) -> list[Finding]:
    with opened.engine.connect() as connection:

        def shown(name: str) -> str:
            return str(connection.exec_driver_sql(f"show {name}").scalar())

        version = int(shown("server_version_num")) // 10_000
        free = int(shown("max_connections")) - int(shown("superuser_reserved_connections"))
        may = connection.exec_driver_sql("select has_schema_privilege(current_schema(), 'create')").scalar()
        lost = [name for name in ("fsync", "synchronous_commit") if shown(name) == "off"]
        size = int(connection.exec_driver_sql("select pg_database_size(current_database())").scalar() or 0)
        encoding = shown("server_encoding")
    needed = settings.workers * 2 * CONNECTIONS + SPARE  # of threads and of the event loop
    if version < OLDEST:
        return wrong(
            "PostgreSQL",
            f"It is PostgreSQL {version}, which nobody mends any more.",
            f"Move to {OLDEST} or newer: back-up, then restore there.",
        )
    if not may:
        words = "The user of the database may not make tables, so it cannot be brought up to date."
        return wrong("PostgreSQL", words, "grant create on schema public to quaestor; or make this user the database's owner")
    if encoding != "UTF8":
        return wrong(
            "PostgreSQL",
            f"The database keeps texts as {encoding}: not all letters fit.",
            "Make it anew with encoding UTF8 and restore a back-up.",
        )
    if lost:
        words = f"PostgreSQL is set up with {lost[0]} = off: answers that were confirmed can be lost by a power cut."
        return wrong("PostgreSQL", words, f"Set {lost[0]} = on in its settings.")
    if needed > free:
        words = f"The workers may open up to {needed} connections; PostgreSQL allows {free}."
        return wrong("PostgreSQL", words, f"Set max_connections = {needed + SPARE} in its settings, or use fewer workers.")
    return fine("PostgreSQL", f"PostgreSQL {version}, with {free} connections for up to {needed}; the database takes {in_words(size)}.")


def _clock(work: Work) -> list[Finding]:
    """Whether the clock fits the last answer, and that of the database."""
    now, last = clock.now(), work.scalar(select(func.max(Event.at)))
    if last is not None and last > now + AHEAD:
        words = f"The clock says {now:%Y-%m-%d %H:%M} UTC, but an answer was written at {last:%Y-%m-%d %H:%M}, which is later."
        return wrong("clock", words, "Set the clock, and let it be kept: timedatectl set-ntp true")
    if work.get_bind().dialect.name == "postgresql":
        there = work.execute(text("select now() at time zone 'utc'")).scalar_one()
        if abs(there - now.replace(tzinfo=None)) > AHEAD:
            words = f"The clock says {now:%Y-%m-%d %H:%M} UTC, that of the database {there:%Y-%m-%d %H:%M}."
            return wrong("clock", words, "Set both, and let them be kept: timedatectl set-ntp true")
    return fine("clock", f"The clock says {now:%Y-%m-%d %H:%M} UTC, which fits the records.")


def _jobs(work: Work) -> list[Finding]:
    counts = job_queue.counts(work)
    late = work.scalar(select(func.count()).where(Job.state == job_queue.WAITING, Job.created < clock.now() - WAITS))
    if late:
        words = f"{late} background job{'s' * (late != 1)} waited for more than an hour: no server works on this database."
        return wrong("jobs", words, "Start the server; if it runs, see its log for lines that begin with jobs.")
    failed = counts[job_queue.FAILED]
    if failed:
        words = f"{failed} background job{'s' * (failed != 1)} (trials, learning) failed in the last 90 days."
        return advice("jobs", words, "Their pages say why; a trial that is too large for the machine is tried with fewer students.")
    return fine("jobs", f"{counts[job_queue.WAITING]} background jobs wait, {counts[job_queue.RUNNING]} run, none failed.")


def _owner(work: Work) -> list[Finding]:
    owner = work.scalars(select(Teacher).where(Teacher.is_owner)).first()
    if owner is None or owner.password is None:
        words = "The owner's account has no password yet: who reads the sign-in link on the terminal can take it."
        return advice("owner", words, "Open the link that `quaestor sign-in` prints, and choose a password.")
    return fine("owner", "The owner's account has a password.")


def _banks(work: Work) -> list[Finding]:
    """A dry run of the latest tests that are open and may be slow."""
    is_open = (Published.closes.is_(None)) | (Published.closes > clock.now())
    slow, tried = [], 0
    for test in work.scalars(select(Published).where(is_open).order_by(Published.id.desc()).limit(20)):
        bank = publishing.open_bank(test.bank)
        if tried < DRY_RUNS and not is_easy(bank):
            tried += 1
            found = worst_step(bank, read_rules(test.rules), SECONDS)
            if found.is_cut or found.worst > SLOW:
                slow.append(f"test {test.id} ({'more than ' if found.is_cut else ''}{found.worst:.2g} s)")
    if slow:
        words = f"A step takes long in {', '.join(slow)}: its takers wait, and so do others when many take it."
        return advice("banks", words, "`quaestor check` on the bank says what would help; more workers help too.")
    return fine("banks", f"No step was slow in dry runs of {tried} test{'s' * (tried != 1)}; the others are quick by their kind.")
