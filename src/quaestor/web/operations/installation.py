"""The first start: tables, the owner's account, the bundled banks and a demo test, so that there is something to see at once."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import or_, select
from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError
from quaestor.formats.files import bundled_banks, load
from quaestor.i18n import say
from quaestor.selection.rules import Rules
from quaestor.selection.stopping.combined import any_of
from quaestor.selection.stopping.criteria import max_questions, probability_above
from quaestor.session.sufficiency import asks_enough
from quaestor.store import drafts, publishing, soundness, teachers
from quaestor.store.clock import now
from quaestor.store.database import Database
from quaestor.store.models import Published, Teacher
from quaestor.web.operations.data_folder import keep_private, private_files
from quaestor.web.settings import Settings

DEMO = "fractions"
DEMO_TITLE = "Fractions, a demo"


@dataclass(frozen=True)
class Begun:
    """What whoever starts the server should know: a one-time link for the owner (None once there is a password), the demo's code."""

    sign_in: str | None
    demo: str | None


def make_database(settings: Settings) -> Database:
    """The database of the settings, made when there was none, its tables brought up to date; an error when it was lost or is damaged."""
    _make_folder(settings)
    database = Database(settings.database_url)
    return _ready(database, settings, make=True)


def open_database(settings: Settings) -> Database:
    """The database of the settings, its tables brought up to date; an error when there is none."""
    return _ready(Database(settings.database_url), settings)


def _ready(database: Database, settings: Settings, make: bool = False) -> Database:
    try:
        if not soundness.check(database, flag(database, settings)) and not make:
            place = f"database: {database.engine.url}" if settings.database else f"data: {settings.data}"
            raise QuaestorError(f"{place}: a database that `quaestor serve` or `quaestor restore` made, got no database in it")
        keep_private(settings)
        with private_files():
            database.migrate()
            soundness.leave_note(database)
    except QuaestorError:
        database.close()
        raise
    return database


@contextmanager
def restored_database(settings: Settings) -> Iterator[Database]:
    """A database to restore a back-up into. A file that is not there yet gets its name only when all went well: never half of one."""
    _make_folder(settings)
    database = Database(settings.database_url)
    file = soundness.file_of(database)
    try:
        is_made = soundness.check(database, flag(database, settings), restores=True)
    except QuaestorError:
        database.close()
        raise
    keep_private(settings)
    if file is None or is_made or file.exists():
        with private_files():
            database.migrate()
        with closing(database):
            yield database
    else:
        unfinished = file.with_name(f".{file.name}.unfinished")
        _remove(unfinished)
        try:
            with closing(Database(f"sqlite:///{unfinished}")) as made:
                with private_files():
                    made.migrate()
                yield made
            unfinished.replace(file)
        finally:
            _remove(unfinished)
    soundness.leave_note(database)


def _remove(file: Path) -> None:
    for end in ("", "-wal", "-shm"):
        file.with_name(file.name + end).unlink(missing_ok=True)


def flag(database: Database, settings: Settings) -> str:
    """How commands are told of the database, without a password."""
    return f"--database {database.engine.url}" if settings.database else f"--data {settings.data}"


def _make_folder(settings: Settings) -> None:
    if not settings.database:
        try:
            Path(settings.data).mkdir(parents=True, exist_ok=True, mode=0o700)
            if not os.access(settings.data, os.W_OK):
                raise PermissionError(13, "it may not be written")
        except OSError as error:
            raise QuaestorError(f"data: a folder that can be made and written, got {settings.data} ({error.strerror})") from error


def begin(database: Database, settings: Settings) -> Begun:
    """Make what is missing: on an empty database everything, later only a new link."""
    with database.work() as work:
        first = work.scalar(select(Teacher.id).limit(1)) is None
        owner = teachers.owner(work, settings.email)
        if first:
            _fill(work, owner)
        link = teachers.sign_in_link(work, owner) if owner.password is None else None
        return Begun(link, demo_code(work))


def demo_code(work: Work) -> str | None:
    """The code of the owner's demo test, as long as it is there and open to everybody."""
    own = select(Published.code).join(Teacher, Teacher.id == Published.teacher_id).where(Teacher.is_owner, Published.title == DEMO_TITLE)
    is_open = or_(Published.closes.is_(None), Published.closes > now())
    return work.scalar(own.where(Published.by_list.is_(False), is_open).order_by(Published.id).limit(1))


def _fill(work: Work, owner: Teacher) -> None:
    for name in bundled_banks():
        bank = load(name)
        if not publishing.unusable(bank):
            drafts.begin_draft(work, owner, bank.document, say("copied from a bank that comes with Quaestor"))
            if name == DEMO:
                kept = publishing.keep_bank(work, owner, bank)
                rules = Rules(stop=any_of(max_questions(15), probability_above(0.9)), content=asks_enough(bank))
                publishing.publish(work, owner, kept, rules, publishing.Conditions(mode="practice", retakes="any"), DEMO_TITLE)
