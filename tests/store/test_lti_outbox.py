"""Scores that platforms are owed: one for each learner, the newest; nothing is lost, doubled or sent in another order."""

from datetime import timedelta

import pytest
from sqlalchemy import select

import quaestor as qs
from quaestor.store import clock, corrections, privacy, publishing, teachers
from quaestor.store.attempts import taking
from quaestor.store.models import Attempt, Published, Pupil
from quaestor.store.outcomes import rescoring
from quaestor.store.platform_tables import Placement, Seat
from quaestor.store.platforms import outbox, registrations, seats
from quaestor.store.platforms.registrations import Registration
from quaestor.store.platforms.seats import Activity

RULES = qs.Rules(score="order", stop=qs.max_questions(2))
REGISTRATION = {
    "issuer": "https://moodle.example",
    "client_id": "c",
    "deployments": "1",
    **{name: f"https://moodle.example/{name}" for name in ("auth_url", "token_url", "jwks_url")},
}


@pytest.fixture
def kept(make_database):
    return make_database("sqlite")


def placed(database, **conditions):
    """A test in an activity; its number."""
    with database.work() as work:
        teacher = teachers.owner(work, "owner@school.example")
        bank = publishing.keep_bank(work, teacher, qs.load("multiplication"))
        test = publishing.publish(work, teacher, bank, RULES, publishing.Conditions(**conditions))
        platform = registrations.register(work, Registration.read(REGISTRATION))
        activity = Activity("1", "course", "link", lineitem="https://moodle.example/item")
        return seats.placed(work, platform, activity, test.id).test_id


def seat(database, sub="ada", name="Ada"):
    with database.work() as work:
        return seats.seated(work, work.scalars(select(Placement)).one(), sub, name).pupil.code


def take(database, code, entries=("50", "182")):
    with database.work() as work:
        attempt = taking.enter(work, code)
        for step, entry in enumerate(entries, 1):
            taking.answer(work, attempt, step, entry)
        return attempt.id


def owed(database):
    """Note what is owed; the scores that are due, each in hand."""
    with database.work() as work:
        outbox.look(work)
    found = []
    while True:
        with database.work() as work:
            one = outbox.claim(work)
        if one is None:
            return found
        found.append(one)


def told(database, one):
    with database.work() as work:
        outbox.taken(work, one)


def test_nothing_is_owed_before_the_end(database):
    placed(database)
    code = seat(database)
    assert owed(database) == []
    take(database, code, ("50",))
    assert owed(database) == []


def test_a_score_is_owed_once_in_hand_once_and_then_done(database):
    placed(database)
    take(database, seat(database))
    take(database, seat(database, "bob", "Bob"), ("15", "27"))
    first, second = owed(database)
    assert {first.sub, second.sub} == {"ada", "bob"}
    best, worst = sorted((first.score["scoreGiven"], second.score["scoreGiven"]), reverse=True)
    assert 50 < best <= 100
    assert 0 <= worst < 50
    assert first.score["gradingProgress"] == "FullyGraded"
    assert owed(database) == []  # in hand
    for one in (first, second):
        told(database, one)
    assert owed(database) == []
    with database.read() as work:
        assert [one.due for one in work.scalars(select(Seat))] == [None, None]


def test_what_was_in_hand_when_the_server_died_is_due_again(kept, monkeypatch):
    placed(kept)
    take(kept, seat(kept))
    (first,) = owed(kept)
    later = clock.now() + outbox.HELD + timedelta(seconds=1)
    monkeypatch.setattr(outbox, "now", lambda: later)
    (again,) = owed(kept)
    assert again == first  # the same score of the same time: whoever has it already has been told


def test_tries_that_fail_come_later_and_later(kept, monkeypatch):
    placed(kept)
    take(kept, seat(kept))
    moment = clock.now()
    waits = []
    for _ in range(14):
        monkeypatch.setattr(outbox, "now", lambda moment=moment: moment)
        (one,) = owed(kept)
        with kept.work() as work:
            outbox.put_off(work, one, "away")
            due = work.scalars(select(Seat.due)).one()
        waits.append((due - moment).total_seconds())
        assert owed(kept) == []
        moment = due
    assert waits[:4] == [10, 20, 40, 80]
    assert waits[-1] == outbox.LONGEST
    assert waits == sorted(waits)


def test_a_newer_score_takes_the_place_of_one_in_hand(kept):
    test = placed(kept)
    take(kept, seat(kept))
    (first,) = owed(kept)
    correct(kept, test)
    with kept.work() as work:
        outbox.look(work)
        outbox.taken(work, first)  # the older one arrives meanwhile
    (second,) = owed(kept)
    assert second.stamp > first.stamp
    assert second.score != first.score


def correct(database, test):
    """Withdraw a question, and score anew."""
    with database.work() as work:
        corrections.withdraw(work, work.get_one(Published, test), "Q1", "it was wrong")
    rescoring.score_all(database, test, lambda share: True)


def test_times_only_grow(kept, monkeypatch):
    test = placed(kept)
    take(kept, seat(kept))
    (first,) = owed(kept)
    told(kept, first)
    correct(kept, test)
    before = first.stamp - timedelta(hours=1)  # the clock was set back
    monkeypatch.setattr(outbox, "now", lambda: before)
    (second,) = owed(kept)
    assert second.stamp == first.stamp + timedelta(milliseconds=1)


def test_an_attempt_that_was_set_aside_takes_its_grade_back(kept):
    placed(kept)
    number = take(kept, seat(kept))
    told(kept, owed(kept)[0])
    with kept.work() as work:
        work.get_one(Attempt, number).set_aside = clock.now()
    (one,) = owed(kept)
    assert one.score == {"activityProgress": "Initialized", "gradingProgress": "NotReady"}
    told(kept, one)
    assert owed(kept) == []


def test_results_that_are_told_later_are_not_told_to_the_platform_before(kept):
    test = placed(kept, results="closed", closes=clock.now() + timedelta(hours=1))
    take(kept, seat(kept))
    assert owed(kept) == []
    with kept.work() as work:
        work.get_one(Published, test).closes = clock.now()
    assert len(owed(kept)) == 1


def test_a_scheme_of_grades_decides_and_its_grade_is_told(kept):
    test = placed(kept)
    with kept.work() as work:
        work.get_one(Published, test).grades = {"by": "points", "cuts": [[50.0, "passed"], [0.0, "not yet"]]}
    take(kept, seat(kept), ("50", "27"))
    (one,) = owed(kept)
    assert (one.score["scoreGiven"], one.score["comment"]) == (50.0, "passed")


def test_who_is_erased_is_owed_nothing(kept):
    test = placed(kept, keep_days=1)
    take(kept, seat(kept))
    with kept.work() as work:
        outbox.look(work)
        assert privacy.erase_names(work, test, clock.now() + timedelta(days=3)) == 2
        assert work.scalars(select(Seat)).all() == []
    assert owed(kept) == []


def test_who_is_erased_from_one_test_of_a_class_keeps_their_grade_at_the_platform(kept):
    test = placed(kept, keep_days=1)
    take(kept, seat(kept))
    told(kept, owed(kept)[0])
    with kept.work() as work:
        first = work.get_one(Published, test)
        second = publishing.publish(work, first.teacher, first.bank, RULES, publishing.Conditions(), "Another")
        second.class_id = first.class_id
    with kept.work() as work:
        privacy.erase_names(work, test, clock.now() + timedelta(days=3))
        assert work.scalars(select(Pupil.name).where(Pupil.class_id.is_not(None))).all() == ["Ada"]
    assert owed(kept) == []  # nothing is taken back


def test_the_same_learner_at_the_same_moment_has_one_seat(database):
    placed(database)
    assert seat(database) == seat(database)
    with database.read() as work:
        assert len(work.scalars(select(Seat)).all()) == 1
