"""What the answers came to is stored with them, worked out later where it is missing, and can be verified."""

from datetime import timedelta

import pytest
from sqlalchemy import delete, func, select, update

import quaestor as qs
from quaestor.store import clock, job_queue, publishing, teachers, timing
from quaestor.store.attempts import session_cache, taking
from quaestor.store.attempts.entry import enter
from quaestor.store.attempts.invitations import EntryError
from quaestor.store.classes import class_lists
from quaestor.store.models import Attempt, Job, Published, Pupil, Scoring
from quaestor.store.outcomes import rescoring, results, verify
from quaestor.version import VERSION

RULES = qs.Rules(score="order", stop=qs.max_questions(3))


def publish(database, rules=RULES, bank="fractions", **conditions):
    with database.work() as work:
        teacher = teachers.owner(work, "owner@school.example")
        kept = publishing.keep_bank(work, teacher, qs.load(bank))
        return publishing.publish(work, teacher, kept, rules, publishing.Conditions(**conditions))


def take(database, code, name="", questions=3, skip=False):
    with database.work() as work:
        attempt = taking.enter(work, code, name)
        for step in range(1, questions + 1):
            question = taking.state_of(work, attempt).session.next
            if skip:
                taking.skip(work, attempt, step)
            else:
                taking.answer(work, attempt, step, question.correct[0])
        return attempt.id


def outcome(database, number):
    with database.read() as work:
        return results.outcome_of(work, work.get(Attempt, number))


def score(database, test):
    return rescoring.score_all(database, test.id, lambda share: True)


def rows(database):
    with database.read() as work:
        return work.scalars(select(Scoring).order_by(Scoring.attempt_id, Scoring.revision)).all()


def test_an_answer_and_what_it_came_to_are_written_together(database):
    test = publish(database)
    number = take(database, test.code, "Ada")
    (row,) = rows(database)
    with database.read() as work:
        session = taking.state_of(work, work.get(Attempt, number)).session
    assert (row.attempt_id, row.revision, row.asked, row.counted, row.right, row.points) == (number, 0, 3, 3, 3, 3.0)
    assert (row.bank_version, row.model_version, row.engine) == (session.bank.version, session.bank.model_version, VERSION)
    for skill, bounds in session.beliefs.items():
        assert row.skills[skill]["lower"] == bounds.lower.tolist()
        assert row.skills[skill]["upper"] == bounds.upper.tolist()

    def fail():
        with database.work() as work:
            attempt = taking.enter(work, test.code, "Bob")
            taking.answer(work, attempt, 1, taking.state_of(work, attempt).session.next.correct[0])
            raise qs.QuaestorError("the plug was pulled")

    with pytest.raises(qs.QuaestorError, match="plug"):
        fail()
    assert len(rows(database)) == 1


def test_pages_read_what_was_stored_whatever_the_engine_says_now(database):
    test = publish(database)
    number = take(database, test.code, "Ada")
    told = {"level": "yes", "answers": 3, "lower": [0.25, 0.75], "upper": [0.25, 0.75]}
    skill = next(iter(qs.load("fractions").skills))
    with database.work() as work:
        row = work.get(Scoring, (number, 0))
        row.skills = {**row.skills, skill: told}
    session_cache.forget_all()
    found = outcome(database, number).skills[skill]
    assert (found.level, found.lower, found.enough) == ("yes", 0.75, True)


def test_nobody_is_told_a_level_that_is_only_the_prior(database):
    test = publish(database, rules=qs.Rules(score="order", stop=qs.max_questions(3)), minutes=1)
    nothing, skipped, answered = (
        take(database, test.code, "Kim", 0),
        take(database, test.code, "Eve", skip=True),
        take(database, test.code, "Ada"),
    )
    score(database, test)
    assert not any(finding.enough or finding.sure for number in (nothing, skipped) for finding in outcome(database, number).skills.values())
    found = outcome(database, answered)
    assert {skill: finding.enough for skill, finding in found.skills.items()} == {
        skill: finding.answers >= 2 for skill, finding in found.skills.items()
    }
    assert any(finding.enough for finding in found.skills.values())
    table = results.table([outcome(database, nothing)], qs.load("fractions"))
    assert table[[name for name in table if name.endswith((" level", " sure", " lower"))]].isna().all(axis=None)


def test_how_many_answers_are_enough_is_a_rule(database):
    known = []
    for least in (1, 3, 4):
        test = publish(database, rules=qs.Rules(score="order", stop=qs.max_questions(3), least_answers=least))
        found = outcome(database, take(database, test.code, "Ada")).skills.values()
        assert [finding.enough for finding in found] == [finding.answers >= least for finding in found]
        known.append(sum(finding.enough for finding in found))
    assert known[0] >= known[1] >= known[2] == 0
    assert known[0] > 0


def test_outcomes_of_an_old_database_are_worked_out_once(database):
    test = publish(database)
    over, running = take(database, test.code, "Ada"), take(database, test.code, "Bob", questions=1)
    before = [(one.attempt_id, one.skills, one.expected) for one in rows(database)]
    with database.work() as work:
        work.execute(delete(Scoring))
    found = outcome(database, over)
    assert found.waits
    assert not any(finding.enough for finding in found.skills.values())
    with database.work() as work:
        rescoring.ask_all(work)
        rescoring.ask_all(work)
        assert work.scalar(select(func.count()).select_from(Job)) == 1
        number = job_queue.claim(work, "worker", (rescoring.KIND,))
        assert number is not None
    assert score(database, test) == {"scored": 2, "left": 0}
    assert [(one.attempt_id, one.skills, one.expected) for one in rows(database)] == before
    assert [row.misfits is None for row in rows(database)] == [False, True]
    assert not outcome(database, over).waits
    assert outcome(database, running).questions == 1
    assert score(database, test) == {"scored": 0, "left": 0}


def test_a_job_is_asked_for_again_only_after_a_while(database):
    test = publish(database)
    take(database, test.code, "Ada")
    with database.work() as work:
        rescoring.ask(work, test)
        work.execute(update(Job).values(state=job_queue.DONE))
        rescoring.ask(work, test)
        assert work.scalar(select(func.count()).select_from(Job)) == 1
        rescoring.ask(work, test, pause=0)
        assert work.scalars(select(Job.state)).all() == [job_queue.WAITING]


def test_an_attempt_that_went_on_meanwhile_is_left_alone(database, monkeypatch):
    test = publish(database)
    number = take(database, test.code, "Ada", questions=1)
    with database.work() as work:
        work.execute(delete(Scoring))

    def answer_meanwhile(attempt, session, put):
        monkeypatch.undo()
        with database.work() as work:
            here = work.get(Attempt, number)
            taking.answer(work, here, 2, taking.state_of(work, here).session.next.correct[0])
        return taking.stand(attempt, session, put)

    monkeypatch.setattr(rescoring, "stand", answer_meanwhile)
    assert score(database, test) == {"scored": 0, "left": 1}
    assert outcome(database, number).questions == 2


def test_the_log_says_that_an_attempt_was_not_scored_and_quotes_nobody(make_database, monkeypatch, caplog):
    database = make_database("sqlite")
    test = publish(database)
    take(database, test.code, "Ada")

    def refused(*_):
        raise qs.QuaestorError("Q1: a number is expected, got '12 Secret Street'")

    monkeypatch.setattr(rescoring, "session_of", refused)
    assert score(database, test) == {"scored": 0, "left": 1}
    assert [record.getMessage() for record in caplog.records] == ["attempt 1 was not scored: QuaestorError"]


def test_verify_says_what_would_be_otherwise(database):
    test = publish(database)
    first, second = take(database, test.code, "Ada"), take(database, test.code, "Bob")
    with database.read() as work:
        assert [one.differences for one in verify.verify(work, work.get(Published, test.id))] == [(), ()]
    skill = next(iter(qs.load("fractions").skills))
    with database.work() as work:
        row = work.get(Scoring, (second, 0))
        row.skills = {**row.skills, skill: {**row.skills[skill], "lower": [0.25, 0.25]}}
        row.right = 1
    with database.read() as work:
        found = {
            one.attempt: {what: (stored, now) for what, stored, now in one.differences}
            for one in verify.verify(work, work.get(Published, test.id))
        }
    assert found[first] == {}
    assert set(found[second]) == {"right", f"{skill} lower"}
    assert found[second]["right"] == (1, 3)


def test_a_closed_test_opens_again_and_an_attempt_that_the_clock_ended_goes_on(database):
    test = publish(database, minutes=10)
    number = take(database, test.code, "Ada", questions=1)
    with database.work() as work:
        timing.close(work, work.get(Published, test.id))
    with database.work() as work:
        taking.end(work, taking.state_of(work, work.get(Attempt, number)))
        assert work.get(Attempt, number).reason == "The test is closed."
    with database.work() as work, pytest.raises(EntryError, match="closed"):
        enter(work, test.code, "Bob")
    with database.work() as work:
        timing.change_time(work, work.get(Published, test.id), 20, None)
    with database.work() as work:
        attempt = work.get(Attempt, number)
        assert attempt.ended is None
        assert attempt.due == attempt.started + timedelta(minutes=20)
        assert not taking.state_of(work, attempt).over
        assert enter(work, test.code, "Bob").due is not None


@pytest.mark.parametrize("minutes", [-1, 0, 3000])
def test_a_time_that_cannot_be_is_refused(database, minutes):
    test = publish(database)
    with database.work() as work, pytest.raises(qs.QuaestorError, match=f"minutes: above 0 and at most a day, got {minutes}"):
        timing.change_time(work, work.get(Published, test.id), minutes, None)


def test_extra_time_is_for_one_taker_and_reaches_beyond_the_closing(database):
    test = publish(database, minutes=10, closes=clock.now() + timedelta(minutes=5), by_list=True)
    with database.work() as work:
        ada, bob = class_lists.add_pupils(work, work.get(Published, test.id), ["Ada", "Bob"])
        timing.give_time(work, ada, 30)
    mine, other = take(database, ada.code, questions=1), take(database, bob.code, questions=1)
    with database.read() as work:
        assert work.get(Attempt, mine).due == test.closes + timedelta(minutes=30)
        assert work.get(Attempt, other).due == test.closes
    with database.work() as work:
        timing.give_time(work, work.get(Attempt, other), 15)
        assert work.get(Attempt, other).due == test.closes + timedelta(minutes=15)
        timing.give_time(work, work.get(Pupil, bob.id), 20)
        assert work.get(Attempt, other).due == test.closes + timedelta(minutes=20)
        with pytest.raises(qs.QuaestorError, match="extra: a number of minutes from 0 to 1440, got -3"):
            timing.give_time(work, work.get(Attempt, other), -3)


def test_another_try(database):
    test = publish(database, by_list=True)
    with database.work() as work:
        (ada,) = class_lists.add_pupils(work, work.get(Published, test.id), ["Ada"])
    first = take(database, ada.code, questions=1)
    with database.work() as work:
        assert enter(work, ada.code).id == first
        timing.set_aside(work, work.get(Attempt, first))
    second = take(database, ada.code)
    assert second != first
    with database.read() as work:
        found = {one.attempt_id: one for one in results.outcomes(work, work.get(Published, test.id))}
    assert (found[first].set_aside, found[first].counts, found[second].counts) == (True, False, True)
    assert found[first].reason == "Your teacher has set this try aside; you can begin again with your code."
