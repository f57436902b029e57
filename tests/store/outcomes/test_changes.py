"""What corrections change: foreseen, counted and told, the same each time."""

import pytest
from sqlalchemy import delete, select

from helpers.browsing import KINDS, PICTURE
from quaestor.selection.rules import Rules
from quaestor.store import clock, corrections, publishing, teachers
from quaestor.store.attempts import taking
from quaestor.store.models import Attempt, Correction, Published, Scoring
from quaestor.store.outcomes import changes, rescoring, verify


@pytest.fixture
def test(database):
    with database.work() as work:
        teacher = teachers.owner(work, "owner@school.example")
        kept = publishing.keep_bank(work, teacher, KINDS, {"pie.png": PICTURE})
        return publishing.publish(work, teacher, kept, Rules(score="order"), publishing.Conditions())


def take(database, test, name, *entries):
    with database.work() as work:
        attempt = taking.enter(work, test.code, name)
        for step, entry in enumerate(entries, 1):
            taking.skip(work, attempt, step) if entry is None else taking.answer(work, attempt, step, entry)
        return attempt.id


RIGHT = ("3/4", ["two", "four"], "3.5", "Paris")


def correct(database, test, change, *told, score=True, **more):
    with database.work() as work:
        change(work, work.get(Published, test.id), *told, **more)
    if score:
        rescoring.score_all(database, test.id, lambda share: True)


def told(database, number):
    with database.read() as work:
        found = changes.changes_of(work, work.get(Attempt, number))
        return [
            (
                [(one.kind, one.question) for one in change.corrections],
                (change.before.points, change.before.counted),
                change.after and (change.after.points, change.after.counted),
                change.differs,
            )
            for change in found
        ]


def effects(database, test):
    with database.read() as work:
        return changes.effects(work, work.get(Published, test.id))


def left(database, test):
    with database.read() as work:
        return changes.left(work, work.get(Published, test.id))


def foreseen(database, test, question, right=None, again=False, **more):
    with database.read() as work:
        kept = work.get(Published, test.id)
        bank = publishing.open_bank(kept.bank) if right is None else corrections.keyed(kept, question, right)
        rules = kept.rules if right is not None else corrections.withdrawn(kept, question, again)
        return changes.foresee(work, kept, question, bank, rules, **more)


def test_nothing_was_corrected(database, test):
    number = take(database, test, "Ada", *RIGHT)
    assert (told(database, number), effects(database, test), left(database, test)) == ([], {}, 0)


def test_what_is_foreseen_comes_true(database, test):
    people = [
        take(database, test, "Ada", *RIGHT),
        take(database, test, "bob", "2/6", *RIGHT[1:]),
        take(database, test, "Cyd", "1/8", None, None, None),
        take(database, test, "Dan", "2/6"),
        take(database, test, "Eve"),
    ]
    before = foreseen(database, test, "one", ["2/6"])
    assert (before.asked, before.up, before.down) == (4, 2, 1)
    correct(database, test, corrections.correct_key, "one", ["2/6"], score=False)
    assert left(database, test) == 3  # those who have ended
    assert told(database, people[0]) == [([("key", "one")], (4.0, 4), None, False)]
    assert told(database, people[3]) == []  # nothing was told yet
    rescoring.score_all(database, test.id, lambda share: True)
    assert left(database, test) == 0
    assert [told(database, number) for number in people] == [
        [([("key", "one")], (4.0, 4), (3.0, 4), True)],
        [([("key", "one")], (3.0, 4), (4.0, 4), True)],
        [([("key", "one")], (0.0, 1), (0.0, 1), False)],
        [],
        [],
    ]
    (effect,) = effects(database, test).values()
    assert (effect.results, [name for _, name in effect.changed], effect.later) == (3, ["Ada", "bob"], False)
    with database.read() as work:
        change = changes.changes_of(work, work.get(Attempt, people[0]))[0]
        assert (change.before.levels, change.after.levels, change.skills) == ({"sums": "yes"}, {"sums": "partly"}, ["sums"])
    assert before.levels == 2  # Ada and bob; of Dan, who is under way, too little is known


def test_corrections_soon_after_one_another_share_a_change(database, test):
    number = take(database, test, "Ada", *RIGHT)
    correct(database, test, corrections.withdraw, "one", score=False)
    correct(database, test, corrections.correct_key, "number", ["4"])
    assert told(database, number) == [([("withdrawn", "one"), ("key", "number")], (4.0, 4), (2.0, 3), True)]
    found = effects(database, test)
    assert (found[1].later, found[1].results, found[2].later, found[2].results) == (True, 0, False, 1)
    correct(database, test, corrections.withdraw, "one", again=True)
    assert told(database, number)[1] == ([("restored", "one")], (2.0, 3), (3.0, 4), True)


def test_questions_that_were_not_asked_are_left_out(database, test):
    number = take(database, test, "Ada", "3/4")
    with database.work() as work:
        work.get(Attempt, number).ended = clock.now()
    assert foreseen(database, test, "word", ["Rome"]).asked == 0
    correct(database, test, corrections.correct_key, "word", ["Rome"])
    assert told(database, number) == []
    assert effects(database, test)[1].changed == []


def test_a_change_by_questions_that_were_not_asked_is_told_without_them(database, test):
    """With a single question left one answer is enough for a level."""
    number = take(database, test, "Ada", "3/4")
    with database.work() as work:
        work.get(Attempt, number).ended = clock.now()
    for question in ("several", "number", "word"):
        correct(database, test, corrections.withdraw, question)
    assert told(database, number) == [([], (1.0, 1), (1.0, 1), True)]


def test_of_many_attempts_or_slow_ones_nothing_is_foreseen(database, test, monkeypatch):
    for name in ("Ada", "Bob"):
        take(database, test, name, *RIGHT)
    assert foreseen(database, test, "one").up == 0
    assert foreseen(database, test, "one", patience=-1.0) == changes.Foreseen(2)
    monkeypatch.setattr(changes, "MOST", 1)
    assert foreseen(database, test, "one") == changes.Foreseen(2)


def test_what_is_looked_at_is_not_changed(database, test):
    take(database, test, "Ada", *RIGHT)
    foreseen(database, test, "one", ["2/6"])
    foreseen(database, test, "several")
    with database.read() as work:
        assert (work.get(Published, test.id).revision, work.query(Correction).count()) == (0, 0)
        assert [row.revision for row in work.scalars(select(Scoring))] == [0]


def test_what_was_not_stored_before_a_correction_is_worked_out_by_what_held_then(database, test):
    """Attempts of a database from before outcomes were stored."""
    number = take(database, test, "Ada", *RIGHT)
    correct(database, test, corrections.withdraw, "several")
    later = take(database, test, "Bob", "3/4", "3.5", "Paris")
    with database.work() as work:
        work.execute(delete(Scoring))
    correct(database, test, corrections.correct_key, "one", ["2/6"], score=False)
    assert left(database, test) == 2
    rescoring.score_all(database, test.id, lambda share: True)
    assert told(database, number) == [([("withdrawn", "several"), ("key", "one")], (4.0, 4), (2.0, 3), True)]
    assert told(database, later) == [([("key", "one")], (3.0, 3), (2.0, 3), True)]
    with database.read() as work:
        assert [one.differences for one in verify.verify(work, work.get(Published, test.id))] == [()] * 4


def test_somebody_else_was_faster(database, test):
    correct(database, test, corrections.withdraw, "one", seen=0)
    with pytest.raises(corrections.MeanwhileError, match="corrected meanwhile"):
        correct(database, test, corrections.withdraw, "several", seen=0)
    with pytest.raises(corrections.MeanwhileError, match="corrected meanwhile"):
        correct(database, test, corrections.correct_key, "word", ["Rome"], seen=0)
    with database.read() as work:
        assert work.get(Published, test.id).revision == 1
