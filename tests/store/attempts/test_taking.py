"""Attempts in the hands of people who click twice, come back late, share codes and pull the plug."""

import gc
import multiprocessing
import weakref
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import event, select

import quaestor as qs
from helpers.databases import KINDS
from helpers.processes import answer_all
from helpers.taking import begin, count, entry_of, later, publish, put, stands, url
from quaestor.errors import QuaestorError
from quaestor.formats.files import load_bytes
from quaestor.session.option_order import option_order
from quaestor.store import privacy
from quaestor.store.attempts import session_cache, taking
from quaestor.store.attempts.state import with_lines
from quaestor.store.memory import Cache
from quaestor.store.models import Event, Scoring

STRICT = b"""
quaestor: 1
skills: {s: {prior: [0.5, 0.5]}}
questions:
  Q1: {text: One?, options: [a, b], correct: a, skill: s, right: [0, 1]}
  Q2: {text: Two?, options: [a, b], correct: a, skill: s, right: [0, 1]}
"""
TYPED = b"""
quaestor: 1
skills: {s: {prior: [0.5, 0.5]}}
questions: {Q1: {text: Who?, kind: text, accept: [Ada], skill: s, right: [0.2, 0.8]}}
"""


def test_an_answer_that_the_bank_rules_out_leaves_the_attempt_usable(database):
    test = publish(database, load_bytes(STRICT, ".yaml"), qs.Rules(score="order", stop=qs.max_questions(2)))
    key = begin(database, test.code)
    put(database, key, 1, "a")
    with pytest.raises(taking.ConflictError) as error:
        put(database, key, 2, "b")
    assert str(error.value) == (
        "Q2: this answer was not taken, as the test rules it out after the answers before; nothing is lost: give another answer or skip"
        " the question, and tell your teacher"
    )
    assert "right" in str(error.value.__cause__)
    assert stands(database, key).step == 2
    assert put(database, key, 2, "a").over


@pytest.mark.parametrize("stop", [qs.max_questions(3), qs.probability_above(0.99)])
def test_nothing_is_worked_out_while_an_answer_is_written_or_shown(database, monkeypatch, stop):
    """Whatever the rules need to know: the next question and the beliefs are there before the unit of work that writes begins."""
    key = begin(database, publish(database, qs.load("fractions"), qs.Rules(stop=stop)).code)
    with database.read() as work:
        attempt = taking.by_key(work, key)
        first = taking.state_of(work, attempt).session.next
        ready = taking.prepare(work, attempt, 1, first.correct[0])
    monkeypatch.setattr("quaestor.selection.step.Chooser", None)
    monkeypatch.setattr("quaestor.inference.chooser.Chooser.now", None)
    monkeypatch.setattr("quaestor.selection.step.gains_of", None)
    with database.work() as work:
        taking.write(work, ready)
    after = stands(database, key)
    assert after.session.next is not None
    assert list(after.session.beliefs)


def ready_for(database, key, step):
    """An answer that is ready to be written."""
    with database.read() as work:
        attempt = taking.by_key(work, key)
        return taking.prepare(work, attempt, step, entry_of(taking.state_of(work, attempt).session.next))


def test_an_answer_in_a_unit_of_its_own_stores_the_same(database):
    """With PostgreSQL it is one statement: line by line, and what came of it, it leaves the same behind, up to the end of the test."""
    test = publish(database, rules=qs.Rules(stop=qs.max_questions(3)))
    keys = [begin(database, test.code, name) for name in ("Ada", "Ben")]
    for step in (1, 2, 3):
        after = taking.put(database, ready_for(database, keys[0], step))
        put(database, keys[1], step)
        assert bool(after.over) == (step == 3)
        with database.read() as work:
            ids = [taking.by_key(work, key).id for key in keys]
            lines = [work.execute(select(Event.question, Event.answer, Event.entry).where(Event.attempt_id == one)).all() for one in ids]
            kept = [vars(work.scalars(select(Scoring).where(Scoring.attempt_id == one)).one()).copy() for one in ids]
        assert len(lines[0]) == step
        assert lines[0] == lines[1]
        for row in kept:
            for name in ("_sa_instance_state", "attempt_id", "at"):
                del row[name]
        assert kept[0] == kept[1]


def test_of_two_answers_in_units_of_their_own_one_counts(database):
    key = begin(database, publish(database).code)
    first, second = (ready_for(database, key, 1) for _ in range(2))
    assert taking.put(database, first).step == 2
    with pytest.raises(taking.StaleError, match="the test stands at step 2"):
        taking.put(database, second)
    assert count(database, Event) == 1


def test_an_answer_in_a_unit_of_its_own_to_an_attempt_that_was_deleted(database):
    key = begin(database, publish(database).code)
    ready = ready_for(database, key, 1)
    with database.work() as work:
        work.delete(taking.by_key(work, key))
    with pytest.raises(taking.OverError, match="it was deleted"):
        taking.put(database, ready)
    assert count(database, Event) == 0


@pytest.mark.parametrize(
    ("value", "words"), [("", "the entry is empty"), ("x" * 10_001, "at most 10000 letters, got 10001"), ("no option", "is expected")]
)
def test_bad_entries_write_nothing(database, value, words):
    key = begin(database, publish(database).code)
    with pytest.raises(qs.AnswerError, match=words), database.work() as work:
        taking.answer(work, taking.by_key(work, key), 1, value)
    assert count(database, Event) == 0
    assert stands(database, key).step == 1


def test_entries_with_letters_that_no_database_takes(database):
    bank = load_bytes(TYPED, ".yaml")
    key = begin(database, publish(database, bank, qs.Rules(stop=qs.max_questions(1))).code)
    after = put(database, key, 1, "\0Ada\ud800")
    assert after.session.log[0].entry == "Ada?"
    session_cache.forget_all()
    assert stands(database, key).session == after.session


def test_steps_that_are_none(database):
    key = begin(database, publish(database).code)
    for step in (0, -1, 2, 10**9):
        with pytest.raises(taking.StaleError, match="the test stands at step 1"):
            put(database, key, step)


def test_seconds_run_since_the_question_was_put_also_after_a_restart(database, monkeypatch):
    key = begin(database, publish(database).code)
    start = stands(database, key).attempt.started
    for passed in (10, 25, 20):  # the last one: the clock was set back
        session_cache.forget_all()
        moment = start + timedelta(seconds=passed)
        monkeypatch.setattr(taking, "now", lambda moment=moment: moment)
        put(database, key, stands(database, key).step)
    with database.read() as work:
        assert work.scalars(select(Event.seconds).order_by(Event.step)).all() == [10, 15, 0]
    assert stands(database, key).put == start + timedelta(seconds=25)


def test_the_clock_is_right_after_a_restart(database, monkeypatch):
    key = begin(database, publish(database, minutes=10).code)
    put(database, key, 1)
    session_cache.forget_all()
    later(monkeypatch, minutes=4)
    assert 350 < stands(database, key).left < 361


def test_what_is_remembered_of_a_session_holds_none_of_the_sessions_before_it(database):
    key = begin(database, publish(database).code)
    before = stands(database, key).session
    after = put(database, key, 1).session
    assert after.earlier.log == before.log
    past = weakref.ref(after.earlier)
    del before, after
    gc.collect()
    assert past() is None


def test_a_unit_of_work_that_is_undone_leaves_no_trace_in_memory(database):
    key = begin(database, publish(database).code)
    put(database, key, 1)

    def fail():
        with database.work() as work:
            attempt = taking.by_key(work, key)
            for step in (2, 3):
                taking.answer(work, attempt, step, entry_of(taking.state_of(work, attempt).session.next))
            raise QuaestorError("the plug was pulled")

    with pytest.raises(QuaestorError, match="plug"):
        fail()
    assert stands(database, key).step == 2
    put(database, key, 2)
    assert count(database, Event) == 2


def test_how_many_statements_an_answer_takes(database):
    key = begin(database, publish(database).code)
    option = entry_of(stands(database, key).session.next)
    seen = []
    event.listen(database.engine, "before_cursor_execute", lambda *told: seen.append(told[2]))
    with database.work() as work:
        taking.answer(work, taking.by_key(work, key), 1, option)
    assert len([statement for statement in seen if not statement.startswith("BEGIN")]) == 4


def test_an_attempt_and_what_is_new_of_its_log_are_read_in_one_statement(database):
    code = publish(database).code
    key, other = (begin(database, code, name) for name in ("Ada", "Bob"))
    for mine, steps in ((key, 2), (other, 4)):
        for step in range(1, steps + 1):
            put(database, mine, step)
    there, seen = stands(database, key), []
    event.listen(database.engine, "before_cursor_execute", lambda *told: seen.append(told[2]))

    def read(hint):
        seen.clear()
        with database.glance() as work:
            return taking.state_of(work, with_lines(work, there.attempt.id, hint))

    assert (read(key).session, len(seen)) == (there.session, 1)
    assert read(other).session == there.session, "the key was only a guess"
    session_cache.forget_all()
    assert (read(key).session, read(key).put) == (there.session, there.put)
    with database.glance() as work:
        assert with_lines(work, there.attempt.id + 99, key) is None


def test_what_is_remembered_does_not_grow_with_the_log(database):
    key = begin(database, publish(database).code)
    for step in range(1, 5):
        put(database, key, step)
    kept, _, _ = session_cache.cached.get(("session", key))
    assert "earlier" not in kept.__dict__
    assert "question" in kept.decision.__dict__
    now = stands(database, key)
    qs.explain(now.session)
    assert "earlier" not in session_cache.cached.get(("session", key))[0].__dict__


def ready(database, key, step=1):
    with database.read() as work:
        attempt = taking.by_key(work, key)
        return taking.prepare(work, attempt, step, entry_of(taking.state_of(work, attempt).session.next))


def write(database, made):
    with database.work() as work:
        return taking.write(work, made)


def test_an_answer_prepared_while_reading_is_written_with_what_it_came_to(database):
    key = begin(database, publish(database, rules=qs.Rules(score="order", stop=qs.max_questions(1))).code)
    made, seen = ready(database, key), []
    event.listen(database.engine, "before_cursor_execute", lambda *told: seen.append(told[2]))
    after = write(database, made)
    assert [statement.split()[0] for statement in seen if not statement.startswith("BEGIN")] == ["INSERT", "INSERT", "UPDATE"]
    assert after.attempt.reason == "1 question was asked; the limit is 1."
    with database.read() as work:
        there = taking.by_key(work, key)
        assert (there.reason, there.ended) == (after.attempt.reason, after.attempt.ended)
    assert stands(database, key).session == after.session


def test_of_two_prepared_answers_one_is_written(database):
    key = begin(database, publish(database).code)
    first, second = ready(database, key), ready(database, key)
    write(database, first)
    with pytest.raises(taking.StaleError, match="the test stands at step 2"):
        write(database, second)
    assert stands(database, key).session == first.session


def test_an_answer_to_an_attempt_that_was_deleted_meanwhile(database):
    key = begin(database, publish(database).code)
    made = ready(database, key)
    with database.work() as work:
        privacy.delete(work, taking.by_key(work, key))
    with pytest.raises(taking.OverError, match="the test is over: it was deleted"):
        write(database, made)
    assert count(database, Event) == 0


# Several processes


class Process:
    """A process: the same database, a memory of its own."""

    def __init__(self):
        self.memory = Cache(10**9)

    def __enter__(self):
        self.before, session_cache.cached = session_cache.cached, self.memory

    def __exit__(self, *_):
        session_cache.cached = self.before


def act(database, key, deed):
    now = stands(database, key)
    if deed == "look" or now.over:
        return
    with database.work() as work:
        attempt = taking.by_key(work, key)
        if deed == "late":
            with pytest.raises(taking.StaleError):
                taking.skip(work, attempt, now.step - 1)
        elif deed == "skip":
            taking.skip(work, attempt, now.step)
        else:
            question = taking.state_of(work, attempt).session.next
            taking.answer(work, attempt, now.step, question.options[int(deed in ("second", "undone"))] if question.options else "1")
            if deed == "undone":
                work.rollback()


DEEDS = st.tuples(st.integers(0, 1), st.sampled_from(["look", "first", "second", "skip", "undone", "late"]))


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(deeds=st.lists(DEEDS, max_size=12))
def test_no_interleaving_of_two_processes_forks_a_log(make_database, kind, deeds):
    kept = make_database.__dict__.setdefault(kind, [])
    if not kept:
        kept.append(make_database(kind))
        kept.append(publish(kept[0]).code)
    database, code = kept
    key = begin(database, code)
    processes = [Process(), Process()]
    for which, deed in deeds:
        with processes[which]:
            act(database, key, deed)
    views = []
    for process in (*processes, Process()):
        with process:
            views.append(stands(database, key))
    assert views[0].session == views[1].session == views[2].session
    assert views[0].session.next == views[1].session.next == views[2].session.next
    with database.read() as work:
        steps = work.scalars(select(Event.step).where(Event.attempt_id == views[0].attempt.id).order_by(Event.step)).all()
    assert steps == list(range(1, len(views[0].session.log) + 1))


def test_of_two_processes_one_wins_each_step(database):
    key = begin(database, publish(database).code)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        confirmed = pool.map(answer_all, [(url(database), key)] * 2, chunksize=1)
        pool.close()
        pool.join()
    assert sorted(step for steps in confirmed for step in steps) == list(range(1, 9))
    assert count(database, Event) == 8


def test_a_sitting_knows_its_options(database):
    now = stands(database, begin(database, publish(database).code))
    question = now.session.next
    assert now.options(question) == option_order(now.attempt.seed, question)
