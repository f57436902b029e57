"""The first start: tables, the owner's account, the bundled banks and a demo test, so that there is something to see at once."""

import os
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError
from quaestor.formats.files import bundled_banks, load
from quaestor.i18n import say
from quaestor.selection.rules import Rules
from quaestor.selection.stopping.combined import any_of
from quaestor.selection.stopping.criteria import max_questions, probability_above
from quaestor.session.sufficiency import asks_enough
from quaestor.store import drafts, publishing, teachers
from quaestor.store.database import Database
from quaestor.store.models import Published, Teacher
from quaestor.web.ownership import keep_private
from quaestor.web.settings import Settings

DEMO = "fractions"
DEMO_TITLE = "Fractions, a demo"


@dataclass(frozen=True)
class Begun:
    """What whoever starts the server should know: a one-time link for the owner (None once there is a password), the demo's code."""

    sign_in: str | None
    demo: str | None


def make_database(settings: Settings) -> Database:
    """The database of the settings, made when there is none, its tables brought up to date."""
    if not settings.database:
        try:
            Path(settings.data).mkdir(parents=True, exist_ok=True, mode=0o700)
            if not os.access(settings.data, os.W_OK):
                raise PermissionError(13, "it may not be written")
        except OSError as error:
            raise QuaestorError(f"data: a folder that can be made and written, got {settings.data} ({error.strerror})") from error
    keep_private(settings)
    database = Database(settings.database_url)
    database.migrate()
    return database


def open_database(settings: Settings) -> Database:
    """The database of the settings, its tables brought up to date; an error when there is none."""
    database = Database(settings.database_url)
    if not database.is_there():
        database.close()
        place = f"database: {database.engine.url}" if settings.database else f"data: {settings.data}"
        raise QuaestorError(f"{place}: a database that `quaestor serve` or `quaestor restore` made, got no database in it")
    keep_private(settings)
    database.migrate()
    return database


def begin(database: Database, settings: Settings) -> Begun:
    """Make what is missing: on an empty database everything, later only a new link."""
    with database.work() as work:
        first = work.scalar(select(Teacher.id).limit(1)) is None
        owner = teachers.owner(work, settings.email)
        if first:
            _fill(work, owner)
        link = teachers.sign_in_link(work, owner) if owner.password is None else None
        demo = work.scalar(select(Published.code).where(Published.teacher_id == owner.id, Published.title == DEMO_TITLE).limit(1))
    return Begun(link, demo)


def _fill(work: Work, owner: Teacher) -> None:
    for name in bundled_banks():
        bank = load(name)
        if not publishing.unusable(bank):
            drafts.begin_draft(work, owner, bank.document, say("copied from a bank that comes with Quaestor"))
            if name == DEMO:
                kept = publishing.keep_bank(work, owner, bank)
                rules = Rules(stop=any_of(max_questions(15), probability_above(0.9)), content=asks_enough(bank))
                publishing.publish(work, owner, kept, rules, publishing.Conditions(mode="practice", retakes="any"), DEMO_TITLE)
