"""Tests whose steps may take long: which they are, and that their steps are worked out once."""

from contextlib import contextmanager
from datetime import timedelta

import pytest

import quaestor as qs
from helpers.browsing import KINDS, ORDER, give
from helpers.slow_banks import slow_document
from quaestor.report.letters import letter
from quaestor.session.limited import STEP, Decided, blindly, decided
from quaestor.store.attempts import pace, session_cache, taking
from quaestor.store.attempts.entry import look_ahead
from quaestor.store.attempts.pace import is_quick, key_of
from quaestor.store.models import Attempt, Scoring
from quaestor.store.outcomes.results import outcome_of
from quaestor.store.outcomes.verify import verify
from quaestor.store.serving import SlowError, is_serving

SLOW = qs.Bank(slow_document(skills=3, questions=6))
RULES = qs.Rules(stop=qs.max_questions(5))


@pytest.fixture(autouse=True)
def nothing_is_known():
    pace._found.clear()
    session_cache.forget_all()


@contextmanager
def serving():
    """As a server does it: whoever needs a slow step is told so."""
    before = is_serving.set(True)
    try:
        yield
    finally:
        is_serving.reset(before)


def chain(levels, width):
    steps = [f"level {number}" for number in range(levels)]
    skills = {"a": {"levels": steps}, "b": {"levels": steps, "parents": ["a"], "strength": 0.5}}
    asked = {f"Q{number}": {"skill": "ab"[number % 2], "difficulty": 0.5} for number in range(6)}
    return qs.Bank({"imprecision": width, "skills": skills, "questions": asked})


@pytest.mark.parametrize(
    ("bank", "quick"),
    [
        (KINDS, True),
        (qs.load("fractions"), True),
        (chain(2, 0.05), True),
        (chain(3, 0.05), False),
        (qs.load("fractions").widen(0.05), False),  # it has questions on two skills
        (SLOW, False),
    ],
    ids=["one skill", "precise", "closed form", "three levels", "two skills", "three skills"],
)
def test_steps_are_quick_where_no_search_can_be_needed(bank, quick):
    assert is_quick(bank) is quick


def test_many_numbers_are_not_quick():
    skills = {f"s{number}": {} for number in range(13)}
    asked = {f"Q{number}": {"skill": f"s{number}", "difficulty": 0.5} for number in range(13)}
    assert not is_quick(qs.Bank({"skills": skills, "questions": asked}))


def begin(database):
    code = give(database, SLOW, RULES)
    with database.work() as work:
        return taking.enter(work, code, "Ada", first=look_ahead(work, code, 7)).id


def test_a_server_is_told_what_takes_long_and_goes_on_when_it_is_there(database):
    code = give(database, SLOW, RULES)
    with serving(), database.read() as work, pytest.raises(SlowError) as slow:
        look_ahead(work, code, 7)
    assert (slow.value.kind, slow.value.asked.log) == (STEP, ())
    pace.keep_found(slow.value.key, decided(slow.value.asked))
    with serving(), database.read() as work:
        assert look_ahead(work, code, 8).next is not None  # nothing is drawn: the first step is everybody's


def test_steps_of_quick_tests_are_worked_out_at_once(database):
    code = give(database, KINDS, ORDER)
    with serving(), database.work() as work:
        assert taking.state_of(work, taking.enter(work, code, "Ada")).session.next is not None


def test_a_slow_step_is_stored_and_every_process_asks_the_same(database):
    number = begin(database)
    with database.read() as work:
        attempt = work.get(Attempt, number)
        first, came = taking.state_of(work, attempt).session, attempt.started + timedelta(seconds=3)
        with serving(), pytest.raises(SlowError) as slow:
            taking.prepare(work, attempt, 1, "yes", at=came)
    other = next(name for name in SLOW.questions if name != first.next.id)  # what another clock might have made of it
    pace.keep_found(slow.value.key, Decided(other, None, first.beliefs, cut=True))
    with serving(), database.work() as work:
        taking.write(work, taking.prepare(work, work.get(Attempt, number), 1, "yes", at=came))
    pace._found.clear()
    session_cache.forget_all()  # another process, or the same after a restart
    with serving(), database.read() as work:
        then = taking.state_of(work, work.get(Attempt, number)).session
    assert then.next.id == other
    assert then.is_cut
    for skill, bounds in then.beliefs.items():
        assert bounds.lower.tolist() == first.beliefs[skill].lower.tolist()
        assert bounds.method == first.beliefs[skill].method


def test_why_a_slow_test_is_over_is_stored_too(database):
    number = begin(database)
    with database.work() as work:
        for step in range(1, 6):
            after = taking.answer(work, work.get(Attempt, number), step, "no")
    assert after.over
    pace._found.clear()
    session_cache.forget_all()
    with serving(), database.read() as work:
        stands = taking.state_of(work, work.get(Attempt, number))
        assert stands.session.stopped.rule == "max_questions"
        assert stands.over == stands.session.stopped.reason == after.over


def test_the_time_that_a_step_takes_is_not_the_takers(database):
    number = begin(database)
    with database.work() as work:
        attempt = work.get(Attempt, number)
        came = attempt.started + timedelta(seconds=4)
        ready = taking.prepare(work, attempt, 1, "yes", at=came)
        assert (ready.at, ready.seconds) == (came, 4.0)


def test_what_was_cut_short_is_told(database):
    number = begin(database)
    with database.work() as work:
        for step in range(1, 6):
            attempt = work.get(Attempt, number)
            state = taking.state_of(work, attempt).session
            pace.keep_found(key_of(STEP, then := state.enter(state.next.id, "yes", 0.0)), blindly(then))
            taking.write(work, taking.prepare(work, attempt, step, "yes", at=attempt.started))
    pace._found.clear()
    with database.read() as work:
        found = outcome_of(work, work.get(Attempt, number))
        told = letter(SLOW, RULES, found)
        assert [one.differences for one in verify(work, work.get(Attempt, number).test)] == [()]  # rough, but true
    with database.work() as work:
        row = work.get(Scoring, (number, 0))
        row.skills = {**row.skills, "skill 1": {**row.skills["skill 1"], "lower": [0.99, 0.0]}}
    with database.read() as work:
        (row,) = verify(work, work.get(Attempt, number).test)
        assert [what for what, *_ in row.differences] == ["skill 1 bounds"]
    assert all(one.cut for one in found.skills.values())
    assert any("this result is true but rough" in note for note in told.notes)


@pytest.mark.parametrize(
    ("fields", "quick"),
    [({}, True), ({"target": "all", "ahead": 2}, False), ({"shadow": True}, False), ({"stop": qs.same_decision(0.9)}, False)],
)
def test_rules_that_look_far_are_worked_out_elsewhere(fields, quick):
    rules = qs.Rules(**{"stop": qs.max_questions(4), **fields})
    assert is_quick(qs.load("fractions"), rules) is quick
