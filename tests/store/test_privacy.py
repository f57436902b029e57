"""One taker's data: handed out, deleted, and made nameless in time."""

import json
from datetime import timedelta

import pytest
from sqlalchemy import func, select

import quaestor as qs
from quaestor.formats.files import load_bytes
from quaestor.store import clock, corrections, privacy, publishing, teachers, timing
from quaestor.store.attempts import entry, state, taking
from quaestor.store.classes import class_lists
from quaestor.store.models import Attempt, Event, Published, Pupil
from quaestor.store.outcomes import rescoring, results

BANK = b"""
quaestor: 1
title: Who and how many
skills: {s: {prior: [0.5, 0.5]}}
questions:
  Q1: {text: Who?, kind: text, accept: [Ada], skill: s, right: [0.2, 0.8]}
  Q2: {text: How many?, kind: number, correct: 3, skill: s, right: [0.3, 0.9]}
"""
RULES = qs.Rules(score="order", stop=qs.max_questions(2))


def publish(database, **conditions):
    with database.work() as work:
        teacher = teachers.owner(work, "owner@school.example")
        kept = publishing.keep_bank(work, teacher, load_bytes(BANK, ".yaml"))
        return publishing.publish(work, teacher, kept, RULES, publishing.Conditions(**conditions))


def take(database, code, name="Ada"):
    with database.work() as work:
        attempt = taking.enter(work, code, name)
        taking.answer(work, attempt, 1, "ada, 12 Secret Street")
        taking.answer(work, attempt, 2, "3")
        return attempt.id


def pupil(database, test, name="Ada"):
    with database.work() as work:
        return class_lists.add_pupils(work, work.get(Published, test.id), [name])[0]


def erase(database, **passed):
    with database.work() as work:
        return sum(privacy.erase_names(work, test, clock.now() + timedelta(**passed)) for test in privacy.forgetful(work))


def count(database, table):
    with database.read() as work:
        return work.scalar(select(func.count()).select_from(table))


def test_everything_on_one_taker(database):
    mine = pupil(database, publish(database, by_list=True))
    number = take(database, mine.code)
    with database.read() as work:
        found = json.loads(json.dumps(privacy.export(work, work.get(Attempt, number))))
    assert (found["name"], found["pupil"]) == ("Ada", {"name": "Ada", "code": mine.code})
    assert [(line["question"], line["text"], line["answer"], line["entry"]) for line in found["log"]] == [
        ("Q1", "Who?", "wrong", "ada, 12 Secret Street"),
        ("Q2", "How many?", "right", "3"),
    ]
    assert found["started"].endswith("Z")
    assert found["bank"]["title"] == "Who and how many"
    assert sum(low for low, _ in found["result"]["s"].values()) == pytest.approx(1)
    assert (found["extra_minutes"], found["set_aside"], found["corrections"]) == (0, None, [])
    (scored,) = found["scorings"]
    assert (scored["revision"], scored["points"], scored["skills"]["s"]["answers"]) == (0, 1, 2)


def test_what_was_told_before_and_after_a_correction_is_handed_out(database):
    test = publish(database)
    number = take(database, test.code)
    with database.work() as work:
        corrections.withdraw(work, work.get(Published, test.id), "Q1", "It was not taught.")
        timing.set_aside(work, work.get(Attempt, number))
    rescoring.score_all(database, test.id, lambda share: True)
    with database.read() as work:
        found = json.loads(json.dumps(privacy.export(work, work.get(Attempt, number))))
    assert [(one["revision"], one["counted"], one["points"]) for one in found["scorings"]] == [(0, 2, 1), (1, 1, 1)]
    (one,) = found["corrections"]
    assert (one["revision"], one["kind"], one["question"], one["note"]) == (1, "withdrawn", "Q1", "It was not taught.")
    assert one["at"].endswith("Z")
    assert found["set_aside"].endswith("Z")


def test_deleting_an_attempt_leaves_the_others(database):
    test = publish(database)
    number, other = take(database, test.code), take(database, test.code, "Bob")
    with database.work() as work:
        privacy.delete(work, work.get(Attempt, number))
    with database.read() as work:
        assert work.scalars(select(Attempt.id)).all() == [other]
        assert set(work.scalars(select(Event.attempt_id))) == {other}
        assert [one.name for one in results.outcomes(work, work.get(Published, test.id))] == ["Bob"]


def test_deleting_a_pupil_takes_all_their_attempts(database):
    test = publish(database, by_list=True, retakes="any")
    mine, other = pupil(database, test), pupil(database, test, "Bob")
    for code in (mine.code, mine.code, other.code):
        take(database, code)
    with database.work() as work:
        privacy.delete_pupil(work, work.get(Pupil, mine.id))
    assert [count(database, table) for table in (Pupil, Attempt, Event)] == [1, 1, 2]
    with pytest.raises(taking.UnknownCodeError):
        take(database, mine.code)


def test_names_are_erased_and_results_stay(database):
    test = publish(database, by_list=True, keep_days=30)
    mine = pupil(database, test)
    number = take(database, mine.code)
    with database.read() as work:
        before = taking.state_of(work, work.get(Attempt, number))
        old, key, own = results.outcomes(work, work.get(Published, test.id))[0], before.attempt.key, before.attempt.code
    assert erase(database, days=29) == 0
    assert erase(database, days=31) == 2
    assert erase(database, days=31) == 0
    with database.read() as work:
        after = taking.state_of(work, work.get(Attempt, number))
        new = results.outcomes(work, work.get(Published, test.id))[0]
        assert [(line.answer, line.entry) for line in after.session.log] == [("wrong", None), ("right", "3")]
        assert after.session.answers == before.session.answers
        assert (after.attempt.name, work.get(Pupil, mine.id).name, new.name) == ("erased", "erased", "erased")
        assert (new.skills, new.right, new.hint) == (old.skills, old.right, old.hint)
        assert taking.by_key(work, key) is None
        there = [after.attempt.code, work.get(Pupil, mine.id).code]
    for code in (mine.code, own, *there):
        with database.work() as work, pytest.raises(taking.UnknownCodeError):
            taking.enter(work, code, "Ada")


def test_somebody_called_erased_is_erased_too(database):
    number = take(database, publish(database, keep_days=1).code, "erased")
    assert erase(database, days=2) == 1
    with database.read() as work:
        assert work.scalar(select(Event.entry).where(Event.attempt_id == number, Event.step == 1)) is None


def test_tests_that_keep_names_keep_them(database):
    take(database, publish(database).code)
    assert erase(database, days=10_000) == 0


def test_a_class_list_waits_for_its_test(database):
    test = publish(database, by_list=True, keep_days=5, closes=clock.now() + timedelta(days=40))
    pupil(database, test)
    assert erase(database, days=44) == 0
    assert erase(database, days=46) == 1


def test_a_pupil_is_untied_from_the_last_of_their_attempts_though_others_go_on(database, monkeypatch):
    test = publish(database, by_list=True, retakes="any", keep_days=30)
    mine, other, absent = (pupil(database, test, name) for name in ("Ada", "Bob", "Cem"))
    for days, who in ((0, mine), (0, mine), (20, mine), (40, other)):
        with monkeypatch.context() as patch:
            for module in (taking, entry, state):
                patch.setattr(module, "now", lambda days=days: clock.now() + timedelta(days=days))
            take(database, who.code)
    assert erase(database, days=40) == 2  # the first two attempts; the third keeps its name, and the pupil
    assert erase(database, days=51) == 2
    with database.read() as work:
        assert [work.get(Pupil, one.id).name for one in (mine, other, absent)] == ["Ada", "Bob", "Cem"]  # the class list has its own time
        erased = {one.pupil_id for one in results.outcomes(work, work.get(Published, test.id)) if one.name == "erased"}
        assert len(erased) == 1  # they still belong together
        assert erased.isdisjoint({mine.id, other.id, absent.id})
        assert {one.name for one in results.outcomes(work, work.get(Published, test.id))} == {"erased", "Bob"}
        assert {one.code for one in results.outcomes(work, work.get(Published, test.id))}.isdisjoint({mine.code})
    assert erase(database, days=71) == 4
    with database.read() as work:
        assert set(work.scalars(select(Pupil.name))) == {"erased"}


def test_what_is_deleted_at_the_same_moment_is_no_error(make_database, monkeypatch):
    """On PostgreSQL a teacher may delete between the looking and the erasing."""
    database = make_database("postgresql")
    test = publish(database, by_list=True, keep_days=1)
    mine, other = pupil(database, test), pupil(database, test, "Bob")
    number = take(database, mine.code)
    take(database, other.code)
    real = privacy.open_bank

    def delete(bank):
        with database.work() as work:
            privacy.delete(work, work.get(Attempt, number))
        return real(bank)

    monkeypatch.setattr(privacy, "open_bank", delete)
    erase(database, days=3)
    with database.read() as work:
        assert work.scalars(select(Attempt.name)).all() == ["erased"]
