"""Back-up and restore: the same rows on every kind of database, or none at all."""

import errno
import json
import os
import stat
from itertools import product
from pathlib import Path
from zipfile import ZipFile

import pytest
from sqlalchemy import select

import quaestor as qs
from helpers.databases import KINDS
from quaestor.store import backup, limits, publishing, replies, teachers
from quaestor.store.attempts import taking
from quaestor.store.classes import class_lists
from quaestor.store.models import Attempt, Base, Published, Teacher, Token
from quaestor.store.outcomes import results

RULES = qs.Rules(score="order", stop=qs.max_questions(3))


def fill(database):
    with database.work() as work:
        teacher = teachers.owner(work, "owner@school.example")
        teachers.log_in(work, teacher)
        teachers.sign_in_link(work, teacher)
        teachers.api_token(work, teacher, "platform", ["sessions"])
        kept = publishing.keep_bank(work, teacher, qs.load("fractions"))
        work.execute(Base.metadata.tables["media"].insert(), [{"hash": "0" * 64, "kind": "image/png", "content": bytes(range(256))}])
        test = publishing.publish(work, teacher, kept, RULES, publishing.Conditions(minutes=12.5, keep_days=30), "Ünïcode \u2028 test")
        class_lists.add_pupils(work, test, ["Ada", "Ḃob"])
        limits.count(work, "code", "192.0.2.1")
        for number in range(3):
            attempt = taking.enter(work, test.code, f"taker {number}")
            for step in range(1, number + 2):
                taking.answer(work, attempt, step, taking.state_of(work, attempt).session.next.correct[0])
        replies.keep(work, work.scalar(select(Token)), "key", "/answers", "hash", 201, None)
        return test.code


def rows(database):
    with database.read() as work:
        return {
            table.name: [tuple(row) for row in work.execute(select(table).order_by(*table.primary_key))]
            for table in Base.metadata.sorted_tables
        }


@pytest.mark.parametrize(("one", "other"), [*product(KINDS, KINDS)])
def test_there_and_back(make_database, tmp_path, one, other):
    source, target = make_database(one), make_database(other)
    code = fill(source)
    file = tmp_path / "quaestor.zip"
    counts = backup.back_up(source, file)
    assert (counts["teacher"], counts["attempt"], counts["event"]) == (1, 3, 6)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.glob("*unfinished*")] == []
    assert backup.restore(target, file) == counts
    assert rows(target) == rows(source)
    with target.work() as work:  # ids go on where they were
        attempt = taking.enter(work, code, "later")
        assert attempt.id == 4
        assert taking.state_of(work, work.get(Attempt, 2)).step == 3
        assert len(results.outcomes(work, work.scalar(select(Published)))) == 4


def test_a_back_up_is_of_one_moment(database, tmp_path, monkeypatch):
    fill(database)
    before, write = rows(database), backup._write

    def write_and_more(work, table, archive):
        if table.name == "pupil":
            with database.work() as other:
                taking.enter(other, other.scalar(select(Published)).code, "in between")
        return write(work, table, archive)

    monkeypatch.setattr(backup, "_write", write_and_more)
    assert backup.back_up(database, tmp_path / "x.zip") == {name: len(found) for name, found in before.items()}


def test_only_into_an_empty_database(database, tmp_path):
    fill(database)
    backup.back_up(database, tmp_path / "x.zip")
    before = rows(database)
    with pytest.raises(backup.BackupError, match=r"restore: an empty database is expected, got .*, which has rows in .*teacher, ") as error:
        backup.restore(database, tmp_path / "x.zip")
    assert str(database.engine.url.database) in str(error.value)
    assert "restore into an empty folder (--data FOLDER)" in str(error.value)
    assert rows(database) == before


@pytest.fixture
def saved(make_database, tmp_path):
    source = make_database("sqlite")
    fill(source)
    backup.back_up(source, tmp_path / "x.zip")
    return tmp_path / "x.zip"


def change(file, name, content):
    """The archive with another content of one file; None leaves it out."""
    with ZipFile(file) as archive:
        kept = {one: archive.read(one) for one in archive.namelist()}
    with ZipFile(file, "w") as archive:
        for one, old in kept.items():
            new = content(old) if one == name else old
            if new is not None:
                archive.writestr(one, new)


def header(**fields):
    return lambda old: json.dumps({**json.loads(old), **fields})


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("header.json", lambda old: None, "x.zip: the file is a back-up of Quaestor, got one without its header; restore another"),
        ("header.json", lambda old: b"[1]", "x.zip: a back-up of format 1 is expected, got [1]"),
        ("header.json", header(**{"quaestor-backup": 9}), "x.zip: a back-up of format 1 is expected, got 9"),
        ("header.json", header(revision="0000"), "of the tables or an earlier one is expected, got '0000'"),
        ("event.jsonl", lambda old: None, "restore: a back-up has event.jsonl, got none"),
        ("event.jsonl", lambda old: old[: old.rindex(b"\n", 0, -1) + 1], "restore: event has 6 rows by the header, got 5"),
        ("event.jsonl", lambda old: old + b"{}\n", "restore: event.jsonl, line 7: a row of the table is expected, got columns"),
        ("teacher.jsonl", lambda old: b"nonsense\n", "restore: teacher.jsonl, line 1: a row of the table is expected"),
        ("teacher.jsonl", lambda old: old.replace(b"-", b"?"), "restore: teacher.jsonl, line 1: a row of the table is expected"),
        ("teacher.jsonl", lambda old: old.replace(b'"id": 1', b'"id": "x"'), "line 1: a row of the table is expected, got 'x' in id"),
        ("teacher.jsonl", lambda old: old + old, "restore: rows that fit together are expected, got some that do not"),
        ("attempt.jsonl", lambda old: old.replace(b'"test_id": 1', b'"test_id": 7'), "restore: rows that fit together are expected"),
    ],
)
def test_damaged_back_ups_change_nothing(database, saved, name, content, words):
    change(saved, name, content)
    with pytest.raises(backup.BackupError) as error:
        backup.restore(database, saved)
    assert words in str(error.value)
    with database.read() as work:
        assert work.scalar(select(Teacher)) is None


@pytest.mark.parametrize("cut", [0, 10, 500, -30])
def test_files_that_are_cut_or_foreign(make_database, saved, cut):
    saved.write_bytes(saved.read_bytes()[:cut])
    with pytest.raises(backup.BackupError, match=r"a whole back-up is expected, got .*x\.zip, which is damaged or none"):
        backup.restore(make_database("sqlite"), saved)


def test_bytes_that_have_changed(make_database, saved):
    content = bytearray(saved.read_bytes())
    for place in range(600, 700):
        content[place] ^= 0xFF
    saved.write_bytes(bytes(content))
    with pytest.raises(backup.BackupError):
        backup.restore(make_database("sqlite"), saved)


def test_files_that_are_not_there(make_database, tmp_path):
    database = make_database("sqlite")
    with pytest.raises(backup.BackupError, match="restore: a back-up is there, got no file"):
        backup.restore(database, tmp_path / "none.zip")
    with pytest.raises(backup.BackupError, match=r"back-up: .*folder\.zip can be written, got no folder .*no; make it, or name"):
        backup.back_up(database, tmp_path / "no" / "folder.zip")


def test_a_full_disk_is_said_in_words(make_database, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(backup, "_write", full)
    with pytest.raises(backup.BackupError) as error:
        backup.back_up(make_database("sqlite"), tmp_path / "x.zip")
    words = f"back-up: {tmp_path / 'x.zip'} can be written, got no room on its disk; make room there, or name a file on another disk"
    assert str(error.value) == words
    assert not list(tmp_path.glob("*.zip*"))


@pytest.mark.parametrize("end", ["", "-wal", "-shm", "-journal", ".txt"])
def test_a_back_up_does_not_replace_the_database(make_database, end):
    database = make_database("sqlite")
    file = Path(database.engine.url.database)
    before = file.read_bytes()
    with pytest.raises(backup.BackupError, match="which belongs to the database; name another one"):
        backup.back_up(database, file.parent / "." / (file.name + end))
    assert file.read_bytes() == before


@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_a_back_up_does_not_replace_the_database_by_another_name(make_database, tmp_path, link):
    database = make_database("sqlite")
    link(database.engine.url.database, tmp_path / "other.zip")
    with pytest.raises(backup.BackupError, match="which belongs to the database"):
        backup.back_up(database, tmp_path / "other.zip")


def test_a_back_up_replaces_an_earlier_one_and_nothing_else(database, tmp_path):
    file = tmp_path / "x.zip"
    backup.back_up(database, file)
    fill(database)
    assert backup.back_up(database, file)["teacher"] == 1
    with ZipFile(tmp_path / "photos.zip", "w") as photos:
        photos.writestr("header.json", "{}")
    (tmp_path / "letter.txt").write_text("Dear parents")
    (tmp_path / "folder").mkdir()
    for name in ("photos.zip", "letter.txt"):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(backup.BackupError, match="which is there and is no back-up, or a damaged one; name another file, or move"):
            backup.back_up(database, tmp_path / name)
        assert (tmp_path / name).read_bytes() == before
    with pytest.raises(backup.BackupError, match=r"back-up: a file, got the folder .*; name a file in it: .*folder/quaestor\.zip"):
        backup.back_up(database, tmp_path / "folder")
