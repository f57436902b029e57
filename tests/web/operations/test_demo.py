"""`quaestor serve --demo`: a class of 25 in various states, added once, with rows such as a real class would leave."""

import re

import numpy as np
import pytest
from sqlalchemy import func, select

import quaestor as qs
from helpers.browsing import application
from helpers.classroom import sign_in, words
from quaestor.cli import parser
from quaestor.report import classroom
from quaestor.store.attempts import answers
from quaestor.store.attempts.taking import state_of
from quaestor.store.clock import now
from quaestor.store.models import Attempt, Event, Published, Pupil
from quaestor.store.outcomes import results
from quaestor.web.operations import demo
from quaestor.web.operations.installation import begin
from quaestor.web.settings import Settings


@pytest.fixture
def number(database):
    begin(database, Settings(email="owner@school.example"))
    return demo.add(database)


def test_a_class_in_various_states(database, number):
    assert demo.add(database) == number  # not again on the next start
    with database.read() as work:
        assert work.scalar(select(func.count()).select_from(Published).where(Published.title == demo.TITLE)) == 1
        test = work.get(Published, number)
        assert work.scalar(select(func.count()).select_from(Pupil)) == 25
        found = results.outcomes(work, test)
        seats = classroom.seats(found, answers.clocks(work, test), ["", ""], now())
        assert classroom.counts(seats) == {"stuck": 2, "gone": 2, "on it": 6, "finished": 13, "not begun": 2}
        events = work.scalars(select(Event)).all()
        for attempt in work.scalars(select(Attempt)).all():
            stands = state_of(work, attempt)  # the log is one that the engine could have written
            assert bool(stands.over) == (attempt.ended is not None)
            asked = [line.question for line in stands.session.log]
            assert asked == [before.next.id for before in stands.session.so_far[:-1]]
            own = [event for event in events if event.attempt_id == attempt.id]
            assert attempt.started < own[0].at <= own[-1].at <= now()
    assert {event.answer for event in events} == {"right", "half", "wrong", None}
    assert 15 < np.median([event.seconds for event in events]) < 60


def test_entries_are_classified_as_drawn():
    bank, random = qs.load("fractions"), np.random.default_rng(1)
    for question in bank.questions.values():
        for answer in question.classes:
            assert question.classify(demo.written(question, answer, random)) == answer


def test_the_pages_show_it(database, number):
    browser = sign_in(application(database), database)
    said = words(browser.go(f"/teacher/tests/{number}/live"))
    assert "2 stuck 2 gone 6 on it 13 finished 2 not begun" in said
    assert "Yuki Tanaka" in said
    assert browser.go(f"/teacher/tests/{number}/questions").status_code == 200
    assert browser.go(f"/teacher/tests/{number}/report?pupils=yes").status_code == 200
    assert len(re.findall('class="pupil"', browser.page.text)) == 13


def test_the_flag():
    assert parser().parse_args(["serve", "--demo"]).demo
    assert not parser().parse_args(["serve"]).demo
