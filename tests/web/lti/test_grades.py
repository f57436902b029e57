"""Grades get to the platform: in its own form, each once, again after a correction, whatever was away meanwhile."""

import random

import pytest
from sqlalchemy import select

from helpers.lti_platform import User
from helpers.lti_tool import browser, inside, launch, taken
from quaestor.store import corrections
from quaestor.store.clock import now
from quaestor.store.models import Published
from quaestor.store.outcomes import rescoring
from quaestor.store.platform_tables import Seat
from quaestor.web.lti.sending import send_due

INNER = frozenset({"localhost"})


def finished(app, platform, user="ada", entries=("50", "182")):
    client = browser(app)
    taken(client, inside(client, launch(client, platform, user, "link-1")), entries)


def due_now(database):
    """Time passes: what was put off is due."""
    with database.work() as work:
        for seat in work.scalars(select(Seat).where(Seat.due.is_not(None))):
            seat.due, seat.held = now(), None


def withdraw(database, test, question):
    with database.work() as work:
        corrections.withdraw(work, work.get_one(Published, test), question, "it was wrong")
    rescoring.score_all(database, test, lambda share: True)


def test_a_grade_is_sent_at_the_end_and_again_after_a_correction(app, database, platform, placed):
    finished(app, platform, entries=("15", "182"))
    assert send_due(database, INNER) == 1
    assert send_due(database, INNER) == 0
    (first,) = platform.taken
    assert (first["userId"], first["scoreMaximum"]) == ("ada", 100)
    assert (first["activityProgress"], first["gradingProgress"]) == ("Completed", "FullyGraded")
    assert first["timestamp"].endswith("Z")
    assert "." in first["timestamp"]
    withdraw(database, placed, "Q1")
    assert send_due(database, INNER) == 1
    _, second = platform.taken
    assert second["timestamp"] > first["timestamp"]
    assert second["scoreGiven"] > first["scoreGiven"]
    assert platform.asked.count("POST /token") == 1  # kept for both
    assert not platform.complaints


def test_a_platform_that_is_away_for_a_while_gets_every_grade_once(app, database, platform, placed):
    names = [f"pupil-{number}" for number in range(5)]
    platform.users |= {name: User(name, name) for name in names}
    for name in names:
        finished(app, platform, name)
    platform.away = True
    for _ in range(3):
        assert send_due(database, INNER) == 0
        due_now(database)
    assert platform.asked.count("POST /token") == 3  # one try in each round: the others are left for later
    platform.away = False
    assert send_due(database, INNER) == 5
    assert sorted(one["userId"] for one in platform.taken) == names
    assert platform.received == platform.taken


def test_a_grade_whose_receipt_was_lost_counts_once(app, database, platform, placed):
    finished(app, platform)
    platform.forgets = True
    assert send_due(database, INNER) == 0
    due_now(database)
    assert send_due(database, INNER) == 1  # refused as known (409), which is as good
    assert len(platform.received) == 2
    assert len(platform.taken) == 1
    with database.read() as work:
        assert work.scalars(select(Seat.due)).all() == [None]


def test_a_token_that_is_not_good_any_more_is_asked_for_anew(app, database, platform, placed):
    finished(app, platform)
    send_due(database, INNER)
    platform.tokens.clear()
    withdraw(database, placed, "Q1")
    assert send_due(database, INNER) == 1
    assert platform.asked.count("POST /token") == 2


def test_an_activity_without_a_column_gets_one(app, database, platform, placed):
    platform.links["link-1"].lineitem = False
    finished(app, platform)
    assert send_due(database, INNER) == 1
    (item,) = platform.items.values()
    assert (item["label"], item["resourceLinkId"]) == ("Week 3", "link-1")
    withdraw(database, placed, "Q1")
    inside(browser(app), launch(browser(app), platform, "ada", "link-1"))
    assert send_due(database, INNER) == 1
    assert len(platform.items) == 1
    assert {one["column"] for one in platform.taken} == {"new-0"}


def test_a_learner_whom_the_platform_does_not_grade_is_given_up_with_a_reason(app, database, platform, placed, caplog):
    finished(app, platform)
    with database.work() as work:
        work.scalars(select(Seat)).one().placement.lineitem = f"{platform.origin}/nowhere?type_id=3"
    assert send_due(database, INNER) == 0
    with database.read() as work:
        seat = work.scalars(select(Seat)).one()
    assert seat.due is None
    assert "404" in seat.problem
    assert "Ada" not in caplog.text


@pytest.mark.parametrize("seed", [0, *(pytest.param(one, marks=pytest.mark.long) for one in range(1, 6))])
def test_whatever_happens_the_platform_ends_with_the_newest_grade_of_each(app, database, platform, placed, seed):
    """A walk: finishing, correcting, being away, losing receipts, dying with a grade in hand, in any order."""
    draw = random.Random(seed)
    names = [f"pupil-{number}" for number in range(3)]
    platform.users |= {name: User(name, name) for name in names}
    left, questions = list(names), ["Q1", "Q2"]
    launch(browser(app), platform, "ada", "link-1")  # a platform whose keys were never read lets nobody in while it is away
    for _ in range(14):
        step = draw.choice(["finish", "correct", "away", "forget", "send", "send", "later"])
        if step == "finish" and left:
            entries = draw.choice([("50", "182"), ("15", "182"), ("15", "27")])
            finished(app, platform, left.pop(), entries[: len(questions)])  # what was withdrawn is not asked any more
        elif step == "correct" and len(left) < len(names) and len(questions) > 1:  # one must stay
            withdraw(database, placed, questions.pop())
        elif step == "away":
            platform.away = not platform.away
        elif step == "forget":
            platform.forgets = not platform.away
        elif step == "send":
            send_due(database, INNER)
        elif step == "later":
            due_now(database)
    platform.away = platform.forgets = False
    due_now(database)
    send_due(database, INNER)
    with database.read() as work:
        wanted = {seat.sub: seat.score["scoreGiven"] for seat in work.scalars(select(Seat)) if seat.score}
    assert {sub: grade["scoreGiven"] for (_, sub), grade in platform.grades.items()} == wanted
    assert len(wanted) == len(names) - len(left)
    times = [one["timestamp"] for one in platform.taken if one["userId"] == names[0]]
    assert times == sorted(set(times))
    assert not platform.complaints
