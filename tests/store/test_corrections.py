"""A question is withdrawn, or its key corrected, after a test was published: all attempts are scored anew, and both results are kept."""

from datetime import timedelta

import pytest
from sqlalchemy import select, update

import quaestor as qs
from helpers.browsing import KINDS, ORDER, PICTURE
from quaestor.store import clock, corrections, privacy, publishing, teachers, timing
from quaestor.store.attempts import progress, taking
from quaestor.store.attempts.entry import look_ahead
from quaestor.store.models import Attempt, Event, Published, Scoring
from quaestor.store.outcomes import rescoring, results, verify

LONG = qs.Rules(score="order")


def publish(database, bank=KINDS, rules=LONG):
    with database.work() as work:
        teacher = teachers.owner(work, "owner@school.example")
        kept = publishing.keep_bank(work, teacher, bank, {"pie.png": PICTURE})
        return publishing.publish(work, teacher, kept, rules, publishing.Conditions(mode="exam"))


def take(database, test, name, entries):
    with database.work() as work:
        attempt = taking.enter(work, test.code, name)
        for step, entry in enumerate(entries, 1):
            if entry is None:
                taking.skip(work, attempt, step)
            else:
                taking.answer(work, attempt, step, entry)
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
        after = taking.answer(work, going, 2, ["two", "four"])
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
        session = taking.state_of(work, work.get(Attempt, ada)).session
        plain = qs.posterior(KINDS, {"number": "right", "word": "right"})
        assert session.beliefs["sums"].lower == pytest.approx(plain["sums"].lower)
        assert taking.state_of(work, work.get(Attempt, running)).session.next.id == "number"
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


def test_the_key_of_a_template_does_not_come_back(database):
    document = {
        "skills": {"a": {}},
        "templates": {
            "n": {"skill": "a", "right": [0.3, 0.8], "kind": "number", "correct": "12"},
            "c": {"skill": "a", "right": [0.3, 0.8], "options": ["1", "2", "3"], "correct": "1"},
        },
        "questions": {"N": {"template": "n", "text": "Twelve?"}, "C": {"template": "c", "text": "Which?"}},
    }
    test = publish(database, bank=qs.Bank(document))
    number = take(database, test, "Ada", ["12", "1"])
    correct(database, test, corrections.correct_key, "N", ["13"])
    assert points(database, number) == {0: 2.0, 1: 1.0}
    correct(database, test, corrections.correct_key, "C", ["2", "3"])
    assert points(database, number) == {0: 2.0, 1: 1.0, 2: 0.0}
    with database.read() as work:
        questions = publishing.open_bank(work.get(Published, test.id).bank).questions
        assert [corrections.key_of(questions[name]) for name in ("N", "C")] == [("13",), ("2", "3")]


def test_an_option_may_have_the_sign_that_stands_between_options(database):
    question = {
        "text": "Which?",
        "kind": "choices",
        "options": ["$P(A|B)$", "$P(B)$", "x"],
        "correct": ["$P(A|B)$", "$P(B)$"],
        "skill": "a",
    }
    test = publish(database, bank=qs.Bank({"skills": {"a": {}}, "questions": {"Q": {**question, "right": [0.3, 0.8]}}}))
    one, two = take(database, test, "Ada", ["$P(A|B)$"]), take(database, test, "Bob", [["$P(A|B)$", "$P(B)$"]])
    assert (points(database, one), points(database, two)) == ({0: 0.0}, {0: 1.0})
    correct(database, test, corrections.correct_key, "Q", ["$P(A|B)$"])
    assert (points(database, one), points(database, two)) == ({0: 0.0, 1: 1.0}, {0: 1.0, 1: 0.0})


def test_erasing_names_leaves_results_of_a_corrected_key(database):
    test = publish(database)
    number = take(database, test, "Ada", [None, None, None, "Rome"])
    correct(database, test, corrections.correct_key, "word", ["Rome", "Paris"])
    before = points(database, number)[1]
    with database.work() as work:
        work.get(Published, test.id).keep_days = 1
        privacy.erase_names(work, test.id, clock.now() + timedelta(days=3))
    with database.read() as work:
        assert [one.differences for one in verify.verify(work, work.get(Published, test.id))] == [()]
    correct(database, test, corrections.withdraw, "several")
    assert points(database, number) == {1: before, 2: before}


def test_a_correction_between_looking_ahead_and_entering(database):
    test = publish(database)
    with database.read() as work:
        first = look_ahead(work, test.code, 7)
    with database.work() as work:
        corrections.withdraw(work, work.get(Published, test.id), "one")
    with database.work() as work:
        attempt = taking.enter(work, test.code, "Ada", first=first)
        assert taking.state_of(work, attempt).session.next.id == "several"


def test_a_correction_between_preparing_and_writing(database):
    test = publish(database)
    number = take(database, test, "Ada", ["3/4"])
    with database.read() as work:
        ready = taking.prepare(work, work.get(Attempt, number), 2, ["two", "four"])
        gone = taking.prepare(work, work.get(Attempt, number), 2, ["two"])
    correct(database, test, corrections.correct_key, "one", ["2/6"])
    with database.work() as work:
        after = taking.write(work, ready)
    assert [line.answer for line in after.session.log] == ["wrong", "right"]
    assert points(database, number) == {1: 1.0}
    with database.work() as work, pytest.raises(taking.StaleError, match="step 3"):
        taking.write(work, gone)
    with database.read() as work:
        ready = taking.prepare(work, work.get(Attempt, number), 3, "3.5")
    correct(database, test, corrections.withdraw, "number")
    with database.work() as work, pytest.raises(taking.ChangedError, match="another question is asked now"):
        taking.write(work, ready)


def test_a_second_right_option_where_the_difficulty_is_in_words(database):
    document = {
        "quaestor": 2,
        "skills": {"a": {}},
        "questions": {"Q": {"text": "?", "options": ["1", "2", "3"], "correct": "1", "skill": "a", "difficulty": "hard"}},
    }
    test = publish(database, bank=qs.Bank(document))
    number = take(database, test, "Ada", ["2"])
    correct(database, test, corrections.correct_key, "Q", ["1", "2"])
    assert points(database, number) == {0: 0.0, 1: 1.0}


def test_a_question_that_comes_back_lets_an_attempt_go_on(database):
    test = publish(database)
    number = take(database, test, "Ada", ["3/4", None, None])
    correct(database, test, corrections.withdraw, "word")
    with database.read() as work:
        assert work.get(Attempt, number).reason == "No question is left."
    correct(database, test, corrections.withdraw, "word", again=True)
    with database.work() as work:
        attempt = work.get(Attempt, number)
        assert attempt.ended is None
        assert taking.answer(work, attempt, 4, "Paris").over


def test_an_attempt_whose_name_is_erased_is_over_everywhere(database):
    test = publish(database)
    number = take(database, test, "Ada", ["3/4"])
    with database.work() as work:
        work.get(Published, test.id).keep_days = 1
        privacy.erase_names(work, test.id, clock.now() + timedelta(days=3))
    with database.work() as work:
        timing.change_time(work, work.get(Published, test.id), 500, None)
        timing.set_aside(work, work.get(Attempt, number))
        timing.count_again(work, work.get(Attempt, number))
    with database.read() as work:
        kept = work.get(Published, test.id)
        assert progress.counts(work, [kept], clock.now()) == {test.id: (0, 1)}
        assert [one.state for one in results.outcomes(work, kept)] == ["over"]
