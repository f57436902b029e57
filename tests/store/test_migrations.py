"""Databases of earlier versions: nothing is lost, and what was not stored then is worked out. For back-ups see `test_kept_back_ups`."""

import json
from datetime import timedelta
from zipfile import ZipFile

import pytest
from sqlalchemy import MetaData, select, text

import quaestor as qs
from helpers.databases import KINDS
from quaestor.store import backup, publishing, teachers
from quaestor.store.attempts import taking
from quaestor.store.classes import class_lists
from quaestor.store.models import Attempt, Published, Scoring, Teacher
from quaestor.store.outcomes import rescoring, results

RULES = qs.Rules(score="order", stop=qs.max_questions(3))
EARLIER = "0002"


def fill(database):
    with database.work() as work:
        teacher = teachers.owner(work, "owner@school.example")
        kept = publishing.keep_bank(work, teacher, qs.load("fractions"))
        test = publishing.publish(work, teacher, kept, RULES, publishing.Conditions(minutes=30, by_list=False))
        class_lists.add_pupils(work, test, ["Ada"])
        for name, count in (("Bob", 3), ("Eve", 1), ("Kim", 0)):
            attempt = taking.enter(work, test.code, name)
            for step in range(1, count + 1):
                taking.answer(work, attempt, step, taking.state_of(work, attempt).session.next.correct[0])
    return told(database)


def told(database):
    rescoring.score_all(database, 1, lambda share: True)
    with database.read() as work:
        return results.outcomes(work, work.get(Published, 1))


@pytest.mark.parametrize("kind", KINDS)
def test_a_database_of_an_earlier_version_goes_on(make_database, kind):
    database = make_database(kind)
    before = fill(database)
    database.migrate(EARLIER)
    with database.engine.connect() as connection:
        assert connection.execute(text("select version_num from alembic_version")).scalar() == EARLIER
    database.migrate()
    with database.read() as work:
        assert work.scalars(select(Scoring)).all() == []
        for attempt in work.scalars(select(Attempt)):
            assert attempt.due == attempt.started + timedelta(minutes=30)
            assert (attempt.extra, attempt.set_aside) == (0, None)
        assert work.scalars(select(Teacher.locked)).all() == [None]
    assert told(database) == before
    with database.work() as work:
        assert taking.enter(work, work.get(Published, 1).code, "Zoe").id == 4


def test_a_damaged_back_up_of_an_earlier_version_leaves_an_empty_database(make_database, tmp_path):
    source, target = make_database("sqlite"), make_database("sqlite")
    fill(source)
    source.migrate(EARLIER)
    file = tmp_path / "earlier.zip"
    write_as_it_was(source, file, damage="event")
    with pytest.raises(backup.BackupError, match=r"event\.jsonl, line 1"):
        backup.restore(target, file)
    with target.read() as work:
        assert work.scalars(select(Attempt)).all() == []
    assert fill(target)


def write_as_it_was(database, file, damage=""):
    """A back-up as the earlier version wrote it: the tables that there were, with their columns."""
    there = MetaData()
    there.reflect(database.engine)
    counts = {}
    with ZipFile(file, "w") as archive, database.engine.connect() as connection:
        for table in there.sorted_tables:
            if table.name != "alembic_version":
                rows = connection.execute(select(table)).mappings().all()
                lines = [json.dumps({column.name: backup._to_json(row[column.name]) for column in table.columns}) for row in rows]
                archive.writestr(f"{table.name}.jsonl", "".join(f"{line}\n" for line in lines) if table.name != damage else "{}\n")
                counts[table.name] = len(rows)
        archive.writestr("header.json", json.dumps({"quaestor-backup": 1, "revision": EARLIER, "made": "", "counts": counts}))
