"""Entering a test: two posts at once, retakes, closed doors, codes that are taken, and names of hostile people."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import event, select, update

from helpers.taking import begin, count, finish, later, publish, pupil_of, put, stands, url
from quaestor.errors import QuaestorError
from quaestor.store import clock, codes
from quaestor.store.attempts import entry, session_cache, taking
from quaestor.store.attempts.invitations import invited
from quaestor.store.classes import class_lists
from quaestor.store.database import Database
from quaestor.store.models import Attempt, Published, Pupil


def test_two_posts_of_a_pupils_code_at_once_begin_one_attempt(database):
    test = publish(database, by_list=True)
    code = pupil_of(database, test)
    others = [Database(url(database)) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        keys = set(pool.map(lambda other: begin(other, code), others))
    for other in others:
        other.close()
    assert len(keys) == 1
    assert count(database) == 1


def test_a_form_sent_twice_begins_one_attempt(database):
    test = publish(database)
    others = [Database(url(database)) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        keys = set(pool.map(lambda other: begin(other, test.code, "Ada", "a form"), others))
    for other in others:
        other.close()
    assert len(keys) == 1
    assert begin(database, test.code, "Bob", "a form") not in keys
    assert begin(database, test.code, "Ada", "another form") not in keys
    assert begin(database, test.code, "Ada") not in keys


@pytest.mark.parametrize("retakes", ["none", "any", "best"])
def test_retakes_begin_when_the_earlier_attempt_is_over(database, retakes):
    code = pupil_of(database, publish(database, by_list=True, retakes=retakes))
    first = begin(database, code)
    put(database, first, 1)
    assert begin(database, code) == first
    finish(database, first)
    assert (begin(database, code) == first) == (retakes == "none")
    assert count(database) == (1 if retakes == "none" else 2)


def test_a_retake_also_when_the_time_ran_out_unseen(database, monkeypatch):
    code = pupil_of(database, publish(database, by_list=True, retakes="any", minutes=10))
    first = begin(database, code)
    later(monkeypatch, hours=5)
    second = begin(database, code)
    assert second != first
    with database.read() as work:
        earlier = taking.by_key(work, first)
        assert (earlier.reason, earlier.ended - earlier.started) == ("The time is up.", timedelta(minutes=10))


def test_after_closing_people_come_back_but_do_not_begin(database, monkeypatch):
    test = publish(database, by_list=True, retakes="any", closes=clock.now() + timedelta(hours=1))
    code, late = pupil_of(database, test), pupil_of(database, test, "Bob")
    key = begin(database, code)
    later(monkeypatch, hours=2)
    assert begin(database, code) == key
    assert stands(database, key).over == "The test is closed."
    with pytest.raises(taking.OverError, match=r"the test is over: The test is closed\."):
        put(database, key, 1, "1")
    with pytest.raises(taking.EntryError, match="this test is closed"):
        begin(database, late)


def test_before_the_opening(database):
    test = publish(database, opens=clock.now().replace(year=2099, month=1, day=2, hour=3, minute=4))
    with pytest.raises(taking.EntryError, match="this test opens on 2 January 2099, 03:04 UTC"):
        begin(database, test.code)


def test_no_code_opens_two_things(database, monkeypatch):
    test = publish(database)
    drawn = iter([test.code, "AAAAAAAA", test.code, "AAAAAAAA", "BBBBBBBB", "BBBBBBBB", "CCCCCCCC"])
    monkeypatch.setattr(codes, "code", lambda length: next(drawn))
    with database.work() as work:
        assert class_lists.add_pupils(work, work.get(Published, test.id), ["Ada"])[0].code == "AAAAAAAA"
        assert [pupil.code for pupil in class_lists.add_pupils(work, work.get(Published, test.id), ["Bob", "Eve"])] == [
            "BBBBBBBB",
            "CCCCCCCC",
        ]


def test_how_many_statements_coming_in_takes(database):
    """A class comes in within a minute: the code of a test is found at the first look, and by its pupils' own at the second at most."""
    test = publish(database)
    own, seen = pupil_of(database, test), []
    event.listen(database.engine, "before_cursor_execute", lambda *told: seen.append(told[2]))

    def statements(do):
        seen.clear()
        with database.work() as work:
            do(work)
        return len([statement for statement in seen if statement.startswith(("SELECT", "INSERT"))])

    assert statements(lambda work: invited(work, test.code)) == 1
    assert statements(lambda work: invited(work, own)) == 4  # no attempt, but a pupil: the last attempt, and the test
    assert statements(lambda work: entry.enter(work, test.code, "Bob", "once")) == 4  # the test, the form, a free code, the attempt


def test_a_code_of_any_length_opens_what_it_opens(database):
    """Their lengths only say where to look first."""
    test = publish(database)
    own, key = pupil_of(database, test), begin(database, test.code, "Bob")
    rows = {Published: Published.id == test.id, Pupil: Pupil.code == own, Attempt: Attempt.key == key}
    with database.work() as work:
        rows[Pupil] = Pupil.id == work.scalar(select(Pupil.id).where(rows[Pupil]))
        for kind, mine in rows.items():
            for code in ("K" * 6, "K" * 8, "K" * 12, f"{kind.__name__[:3]}4567"):  # the last, to make room for the next kind
                work.execute(update(kind).where(mine).values(code=code.upper()))
                found = invited(work, code)
                assert (found.test.id, found.pupil is not None, found.attempt is not None) == (test.id, kind is Pupil, kind is Attempt)


def test_when_no_code_is_free(database, monkeypatch):
    test = publish(database)
    monkeypatch.setattr(codes, "code", lambda length: test.code)
    with pytest.raises(QuaestorError, match="no free code of 8 letters was found"):
        begin(database, test.code)


def test_names_and_codes_of_hostile_people(database):
    test = publish(database)
    for name, kept in (("\0Ada\x1b[31m", "Ada[31m"), ("a" * 300, "a" * 200), ("A\ud800da", "A?da"), ("  Ada \n B ", "Ada B")):
        key = begin(database, test.code, name)
        with database.read() as work:
            assert taking.by_key(work, key).name == kept
    for code in ("", "\0", "' or 1=1 --", "x" * 10_000, "\ud800", "٣٣٣"):
        with pytest.raises(taking.UnknownCodeError, match="this code opens no test; please check it"):
            begin(database, code)
    with database.read() as work:
        for key in ("", "\0", "\ud800", "x" * 10_000, "ä"):
            assert taking.by_key(work, key) is None


def test_equal_names_in_one_list_are_refused(database):
    test = publish(database, by_list=True)
    with database.work() as work, pytest.raises(QuaestorError, match=r"Ada \(lines 1 and 3\)"):
        class_lists.add_pupils(work, work.get(Published, test.id), ["Ada", "", " ada "])
    assert count(database, Pupil) == 0


def test_looking_ahead_leaves_nothing_to_work_out_while_writing(database, monkeypatch):
    """A new attempt, one that goes on, and one after another."""
    code = pupil_of(database, publish(database, by_list=True, retakes="any"))
    keys = []
    for begins in (True, False, True):
        session_cache.forget_all()
        with database.read() as work:
            first = entry.look_ahead(work, code, 7)
        assert (first is not None) == begins
        with monkeypatch.context() as patch, database.work() as work:
            patch.setattr(session_cache, "open_bank", None)
            attempt = taking.enter(work, code, first=first)
            assert taking.state_of(work, attempt).session.next is not None
        keys.append(attempt.key)
        if begins:
            put(database, attempt.key, 1)
        else:
            finish(database, attempt.key)
    assert keys[0] == keys[1] != keys[2]


def test_two_class_lists_at_once_put_every_name_there_once(database):
    test = publish(database, by_list=True)
    names = [f"Pupil {number}" for number in range(30)]
    others = [Database(url(database)) for _ in range(4)]

    def add(other):
        with other.work() as work:
            class_lists.add_pupils(work, work.get(Published, test.id), names)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, others))
    for other in others:
        other.close()
    assert count(database, Pupil) == 30
