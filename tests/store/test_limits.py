"""Rate limits: every try is counted before it is made, only failures stay counted, over all workers, and only for a while."""

import multiprocessing
from contextlib import ExitStack
from datetime import timedelta

import pytest
from sqlalchemy import select

from helpers.processes import fail, fail_ten_times
from quaestor.store import clock, limits, secrets
from quaestor.store.models import Tries
from quaestor.store.teachers import AccessError
from quaestor.web.jobs import housekeeping


def refuse(database, kind, who):
    with database.read() as work:
        limits.refuse(work, kind, who)


@pytest.mark.parametrize(
    ("kind", "failures", "minutes"),
    [("code", 30, 10), ("code by address", 300, 10), ("sign-in", 10, 15), ("sign-in by address", 100, 15), ("token", 60, 10)],
)
def test_too_many_failures_and_a_new_window(database, monkeypatch, kind, failures, minutes):
    fail(database, kind, "192.0.2.1", failures - 1)
    refuse(database, kind, "192.0.2.1")
    fail(database, kind, "192.0.2.1")
    with pytest.raises(limits.LimitError) as error:
        refuse(database, kind, "192.0.2.1")
    assert minutes * 60 - 20 < error.value.seconds <= minutes * 60
    assert str(error.value) == f"there were too many tries that failed; please try again in {minutes} minutes"
    refuse(database, kind, "192.0.2.2")
    later = clock.now() + timedelta(minutes=minutes, seconds=1)
    monkeypatch.setattr(limits, "now", lambda: later)
    refuse(database, kind, "192.0.2.1")
    fail(database, kind, "192.0.2.1")
    refuse(database, kind, "192.0.2.1")
    with database.read() as work:
        assert [(tries.count, tries.began) for tries in work.scalars(select(Tries))] == [(1, later)]


def test_old_windows_of_others_are_forgotten_and_nobody_is_named(database, monkeypatch):
    fail(database, "code", "192.0.2.1")
    with database.read() as work:
        assert "192.0.2.1" not in work.scalar(select(Tries.who))
    monkeypatch.setattr(limits, "now", lambda: clock.now() + timedelta(minutes=11))
    fail(database, "token", "192.0.2.2")
    fail(database, "sign-in", "192.0.2.2")
    monkeypatch.setattr(housekeeping, "now", lambda: clock.now() + timedelta(minutes=22))
    housekeeping.purge(database)
    with database.read() as work:
        assert work.scalars(select(Tries.kind)).all() == ["sign-in"]


def test_the_last_minute_is_one_minute():
    assert str(limits.LimitError(3)).endswith("try again in 1 minute")


def test_a_failure_is_counted_though_the_work_is_undone(database):
    def sign_in():
        with limits.counting(database, "sign-in", ["192.0.2.1", "Ada@school.example"], AccessError), database.work():
            raise AccessError("the address or the password is wrong")

    for _ in range(10):
        with pytest.raises(AccessError):
            sign_in()
    with pytest.raises(limits.LimitError):
        sign_in()
    for who in ("192.0.2.1", " ada@school.example"):
        with pytest.raises(limits.LimitError):
            refuse(database, "sign-in", who)


def test_one_of_an_address_does_not_shut_the_others_out(database, monkeypatch):
    monkeypatch.setitem(limits.LIMITS, "code", limits.Limit(2, 10))
    monkeypatch.setitem(limits.LIMITS, "code by address", limits.Limit(5, 10))

    def tries(who):
        with database.work() as work:
            limits.count(work, "code", *who, address="192.0.2.1")

    for who in (["Ben"], ["Ben"], ["Cem"], [], []):
        tries(who)
        if who == ["Cem"]:
            with pytest.raises(limits.LimitError):
                tries(["Ben"])
    for who in (["Cem"], ["Dana"], []):
        with pytest.raises(limits.LimitError):
            tries(who)
    with database.read() as work:
        limits.refuse(work, "code", "Cem", address="192.0.2.2")


def test_hashes_cannot_be_tried_out_and_are_others_each_day(monkeypatch):
    """Of addresses there are few: without a key, somebody with a copy of the table tries them all."""
    kept = secrets.keyed("token\n192.0.2.1")
    assert secrets.keyed("token\n192.0.2.1") == kept
    assert kept != secrets.hashed("token\n192.0.2.1")
    with monkeypatch.context() as patch:
        patch.setattr(secrets, "now", lambda: clock.now() + timedelta(days=1))
        assert secrets.keyed("token\n192.0.2.1") != kept
    monkeypatch.setenv(secrets.SECRET, "of another server")
    assert secrets.keyed("token\n192.0.2.1") != kept


def test_nobody_is_kept_under_a_hash_without_a_key(make_database):
    database = make_database("sqlite")
    with database.work() as work:
        limits.count(work, "code", "Ada@school.example", address="192.0.2.1")
    plain = {secrets.hashed(text) for text in ("code\nada@school.example", "code by address\n192.0.2.1")}
    with database.read() as work:
        kept = set(work.scalars(select(Tries.who)))
    assert len(kept) == 2
    assert kept.isdisjoint(plain)


def test_failures_add_up_over_processes(database):
    secrets.share_secret()
    url = database.engine.url.render_as_string(hide_password=False)
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        pool.map(fail_ten_times, [url] * 3, chunksize=1)
        pool.close()
        pool.join()
    with database.read() as work:
        assert work.scalar(select(Tries.count)) == 30
    with pytest.raises(limits.LimitError):
        refuse(database, "code", "192.0.2.1")


def trying(database, address=""):
    return limits.counting(database, "sign-in", ["ada@school.example"], AccessError, address)


def test_tries_at_the_same_moment_are_counted_before_any_of_them_fails(database):
    with ExitStack() as under_way:
        for _ in range(10):
            under_way.enter_context(trying(database))
        with pytest.raises(limits.LimitError):
            under_way.enter_context(trying(database))
    with ExitStack() as under_way:  # none of them failed, so none of them counts, and neither does the one that was refused
        for _ in range(10):
            under_way.enter_context(trying(database))


def wrong(database, **more):
    with pytest.raises(AccessError), trying(database, **more):
        raise AccessError("the address or the password is wrong")


def test_a_success_makes_no_room_for_other_guesses(database):
    """Whoever can sign in from an address takes back that try, not the failures before it, of themselves or of others there."""
    for _ in range(9):
        wrong(database, address="192.0.2.1")
        with trying(database, address="192.0.2.1"):
            pass
    with database.read() as work:
        assert set(work.execute(select(Tries.kind, Tries.count)).all()) == {("sign-in", 9), ("sign-in by address", 9)}
    wrong(database)
    with pytest.raises(limits.LimitError), trying(database):
        pass


def test_what_ends_otherwise_is_no_failure(database):
    with pytest.raises(ValueError, match="the database is away"), trying(database):
        raise ValueError("the database is away")
    with database.read() as work:
        assert work.scalars(select(Tries)).all() == []


def test_a_try_is_not_taken_back_from_a_window_that_began_later(database, monkeypatch):
    with trying(database):
        monkeypatch.setattr(limits, "now", lambda: clock.now() + timedelta(minutes=16))
        wrong(database)
    with database.read() as work:
        assert work.scalars(select(Tries.count)).all() == [1]


def test_a_refused_try_counts_nowhere(database, monkeypatch):
    monkeypatch.setitem(limits.LIMITS, "sign-in by address", limits.Limit(3, 15))
    for _ in range(3):
        wrong(database, address="192.0.2.1")
    for _ in range(20):
        with pytest.raises(limits.LimitError), database.work() as work:
            limits.count(work, "sign-in", "ada@school.example", address="192.0.2.1")
    with database.read() as work:
        assert set(work.execute(select(Tries.kind, Tries.count)).all()) == {("sign-in", 3), ("sign-in by address", 3)}
