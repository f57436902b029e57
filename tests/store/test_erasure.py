"""What was erased is gone from the files at once, while others have the database open; what holds that up is tried again by the clock."""

import random
import sqlite3
from datetime import timedelta
from pathlib import Path
from threading import Thread

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import OperationalError

import quaestor as qs
from quaestor.formats.files import load_bytes
from quaestor.store import clock, drafts, media, privacy, publishing, replies, teachers
from quaestor.store.attempts import taking
from quaestor.store.classes import child, class_lists
from quaestor.store.database import Database
from quaestor.store.models import Attempt, Draft, Erasure, Media, Pupil, SchoolClass, Token
from quaestor.web.jobs import housekeeping

BANK = b"""
quaestor: 1
title: Who and how many
skills: {s: {prior: [0.5, 0.5]}}
questions:
  Q1: {text: Who?, kind: text, accept: [Ada], skill: s, right: [0.2, 0.8]}
  Q2: {text: How many?, kind: number, correct: 3, skill: s, right: [0.3, 0.9]}
"""
RULES = qs.Rules(score="order", stop=qs.max_questions(2))
NAME, TYPED = "Ada Unmistakable", "12 Secret Street"
PICTURE = b"\x89PNG\r\n\x1a\n" + b"a portrait of Ada" * 500


def left(database, *words):
    """How often something can still be read in the files of an SQLite database."""
    path = Path(database.engine.url.database)
    content = b"".join(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))
    return sum(content.count(word if isinstance(word, bytes) else word.encode()) for word in words)


@pytest.fixture
def database(make_database):
    """An SQLite file that another worker has open too, and has read from."""
    made = make_database("sqlite")
    other = Database(str(made.engine.url))
    with other.read() as work:
        work.scalars(select(Attempt)).all()
    yield made
    other.close()


def publish(database, **conditions):
    with database.work() as work:
        teacher = teachers.owner(work, "owner@school.example")
        kept = publishing.keep_bank(work, teacher, load_bytes(BANK, ".yaml"))
        return publishing.publish(work, teacher, kept, RULES, publishing.Conditions(**conditions))


def take(database, code, name=NAME, typed=TYPED):
    with database.work() as work:
        attempt = taking.enter(work, code, name)
        taking.answer(work, attempt, 1, typed)
    with database.work() as work:
        taking.answer(work, work.get(Attempt, attempt.id), 2, "3")
    return attempt.id


def delete_attempt(database, test, number, pupil):
    with database.work() as work:
        privacy.delete(work, work.get(Attempt, number))
        privacy.delete_pupil(work, work.get(Pupil, pupil))


def delete_pupil(database, test, number, pupil):
    with database.work() as work:
        privacy.delete_pupil(work, work.get(Pupil, pupil))


def delete_test(database, test, number, pupil):
    with database.work() as work:
        found = publishing.published(work, teachers.owner(work, ""), test)
        child.erase_class(work, work.get(SchoolClass, found.class_id))
        privacy.delete_test(work, found)


def keep_so_long(database, test, number, pupil):
    with database.work() as work:
        privacy.erase_names(work, test, clock.now() + timedelta(days=40))


@pytest.mark.parametrize("erase", [delete_attempt, delete_pupil, delete_test, keep_so_long])
def test_nothing_can_be_read_in_any_file(database, erase):
    test = publish(database, by_list=True, keep_days=30)
    with database.work() as work:
        pupil = class_lists.add_pupils(work, publishing.published(work, teachers.owner(work, ""), test.id), [NAME])[0]
    number = take(database, pupil.code)
    assert left(database, NAME, TYPED) >= 2
    erase(database, test.id, number, pupil.id)
    assert left(database, NAME, TYPED, pupil.code) == 0
    with database.read() as work:
        assert work.scalars(select(Erasure)).all() == []


def test_copies_that_moving_rows_left_behind_are_gone_too(database):
    """SQLite overwrites a row where it is when it is deleted, and not where it was before its page was divided."""
    code, chance = publish(database).code, random.Random(0)
    with database.work() as work:
        started = [taking.enter(work, code, f"taker {number}").id for number in range(120)]
        steps = dict.fromkeys(started, 0)
        for _ in range(2400):
            one = chance.choice(started)
            steps[one] += 1
            line = f"typed by {one}, " * chance.randrange(1, 60)
            values = {"one": one, "step": steps[one], "entry": line, "at": clock.now()}
            work.execute(text("insert into event values (:one, :step, 'Q1', 'wrong', :entry, 1.0, :at)"), values)
    with database.work() as work:
        for one in started[:60]:
            privacy.delete(work, work.get(Attempt, one))
    assert [one for one in started[:60] if left(database, f"typed by {one},")] == []
    assert left(database, f"typed by {started[-1]},")


def test_a_reader_holds_it_up_and_the_clock_tries_again(database, caplog, monkeypatch):
    number = take(database, publish(database).code)
    monkeypatch.setattr("quaestor.store.erasure.PATIENCE", 0.05)
    with database.read() as reading:
        assert reading.scalar(select(Attempt.name)) == NAME
        with database.work() as work:
            privacy.delete(work, work.get(Attempt, number))
        assert left(database, NAME)
        assert "what was erased can still be read in the files of the database" in caplog.text
        assert NAME not in caplog.text
        take(database, publish(database).code, "Bob")  # nobody waits for it
    assert left(database, NAME)
    housekeeping.purge(database)
    assert left(database, NAME, TYPED) == left(database, TYPED)
    assert left(database, NAME) == 0
    assert left(database, "Bob")


def test_a_disk_that_is_full_does_not_undo_it(database, caplog, monkeypatch):
    number = take(database, publish(database).code)

    def full(engine):
        raise OperationalError("VACUUM", {}, sqlite3.OperationalError("database or disk is full"))

    monkeypatch.setattr("quaestor.store.erasure.scrub", full)
    with database.work() as work:
        privacy.delete(work, work.get(Attempt, number))
    assert "can still be read in the files of the database, got database or disk is full; it is tried again in a minute" in caplog.text
    monkeypatch.undo()
    assert database.scrub()
    assert left(database, NAME, TYPED) == 0


def test_what_was_broken_off_is_done_by_the_clock(database, monkeypatch):
    number = take(database, publish(database).code)
    with monkeypatch.context() as patch:
        patch.setattr(Database, "scrub", lambda self: False)  # as if the process died after the commit
        with database.work() as work:
            privacy.delete(work, work.get(Attempt, number))
    assert left(database, NAME)
    with database.read() as work:
        assert len(work.scalars(select(Erasure)).all()) == 1
    housekeeping.purge(database)
    assert left(database, NAME, TYPED) == 0
    with database.read() as work:
        assert work.scalars(select(Erasure)).all() == []


def test_a_unit_of_work_that_is_undone_erases_nothing(database):
    number = take(database, publish(database).code)

    def fail():
        with database.work() as work:
            privacy.delete(work, work.get(Attempt, number))
            raise ValueError("something went wrong")

    with pytest.raises(ValueError, match="something"):
        fail()
    with database.read() as work:
        assert work.get(Attempt, number).name == NAME
        assert work.scalars(select(Erasure)).all() == []


def test_erased_names_are_in_no_stored_reply(database):
    test = publish(database, keep_days=1)
    number = take(database, test.code)
    with database.work() as work:
        secret = teachers.api_token(work, teachers.owner(work, ""), "platform", ["sessions"])
        token = teachers.by_token(work, secret, "sessions")
        replies.keep(work, token, "key", "/answers", "hash", 201, {"session": number, "name": NAME}, number)
        privacy.erase_names(work, test.id, clock.now() + timedelta(days=2))
    assert left(database, NAME) == 0
    with database.read() as work:
        assert replies.earlier(work, work.get(Token, token.id), "key", "/answers", "hash") is None


def test_images_go_with_the_last_bank_that_shows_them(database):
    with database.work() as work:
        teacher = teachers.owner(work, "owner@school.example")
        document = {**load_bytes(BANK, ".yaml").document}
        first = drafts.begin_draft(work, teacher, document, "begun", {"ada.png": PICTURE})
        second = drafts.begin_draft(work, teacher, document, "begun", {"ada.png": PICTURE, "other.png": PICTURE + b"2"})
    with database.work() as work:
        drafts.drop(work, work.get(Draft, second.id))
    with database.read() as work:
        assert len(work.scalars(select(Media.hash)).all()) == 1
    assert left(database, b"portrait of Ada") > 0
    with database.work() as work:
        drafts.drop(work, work.get(Draft, first.id))
    assert left(database, b"portrait of Ada") == 0


def test_an_image_that_is_being_kept_is_not_dropped(make_database):
    """On PostgreSQL two units of work run at once: who drops waits for who keeps."""
    database = make_database("postgresql")
    with database.work() as work:
        teacher = teachers.owner(work, "owner@school.example")
        media.keep_images(work, {"ada.png": PICTURE})
    with database.work() as work:
        drafts.begin_draft(work, teacher, load_bytes(BANK, ".yaml").document, "begun", {"ada.png": PICTURE})

        def drop():
            with database.work() as other:
                media.drop_unused(other)

        dropping = Thread(target=drop)
        dropping.start()
        dropping.join(0.2)
        assert dropping.is_alive()
    dropping.join()
    with database.read() as work:
        assert len(work.scalars(select(Media.hash)).all()) == 1


def test_postgresql_writes_its_tables_anew(make_database, cluster):
    database = make_database("postgresql", unused=True)
    code = publish(database).code
    take(database, code, "Bob", "1 Open Road")
    number = take(database, code)
    cluster.execute("checkpoint")
    assert in_tables(cluster, database, NAME)
    with database.work() as work:
        privacy.delete(work, work.get(Attempt, number))
    cluster.execute("checkpoint")
    assert not in_tables(cluster, database, NAME)
    assert not in_tables(cluster, database, TYPED)


def test_postgresql_waits_for_who_still_sees_what_was_erased(make_database, cluster, monkeypatch):
    database = make_database("postgresql", unused=True)
    number = take(database, publish(database).code)
    monkeypatch.setattr("quaestor.store.erasure.PATIENCE", 0.05)
    with database.read() as reading:
        reading.execute(text("select 1"))
        with database.work() as work:
            privacy.delete(work, work.get(Attempt, number))
        assert reading.scalar(select(Attempt.name)) == NAME
    housekeeping.purge(database)
    cluster.execute("checkpoint")
    assert not in_tables(cluster, database, NAME)


def in_tables(cluster, database, word):
    with database.read() as work:
        number = work.scalar(text("select oid from pg_database where datname = current_database()"))
    return any(word.encode() in file.read_bytes() for file in (cluster.folder / "data" / "base" / str(number)).iterdir())
