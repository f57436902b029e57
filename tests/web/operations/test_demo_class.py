"""The demo class at work: it is brought up to the present at each start, answers while the server runs, and ends with it."""

import threading
import time
from collections import Counter
from datetime import timedelta

import numpy as np
import pytest
from sqlalchemy import func, select

from quaestor.report import classroom
from quaestor.store.attempts import answers, entry, taking
from quaestor.store.clock import now
from quaestor.store.models import Attempt, Event, Published
from quaestor.store.outcomes import results
from quaestor.web.operations import demo, demo_class
from quaestor.web.operations.installation import begin
from quaestor.web.settings import Settings


@pytest.fixture
def number(make_database):
    database = make_database("sqlite")
    begin(database, Settings(email="owner@school.example"))
    return database, demo.add(database)


def states(database, number, moment):
    with database.read() as work:
        test = work.get(Published, number)
        found = classroom.present(results.outcomes(work, test))
        return classroom.counts(classroom.seats(found, answers.clocks(work, test), [], moment))


def test_on_a_later_start_the_class_is_as_on_the_first_day(number):
    database, test = number
    with database.work() as work:
        for row in [*work.scalars(select(Attempt)), *work.scalars(select(Event))]:
            if isinstance(row, Attempt):
                row.started -= timedelta(days=3)
            else:
                row.at -= timedelta(days=3)
    assert states(database, test, now())["gone"] == 10
    assert demo.add(database) == test
    found = states(database, test, now())
    assert {state: found[state] for state in ("stuck", "gone", "on it")} == {"stuck": 2, "gone": 2, "on it": 6}


def test_a_quarter_of_an_hour_of_a_class(number, monkeypatch):
    database, test = number
    moment, random = now(), np.random.default_rng(3)
    for module in (taking, demo_class, entry, results, answers):
        monkeypatch.setattr(module, "now", lambda: moment)
    monkeypatch.setattr("quaestor.store.attempts.state.now", lambda: moment)
    seen = Counter()
    for step in range(120):
        moment += timedelta(seconds=random.uniform(*demo_class.PAUSE))
        with database.work() as work:
            assert demo_class.move(work, test, random)
        if step % 10 == 0:
            seen[states(database, test, moment)["on it"]] += 1
    assert set(seen) <= {5, 6, 7}
    with database.read() as work:
        own = select(Event.attempt_id, Event.seconds).order_by(Event.attempt_id, Event.step)
        assert max(seconds for _, seconds in work.execute(own)) < 120  # nobody gets stuck who is not meant to be
        assert work.scalar(select(func.count()).select_from(Attempt)) > 23  # somebody followed those who are through


def test_it_ends_with_the_bound_and_with_the_test(number, monkeypatch):
    database, test = number
    random = np.random.default_rng(1)
    monkeypatch.setattr(demo_class, "MOST", 0)
    with database.work() as work:
        for attempt in demo_class.unfinished(work, work.get(Published, test))[4:]:
            attempt.ended = now()
        work.flush()
        assert not demo_class.move(work, test, random)
        work.get(Published, test).closes = now()
        assert not demo_class.move(work, test, random)
        assert not demo_class.move(work, 999, random)


def test_it_runs_only_in_the_meantime(number, monkeypatch):
    database, test = number
    monkeypatch.setattr(demo_class, "PAUSE", (0.01, 0.02))
    url = database.engine.url.render_as_string(hide_password=False)

    def given():
        with database.read() as work:
            return work.scalar(select(func.count()).select_from(Event))

    with demo_class.at_work(url, None):
        assert "demo" not in {thread.name for thread in threading.enumerate()}
    before, until = given(), time.monotonic() + 20
    with demo_class.at_work(url, test):
        while given() == before and time.monotonic() < until:
            time.sleep(0.05)
    assert given() > before
    assert "demo" not in {thread.name for thread in threading.enumerate()}
