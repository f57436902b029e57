"""Steps within a limit on time: what they claim is true, and the test goes on."""

from time import monotonic, sleep

import numpy as np
import pytest

import quaestor as qs
from helpers.slow_banks import slow_document
from quaestor.report.slowness import told_cost
from quaestor.selection.dry_run import DryRun
from quaestor.session import limited
from quaestor.session.limited import OverTimeError, blindly, cost, decide, decided, path, why, within

SMALL = qs.Bank(slow_document(skills=3, questions=3))
SLOW = qs.Bank(slow_document(skills=5, levels=3))


def after(bank, *answers, rules=None):
    """A session whose first questions, in the order of the bank, were answered so."""
    session = qs.Session(bank, rules or qs.Rules())
    for question, answer in zip(bank.questions, answers, strict=False):
        session = session.answer(question, answer)
    return session


def test_with_enough_time_it_is_the_step_as_it_is():
    session = after(SMALL, 1)
    found = decide(session, 60.0)
    as_it_is = decided(after(SMALL, 1))
    assert not found.cut
    assert (found.question, found.stopped) == (as_it_is.question, as_it_is.stopped)
    for skill, bounds in found.beliefs.items():
        np.testing.assert_array_equal(bounds.lower, as_it_is.beliefs[skill].lower)


@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.3])
def test_with_less_the_bounds_hold_all_the_same(seconds, monkeypatch):
    exact = qs.posterior(SMALL, {"Q1": 1, "Q2": 0}, method="exact")
    monkeypatch.setattr(limited, "WHOLE", 0.0)  # the step as it is has no time at all
    found = decide(after(SMALL, 1, 0), seconds)
    assert found.cut
    assert found.question == "Q3"
    for skill, bounds in found.beliefs.items():
        assert (bounds.lower <= exact[skill].inner_lower + 1e-9).all()
        assert (bounds.upper >= exact[skill].inner_upper - 1e-9).all()


def test_a_step_that_would_take_minutes_ends_in_time():
    with within(30.0):
        found = decide(after(SLOW, *[0, 1] * 4), 0.5)
    assert found.cut
    assert found.question in list(SLOW.questions)[8:]


def test_bounds_that_were_found_before_the_time_was_up_are_used(monkeypatch):
    def late(session):
        _ = session.beliefs
        raise limited.OverTimeError

    monkeypatch.setattr(limited, "decided", late)
    found = decide(after(SMALL, 1), 60.0)
    assert found.cut
    for skill, bounds in qs.Session(SMALL).answer("Q1", 1).beliefs.items():
        np.testing.assert_array_equal(found.beliefs[skill].lower, bounds.lower)


def test_where_memory_is_not_enough_the_test_goes_on(monkeypatch):
    def large(session):
        raise MemoryError

    monkeypatch.setattr(limited, "decided", large)
    assert decide(after(SMALL, 1), 1.0).cut


def test_blindly_nothing_is_claimed_and_limits_still_end_a_test():
    session = after(SMALL, 1, rules=qs.Rules(stop=qs.max_questions(2)))
    found = blindly(session)
    assert found.question == "Q2"
    assert all(bounds.lower.max() == 0 and bounds.upper.min() == 1 for bounds in found.beliefs.values())
    found.into(session)
    assert session.is_cut
    session = session.answer("Q2", 0)
    assert blindly(session).stopped.rule == "max_questions"
    assert blindly(session).question is None


def test_a_step_is_known_to_the_session_that_it_was_worked_out_for(monkeypatch):
    found = decide(after(SMALL, 1), 60.0)
    session = after(SMALL, 1)
    found.into(session)
    monkeypatch.setattr(qs.Session, "decision", property(lambda self: pytest.fail("it was worked out again")))
    assert (session.next.id, session.stopped, session.beliefs) == (found.question, None, found.beliefs)


def test_why_and_path_are_told_in_time_or_not_at_all():
    assert why(after(SMALL, 1), 60.0).question.id == decided(after(SMALL, 1)).question
    told = path(after(SMALL, 1, 0), 60.0)
    assert len(told.changes) == 2
    assert len(told.beliefs) == 3
    slow = after(SLOW, *[0, 1] * 3)
    assert why(slow, 0.1) is None
    assert path(slow, 0.1) is None


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # where it rings while Python clears something away
def test_the_cost_of_a_bank_is_told_as_far_as_it_was_seen():
    small = cost(qs.Session(SMALL), 60.0)
    assert not small.is_cut
    assert small.answered in (0, 1, 2)
    slow = cost(qs.Session(SLOW), 1.0)
    assert slow.is_cut


def test_a_cost_in_words():
    assert told_cost(SMALL, DryRun(0.01, 0.2, 2, 2, False), 3) == ""
    told = told_cost(SLOW, DryRun(0.1, 2.5, 4, 2, True), 3)
    assert "at least 2.5 s after 4 questions on several skills" in told
    assert "What takes longer than 3 s goes on with results that are true but rough." in told
    assert "longer than a server can wait" in told_cost(SLOW, None, 3)


def test_a_ring_that_python_drops_is_rung_again(monkeypatch):
    monkeypatch.setattr(limited, "AGAIN", 0.05)
    dropped = []

    class Cleared:
        def __del__(self):
            try:
                sleep(0.2)
            except OverTimeError:
                dropped.append(True)

    def last_five_seconds():
        thing = Cleared()
        del thing
        while monotonic() < begun + 5:
            pass

    begun = monotonic()
    with pytest.raises(OverTimeError), limited.within(0.05):
        last_five_seconds()
    assert dropped
    assert monotonic() < begun + 4
