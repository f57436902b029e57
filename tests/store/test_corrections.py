"""A question is withdrawn, or its key corrected, after a test was published: all attempts are scored anew, and both results are kept."""

import pytest
from sqlalchemy import select, update

import quaestor as qs
from helpers.browsing import KINDS, ORDER, PICTURE
from quaestor.store import attempts, corrections, publishing, rescoring, results, teachers, verify
from quaestor.store.models import Attempt, Event, Published, Scoring

LONG = qs.Rules(score="order")


def publish(database, bank=KINDS, rules=LONG):
    with database.work() as work:
        teacher = teachers.owner(work, "owner@school.example")
        kept = publishing.keep_bank(work, teacher, bank, {"pie.png": PICTURE})
        return publishing.publish(work, teacher, kept, rules, publishing.Conditions(mode="exam"))


def take(database, test, name, entries):
    with database.work() as work:
        attempt = attempts.enter(work, test.code, name)
        for step, entry in enumerate(entries, 1):
            if entry is None:
                attempts.skip(work, attempt, step)
            else:
                attempts.answer(work, attempt, step, entry)
        return attempt.id


def correct(database, test, change, *told, **more):
    with database.work() as work:
        change(work, work.get(Published, test.id), *told, **more)
    rescoring.score_all(database, test.id, lambda share: True)


def points(database, number):
    with database.read() as work:
        return {row.revision: row.points for row in work.scalars(select(Scoring).where(Scoring.attempt_id == number))}


def test_a_corrected_key_scores_everybody_anew_and_keeps_both(database):
    test = publish(database)
    ada = take(database, test, "Ada", ["2/6", ["two", "four"], "3.5", "Paris"])
    bob = take(database, test, "Bob", ["3/4", None, "3", "Rome"])
    running = take(database, test, "Eve", ["2/6"])
    correct(database, test, corrections.correct_key, "one", ["2/6"], note="The picture shows sixths.")
    assert points(database, ada) == {0: 3.0, 1: 4.0}
    assert points(database, bob) == {0: 1.0, 1: 0.0}
    assert points(database, running) == {1: 1.0}
    with database.read() as work:
        kept = work.get(Published, test.id)
        assert publishing.open_bank(kept.bank).questions["one"].correct == ("2/6",)
        (told,) = corrections.corrections_of(work, kept)
        assert (told.kind, told.question, told.note, told.bank_id) == ("key", "one", "The picture shows sixths.", test.bank_id)
        assert work.scalars(select(Event.answer).where(Event.attempt_id == ada, Event.step == 1)).one() == "wrong"
        assert [one.differences for one in verify.verify(work, kept)] == [()] * 5
        assert {one.revision for one in verify.verify(work, kept)} == {0, 1}
    with database.work() as work:
        going = work.get(Attempt, running)
        after = attempts.answer(work, going, 2, ["two", "four"])
        assert [line.answer for line in after.session.log] == ["right", "right"]
    assert points(database, running) == {1: 2.0}


@pytest.mark.parametrize(
    ("question", "right", "entry"),
    [
        ("several", ["two", "three"], ["two", "three"]),
        ("number", ["4"], "4"),
        ("word", ["Lyon", "Nice"], "nice"),
        ("one", ["1/8", "2/6"], "1/8"),
    ],
)
def test_keys_of_every_kind(database, question, right, entry):
    test = publish(database)
    order = list(KINDS.questions)
    given = [entry if name == question else None for name in order]
    number = take(database, test, "Ada", given)
    assert points(database, number) == {0: 0.0}
    correct(database, test, corrections.correct_key, question, right)
    assert points(database, number) == {0: 0.0, 1: 1.0}


def test_a_withdrawn_question_says_nothing_and_is_not_asked(database):
    rules = qs.Rules(score="order", skips="wrong")
    test = publish(database, rules=rules)
    ada = take(database, test, "Ada", ["2/6", None, "3.5", "Paris"])
    running = take(database, test, "Eve", ["3/4"])
    correct(database, test, corrections.withdraw, "several")
    correct(database, test, corrections.withdraw, "one")
    with database.read() as work:
        kept = work.get(Published, test.id)
        rows = {row.revision: row for row in work.scalars(select(Scoring).where(Scoring.attempt_id == ada))}
        assert (rows[0].counted, rows[0].right, rows[0].skipped) == (4, 2, 1)
        assert (rows[2].asked, rows[2].counted, rows[2].right, rows[2].skipped) == (4, 2, 2, 0)
        session = attempts.sitting(work, work.get(Attempt, ada)).session
        plain = qs.posterior(KINDS, {"number": "right", "word": "right"})
        assert session.beliefs["sums"].lower == pytest.approx(plain["sums"].lower)
        assert attempts.sitting(work, work.get(Attempt, running)).session.next.id == "number"
        assert [one.differences for one in verify.verify(work, kept) if one.differences] == []
        assert results.outcome_of(work, work.get(Attempt, ada)).skills["sums"].answers == 2
    correct(database, test, corrections.withdraw, "one", again=True)
    with database.read() as work:
        kept = work.get(Published, test.id)
        assert kept.rules["withdrawn"] == ["several"]
        assert [(one.kind, one.question) for one in corrections.corrections_of(work, kept)] == [
            ("withdrawn", "several"),
            ("withdrawn", "one"),
            ("restored", "one"),
        ]


def test_what_was_erased_keeps_its_class(database):
    test = publish(database)
    number = take(database, test, "Ada", [None, None, None, "Lyon"])
    with database.work() as work:
        work.execute(update(Event).values(entry=None))
    correct(database, test, corrections.correct_key, "word", ["Lyon"])
    assert points(database, number) == {0: 0.0, 1: 0.0}


@pytest.mark.parametrize(
    ("question", "right", "words"),
    [
        ("one", [], "one: at least one right answer is expected, got none"),
        ("one", ["5/4"], "one: an option of the question, got 5/4"),
        ("one", ["3/4"], "one: another key than before is expected, got the same"),
        ("nine", ["3/4"], "there is no such question"),
    ],
)
def test_a_key_that_cannot_be_is_refused(database, question, right, words):
    test = publish(database)
    with database.work() as work, pytest.raises(qs.QuaestorError, match=words):
        corrections.correct_key(work, work.get(Published, test.id), question, right)
    with database.work() as work, pytest.raises(qs.QuaestorError, match="a question that is withdrawn, got one"):
        corrections.withdraw(work, work.get(Published, test.id), "one", again=True)
    with database.work() as work, pytest.raises(qs.QuaestorError, match="note: at most 1000 letters, got 1001"):
        corrections.withdraw(work, work.get(Published, test.id), "one", note="x" * 1001)


def test_a_key_is_not_changed_where_numbers_rule_answers_out(database):
    document = KINDS.document
    sure = {**document["questions"]["number"], "right": [0.1, 0.6, 1.0]}
    test = publish(database, bank=qs.Bank({**document, "questions": {**document["questions"], "number": sure}}), rules=ORDER)
    with database.work() as work, pytest.raises(qs.QuaestorError, match="number: its numbers rule some answers out"):
        corrections.correct_key(work, work.get(Published, test.id), "number", ["4"])
